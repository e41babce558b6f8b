//! Networks of the Stockfish family on the runtime: every container gives the family's own evaluation of its file, on
//! every tier, and the file back.

use serde_json::Value;
use std::collections::BTreeSet;
use tamis_quant::error_kind::ErrorKind;
use tamis_quant::pack::{Provenance, is_nnue, nnue_division, pack, unpack_nnue};
use tamis_quant::positions::{Position, records};
use tamis_quant::proof::{Quantity, Witness, prove};
use tamis_quant::run::{AlignedBytes, Outputs, Runner, features_of};
use tamis_quant::stockfish::{Board, Division, Encoding, FeatureSet, Head, Net, Parts, Side, evaluate, read, to_bytes};
use tamis_quant::verify::{Case, Gates, Report, VerifyError};
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Kind, Piece};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tamis_runtime::raw::{claim, op};
use tests::sample_models::Random;
use tests::stockfish::{SMALL_NET, Stockfish15, export_net, made_up, shape};
use tests::trials::Fixtures;

const KING: u8 = 5;
const OPPONENT: u8 = 8;

pub fn container(net: &Net) -> AlignedBytes {
    let program = net.lower();
    AlignedBytes::copy_of(&pack(&program, &prove(&program), &Provenance::default()).unwrap())
}

/// The report, against the file that the container is of.
fn verified(model: Model<'_>, positions: &[Position], file: &[u8]) -> Report {
    let case = Case::of_nnue(model, positions, Some(file)).unwrap();
    case.verify(&Gates::default(), &mut |_, _| ()).unwrap()
}

fn same_file(report: &Report) -> bool {
    report.nnue.as_ref().unwrap().same_file == Some(true)
}

/// The value on a tier, filled anew.
fn value(runner: &mut Runner<'_>, position: &Position) -> i32 {
    let (lists, bucket) = features_of(runner.plan().model(), position).unwrap();
    match runner.evaluate_lists(&lists, bucket, |_, _| ()).unwrap() {
        Outputs::I32(values) => values[0],
        Outputs::F32(_) => panic!("reals"),
    }
}

/// What the family's rules say of it.
pub fn truth(net: &Net, position: &Position) -> i32 {
    let side = if position.is_black { Side::Black } else { Side::White };
    evaluate(net, &Board::new(position, side)).value
}

/// Pieces anywhere, from two to thirty-two, one king and at most sixteen of a side; black to move in every other
/// position.
pub fn positions(count: usize, seed: u64) -> Vec<Position> {
    let mut random = Random(seed);
    let position = |index: usize| {
        let (mut squares, mut others): (Vec<u8>, [usize; 2]) = ((0..64).collect(), [0; 2]);
        let pieces: Vec<(u8, u8)> = (0..2 + random.draw() % 31)
            .map(|piece| {
                let square = squares.swap_remove((random.draw() % squares.len() as u64) as usize);
                match piece {
                    0 => (KING, square),
                    1 => (KING | OPPONENT, square),
                    _ => {
                        let (kind, drawn) = ((random.draw() % 5) as u8, (random.draw() % 2) as usize);
                        let side = if others[drawn] < 15 { drawn } else { 1 - drawn };
                        others[side] += 1;
                        (kind | (side as u8 * OPPONENT), square)
                    }
                }
            })
            .collect();
        let mut position = Position::new(&pieces).unwrap();
        position.is_black = index % 2 == 1;
        position
    };
    (0..count).map(position).collect()
}

