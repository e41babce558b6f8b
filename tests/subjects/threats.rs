//! Networks whose features are relations between pieces: what their engines say of them, and the file again.

use serde_json::Value;
use std::collections::BTreeSet;
use tamis_quant::pack::{Provenance, pack, unpack_nnue};
use tamis_quant::positions::Position;
use tamis_quant::proof::prove;
use tamis_quant::run::{AlignedBytes, Outputs, Runner, features_of};
use tamis_quant::stockfish::{
    Board, Division, FeatureSet, NnueError, Parts, Relation, Side, accumulator, evaluate, read, to_bytes,
};
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Kind, Piece, StateError};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tamis_runtime::raw::chess::RelationView;
use tests::held::hold;
use tests::related::Related;
use tests::sample_models::Random;
use tests::stockfish::{container, made_up, shape};

/// Both parts of every bucket, the bucket and the value of every position; the same bytes again.
#[test]
fn every_bucket_of_every_position_is_what_the_engine_says(network: Related) {
    let net = read(&network.bytes).unwrap();
    assert!(to_bytes(&net) == network.bytes, "the same bytes again");
    assert_eq!(net.division, Division::Twice);
    let positions = network.expected["positions"].as_array().unwrap();
    assert_eq!(positions.len(), 40);
    let mut used = [0; 8];
    for position in positions {
        let found = evaluate(&net, &Board::from_fen(position["fen"].as_str().unwrap()).unwrap());
        let parts = |index: usize| Parts {
            psqt: integer(&position["psqt"][index]),
            positional: integer(&position["positional"][index]),
        };
        assert_eq!(found.buckets, (0..8).map(parts).collect::<Vec<_>>(), "{position}");
        let expected = (integer(&position["bucket"]) as usize, integer(&position["value"]));
        assert_eq!((found.bucket, found.value), expected, "{position}");
        used[found.bucket] += 1;
    }
    assert!(used.iter().all(|count| *count > 0), "{used:?}");
}

/// A container of each: every bucket on every tier, one signature, the same file again, and no violation but that the
/// accumulators of the two full networks may wrap, as their engines' do.
#[test]
fn containers_give_every_bucket_on_every_tier(network: Related) {
    let net = read(&network.bytes).unwrap();
    let program = net.lower();
    let proof = prove(&program);
    assert!(proof.holds(), "{:?}", proof.violations);
    assert_eq!(proof.wraps.len(), usize::from(net.shape.width == 1024 && !net.transformer.relations.is_empty()));
    let packed = AlignedBytes::copy_of(&pack(&program, &proof, &Provenance::default()).unwrap());
    let model = Model::parse(packed.as_ref()).unwrap();
    assert_eq!(model.blocks().len(), 1 + net.transformer.relations.len());
    assert!(to_bytes(&unpack_nnue(&model).unwrap()) == network.bytes, "the same file again");
    let mut signatures = BTreeSet::new();
    for tier in tiers() {
        let mut runner = Runner::new(model, tier);
        for position in network.expected["positions"].as_array().unwrap() {
            let board = Position::from_fen(position["fen"].as_str().unwrap()).unwrap();
            let (lists, used) = features_of(&model, &board).unwrap();
            assert_eq!(used, integer(&position["bucket"]) as usize, "{position}");
            for bucket in 0..8 {
                let value = integer(&position["psqt"][bucket]) / 16 + integer(&position["positional"][bucket]) / 16;
                match runner.evaluate_lists(&lists, bucket, |_, _| ()).unwrap() {
                    Outputs::I32(found) => assert_eq!(found, [value], "{position}, {bucket} on {}", tier.name),
                    Outputs::F32(_) => panic!("reals"),
                }
            }
        }
        signatures.insert(runner.signature().unwrap());
    }
    assert_eq!(signatures.len(), 1);
}

/// The rows of every block, and what they add up to.
#[test]
fn active_features_are_the_engines(network: Related) {
    let Some(features) = &network.features else { return };
    let net = read(&network.bytes).unwrap();
    let set = net.shape.features;
    for position in features["positions"].as_array().unwrap() {
        let board = Board::from_fen(position["fen"].as_str().unwrap()).unwrap();
        for (name, side) in [("white", Side::White), ("black", Side::Black)] {
            let (expected, active) = (&position[name], board.active(set, side));
            let mut first = 0;
            let blocks = [("piece_square", set.piece_count())].into_iter();
            let relations = set.relations().iter().map(|relation| match relation {
                Relation::PawnPairs => ("pawn_pairs", relation.count()),
                Relation::Threats | Relation::FewerThreats => ("threats", relation.count()),
            });
            for (block, count) in blocks.chain(relations) {
                let rows: BTreeSet<i64> = active
                    .iter()
                    .filter(|row| (first..first + count).contains(*row))
                    .map(|row| (row - first) as i64)
                    .collect();
                let wanted: BTreeSet<i64> =
                    expected[block].as_array().unwrap().iter().map(|row| row.as_i64().unwrap()).collect();
                assert_eq!(rows, wanted, "{position}, {name}, {block}");
                first += count;
            }
            let sums = accumulator(&net, &active);
            let wanted: Vec<i32> = expected["accumulator_first8"].as_array().unwrap().iter().map(integer).collect();
            assert!(sums.iter().take(8).map(|sum| i32::from(*sum)).eq(wanted), "{position}, {name}");
        }
    }
}

