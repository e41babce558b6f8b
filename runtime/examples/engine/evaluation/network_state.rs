//! The library's state together with its network, of one of two kinds: with its sizes in the type, for the network that
//! the engine was built for, or in memory as large as a file wants it.

use crate::MAX_PLY;
use crate::network::{HIDDEN, Own};
use crate::pieces::{self, Moved};
use cozy_chess::Board;
use tamis_runtime::RunError;
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, State, StateError};

/// One a thread. What its methods do stands with [`State`]'s.
pub trait NetworkState {
    fn net(&self) -> &AnyNetwork<'static>;
    fn refresh(&mut self, board: &Board) -> Result<(), StateError>;
    fn push(&mut self, moved: &Moved) -> Result<(), StateError>;
    fn push_null(&mut self) -> Result<(), StateError>;
    fn pop(&mut self) -> Result<(), StateError>;
    fn goto(&mut self, ply: usize) -> Result<(), StateError>;
    fn height(&mut self) -> Result<usize, StateError>;
    fn evaluate(&mut self, to_move: Colour) -> Result<i32, StateError>;
    fn accumulator(&mut self, colour: Colour) -> Result<Vec<i16>, StateError>;
}

/// This is all that an engine with a network of its own has to write. Some eighty kilobytes, so the state lives on the
/// heap.
pub struct Fixed {
    net: Own,
    state: Box<State<HIDDEN, MAX_PLY>>,
}

impl Fixed {
    pub fn new(net: &Own) -> Self {
        Self { net: net.clone(), state: Box::new(State::new()) }
    }
}

impl NetworkState for Fixed {
    fn net(&self) -> &AnyNetwork<'static> {
        self.net.any()
    }

    fn refresh(&mut self, board: &Board) -> Result<(), StateError> {
        self.state.refresh(&self.net, pieces::all(board))
    }

    #[inline]
    fn push(&mut self, moved: &Moved) -> Result<(), StateError> {
        self.state.push(&self.net, &moved.added, &moved.removed)
    }

    #[inline]
    fn push_null(&mut self) -> Result<(), StateError> {
        Ok(self.state.push_null()?)
    }

    #[inline]
    fn pop(&mut self) -> Result<(), StateError> {
        Ok(self.state.pop()?)
    }

    #[inline]
    fn goto(&mut self, ply: usize) -> Result<(), StateError> {
        self.state.goto(ply)
    }

    #[inline]
    fn height(&mut self) -> Result<usize, StateError> {
        Ok(self.state.height())
    }

    #[inline]
    fn evaluate(&mut self, to_move: Colour) -> Result<i32, StateError> {
        Ok(self.state.evaluate(&self.net, to_move)?)
    }

    fn accumulator(&mut self, colour: Colour) -> Result<Vec<i16>, StateError> {
        Ok(self.state.accumulator(&self.net, colour)?.to_vec())
    }
}

/// The same for any network. It borrows its memory for as long as a call lasts, as engines in other languages do.
pub struct Any {
    net: AnyNetwork<'static>,
    memory: Memory,
}

impl Any {
    /// For lines of so many positions, with an entry of the refresh cache for each place of a king where `is_cached`.
    pub fn new(net: &AnyNetwork<'static>, plies: usize, is_cached: bool) -> Result<Self, RunError> {
        let keys = if is_cached { net.keys() } else { 0 };
        // `None` is more than an address space has.
        let too_large = RunError::Workspace { found: 0, expected: usize::MAX };
        let mut memory = Memory::new(AnyState::len_bytes(net, plies, keys).ok_or(too_large)?);
        AnyState::create(net, memory.bytes(), plies, keys)?;
        Ok(Self { net: net.clone(), memory })
    }

    #[inline]
    fn open(&mut self) -> Result<(&AnyNetwork<'static>, AnyState<'_>), RunError> {
        Ok((&self.net, AnyState::open(self.memory.bytes())?))
    }
}

impl NetworkState for Any {
    fn net(&self) -> &AnyNetwork<'static> {
        &self.net
    }

    fn refresh(&mut self, board: &Board) -> Result<(), StateError> {
        let (net, mut state) = self.open()?;
        state.refresh(net, pieces::all(board))
    }

    fn push(&mut self, moved: &Moved) -> Result<(), StateError> {
        let (net, mut state) = self.open()?;
        state.push(net, &moved.added, &moved.removed)
    }

    fn push_null(&mut self) -> Result<(), StateError> {
        Ok(self.open()?.1.push_null()?)
    }

    fn pop(&mut self) -> Result<(), StateError> {
        Ok(self.open()?.1.pop()?)
    }

    fn goto(&mut self, ply: usize) -> Result<(), StateError> {
        self.open()?.1.goto(ply)
    }

    fn height(&mut self) -> Result<usize, StateError> {
        Ok(self.open()?.1.height())
    }

    fn evaluate(&mut self, to_move: Colour) -> Result<i32, StateError> {
        let (net, mut state) = self.open()?;
        Ok(state.evaluate(net, to_move)?)
    }

    fn accumulator(&mut self, colour: Colour) -> Result<Vec<i16>, StateError> {
        let (net, mut state) = self.open()?;
        Ok(state.accumulator(net, colour)?.to_vec())
    }
}

/// Bytes at a multiple of 64.
struct Memory {
    bytes: Vec<u8>,
    start: usize,
}

impl Memory {
    const ALIGN: usize = 64;

    fn new(len: usize) -> Self {
        let bytes = vec![0; len + Self::ALIGN];
        let start = bytes.as_ptr().align_offset(Self::ALIGN) % Self::ALIGN;
        Self { bytes, start }
    }

    /// From the aligned place on, to the end.
    fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..]
    }
}

/// What a position gives without memory of an earlier one: neither a line nor a refresh cache.
pub fn filled_anew(net: &AnyNetwork<'static>, board: &Board) -> Result<Any, StateError> {
    let mut alone = Any::new(net, 1, false)?;
    alone.refresh(board)?;
    Ok(alone)
}
