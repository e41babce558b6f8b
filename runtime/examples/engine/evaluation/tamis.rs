//! The library's state in step with the search: this is all that an engine has to write.

use super::{Evaluator, Fault};
use crate::network::{HIDDEN, Network};
use crate::pieces::{self, Moved};
use crate::search::MAX_PLY;
use cozy_chess::Board;
use tamis_runtime::engine::State;

/// One a thread. Some eighty kilobytes, so it lives on the heap.
pub struct Tamis {
    pub(super) net: Network,
    pub(super) state: Box<State<HIDDEN, MAX_PLY>>,
}

impl Evaluator for Tamis {
    fn new(net: &Network) -> Result<Self, Box<Fault>> {
        Ok(Self { net: net.clone(), state: Box::new(State::new()) })
    }

    fn refresh(&mut self, board: &Board) -> Result<(), Box<Fault>> {
        Ok(self.state.refresh(&self.net, pieces::all(board))?)
    }

    #[inline]
    fn push(&mut self, moved: &Moved) -> Result<(), Box<Fault>> {
        Ok(self.state.push(&self.net, &moved.added, &moved.removed)?)
    }

    #[inline]
    fn push_null(&mut self) -> Result<(), Box<Fault>> {
        Ok(self.state.push_null()?)
    }

    #[inline]
    fn goto(&mut self, ply: usize) -> Result<(), Box<Fault>> {
        Ok(self.state.goto(ply)?)
    }

    #[inline]
    fn evaluate(&mut self, board: &Board) -> Result<i32, Box<Fault>> {
        Ok(self.state.evaluate(&self.net, pieces::colour(board.side_to_move()))?)
    }
}