/// Every kind of head and every feature set, narrow: a container gives the family's values on every tier, and the file
/// back.
#[test]
fn made_up_networks_of_every_form_give_the_familys_values() {
    use FeatureSet::{HalfKaV2, HalfKaV2Hm, HalfKp, PHm, Threats, ThreatsAndPairs};
    let positions = positions(300, 5);
    for (features, width, head) in [
        (HalfKp, 256, Head::Clipped { first: 32 }),
        (HalfKaV2, 64, Head::Clipped { first: 16 }),
        (HalfKaV2Hm, 96, Head::Clipped { first: 8 }),
        (HalfKaV2Hm, 128, Head::Pairwise { squares: false }),
        (HalfKaV2Hm, 160, Head::Pairwise { squares: true }),
        (PHm, 96, Head::Wide),
        (Threats, 32, Head::Pairwise { squares: true }),
        (ThreatsAndPairs, 64, Head::Wide),
    ] {
        let encoding = if width == 160 { Encoding::Leb128 } else { Encoding::Raw };
        let mut net = made_up(shape(features, width, head), encoding, width as u64);
        // What no feature reads comes back too: the first row of a HalfKP king square, and a padded weight.
        net.transformer.weights.values[0] = 77;
        let second = &mut net.stacks[0].second;
        if let Some(padding) = second.weights.get_mut(second.inputs).filter(|_| !second.inputs.is_multiple_of(32)) {
            *padding = -7;
        }
        let file = to_bytes(&net);
        let bytes = container(&net);
        let model = Model::parse(bytes.as_ref()).unwrap();
        assert!(is_nnue(&model) && model.blocks()[0].claims == claim::ACCUMULATOR_FITS, "{}", net.shape);
        for tier in tiers() {
            let mut runner = Runner::new(model, tier);
            for position in &positions {
                let found = value(&mut runner, position);
                assert_eq!(found, truth(&net, position), "{} on {}: {position:?}", net.shape, tier.name);
            }
        }
        let report = verified(model, &positions, &file);
        assert!(report.passed && same_file(&report), "{}: {report:?}", net.shape);
        assert!(to_bytes(&unpack_nnue(&model).unwrap()) == file, "{}", net.shape);
    }
}

/// What an engine's state says of the position.
fn engines_value(net: &AnyNetwork<'_>, state: &mut AnyState<'_>, position: &Position) -> i32 {
    let (mover, turned) = if position.is_black { (Colour::Black, 56) } else { (Colour::White, 0) };
    let pieces = position.pieces().iter().map(|&(code, square)| {
        let colour = if code < OPPONENT { mover } else { mover.other() };
        Piece::new(colour, Kind::ALL[usize::from(code & 7)], square ^ turned)
    });
    state.refresh(net, pieces).unwrap();
    state.evaluate(net, mover).unwrap()
}

/// A network of the form that Stockfish 18 lite has divides twice without being told. Under either rule the value is
/// that of plain arithmetic on the two parts: on every tier, in an engine's state, by the integer model and by the
/// family's own loops. The rules differ on about half of the positions, by one.
#[test]
fn both_rules_are_plain_arithmetic_and_differ_on_half_of_the_positions() {
    let positions = positions(400, 41);
    let mut net = made_up(shape(FeatureSet::HalfKaV2Hm, 256, Head::Pairwise { squares: true }), Encoding::Leb128, 4);
    let file = to_bytes(&net);
    assert_eq!(read(&file).unwrap().division, Division::Twice);
    let parts: Vec<Parts> = positions
        .iter()
        .map(|position| {
            let side = if position.is_black { Side::Black } else { Side::White };
            let found = evaluate(&net, &Board::new(position, side));
            found.buckets[found.bucket]
        })
        .collect();
    let values = Division::ALL.map(|division| {
        net.division = division;
        let bytes = container(&net);
        let model = Model::parse(bytes.as_ref()).unwrap();
        let back = unpack_nnue(&model).unwrap();
        assert!(back.division == division && to_bytes(&back) == file, "{division:?}");
        let report = verified(model, &positions[..40], &file);
        assert!(report.passed && same_file(&report), "{division:?}: {report:?}");
        let expected: Vec<i32> = parts
            .iter()
            .map(|&Parts { psqt, positional }| match division {
                Division::Once => (psqt + positional) / 16,
                Division::Twice => psqt / 16 + positional / 16,
            })
            .collect();
        let own: Vec<i32> = positions.iter().map(|position| truth(&net, position)).collect();
        assert_eq!(own, expected, "{division:?}");
        for tier in tiers() {
            let mut runner = Runner::new(model, tier);
            let found: Vec<i32> = positions.iter().map(|position| value(&mut runner, position)).collect();
            assert_eq!(found, expected, "{division:?} on {}", tier.name);
            let engine = AnyNetwork::load_on(bytes.as_ref(), tier).unwrap();
            let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&engine, 2, 4).unwrap());
            let mut state = AnyState::create(&engine, memory.as_mut(), 2, 4).unwrap();
            let found: Vec<i32> =
                positions.iter().map(|position| engines_value(&engine, &mut state, position)).collect();
            assert_eq!(found, expected, "{division:?} in an engine on {}", tier.name);
        }
        expected
    });
    let differences: Vec<i32> = values[0].iter().zip(&values[1]).map(|(once, twice)| once - twice).collect();
    assert!(differences.iter().all(|difference| difference.abs() <= 1));
    let differing = differences.iter().filter(|difference| **difference != 0).count();
    assert!((140..260).contains(&differing), "{differing} of 400");
    // In both directions, with parts below zero among them.
    assert!(differences.contains(&1) && differences.contains(&-1));
    assert!(parts.iter().any(|parts| parts.psqt < 0 && parts.positional < 0), "{parts:?}");
}