/// Files of the architectures between: by the number of rows behind which the next block starts, and by their hash.
#[test]
fn networks_between_the_releases_are_refused_by_name() {
    let net = made_up(shape(FeatureSet::Threats, 32, FeatureSet::Threats.heads()[0]), LEB128, 5);
    let bytes = to_bytes(&net);
    assert!(read(&bytes).unwrap() == net);
    let magic = b"COMPRESSED_LEB128";
    let places: Vec<usize> = (0..bytes.len() - 17).filter(|at| &bytes[*at..*at + 17] == magic).collect();
    let rows = places[1];
    assert_eq!(places.len(), 3, "biases, pieces on squares, piece-square values");
    for (count, name) in [(66_864, "SFNNv11"), (60_144, "SFNNv12"), (60_720, "SFNNv14")] {
        let mut other = bytes.clone();
        other.drain(rows - (79_856 - count) * 32..rows);
        let error = read(&other).unwrap_err();
        assert_eq!(error, NnueError::Unreleased { name, rows: Some(count) });
        assert!(error.to_string().contains(name) && error.to_string().contains("Stockfish 18"), "{error}");
    }
    // v13 has v12's rows, and the wide head's stacks.
    let wide = shape(FeatureSet::ThreatsAndPairs, 32, FeatureSet::ThreatsAndPairs.heads()[0]);
    let mut other = bytes.clone();
    other.drain(rows - (79_856 - 60_144) * 32..rows);
    other[4..8].copy_from_slice(&(net.shape.transformer_hash() ^ wide.stack_hash()).to_le_bytes());
    assert_eq!(read(&other).unwrap_err(), NnueError::Unreleased { name: "SFNNv13", rows: Some(60_144) });
    // v15 has a hash of its own.
    let mut other = to_bytes(&made_up(wide, LEB128, 6));
    let at = 12 + b"made up".len();
    other[at..at + 4].copy_from_slice(&(0x6165_D5C9u32 ^ 64).to_le_bytes());
    assert_eq!(read(&other).unwrap_err(), NnueError::Unreleased { name: "SFNNv15", rows: None });
    // Rows of no known number, and a file that ends among them.
    let mut other = bytes.clone();
    other.remove(rows - 1);
    assert!(matches!(read(&other).unwrap_err(), NnueError::ThreatRows { .. }));
    assert!(matches!(read(&bytes[..rows - 40]).unwrap_err(), NnueError::CutOff { .. }));
}

/// The second reader, written from the specification, on every tier: values of all operations, signature, and moves on
/// a board.
#[test]
fn the_second_reader_finds_the_same() {
    for (features, width) in [(FeatureSet::PHm, 32), (FeatureSet::Threats, 32), (FeatureSet::ThreatsAndPairs, 64)] {
        let net = made_up(shape(features, width, features.heads()[0]), LEB128, 7);
        for seed in 0..3 {
            hold(container(&net).as_ref(), seed);
        }
    }
}

/// What a state brings up to date from the board's changes, over a million random steps, is what a position filled anew
/// has. A fiftieth of the lists is also held to the family's own rules.
#[test]
fn a_million_steps_are_as_filled_anew() {
    for features in [FeatureSet::Threats, FeatureSet::ThreatsAndPairs] {
        let net = made_up(shape(features, 32, features.heads()[0]), LEB128, 8);
        let file = container(&net);
        let any = AnyNetwork::load(file.as_ref()).unwrap();
        let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&any, PLIES, any.keys()).unwrap());
        let mut state = AnyState::create(&any, memory.as_mut(), PLIES, any.keys()).unwrap();
        let mut random = Random(features as u64 + 3);
        let mut line: Vec<Vec<Piece>> = Vec::new();
        let mut filled = vec![0; any.hidden()];
        for step in 0..500_000 {
            match line.last() {
                Some(_) if line.len() > 1 && (line.len() == PLIES || random.draw().is_multiple_of(3)) => {
                    line.pop();
                    state.pop().unwrap();
                }
                Some(pieces) if !random.draw().is_multiple_of(400) => {
                    let (added, removed) = step_of(pieces, &mut random);
                    state.push(&any, &added, &removed).unwrap();
                    let mut after = pieces.clone();
                    after.retain(|piece| !removed.contains(piece));
                    after.extend(&added);
                    line.push(after);
                }
                _ => {
                    line = vec![root(&mut random)];
                    state.refresh(&any, line[0].iter().copied()).unwrap();
                }
            }
            let pieces = &line[line.len() - 1];
            if !random.draw().is_multiple_of(3) {
                continue;
            }
            for colour in Colour::BOTH {
                let list = features_of_side(&any, pieces, colour);
                any.plan().refresh(&mut filled, &list).unwrap();
                assert_eq!(state.accumulator(&any, colour).unwrap(), filled, "step {step}, {colour:?}: {pieces:?}");
                if step % 50 == 0 {
                    let rows: BTreeSet<usize> = list.iter().map(|feature| features.row_of(*feature as usize)).collect();
                    assert_eq!(rows, family(features, pieces, colour), "step {step}, {colour:?}: {pieces:?}");
                }
            }
        }
    }
}

