//! Alpha-beta: what a position is worth if both sides play on for some plies.
//!
//! ```text
//! node(position, depth, alpha, beta):
//!     draw by repetition, fifty moves or lack of pieces?     0
//!     depth used up?                                      quiescence
//!     the table knows enough?                             what it says
//!     far above beta, or still after passing the turn?    beta holds
//!     the first move with the whole window, the others with an empty one and, late and quiet, less depth;
//!     who surprises is searched again
//! ```
//!
//! Every number is an integer and every loop in a fixed order, so the count of nodes is the same on every machine.

use crate::MAX_PLY;
use crate::evaluation::{Evaluator, Fault};
use crate::order::{Candidate, Memory, Moves};
use crate::pieces;
use crate::score::{self, INFINITE, MATE_BOUND};
use crate::table::{Bound, Table};
use crate::time::Deadlines;
use cozy_chess::{Board, Move, Piece};
use heapless::Vec as Bounded;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Nodes between two looks at the clock: a millisecond or two.
const PATIENCE: u64 = 512;
/// A side that is so many centipawns a ply above beta will not fall below it.
const MARGIN: i32 = 80;
const MARGIN_DEPTH: i32 = 6;
const NULL_DEPTH: i32 = 3;

/// Why a search ends before its time.
pub enum Halt {
    /// Time, nodes or a command.
    Stopped,
    /// The evaluator refused.
    Broken(Box<Fault>),
}

impl From<Box<Fault>> for Halt {
    fn from(fault: Box<Fault>) -> Self {
        Self::Broken(fault)
    }
}

/// What a search works with; what it learns about moves dies with it.
pub struct Search<'a, E> {
    pub evaluator: E,
    pub table: &'a mut Table,
    pub memory: Box<Memory>,
    /// Positions of the game and of the line, without the right to take en passant.
    pub keys: Vec<u64>,
    /// How many of them are the game's, the position that is searched included.
    pub keys_before: usize,
    /// The best line from each ply on.
    pub lines: Vec<Vec<Move>>,
    pub nodes: u64,
    /// Longest line of this iteration.
    pub deepest: usize,
    pub node_limit: u64,
    pub deadlines: Deadlines,
    pub stop: &'a AtomicBool,
}

