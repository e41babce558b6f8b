//! Piece-square values beside bullet's layers: a network of each head with them, its outputs worked out from the
//! tensors in plain arithmetic. Reals are dyadic and short, so that f32 holds every number on the way.

use tamis_quant::arch::FileForm;
use tamis_quant::float::Example;
use tamis_quant::import::{read_bare, read_bytes};
use tamis_quant::integer::IntegerModel;
use tamis_quant::pack::{Provenance, pack, to_bare, unpack};
use tamis_quant::program::{GraphInput, QuantTensor, Values};
use tamis_quant::proof::prove;
use tamis_quant::quantise::quantise;
use tamis_quant::quantise::scales::{Rows, quantise_by_proof};
use tamis_quant::quantised::QuantNet;
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_quant::verify::simulate::{RealInput, Simulation};
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tests::piece_squares::{FORMS, Form, network};
use tests::sample_models::Random;
use tests::synthetic;

const EXAMPLES: usize = 60;

/// Bias and rows of the features of a list.
fn sums(rows: &QuantTensor, bias: &QuantTensor, list: &[u32]) -> Vec<f64> {
    let mut sums: Vec<f64> = bias.integers().iter().copied().map(f64::from).collect();
    for feature in list {
        let row = rows.integers()[*feature as usize * rows.outputs..].iter();
        sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += f64::from(*weight));
    }
    sums
}

/// Distinct features of both sides in the network's order, at most as many as there may be, and a bucket; pieces of
/// one king bucket in chess.
fn example(net: &QuantNet, random: &mut Random) -> ([Vec<u32>; 2], usize) {
    let (count, most) = (net.arch.feature_count() as u32, net.arch.max_active());
    let bucket = random.draw() as usize % net.arch.bucket_count();
    let mut side = || {
        let wanted = random.draw() as usize % (most + 1);
        let mut list: Vec<u32> = Vec::new();
        while list.len() < wanted.min(14) || (list.len() < wanted && most > 100) {
            let feature = (random.draw() % u64::from(count)) as u32;
            // No two pieces on a square.
            if list.iter().all(|other| *other != feature && (most != 32 || other % 64 != feature % 64)) {
                list.push(feature);
            }
        }
        list.sort_unstable();
        list
    };
    let own = side();
    let other = if net.arch.perspectives() == 2 { side() } else { Vec::new() };
    ([own, other], bucket)
}

/// lists: in the network's order.
fn plain(form: &Form, net: &QuantNet, lists: &[Vec<u32>; 2], bucket: usize) -> Vec<f64> {
    let first = &net.layers[0];
    let psqt = net.psqt.as_ref().unwrap();
    let acc = lists.iter().take(net.arch.perspectives()).flat_map(|list| sums(&first.weights, &first.bias, list));
    let acc: Vec<f64> = acc.collect();
    let [one, two] = lists.each_ref().map(|list| sums(&psqt.weights, &psqt.bias, list));
    let (own, other) = if net.arch.input.other_first { (two, one) } else { (one, two) };
    (form.plain)(net, &acc, [&own, &other], bucket)
}

#[test]
fn each_head_adds_what_plain_arithmetic_gives() {
    for form in &FORMS {
        let net = network(form);
        let program = net.lower().unwrap();
        let proof = prove(&program);
        assert!(proof.holds(), "{}: {:?}", form.name, proof.violations);
        let bytes = pack(&program, &proof, &Provenance::default()).unwrap();
        let file = AlignedBytes::copy_of(&bytes);
        let model = Model::parse(file.as_ref()).unwrap();
        let back = unpack(&model).unwrap();
        assert_eq!(back, net, "{}", form.name);
        let bare = to_bare(&net).unwrap();
        assert_eq!(bare.len() as u64, net.arch.bare_len_bytes());
        assert_eq!(QuantNet::from_bare(read_bare(&bare, &net.arch).unwrap()).unwrap(), net, "{}", form.name);
        let is_real = form.tensors.iter().any(|(_, element, _)| *element == "f32");
        let real = net.to_reals();
        let (mut random, mut seen) = (Random(3), Vec::new());
        for _ in 0..EXAMPLES {
            let (lists, bucket) = example(&net, &mut random);
            let expected = plain(form, &net, &lists, bucket);
            if is_real && form.name != "pairs, bytes, reals" {
                let example = Example::Features { lists: lists.clone(), bucket };
                assert_eq!(real.evaluate(&example).unwrap(), expected, "{}", form.name);
            }
            let input = GraphInput::Features { lists, bucket };
            let integers = IntegerModel::new(&program).trace_input(&input);
            let last = program.nodes.len();
            assert_eq!(integers[last].to_reals(&program.nodes[last - 1].value), expected, "{}", form.name);
            for tier in tiers() {
                let mut runner = Runner::new(model, tier);
                let found = runner.evaluate_input(&input, |_, _| ()).unwrap().to_reals(1.0);
                assert_eq!(found, expected, "{} on {}", form.name, tier.name);
            }
            seen.push(expected);
        }
        seen.dedup();
        assert!(seen.len() > EXAMPLES / 2, "{}: {} outputs tell the examples apart", form.name, seen.len());
    }
}