/// Two pieces on one square have no relations, and are refused; the state is as it was.
#[test]
fn two_pieces_on_one_square_are_refused() {
    let net = made_up(shape(FeatureSet::Threats, 32, FeatureSet::Threats.heads()[0]), LEB128, 9);
    let file = container(&net);
    let any = AnyNetwork::load(file.as_ref()).unwrap();
    let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&any, PLIES, 1).unwrap());
    let mut state = AnyState::create(&any, memory.as_mut(), PLIES, 1).unwrap();
    let kings = [Piece::new(Colour::White, Kind::King, 4), Piece::new(Colour::Black, Kind::King, 60)];
    let rook = Piece::new(Colour::White, Kind::Rook, 0);
    let refused = Err(StateError::Piece { piece: rook.at(60), is_added: true });
    state.refresh(&any, kings.into_iter().chain([rook])).unwrap();
    let before = state.evaluate(&any, Colour::White).unwrap();
    assert_eq!(state.push(&any, &[rook.at(60)], &[rook]), refused);
    assert_eq!((state.height(), state.evaluate(&any, Colour::White).unwrap()), (0, before));
    assert!(state.refresh(&any, kings.into_iter().chain([rook.at(60)])).is_err());
}

const PLIES: usize = 40;

/// Kings, and up to thirty other pieces, sixteen of a side.
fn root(random: &mut Random) -> Vec<Piece> {
    let mut squares: Vec<u8> = (0..64).collect();
    let count = 2 + random.draw() as usize % 31;
    let mut others = [0; 2];
    let mut piece = |index: usize| {
        let square = squares.swap_remove(random.draw() as usize % squares.len());
        if index < 2 {
            return Piece::new(Colour::BOTH[index], Kind::King, square);
        }
        let drawn = random.draw() as usize % 2;
        let side = if others[drawn] < 15 { drawn } else { 1 - drawn };
        others[side] += 1;
        Piece::new(Colour::BOTH[side], Kind::ALL[random.draw() as usize % 5], square)
    };
    (0..count).map(&mut piece).collect()
}

/// A piece goes to any square but a king's, and takes what stands there; pawns are promoted now and then, and sometimes
/// another piece goes too, as in castling.
fn step_of(pieces: &[Piece], random: &mut Random) -> (Vec<Piece>, Vec<Piece>) {
    let at = |square: u8| pieces.iter().find(|piece| piece.square() == square).copied();
    loop {
        let mover = pieces[random.draw() as usize % pieces.len()];
        let to = (random.draw() % 64) as u8;
        let taken = at(to);
        if to == mover.square() || taken.is_some_and(|piece| piece.kind() == Kind::King) {
            continue;
        }
        let is_promoted = mover.kind() == Kind::Pawn && random.draw().is_multiple_of(6);
        let kind = if is_promoted { Kind::ALL[1 + (random.draw() % 4) as usize] } else { mover.kind() };
        let (mut added, mut removed) = (vec![Piece::new(mover.colour(), kind, to)], vec![mover]);
        removed.extend(taken);
        let (second, beside) = (pieces[random.draw() as usize % pieces.len()], (random.draw() % 64) as u8);
        if random.draw().is_multiple_of(8) && !removed.contains(&second) && beside != to && at(beside).is_none() {
            removed.push(second);
            added.push(second.at(beside));
        }
        return (added, removed);
    }
}

/// All features of a colour, by the runtime's numbering.
fn features_of_side(net: &AnyNetwork<'_>, pieces: &[Piece], colour: Colour) -> Vec<u32> {
    let mut board = tamis_runtime::raw::chess::Board::EMPTY;
    assert!(pieces.iter().all(|piece| board.add(*piece)));
    let king = board.king(colour);
    let mut list: Vec<u32> = pieces.iter().filter_map(|piece| net.feature(colour, king, *piece)).collect();
    let (relations, first) = net.plan().relations().unwrap();
    let view = RelationView::new(relations, first, colour, king);
    list.extend(view.without(&board, &tamis_runtime::raw::chess::Board::EMPTY));
    list
}

/// The same by the family's own rules, as rows of its file.
fn family(features: FeatureSet, pieces: &[Piece], colour: Colour) -> BTreeSet<usize> {
    let code =
        |piece: &Piece| (piece.kind() as u8 | if piece.colour() == Colour::Black { 8 } else { 0 }, piece.square());
    let position = Position::new(&pieces.iter().map(code).collect::<Vec<_>>()).unwrap();
    let side = if colour == Colour::White { Side::White } else { Side::Black };
    Board::new(&position, Side::White).active(features, side).into_iter().collect()
}

const LEB128: tamis_quant::stockfish::Encoding = tamis_quant::stockfish::Encoding::Leb128;

fn integer(value: &Value) -> i32 {
    i32::try_from(value.as_i64().unwrap()).unwrap()
}
