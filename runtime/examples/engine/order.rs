//! Which move to try first: what the table knows, captures of much by little, moves that refuted neighbours, moves that
//! did well before.

use crate::MAX_PLY;
use cozy_chess::{BitBoard, Board, Color, File, Move, Piece, Rank};
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

/// A legal move and what is known about it.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    score: i32,
    pub mv: Move,
    /// Neither a capture nor a promotion.
    pub is_quiet: bool,
}

/// Moves, the best first as far as one asks.
pub struct Moves {
    moves: Vec<Candidate, MOST>,
    next: usize,
}

impl Moves {
    /// Of none yet; filled where it lies, since it is large.
    pub const fn new() -> Self {
        Self { moves: Vec::new(), next: 0 }
    }

    /// Every legal move.
    pub fn add_all(&mut self, board: &Board, memory: &Memory, ply: usize, best: Option<Move>) {
        let side = board.side_to_move();
        self.add(board, BitBoard::FULL, |mv, noise| match noise {
            _ if best == Some(mv) => Some(BEST),
            Some(noise) => Some(CAPTURE + noise),
            None => Some(memory.score_quiet(side, ply, mv)),
        });
    }

    /// Captures and promotions.
    pub fn add_noisy(&mut self, board: &Board, best: Option<Move>) {
        let side = board.side_to_move();
        let back = Rank::Eighth.relative_to(side).bitboard();
        let passant = board.en_passant().map_or(BitBoard::EMPTY, File::bitboard);
        let targets = board.colors(!side) | back | (passant & Rank::Sixth.relative_to(side).bitboard());
        self.add(board, targets, |mv, noise| if best == Some(mv) { noise.and(Some(BEST)) } else { noise });
    }

    /// score: a move's, from how noisy it is; `None` to leave it out.
    fn add(&mut self, board: &Board, targets: BitBoard, score: impl Fn(Move, Option<i32>) -> Option<i32>) {
        let enemies = board.colors(!board.side_to_move());
        board.generate_moves(|mut set| {
            set.to &= targets;
            for mv in set {
                let noise = noise(board, enemies, set.piece, mv);
                if let Some(score) = score(mv, noise) {
                    let _ = self.moves.push(Candidate { score, mv, is_quiet: noise.is_none() });
                }
            }
            false
        });
    }

    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }
}

impl Iterator for Moves {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        let rest = self.moves.get_mut(self.next..)?;
        // The first of equals, so that the order does not depend on how this is written.
        let best =
            (1..rest.len()).fold(0, |best, index| if rest[index].score > rest[best].score { index } else { best });
        let chosen = *rest.get(best)?;
        rest.swap(0, best);
        self.next += 1;
        Some(chosen)
    }
}

/// How much a capture or a promotion promises; `None` for a quiet move.
fn noise(board: &Board, enemies: BitBoard, piece: Piece, mv: Move) -> Option<i32> {
    let taken = if enemies.has(mv.to) {
        board.piece_on(mv.to)
    } else if piece == Piece::Pawn && mv.from.file() != mv.to.file() {
        Some(Piece::Pawn) // en passant
    } else {
        None
    };
    let value = |piece: Option<Piece>| piece.map_or(0, |piece| 16 * (1 + piece as i32));
    (taken.is_some() || mv.promotion.is_some()).then(|| value(taken) + value(mv.promotion) - piece as i32)
}
