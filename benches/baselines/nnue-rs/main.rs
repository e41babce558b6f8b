//! Networks of the Stockfish family in Tamis and in the crate nnue-rs, on the same positions in the same run.
//!
//!     nnue-rs-peer [--file NETWORK.nnue] [--rounds N] [--processor N] [--only PART-OF-A-CASE]
//!
//! Two networks with the features of `HalfKAv2_hm`: one of 128 units, the given file's or made up, and a made-up one of
//! 3072. Each is filled anew (`fresh`) and taken along a line of play of quiet moves (`line`), an evaluation behind
//! each. Neither side has anything that the other lacks: nnue-rs is told which pieces move and has its memory
//! beforehand, Tamis uses no refresh cache. That both say the same of every position is checked first.
//!
//! What comes out is JSON: a figure a case, [p10, median] in nanoseconds of processor time, and a ratio for each tier.

use benches::{Cases, Figure, PLIES, pin, series};
use nnue_rs::{Board, Color, Network, Piece as TheirPiece, PieceKind};
use serde_json::{Value, json};
use std::hint::black_box;
use std::rc::Rc;
use tamis_quant::pack::{Provenance, pack};
use tamis_quant::proof::prove;
use tamis_quant::run::AlignedBytes;
use tamis_quant::stockfish::{Division, Encoding, FeatureSet, Head, Net, read, to_bytes};
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Kind, Piece};
use tamis_runtime::kernels::{Tier, tiers};
use tests::stockfish::{made_up, shape};

/// Lines of play; together they touch more rows than a cache of the first level has.
const LINES: usize = 64;

/// Where the kings stand, which never move: white's and black's.
const KINGS: [u8; 2] = [4, 60];

/// A position of a line, for both.
struct Position {
    at: benches::Position,
    to_move: Colour,
}

impl Board for Position {
    fn side_to_move(&self) -> Color {
        color(self.to_move)
    }

    fn king_square(&self, wanted: Color) -> u8 {
        KINGS[usize::from(wanted == Color::Black)]
    }

    fn for_each_piece(&self, with: &mut dyn FnMut(u8, TheirPiece)) {
        self.at.pieces.iter().for_each(|piece| with(piece.square(), their_piece(*piece)));
    }
}

fn color(colour: Colour) -> Color {
    if colour == Colour::White { Color::White } else { Color::Black }
}

fn their_piece(piece: Piece) -> TheirPiece {
    let kind = match piece.kind() {
        Kind::Pawn => PieceKind::Pawn,
        Kind::Knight => PieceKind::Knight,
        Kind::Bishop => PieceKind::Bishop,
        Kind::Rook => PieceKind::Rook,
        Kind::Queen => PieceKind::Queen,
        Kind::King => PieceKind::King,
    };
    TheirPiece::new(color(piece.colour()), kind)
}

fn lines() -> Vec<Vec<Position>> {
    let position = |(ply, at)| Position { at, to_move: Colour::BOTH[ply % 2] };
    let line = |line: Vec<benches::Position>| line.into_iter().enumerate().map(position).collect();
    benches::lines().into_iter().take(LINES).map(line).collect()
}

/// What is done with a position before it is evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Fresh,
    Line,
}

/// Hands out the plies of the lines one after the other, from the second of each.
struct Walk {
    lines: Rc<Vec<Vec<Position>>>,
    line: usize,
    ply: usize,
}

impl Walk {
    fn new(lines: &Rc<Vec<Vec<Position>>>) -> Self {
        Self { lines: lines.clone(), line: 0, ply: 0 }
    }

    /// Whether a line begins, and where to go.
    fn step(&mut self) -> bool {
        self.ply += 1;
        let begins = self.ply == PLIES;
        if begins {
            (self.line, self.ply) = ((self.line + 1) % self.lines.len(), 1);
        }
        begins
    }

    fn here(&self) -> &Position {
        &self.lines[self.line][self.ply]
    }

    fn before(&self) -> &Position {
        &self.lines[self.line][self.ply - 1]
    }
}

/// Values of every position on the way, and what runs so many of them.
fn ours(bytes: &'static [u8], tier: &'static Tier, work: Work, walk: Walk) -> impl FnMut(&mut dyn FnMut(i32)) + use<> {
    let net = AnyNetwork::load_on(bytes, tier).unwrap();
    let memory = Box::leak(Box::new(AlignedBytes::zeroed(AnyState::len_bytes(&net, PLIES, 0).unwrap())));
    let mut state = AnyState::create(&net, memory.as_mut(), PLIES, 0).unwrap();
    state.refresh(&net, walk.lines[0][0].at.pieces.iter().copied()).unwrap();
    let mut walk = walk;
    move |with| {
        // Every line begins with the same position.
        if walk.step() && work == Work::Line {
            state.goto(0).unwrap();
        }
        let position = walk.here();
        match work {
            Work::Fresh => state.refresh(&net, position.at.pieces.iter().copied()).unwrap(),
            Work::Line => state.push(&net, &[position.at.come], &[position.at.goes]).unwrap(),
        }
        with(state.evaluate(&net, position.to_move).unwrap());
    }
}