/// The last operations are the rule; without piece-square values there is one part, and both rules have the same.
#[test]
fn a_rule_is_the_order_of_the_last_operations() {
    use FeatureSet::{HalfKaV2, HalfKp};
    for (features, head, once, twice) in [
        (
            HalfKaV2,
            Head::Clipped { first: 16 },
            &[op::ADD_I32, op::RESCALE][..],
            &[op::RESCALE, op::RESCALE, op::ADD_I32][..],
        ),
        (HalfKp, Head::Clipped { first: 32 }, &[op::AFFINE_I8, op::RESCALE], &[op::AFFINE_I8, op::RESCALE]),
    ] {
        let mut net = made_up(shape(features, 32, head), Encoding::Raw, 6);
        let containers = Division::ALL.map(|division| {
            net.division = division;
            container(&net)
        });
        let models = containers.each_ref().map(|bytes| Model::parse(bytes.as_ref()).unwrap());
        for ((model, last), division) in models.iter().zip([once, twice]).zip(Division::ALL) {
            let kinds: Vec<u32> = model.ops().iter().map(|record| record.kind).collect();
            assert!(kinds.ends_with(last), "{kinds:?}");
            assert_eq!(unpack_nnue(model).unwrap().division, division);
            assert_eq!(nnue_division(model).unwrap(), Some((net.shape, division)));
        }
        // A description with the other rule.
        let mut draft = tests::draft::Draft::read(containers[0].as_ref());
        draft.metadata = tests::draft::Draft::read(containers[1].as_ref()).metadata;
        let changed = draft.bytes();
        let refused = unpack_nnue(&Model::parse(changed.as_ref()).unwrap());
        match features.has_psqt() {
            true => assert!(refused.unwrap_err().to_string().contains("the operations divide once")),
            false => assert_eq!(refused.unwrap().division, Division::Twice),
        }
    }
}

/// Parts that each fit i32 and whose sum does not: proved where each is divided, refused where the sum is.
#[test]
fn the_proof_knows_the_rule() {
    let mut net = made_up(shape(FeatureSet::HalfKaV2Hm, 32, Head::Pairwise { squares: true }), Encoding::Raw, 6);
    let psqt = net.transformer.psqt.as_mut().unwrap();
    psqt.values.fill(0);
    // A pawn on a2: half of 2^30 and no more, since the highest digit is 1 and the others are 0. In every bucket.
    psqt.values[(704 * 31 + 8) * 8..][..8].fill(1 << 30);
    net.stacks.iter_mut().for_each(|stack| stack.output.biases[0] = 1_800_000_000);
    net.division = Division::Once;
    let proof = prove(&net.lower());
    assert!(proof.violations.iter().any(|found| found.check.quantity == Quantity::Sum), "{:?}", proof.violations);
    net.division = Division::Twice;
    let proof = prove(&net.lower());
    assert!(proof.holds(), "{:?}", proof.violations);
    // White's king on e1 and that pawn: 2^29 and 1800 million, each divided, but for what the other layers add.
    let position = Position::new(&[(KING, 4), (KING | OPPONENT, 60), (0, 8)]).unwrap();
    let found = truth(&net, &position);
    assert!((found - (1 << 25) - 1_800_000_000 / 16).abs() < 100_000, "{found}");
    let bytes = container(&net);
    let model = Model::parse(bytes.as_ref()).unwrap();
    for tier in tiers() {
        assert_eq!(value(&mut Runner::new(model, tier), &position), found, "{}", tier.name);
    }
}

#[test]
fn the_small_network_gives_its_engines_values(folder: Fixtures) {
    let file = std::fs::read(folder.join(SMALL_NET)).unwrap();
    let expected: Value = serde_json::from_slice(&std::fs::read(folder.join("nnue/expected.json")).unwrap()).unwrap();
    let fens = expected["fens"].as_array().unwrap().iter().map(|fen| fen.as_str().unwrap());
    let fens: Vec<Position> = fens.map(|fen| Position::from_fen(fen).unwrap()).collect();
    let (_, values) = expected["evals"].as_object().unwrap().iter().find(|(key, _)| key.contains("baff1ede")).unwrap();
    let net = read(&file).unwrap();
    assert!(prove(&net.lower()).holds());
    let bytes = container(&net);
    let model = Model::parse(bytes.as_ref()).unwrap();
    for tier in tiers() {
        let mut runner = Runner::new(model, tier);
        let found: Vec<i32> = fens.iter().map(|position| value(&mut runner, position)).collect();
        assert_eq!(Value::from(found), *values, "{}", tier.name);
    }
    assert!(to_bytes(&unpack_nnue(&model).unwrap()) == file);
}

