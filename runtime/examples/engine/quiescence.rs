//! Where the depth is used up: captures and promotions until nothing hangs, and every move out of check.

use crate::MAX_PLY;
use crate::evaluation::Evaluator;
use crate::order::{Candidate, Moves};
use crate::score;
use crate::search::{Halt, Search};
use crate::table::Bound;
use cozy_chess::Board;

impl<E: Evaluator> Search<'_, E> {
    /// What `board` is worth once the captures are made.
    pub fn quiescence(&mut self, board: &Board, ply: usize, mut alpha: i32, beta: i32) -> Result<i32, Halt> {
        self.count(ply)?;
        if self.is_drawn(board) {
            return Ok(0);
        }
        if ply + 1 >= MAX_PLY {
            return self.evaluate(board);
        }
        let known = self.table.get(board.hash());
        if let Some(score) = known.and_then(|entry| entry.settles(0, ply, alpha, beta)) {
            return Ok(score);
        }
        let best_known = known.and_then(|entry| entry.best);
        let is_in_check = !board.checkers().is_empty();
        let mut moves = Moves::new();
        let mut best = if is_in_check {
            moves.add_all(board, &self.memory, ply, best_known);
            score::mated(ply)
        } else {
            // Nobody has to take: the side to move is worth at least what it has.
            self.evaluate(board)?
        };
        let (floor, mut best_move) = (alpha, None);
        alpha = alpha.max(best);
        if alpha < beta {
            if !is_in_check {
                moves.add_noisy(board, best_known);
            }
            for Candidate { mv, .. } in moves.by_ref() {
                let next = self.make(board, ply, mv)?;
                let score = -self.quiescence(&next, ply + 1, -beta, -alpha)?;
                if score > best {
                    best = score;
                    best_move = Some(mv);
                }
                alpha = alpha.max(score);
                if alpha >= beta {
                    break;
                }
            }
        }
        let bound = if best >= beta {
            Bound::AtLeast
        } else if best > floor {
            Bound::Exact
        } else {
            Bound::AtMost
        };
        self.table.put(board.hash(), best_move, best, ply, 0, bound);
        Ok(best)
    }
}