/// Reals a little beside the integers: they are read from raw.bin, rounded, and each rounding has its switch. With none
/// the simulation is the float network, with all of them the container.
#[test]
fn roundings_of_the_values_are_among_the_causes() {
    for form in &FORMS {
        let net = network(form);
        let mut random = Random(11);
        let raw: Vec<u8> = net
            .arch
            .spans(FileForm::Raw)
            .iter()
            .flat_map(|span| {
                let tensor = net.tensor(&span.name).unwrap();
                let is_real = matches!(tensor.values, Values::F32(_));
                let mut near = |real: f64| {
                    if is_real {
                        real
                    } else {
                        real + f64::from(random.within(400)) / 1000.0 / f64::from(tensor.multiplier())
                    }
                };
                tensor.to_reals().into_iter().flat_map(|real| (near(real) as f32).to_le_bytes()).collect::<Vec<u8>>()
            })
            .collect();
        let checkpoint = read_bytes(&raw, &net.arch, "raw.bin").unwrap();
        let quantised = quantise(&checkpoint.net).unwrap();
        assert_eq!(quantised, net, "{}", form.name);
        let simulation = Simulation::of_layers(&checkpoint.net, &quantised).unwrap();
        let real = checkpoint.net.to_f64();
        for _ in 0..10 {
            let (lists, bucket) = example(&net, &mut random);
            let example = Example::Features { lists: lists.clone(), bucket };
            let (off, on) = (|_| false, |_| true);
            let simulated = simulation.evaluate(RealInput::from(&example), &off).outputs;
            let exact = real.evaluate(&example).unwrap();
            for (a, b) in simulated.iter().zip(&exact) {
                assert!((a - b).abs() < 1e-6 * b.abs().max(1.0), "{}: {a} {b}", form.name);
            }
            let rounded = simulation.evaluate(RealInput::from(&example), &on).outputs;
            assert_eq!(rounded, plain(form, &net, &lists, bucket), "{}", form.name);
            assert!(rounded != exact, "{}", form.name);
        }
        let (chosen, _) = quantise_by_proof(&checkpoint.net, Rows::WhereExact).unwrap();
        assert!(prove(&chosen.lower().unwrap()).holds() && chosen.psqt.is_some(), "{}", form.name);
    }
}

/// The values follow the moves of a game as the accumulators do.
#[test]
fn an_engine_keeps_them_from_move_to_move() {
    let form = FORMS.iter().find(|form| form.name == "rounded once").unwrap();
    let net = network(form);
    let file = tests::packed(&net);
    for tier in tiers() {
        let loaded = AnyNetwork::load_on(file.as_ref(), tier).unwrap();
        let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&loaded, 1, 0).unwrap());
        let mut state = AnyState::create(&loaded, memory.as_mut(), 1, 0).unwrap();
        let mut random = Random(7);
        for _ in 0..20 {
            let pieces = synthetic::board(&mut random);
            state.refresh(&loaded, pieces.iter().copied()).unwrap();
            for to_move in Colour::BOTH {
                let feature = |eyes: Colour| {
                    let of = |piece: &tamis_runtime::engine::Piece| {
                        let square = u32::from(piece.square()) ^ if eyes == Colour::Black { 56 } else { 0 };
                        384 * u32::from(piece.colour() != eyes) + 64 * piece.kind() as u32 + square
                    };
                    pieces.iter().map(of).collect::<Vec<u32>>()
                };
                let expected = plain(form, &net, &[feature(to_move.other()), feature(to_move)], 0);
                let found = state.evaluate(&loaded, to_move).unwrap();
                assert_eq!(f64::from(found), expected[0], "{}", tier.name);
            }
        }
    }
}

/// What no digits hold is refused by name: of lists of 9,000 features two bits are left for a digit.
#[test]
fn values_without_room_are_refused() {
    let refused = |input: &'static str| network(&Form { input, ..FORMS[6] }).lower().unwrap_err().to_string();
    let message = refused("kind = \"features\"\nsize = 9000\nperspectives = 1\nmax_active = 9000");
    assert!(message.contains("piece-square values that 5 digits of 2 bits do not hold"), "{message}");
    let message = refused("kind = \"features\"\nsize = 40000\nperspectives = 1\nmax_active = 40000");
    assert!(message.contains("piece-square values beside lists of up to 40000 features"), "{message}");
}