fn theirs(net: &Rc<Network>, work: Work, walk: Walk) -> impl FnMut(&mut dyn FnMut(i32)) + use<> {
    let net = net.clone();
    let mut stack: Vec<_> = (0..PLIES).map(|_| net.empty_accumulator()).collect();
    net.refresh(&walk.lines[0][0], &mut stack[0]);
    let mut walk = walk;
    move |with| {
        walk.step();
        let position = walk.here();
        let to_move = color(position.to_move);
        match work {
            Work::Fresh => net.refresh(position, &mut stack[walk.ply]),
            Work::Line => {
                let (removed, added) = (position.at.goes, position.at.come);
                let (parents, children) = stack.split_at_mut(walk.ply);
                net.update_changes(
                    walk.before(),
                    position,
                    &[(removed.square(), their_piece(removed))],
                    &[(added.square(), their_piece(added))],
                    &parents[walk.ply - 1],
                    &mut children[0],
                );
            }
        }
        with(net.evaluate_accumulator(&stack[walk.ply], to_move));
    }
}

fn timed(mut one: impl FnMut(&mut dyn FnMut(i32))) -> impl FnMut(u64) {
    move |iterations| {
        for _ in 0..iterations {
            one(&mut |value| {
                black_box(value);
            });
        }
    }
}

fn values(mut one: impl FnMut(&mut dyn FnMut(i32)), count: usize) -> Vec<i32> {
    let mut values = Vec::with_capacity(count);
    (0..count).for_each(|_| one(&mut |value| values.push(value)));
    values
}

fn add(cases: &mut Cases, shape: &str, mut net: Net, lines: &Rc<Vec<Vec<Position>>>) {
    let file = to_bytes(&net);
    // The crate divides what the pieces and what the layers say apart.
    net.division = Division::Twice;
    let program = net.lower();
    let bytes = AlignedBytes::copy_of(&pack(&program, &prove(&program), &Provenance::default()).unwrap());
    let bytes: &'static AlignedBytes = Box::leak(Box::new(bytes));
    let bytes: &'static [u8] = bytes.as_ref();
    let network = Rc::new(Network::from_bytes(&file).unwrap());
    for (what, work) in [("fresh", Work::Fresh), ("line", Work::Line)] {
        let wanted = values(theirs(&network, work, Walk::new(lines)), LINES * PLIES);
        for tier in tiers() {
            let found = values(ours(bytes, tier, work, Walk::new(lines)), LINES * PLIES);
            let differs = found.iter().zip(&wanted).position(|(found, wanted)| found != wanted);
            assert_eq!(differs, None, "{what} of {shape} on {}: the first value that differs", tier.name);
        }
        cases.every_tier(what, shape, |tier| timed(ours(bytes, tier, work, Walk::new(lines))));
        cases.single(what, shape, "nnue-rs", 0, || timed(theirs(&network, work, Walk::new(lines))));
    }
}

/// Ours by the peer's, for each tier.
fn ratios(figures: &[Figure]) -> Vec<Value> {
    let id = |figure: &Figure| figure.id.rsplit_once('/').map(|(case, side)| (case.to_owned(), side.to_owned()));
    let mut rows = Vec::new();
    for figure in figures {
        let Some((case, side)) = id(figure) else { continue };
        let peer = figures.iter().find(|peer| peer.id == format!("{case}/nnue-rs"));
        if let Some(peer) = peer.filter(|_| side != "nnue-rs") {
            let ratio = (1000.0 * figure.p10 / peer.p10).round() / 1000.0;
            rows.push(json!([figure.id, figure.p10.round(), peer.id, peer.p10.round(), ratio]));
        }
    }
    rows
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let said = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1));
    let number = |name: &str, usual: usize| said(name).map_or(usual, |word| word.parse().expect("a number"));
    let small = match said("--file") {
        Some(path) => read(&std::fs::read(path).expect("the network's file")).expect("a network of the family"),
        None => made_up(shape(FeatureSet::HalfKaV2Hm, 128, Head::Pairwise { squares: true }), Encoding::Leb128, 3),
    };
    let mut wide = made_up(shape(FeatureSet::HalfKaV2Hm, 3072, Head::Pairwise { squares: true }), Encoding::Leb128, 5);
    // As small as a trained network's: what the crate makes of larger ones leaves 32 bits.
    let first = wide.stacks.iter_mut().flat_map(|stack| &mut stack.first.weights);
    first.for_each(|weight| *weight /= 4);
    let lines = Rc::new(lines());
    let tiers = tiers().filter(|tier| !matches!(tier.name, "scalar" | "wide")).collect();
    let only = said("--only").cloned();
    let mut cases = Cases::new(tiers, move |id| only.as_ref().is_none_or(|part| id.contains(part.as_str())));
    for net in [small, wide] {
        let shape = format!("(22528-{})x2-16-32-1x8", net.shape.width);
        add(&mut cases, &shape, net, &lines);
    }
    let pinned = pin(number("--processor", 0));
    let figures = series(cases.into_vec(), number("--rounds", 40));
    let all: serde_json::Map<String, Value> =
        figures.iter().map(|figure| (figure.id.clone(), json!([figure.p10, figure.median]))).collect();
    println!("{}", json!({ "pinned": pinned, "figures": all, "ratios": ratios(&figures) }));
}
