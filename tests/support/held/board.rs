//! Chess: a state that plays a few moves evaluates what the network evaluates for the board, filled anew.

use crate::sample_models::Random;
use crate::second_reader::{Container, bucket_of, feature, relations};
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Kind, Piece};
use tamis_runtime::kernels::tiers;
use tamis_runtime::raw::NONE;
use tamis_runtime::{Input, Output};

/// Plies of the state.
const PLIES: usize = 8;

pub(super) fn hold(bytes: &[u8], container: &Container, random: &mut Random) {
    let start = start(random);
    let moves: Vec<(Piece, Piece)> = line(&start, random);
    for tier in tiers() {
        let net = AnyNetwork::load_on(bytes, tier).unwrap();
        // A list that the network does not take is the caller's fault.
        if start.len() > net.plan().max_active() {
            return;
        }
        let keys = net.keys().div_ceil(2);
        let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&net, PLIES, keys).unwrap());
        let mut state = AnyState::create(&net, memory.as_mut(), PLIES, keys).unwrap();
        state.refresh(&net, start.iter().copied()).unwrap();
        let mut pieces = start.clone();
        for (ply, (from, to)) in moves.iter().enumerate() {
            state.push(&net, &[*to], &[*from]).unwrap();
            *pieces.iter_mut().find(|piece| *piece == from).unwrap() = *to;
            if ply % 3 == 1 {
                continue;
            }
            for mover in Colour::BOTH {
                let found = state.evaluate(&net, mover).unwrap();
                let expected = evaluate(&net, container, &pieces, mover);
                assert_eq!(found, expected, "a state's evaluation, ply {ply}, {mover:?} to move, on {}", tier.name);
            }
        }
    }
}

/// Kings first.
fn start(random: &mut Random) -> Vec<Piece> {
    let mut pieces = vec![Piece::new(Colour::White, Kind::King, 4), Piece::new(Colour::Black, Kind::King, 60)];
    while pieces.len() < 4 {
        let piece = Piece::new(
            Colour::BOTH[pieces.len() % 2],
            Kind::ALL[random.draw() as usize % 5],
            (random.draw() % 64) as u8,
        );
        if pieces.iter().all(|other| other.square() != piece.square()) {
            pieces.push(piece);
        }
    }
    pieces
}

/// Pieces that go to empty squares, kings as often as others.
fn line(start: &[Piece], random: &mut Random) -> Vec<(Piece, Piece)> {
    let mut pieces = start.to_vec();
    let mut moves = Vec::new();
    while moves.len() < PLIES - 1 {
        let (mover, square) = (random.draw() as usize % pieces.len(), (random.draw() % 64) as u8);
        if pieces.iter().all(|piece| piece.square() != square) {
            let from = pieces[mover];
            pieces[mover] = from.at(square);
            moves.push((from, pieces[mover]));
        }
    }
    moves
}

/// What a board is worth to `mover`, by the second reader, whose accumulators are filled from the board.
pub fn evaluate(net: &AnyNetwork<'_>, container: &Container, pieces: &[Piece], mover: Colour) -> i32 {
    let model = net.plan().model();
    let is_without_kings = net.view().planes == tamis_runtime::raw::chess::Planes::NoKings;
    let side = |colour: Colour| {
        let turned = if is_without_kings { 63 } else { 56 };
        let is_black = colour == Colour::Black;
        let own_king = |piece: &&Piece| piece.kind() == Kind::King && piece.colour() == colour;
        let king =
            pieces.iter().find(own_king).expect("a king of each side").square() ^ if is_black { turned } else { 0 };
        let features = pieces.iter().filter(|piece| !(is_without_kings && piece.kind() == Kind::King)).map(|piece| {
            let is_blacks = piece.colour() == Colour::Black;
            feature(container, is_black, piece.kind() as u32, is_blacks, piece.square().into(), king.into())
        });
        let seen = pieces
            .iter()
            .map(|piece| (piece.kind() as u32, piece.colour() == Colour::Black, u32::from(piece.square())));
        let related = relations(container, &seen.collect::<Vec<_>>(), is_black);
        container.accumulate(&features.chain(related).collect::<Vec<u32>>())
    };
    let bucket = match model.input().bucket_table {
        NONE => 0,
        _ => {
            let seen = pieces.iter().map(|piece| (piece.kind() as u32, piece.colour() != mover));
            bucket_of(container, &seen.collect::<Vec<_>>()) as usize
        }
    };
    let (own, other) = (side(mover), side(mover.other()));
    let mut workspace = AlignedBytes::zeroed(model.workspace_len_bytes());
    let traced = net.plan().run_traced(Input::Accumulators(&own, &other), bucket, workspace.as_mut(), |_, _| ());
    match traced.unwrap() {
        Output::I32(values) => values[0],
        Output::F32(values) => values[0] as i32,
        other => panic!("the second reader has no such output: {other:?}"),
    }
}
