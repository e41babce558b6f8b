//! What engines are timed on: lines of play, and what they call along them.

use crate::{FEATURES, PLIES, Random};
use tamis_runtime::engine::{Colour, Kind, Piece};

/// What an engine calls in an iteration.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    /// The same as `update-head`, as an engine does it: a quiet move by its piece, from which the features are to be
    /// found, and an evaluation.
    MoveAndEvaluate,
    /// A quiet move that is taken back.
    MoveAndBack,
    /// A position that is up to date.
    Evaluate,
}

/// A position, and lines of play from it: a piece goes to a square of its own, so that no two ever meet.
pub(crate) fn lines_of_play() -> (Vec<Piece>, Vec<Vec<(Piece, Piece)>>) {
    let mut random = Random::new(7);
    let pieces: Vec<Piece> =
        (0..32).map(|piece| Piece::new(colour(piece / 16), Kind::ALL[piece % 5], 2 * piece as u8)).collect();
    let mut line = |mut pieces: Vec<Piece>| -> Vec<(Piece, Piece)> {
        let mut step = |_| {
            let mover = random.within(0, 31) as usize;
            let from = pieces[mover];
            let mut free = (0..64).filter(|square| pieces.iter().all(|piece| piece.square() != *square));
            pieces[mover] = from.at(free.nth(random.within(0, 31) as usize).unwrap());
            (pieces[mover], from)
        };
        (1..PLIES).map(&mut step).collect()
    };
    let lines = (0..FEATURES / PLIES).map(|_| line(pieces.clone())).collect();
    (pieces, lines)
}

pub(crate) const fn colour(number: usize) -> Colour {
    Colour::BOTH[number % 2]
}