impl<E: Evaluator> Search<'_, E> {
    /// What `board` is worth for the side to move: at least beta, at most alpha, or exactly.
    pub fn node(
        &mut self,
        board: &Board,
        mut depth: i32,
        ply: usize,
        mut alpha: i32,
        mut beta: i32,
        may_pass: bool,
    ) -> Result<i32, Halt> {
        let is_in_check = !board.checkers().is_empty();
        depth += i32::from(is_in_check);
        if depth <= 0 {
            return self.quiescence(board, ply, alpha, beta);
        }
        self.count(ply)?;
        if ply > 0 {
            if self.is_drawn(board) {
                return Ok(0);
            }
            // No line is better than to mate next move, nor worse than to be mated now.
            (alpha, beta) = (alpha.max(score::mated(ply)), beta.min(-score::mated(ply + 1)));
            if alpha >= beta {
                return Ok(alpha);
            }
        }
        if ply + 1 >= MAX_PLY {
            return self.evaluate(board);
        }
        let is_main_line = beta - alpha > 1;
        let known = self.table.get(board.hash());
        if let Some(score) = known.and_then(|entry| entry.settles(depth, ply, alpha, beta))
            && !is_main_line
        {
            return Ok(score);
        }
        if !is_main_line && !is_in_check && beta.abs() < MATE_BOUND {
            let here = self.evaluate(board)?;
            if depth <= MARGIN_DEPTH && here - MARGIN * depth >= beta {
                return Ok(here);
            }
            if may_pass && depth >= NULL_DEPTH && here >= beta && has_pieces(board) {
                let score = self.pass(board, depth, ply, beta)?;
                if score >= beta {
                    return Ok(score.min(MATE_BOUND - 1));
                }
            }
        }
        self.moves(board, depth, ply, alpha, beta, known.and_then(|entry| entry.best))
    }

    /// The moves of a node, one after the other.
    fn moves(
        &mut self,
        board: &Board,
        depth: i32,
        ply: usize,
        mut alpha: i32,
        beta: i32,
        best_known: Option<Move>,
    ) -> Result<i32, Halt> {
        let is_in_check = !board.checkers().is_empty();
        let mut moves = Moves::new();
        moves.add_all(board, &self.memory, ply, best_known);
        if moves.is_empty() {
            return Ok(if is_in_check { score::mated(ply) } else { 0 });
        }
        let (mut best, mut best_move, floor) = (-INFINITE, None, alpha);
        let mut quiet_tried = Bounded::<Move, 64>::new();
        for (index, Candidate { mv, is_quiet, .. }) in moves.by_ref().enumerate() {
            let next = self.make(board, ply, mv)?;
            let reduction =
                if is_quiet && !is_in_check && next.checkers().is_empty() { later(depth, index) } else { 0 };
            let score = if index == 0 {
                -self.node(&next, depth - 1, ply + 1, -beta, -alpha, true)?
            } else {
                let mut score = -self.node(&next, depth - 1 - reduction, ply + 1, -alpha - 1, -alpha, true)?;
                if score > alpha && reduction > 0 {
                    score = -self.node(&next, depth - 1, ply + 1, -alpha - 1, -alpha, true)?;
                }
                if score > alpha && score < beta {
                    score = -self.node(&next, depth - 1, ply + 1, -beta, -alpha, true)?;
                }
                score
            };
            if score > best {
                best = score;
                if score > alpha {
                    (alpha, best_move) = (score, Some(mv));
                    self.keep_line(ply, mv);
                }
            }
            if alpha >= beta {
                if is_quiet {
                    self.memory.reward(board.side_to_move(), ply, depth, mv, &quiet_tried);
                }
                break;
            }
            if is_quiet {
                let _ = quiet_tried.push(mv);
            }
        }
        let bound = if best >= beta {
            Bound::AtLeast
        } else if best > floor {
            Bound::Exact
        } else {
            Bound::AtMost
        };
        self.table.put(board.hash(), best_move, best, ply, depth, bound);
        Ok(best)
    }

    /// The score when the side to move passes: if the other side cannot use that, it is too far behind.
    fn pass(&mut self, board: &Board, depth: i32, ply: usize, beta: i32) -> Result<i32, Halt> {
        let Some(next) = board.null_move() else { return Ok(-INFINITE) };
        self.goto(ply)?;
        self.evaluator.push_null()?;
        self.keys.push(next.hash_without_ep());
        Ok(-self.node(&next, depth - 3 - depth / 4, ply + 1, -beta, 1 - beta, false)?)
    }

    /// A new node; looks from time to time whether there is time for it.
    pub fn count(&mut self, ply: usize) -> Result<(), Halt> {
        self.goto(ply)?;
        self.nodes += 1;
        self.deepest = self.deepest.max(ply);
        self.lines[ply].clear();
        let is_late = self.nodes.is_multiple_of(PATIENCE)
            && (self.stop.load(Ordering::Relaxed) || self.deadlines.hard.is_some_and(|hard| Instant::now() >= hard));
        if is_late || self.nodes > self.node_limit { Err(Halt::Stopped) } else { Ok(()) }
    }

    pub fn evaluate(&mut self, board: &Board) -> Result<i32, Halt> {
        Ok(score::of_network(self.evaluator.evaluate(board)?))
    }

    /// Plays a legal move at a node; the evaluator goes along. Nobody takes it back: who goes on from a node goes there
    /// first.
    pub fn make(&mut self, board: &Board, ply: usize, mv: Move) -> Result<Board, Halt> {
        self.goto(ply)?;
        self.evaluator.push(&pieces::moved(board, mv))?;
        let mut next = board.clone();
        next.play_unchecked(mv);
        self.keys.push(next.hash_without_ep());
        Ok(next)
    }

    /// The line of play ends at a node, wherever it was.
    fn goto(&mut self, ply: usize) -> Result<(), Halt> {
        self.keys.truncate(self.keys_before + ply);
        Ok(self.evaluator.goto(ply)?)
    }

    /// The best line from here: this move, and what was found behind it.
    fn keep_line(&mut self, ply: usize, mv: Move) {
        let [line, rest, ..] = &mut self.lines[ply..] else { return };
        line.clear();
        line.push(mv);
        line.extend_from_slice(rest);
    }

    /// Neither side can win, or the position was there before: once is enough, since who can repeat can do so again.
    pub fn is_drawn(&self, board: &Board) -> bool {
        let clock = usize::from(board.halfmove_clock());
        if clock >= 100 {
            // A mate on the last of the fifty moves counts.
            return board.checkers().is_empty() || board.generate_moves(|_| true);
        }
        let only = board.pieces(Piece::Pawn) | board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
        if only.is_empty() && board.occupied().len() <= 3 {
            return true;
        }
        let Some((key, before)) = self.keys.split_last() else { return false };
        before.iter().rev().take(clock).skip(1).step_by(2).any(|earlier| earlier == key)
    }
}

/// Plies less for a quiet move that comes late.
fn later(depth: i32, index: usize) -> i32 {
    if depth < 3 || index < 3 {
        return 0;
    }
    let product = depth.ilog2() * (index as u32).ilog2();
    (1 + product as i32 / 3).min(depth - 2)
}

/// Whether the side to move has more than pawns: with pawns alone, passing may be the best move and proves nothing.
fn has_pieces(board: &Board) -> bool {
    let few = board.pieces(Piece::Pawn) | board.pieces(Piece::King);
    !(board.colors(board.side_to_move()) - few).is_empty()
}
