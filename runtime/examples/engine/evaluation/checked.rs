//! For developing an engine: every evaluation is made twice, from the line of play and from the board alone.

use super::tamis::Tamis;
use super::{Evaluator, Fault};
use crate::network::{HIDDEN, Network};
use crate::pieces::{self, Moved};
use cozy_chess::Board;
use tamis_runtime::engine::{Colour, State};

pub struct Checked(Tamis);

impl Evaluator for Checked {
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
        self.0.goto(ply)
    }

    fn evaluate(&mut self, board: &Board) -> Result<i32, Box<Fault>> {
        let Tamis { net, state } = &mut self.0;
        let to_move = pieces::colour(board.side_to_move());
        // Without memory of an earlier position: neither a line nor a refresh cache.
        let mut fresh = State::<HIDDEN, 1, 0>::new();
        fresh.refresh(net, pieces::all(board))?;
        let (found, expected) = (state.evaluate(net, to_move)?, fresh.evaluate(net, to_move)?);
        for colour in Colour::BOTH {
            let (found, expected) = (state.accumulator(net, colour)?, fresh.accumulator(net, colour)?);
            if let Some(index) = (0..HIDDEN).find(|index| found[*index] != expected[*index]) {
                let (found, expected) = (found[index], expected[index]);
                return Err(Box::new(Fault::Differs { colour, index, found, expected }));
            }
        }
        if found != expected {
            return Err(Box::new(Fault::Score { found, expected }));
        }
        Ok(found)
    }
}
