//! Networks whose features are also relations between pieces: an evaluation after a move beside one of a position that
//! is filled anew.

use crate::nets::threats;
use crate::{Cases, FEATURES, PLIES, Random};
use std::cell::LazyCell;
use std::hint::black_box;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Kind, Piece};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::Tier;

/// What is done with a position, and the entries of the refresh cache that it takes.
#[derive(Clone, Copy)]
enum Work {
    /// A move is made, and the position behind it evaluated.
    Update,
    /// The same position, of which the state knows nothing.
    Refresh,
    /// The same from the cache's entry, which a position of another line has left there.
    FromCache,
}

const WORKS: [(&str, Work); 3] =
    [("engine-head", Work::Update), ("engine-refresh", Work::Refresh), ("engine-from-cache", Work::FromCache)];

/// Stockfish 19's features, (22528 + 64368 -> N)x2, and its head.
pub fn threat_evaluations(cases: &mut Cases) {
    for width in [128, 1024] {
        let shape = format!("(86896-{width})x2-32-32-1x8");
        let model = LazyCell::new(|| threats(width));
        for (what, work) in WORKS {
            cases.every_tier(what, &shape, |tier| evaluations(*model, tier, work));
        }
    }
}

fn evaluations(model: Model<'static>, tier: &'static Tier, work: Work) -> impl FnMut(u64) {
    let net = AnyNetwork::load_on(model.bytes(), tier).unwrap();
    let keys = if matches!(work, Work::FromCache) { net.keys() } else { 0 };
    let memory = Box::leak(Box::new(AlignedBytes::zeroed(AnyState::len_bytes(&net, PLIES, keys).unwrap())));
    let mut state = AnyState::create(&net, memory.as_mut(), PLIES, keys).unwrap();
    let lines = lines();
    state.refresh(&net, lines[0][0].pieces.iter().copied()).unwrap();
    let (mut at, mut ply) = (0, 0);
    move |iterations| {
        for _ in 0..iterations {
            ply += 1;
            if ply == PLIES {
                (at, ply) = ((at + 1) % lines.len(), 1);
                state.goto(0).unwrap();
            }
            let Position { pieces, come, goes } = &lines[at][ply];
            match work {
                Work::Update => state.push(&net, &[*come], &[*goes]).unwrap(),
                // Of the next line, so that no two neighbours are a move apart.
                Work::FromCache => {
                    let pieces = &lines[(at + ply) % lines.len()][ply].pieces;
                    state.refresh(&net, pieces.iter().copied()).unwrap();
                }
                Work::Refresh => state.refresh(&net, pieces.iter().copied()).unwrap(),
            }
            black_box(state.evaluate(&net, Colour::BOTH[ply % 2]).unwrap());
        }
    }
}

/// A position, and the quiet move that led to it.
#[derive(Debug, Clone)]
pub struct Position {
    /// All pieces, kings included.
    pub pieces: Vec<Piece>,
    /// The piece where it came to.
    pub come: Piece,
    /// The same where it was.
    pub goes: Piece,
}

/// Lines from the position at the start of a game: pieces but kings go to free squares of the second to the seventh
/// rank.
pub fn lines() -> Vec<Vec<Position>> {
    let mut random = Random::new(17);
    let mut line = |_| {
        let pieces = start();
        let (come, goes) = (pieces[0], pieces[0]);
        let mut line = vec![Position { pieces, come, goes }];
        while line.len() < PLIES {
            let mut pieces = line[line.len() - 1].pieces.clone();
            let mover = random.within(0, pieces.len() as i32 - 1) as usize;
            let square = random.within(8, 55) as u8;
            if pieces[mover].kind() == Kind::King || pieces.iter().any(|piece| piece.square() == square) {
                continue;
            }
            let goes = pieces[mover];
            pieces[mover] = goes.at(square);
            line.push(Position { come: pieces[mover], goes, pieces });
        }
        line
    };
    (0..FEATURES / PLIES).map(&mut line).collect()
}

fn start() -> Vec<Piece> {
    use Kind::{Bishop, King, Knight, Queen, Rook};
    let back = [Rook, Knight, Bishop, Queen, King, Bishop, Knight, Rook];
    let side = |colour: Colour, [first, second]: [u8; 2]| {
        let officers = (first..).zip(back).map(move |(square, kind)| Piece::new(colour, kind, square));
        officers.chain((second..second + 8).map(move |square| Piece::new(colour, Kind::Pawn, square)))
    };
    side(Colour::White, [0, 8]).chain(side(Colour::Black, [56, 48])).collect()
}