/// The network that Debian's engine carries, which the engine's own printed values are held to elsewhere.
#[test]
fn the_network_of_15_1_gives_the_familys_values(engine: Stockfish15, folder: Fixtures) {
    let file = export_net(&engine);
    let net = read(&file).unwrap();
    let bytes = container(&net);
    let model = Model::parse(bytes.as_ref()).unwrap();
    let batch = std::fs::read(folder.join("nnue/bullet/batch.bf")).unwrap();
    let positions: Vec<Position> = records(&batch).unwrap().map(Result::unwrap).step_by(41).take(200).collect();
    let report = verified(model, &positions, &file);
    assert!(report.passed && report.proof.holds && same_file(&report), "{:?}", report.gates);
}

/// A unit whose rows can leave i16 on one board, and one whose rows can only in different buckets or on one square.
#[test]
fn bounds_are_those_of_a_board() {
    let form = shape(FeatureSet::HalfKaV2Hm, 32, Head::Pairwise { squares: true });
    let mut net = made_up(form, Encoding::Raw, 3);
    assert!(prove(&net.lower()).holds());
    let row = |feature: usize| FeatureSet::HalfKaV2Hm.row_of(feature) * 32;
    for bucket in 0..4 {
        for plane in 0..11 {
            net.transformer.weights.values[row(704 * bucket + 64 * plane + 9) + 3] = 20_000;
        }
    }
    let proof = prove(&net.lower());
    assert!(proof.holds() && proof.checks[0].high < 22_000, "all of them on one square: {:?}", proof.checks[0]);

    net.transformer.weights.values[row(704 * 2 + 64 * 7 + 30) + 3] = 20_000;
    let proof = prove(&net.lower());
    let violation = &proof.violations[0];
    assert_eq!((violation.check.quantity, violation.check.row, violation.rows), (Quantity::Accumulator, 3, 1));
    let Some(Witness::Features { lists, value }) = &violation.witness else { panic!("{violation}") };
    let squares: BTreeSet<u32> = lists[0].iter().map(|feature| feature % 64).collect();
    assert!(squares.len() == lists[0].len() && lists[0].len() <= 32 && lists[0].iter().all(|f| f / 704 == 2));
    let sum = lists[0].iter().map(|feature| i64::from(net.transformer.weights.values[row(*feature as usize) + 3]));
    assert_eq!(sum.sum::<i64>() + i64::from(net.transformer.biases.values[3]), *value);
    assert_eq!(*value, violation.check.high);
    let bytes = container(&net);
    assert_eq!(Model::parse(bytes.as_ref()).unwrap().blocks()[0].claims, 0);
}

/// A container that says another shape than its tensors have is refused, not misread.
#[test]
fn descriptions_that_do_not_fit_are_refused() {
    let net = made_up(shape(FeatureSet::HalfKaV2, 32, Head::Clipped { first: 16 }), Encoding::Raw, 3);
    let bytes = container(&net);
    let mut draft = tests::draft::Draft::read(bytes.as_ref());
    let metadata = draft.metadata.clone();
    for (from, to) in [
        ("HalfKAv2\"", "HalfKAv3\""),
        ("width = 32", "width = 64"),
        ("width = 32", "width = 00"),
        ("first = 16", "first = 32"),
        ("\"clipped\"", "\"cli\\u0070\""),
        ("\"raw\"", "\"row\""),
        ("\"once\"", "\"ones\""),
        ("divide =", "#ivide ="),
        ("nnue = 1\n", "nnue = 1 "),
    ] {
        let at = metadata.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        draft.metadata = metadata.clone();
        draft.metadata[at..at + to.len()].copy_from_slice(to.as_bytes());
        let changed = draft.bytes();
        let model = Model::parse(changed.as_ref()).unwrap();
        let refused = unpack_nnue(&model).unwrap_err();
        assert_eq!(refused.class(), ErrorKind::Malformed, "{from} {to}: {refused}");
    }
    let case = Case::of_nnue(Model::parse(bytes.as_ref()).unwrap(), &[], None).unwrap();
    let none = case.verify(&Gates::default(), &mut |_, _| ());
    assert!(matches!(none, Err(VerifyError::NoExamples)));
}
