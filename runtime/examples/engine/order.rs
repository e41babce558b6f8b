//! Which move to try first: what the table knows, captures of much by little, moves that refuted neighbours, moves that did well before.

use crate::search::MAX_PLY;
use cozy_chess::{BitBoard, Board, Color, Move, Piece, Rank};
use heapless::Vec;

/// No position has more than 218 legal moves.
const MOST: usize = 218;
/// Above every other move's score.
const BEST: i32 = 1 << 30;
const CAPTURE: i32 = 1 << 28;
const KILLER: i32 = 1 << 27;
/// History scores stay within this.
const HISTORY_LIMIT: i32 = 1 << 14;

/// What quiet moves have done so far.
pub struct Memory {
    killers: [[Option<Move>; 2]; MAX_PLY],
    /// By colour, origin and destination.
    history: [[[i32; 64]; 64]; 2],
}

impl Memory {
    pub const fn new() -> Self {
        Self { killers: [[None; 2]; MAX_PLY], history: [[[0; 64]; 64]; 2] }
    }

    /// A quiet move refuted the move before it; those tried before it did not.
    pub fn reward(&mut self, side: Color, ply: usize, depth: i32, best: Move, tried: &[Move]) {
        let killers = &mut self.killers[ply];
        if killers[0] != Some(best) {
            *killers = [Some(best), killers[0]];
        }
        let bonus = (depth * depth).min(400);
        self.change(side, best, bonus);
        for mv in tried {
            self.change(side, *mv, -bonus);
        }
    }

    /// Toward one end of the range, the slower the nearer.
    fn change(&mut self, side: Color, mv: Move, bonus: i32) {
        let value = &mut self.history[side as usize][mv.from as usize][mv.to as usize];
        *value += bonus * 16 - *value * bonus.abs() * 16 / HISTORY_LIMIT;
    }

    fn score_quiet(&self, side: Color, ply: usize, mv: Move) -> i32 {
        match self.killers[ply].iter().position(|killer| *killer == Some(mv)) {
            Some(place) => KILLER - place as i32,
            None => self.history[side as usize][mv.from as usize][mv.to as usize],
        }
    }
}

/// Moves, the best first as far as one asks.
pub struct Moves {
    moves: Vec<(i32, Move), MOST>,
    next: usize,
}

impl Moves {
    /// Every legal move.
    pub fn all(board: &Board, memory: &Memory, ply: usize, best: Option<Move>) -> Self {
        let side = board.side_to_move();
        Self::collect(board, BitBoard::FULL, |mv| match noise(board, mv) {
            _ if best == Some(mv) => BEST,
            Some(noise) => CAPTURE + noise,
            None => memory.score_quiet(side, ply, mv),
        })
    }

    /// Captures and promotions.
    pub fn noisy(board: &Board, best: Option<Move>) -> Self {
        let side = board.side_to_move();
        let passant = board
            .en_passant()
            .map_or(BitBoard::EMPTY, |file| file.bitboard() & Rank::Sixth.relative_to(side).bitboard());
        let targets = board.colors(!side) | Rank::Eighth.relative_to(side).bitboard() | passant;
        let mut moves =
            Self::collect(board, targets, |mv| if best == Some(mv) { BEST } else { noise(board, mv).unwrap_or(-1) });
        moves.moves.retain(|(_, mv)| noise(board, *mv).is_some());
        moves
    }

    fn collect(board: &Board, targets: BitBoard, score: impl Fn(Move) -> i32) -> Self {
        let mut moves = Vec::new();
        board.generate_moves(|mut set| {
            set.to &= targets;
            for mv in set {
                let _ = moves.push((score(mv), mv));
            }
            false
        });
        Self { moves, next: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }
}

impl Iterator for Moves {
    type Item = Move;

    fn next(&mut self) -> Option<Move> {
        let rest = self.moves.get_mut(self.next..)?;
        // The first of equals, so that the order does not depend on how this is written.
        let best = (1..rest.len()).fold(0, |best, index| if rest[index].0 > rest[best].0 { index } else { best });
        let chosen = rest.get(best)?.1;
        rest[..=best].rotate_right(1);
        self.next += 1;
        Some(chosen)
    }
}

/// How much a capture or a promotion promises; `None` for a quiet move.
pub fn noise(board: &Board, mv: Move) -> Option<i32> {
    let side = board.side_to_move();
    let piece = board.piece_on(mv.from)?;
    let is_passant = piece == Piece::Pawn && mv.from.file() != mv.to.file() && !board.occupied().has(mv.to);
    let taken = match board.piece_on(mv.to) {
        _ if is_passant => Some(Piece::Pawn),
        Some(taken) if board.colors(!side).has(mv.to) => Some(taken),
        _ => None, // nothing, or the own rook of a castling
    };
    match (taken, mv.promotion) {
        (None, None) => None,
        (taken, promotion) => {
            let value = |piece: Option<Piece>| piece.map_or(0, |piece| 16 * (1 + piece as i32));
            Some(value(taken) + value(promotion) - piece as i32)
        }
    }
}
