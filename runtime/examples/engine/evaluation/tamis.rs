//! The library's state in step with the search, in one of four manners, the first of them the one to copy.

use super::network_state::{self, NetworkState};
use super::{Evaluator, Fault};
use crate::pieces::{self, Moved};
use cozy_chess::Board;
use std::marker::PhantomData;
use tamis_runtime::engine::{Colour, StateError};

/// What a search does and what a state does for it; each manner changes what is different about it.
pub trait Manner {
    #[inline]
    fn push(state: &mut impl NetworkState, moved: &Moved) -> Result<(), StateError> {
        state.push(moved)
    }

    #[inline]
    fn push_null(state: &mut impl NetworkState) -> Result<(), StateError> {
        state.push_null()
    }

    #[inline]
    fn goto(state: &mut impl NetworkState, ply: usize) -> Result<(), StateError> {
        state.goto(ply)
    }

    #[inline]
    fn evaluate(state: &mut impl NetworkState, board: &Board) -> Result<i32, Box<Fault>> {
        Ok(state.evaluate(pieces::colour(board.side_to_move()))?)
    }
}

/// A node goes to its ply before it goes on, wherever the line was.
pub struct Goto;

impl Manner for Goto {}

/// Each move that was made is taken back, before the next is made: make and unmake in place of a board that is copied.
pub struct Popped;

impl Manner for Popped {
    fn goto(state: &mut impl NetworkState, ply: usize) -> Result<(), StateError> {
        while state.height()? > ply {
            state.pop()?;
        }
        Ok(())
    }
}

/// Positions are all there is, as in an engine that keeps copies of them in a tree or a queue: each that is evaluated
/// is filled from the refresh cache, by what differs from the last that was filled there.
pub struct Copied;

impl Manner for Copied {
    fn push(_: &mut impl NetworkState, _: &Moved) -> Result<(), StateError> {
        Ok(())
    }

    fn push_null(_: &mut impl NetworkState) -> Result<(), StateError> {
        Ok(())
    }

    fn goto(_: &mut impl NetworkState, _: usize) -> Result<(), StateError> {
        Ok(())
    }

    fn evaluate(state: &mut impl NetworkState, board: &Board) -> Result<i32, Box<Fault>> {
        state.refresh(board)?;
        Goto::evaluate(state, board)
    }
}

/// For developing an engine: every evaluation is made twice, from the line of play and from the board alone.
pub struct Checked;

impl Manner for Checked {
    fn evaluate(state: &mut impl NetworkState, board: &Board) -> Result<i32, Box<Fault>> {
        let found = Goto::evaluate(state, board)?;
        let mut alone = network_state::filled_anew(state.net(), board)?;
        for colour in Colour::BOTH {
            let (found, expected) = (state.accumulator(colour)?, alone.accumulator(colour)?);
            let differs = found.iter().zip(&expected).enumerate().find(|(_, (found, expected))| found != expected);
            if let Some((index, (&found, &expected))) = differs {
                return Err(Box::new(Fault::Differs { colour, index, found, expected }));
            }
        }
        let expected = Goto::evaluate(&mut alone, board)?;
        if found == expected { Ok(found) } else { Err(Box::new(Fault::Score { found, expected })) }
    }
}

/// A state and how it is used.
pub struct Tamis<S, M> {
    state: S,
    manner: PhantomData<M>,
}

impl<S, M> Tamis<S, M> {
    pub fn new(state: S) -> Self {
        Self { state, manner: PhantomData }
    }
}

impl<S: NetworkState, M: Manner> Evaluator for Tamis<S, M> {
    fn refresh(&mut self, board: &Board) -> Result<(), Box<Fault>> {
        Ok(self.state.refresh(board)?)
    }

    #[inline]
    fn push(&mut self, moved: &Moved) -> Result<(), Box<Fault>> {
        Ok(M::push(&mut self.state, moved)?)
    }

    #[inline]
    fn push_null(&mut self) -> Result<(), Box<Fault>> {
        Ok(M::push_null(&mut self.state)?)
    }

    #[inline]
    fn goto(&mut self, ply: usize) -> Result<(), Box<Fault>> {
        Ok(M::goto(&mut self.state, ply)?)
    }

    #[inline]
    fn evaluate(&mut self, board: &Board) -> Result<i32, Box<Fault>> {
        M::evaluate(&mut self.state, board)
    }
}
