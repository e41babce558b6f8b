//! The same for an engine that takes back each move that it has made, before it makes the next: make and unmake in
//! place of a board that is copied.

use super::tamis::Tamis;
use super::{Evaluator, Fault};
use crate::network::Network;
use crate::pieces::Moved;
use cozy_chess::Board;

pub struct Popped(Tamis);

impl Evaluator for Popped {
    fn new(net: &Network) -> Result<Self, Box<Fault>> {
        Tamis::new(net).map(Self)
    }

    fn refresh(&mut self, board: &Board) -> Result<(), Box<Fault>> {
        self.0.refresh(board)
    }

    fn push(&mut self, moved: &Moved) -> Result<(), Box<Fault>> {
        self.0.push(moved)
    }

    fn push_null(&mut self) -> Result<(), Box<Fault>> {
        self.0.push_null()
    }

    fn goto(&mut self, ply: usize) -> Result<(), Box<Fault>> {
        while self.0.state.height() > ply {
            self.0.state.pop()?;
        }
        Ok(())
    }

    fn evaluate(&mut self, board: &Board) -> Result<i32, Box<Fault>> {
        self.0.evaluate(board)
    }
}
