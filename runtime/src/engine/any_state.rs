//! A state in memory of the caller's, for programs that learn a network's width from the file, and for other languages.

use super::error::StateError;
use super::line::{Line, Position};
use super::network::AnyNetwork;
use super::ply::Ply;
#[cfg(short_ways)]
use super::ply::Relocation;
use crate::accumulators::{Cache, Stack};
use crate::chess::board::Board;
use crate::chess::piece::{Colour, Piece};
use crate::error::RunError;
use crate::output::Output;
use bytemuck::{Pod, Zeroable, try_cast_slice_mut};

/// Alignment of the memory and of each of its parts.
const ALIGN: usize = 64;

/// What stands first in the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
struct Shape {
    magic: u64,
    hidden: u64,
    plies: u64,
    keys: u64,
    scratch_len_bytes: u64,
}

/// Tells memory that holds a state from other memory.
const MAGIC: u64 = u64::from_le_bytes(*b"tamis\0st");

impl Shape {
    /// Lengths of the parts in bytes, in their order; `None` if a sum leaves `usize`.
    fn parts(&self) -> Option<[usize; 8]> {
        let part =
            |count: u64, len: usize| usize::try_from(count).ok()?.checked_mul(len)?.checked_next_multiple_of(ALIGN);
        let pair = usize::try_from(self.hidden).ok()?.checked_mul(2 * size_of::<i16>())?;
        Some([
            part(1, size_of::<Self>())?,
            part(1, size_of::<Position>())?,
            part(self.plies, pair)?,
            part(self.keys, pair)?,
            part(self.plies, size_of::<Ply>())?,
            part(self.keys, 2 * size_of::<Board>())?,
            part(self.keys, 2)?,
            part(self.scratch_len_bytes, 1)?,
        ])
    }

    fn len_bytes(&self) -> Option<usize> {
        self.parts()?.into_iter().try_fold(0, usize::checked_add)
    }
}

/// [`super::State`] for any width, in a slice that the caller keeps.
///
/// ```
/// # if !cfg!(feature = "accumulators") { return Ok(()) } // refused without
/// use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Kind, Piece};
///
/// # static NET: &[u8] = tamis_runtime::include_model!("../../../tests/fuzz/corpus/loader/chess-no-buckets.bin");
/// # #[repr(align(64))]
/// # struct Memory([u8; 8192]);
/// let net = AnyNetwork::load(NET)?;
/// let len = AnyState::len_bytes(&net, 64, net.keys()).expect("64 plies fit any memory");
/// let mut memory = Memory([0; 8192]); // at least `len`, at a multiple of 64
/// # assert!(len <= 8192);
/// let mut state = AnyState::create(&net, &mut memory.0, 64, net.keys())?;
/// let (white, black) = (Piece::new(Colour::White, Kind::King, 4), Piece::new(Colour::Black, Kind::King, 60));
/// state.refresh(&net, [white, black])?;
/// let before = state.evaluate(&net, Colour::Black)?;
/// state.push(&net, &[black.at(52)], &[black])?;
/// state.evaluate(&net, Colour::White)?;
/// state.pop()?;
/// assert_eq!(state.evaluate(&net, Colour::Black)?, before);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AnyState<'m> {
    line: Line<'m>,
    scratch: &'m mut [u8],
}

impl<'m> AnyState<'m> {
    fn shape(net: &AnyNetwork<'_>, plies: usize, keys: usize) -> Shape {
        Shape {
            magic: MAGIC,
            hidden: net.hidden() as u64,
            plies: plies as u64,
            keys: keys as u64,
            scratch_len_bytes: net.plan().model().workspace_len_bytes() as u64,
        }
    }

    /// Bytes that a state of `plies` positions, the root included, with `keys` entries of the refresh cache takes;
    /// `None` if no memory could hold it.
    pub fn len_bytes(net: &AnyNetwork<'_>, plies: usize, keys: usize) -> Option<usize> {
        Self::shape(net, plies, keys).len_bytes()
    }

    /// Makes a state without a position. memory: at a multiple of 64, at least [`AnyState::len_bytes`]; what it holds
    /// is lost.
    ///
    /// # Errors
    /// [`RunError::Workspace`], [`RunError::WorkspaceAlignment`].
    pub fn create(net: &AnyNetwork<'_>, memory: &'m mut [u8], plies: usize, keys: usize) -> Result<Self, RunError> {
        let shape = Self::shape(net, plies, keys);
        let expected = shape.len_bytes().unwrap_or(usize::MAX);
        let remainder = memory.as_ptr().addr() % ALIGN;
        if remainder != 0 {
            return Err(RunError::WorkspaceAlignment { remainder });
        }
        let found = memory.len();
        let Some(memory) = memory.get_mut(..expected) else { return Err(RunError::Workspace { found, expected }) };
        memory.fill(0);
        if let Some(head) = memory.get_mut(..size_of::<Shape>()) {
            head.copy_from_slice(bytemuck::bytes_of(&shape));
        }
        Self::open(memory)
    }

    /// Takes up the state that [`AnyState::create`] made in this memory, as it was left.
    ///
    /// # Errors
    /// [`RunError::Workspace`] if the memory holds no state or is shorter than one, [`RunError::WorkspaceAlignment`].
    #[inline]
    pub fn open(memory: &'m mut [u8]) -> Result<Self, RunError> {
        let remainder = memory.as_ptr().addr() % ALIGN;
        if remainder != 0 {
            return Err(RunError::WorkspaceAlignment { remainder });
        }
        let found = memory.len();
        let refused = RunError::Workspace { found, expected: size_of::<Shape>() };
        let shape: Shape = memory.get(..size_of::<Shape>()).map(bytemuck::pod_read_unaligned).ok_or(refused)?;
        let [head, position, accumulators, cached, plies, boards, filled, scratch] = match shape.parts() {
            Some(parts) if shape.magic == MAGIC => parts,
            _ => return Err(refused),
        };
        let (hidden, count, keys) = (shape.hidden as usize, shape.plies as usize, shape.keys as usize);
        let mut rest = memory;
        let mut part = |len: usize| {
            let (part, behind) = core::mem::take(&mut rest).split_at_mut_checked(len)?;
            rest = behind;
            Some(part)
        };
        let cut = (|| {
            part(head)?;
            let (position, accumulators, cached) = (part(position)?, part(accumulators)?, part(cached)?);
            let (plies, boards, filled, scratch) = (part(plies)?, part(boards)?, part(filled)?, part(scratch)?);
            let Position { board, top, numberings, .. } = typed(position)?.first_mut()?;
            let line = Line {
                board,
                numberings,
                stack: Stack {
                    hidden: hidden.try_into().ok()?,
                    accumulators: typed(accumulators)?.get_mut(..2 * hidden * count)?,
                    plies: typed(plies)?.get_mut(..count)?,
                    top,
                },
                cache: Cache {
                    accumulators: typed(cached)?.get_mut(..2 * hidden * keys)?,
                    contents: typed(boards)?.get_mut(..2 * keys)?,
                    filled: filled.get_mut(..2 * keys)?,
                },
            };
            Some(Self { line, scratch })
        })();
        // Asked only where it is refused.
        cut.ok_or_else(|| RunError::Workspace { found, expected: shape.len_bytes().unwrap_or(usize::MAX) })
    }

    /// As [`super::State::refresh`].
    ///
    /// # Errors
    /// As there, [`RunError::Length`] for a network of another width, [`RunError::Workspace`] for one that needs more
    /// of it than the network that the state was created for.
    pub fn refresh(&mut self, net: &AnyNetwork<'_>, pieces: impl IntoIterator<Item = Piece>) -> Result<(), StateError> {
        self.line.refresh(net, pieces, self.scratch.len())
    }

    /// Leaves the state without a position, as a refresh that fails does: for callers that find out before it what is
    /// wrong with theirs.
    pub fn clear(&mut self) {
        self.line.stack.clear();
    }

    /// The short way through [`AnyState::push`], inlined: false, and nothing done, where it has to go the other. This
    /// and its fellows are for the border to C, whose calls are functions already.
    #[doc(hidden)]
    #[inline(always)]
    #[cfg_attr(not(short_ways), expect(unused_variables, reason = "there is no short way"))]
    pub fn try_push(&mut self, net: &AnyNetwork<'_>, to: Piece, from: Piece, taken: Option<Piece>) -> bool {
        #[cfg(short_ways)]
        return self.line.relocate(net, Relocation { to, from, taken });
        #[cfg(not(short_ways))]
        return false;
    }

    #[doc(hidden)]
    #[inline(always)]
    pub fn try_pop(&mut self) -> bool {
        #[cfg(short_ways)]
        return self.line.pop_quickly();
        #[cfg(not(short_ways))]
        return false;
    }

    #[doc(hidden)]
    #[inline(always)]
    #[cfg_attr(not(short_ways), expect(unused_variables, reason = "there is no short way"))]
    pub fn try_evaluate(&mut self, net: &AnyNetwork<'_>, to_move: Colour) -> Option<i32> {
        #[cfg(short_ways)]
        return self.line.evaluate_quickly(net, to_move, None);
        #[cfg(not(short_ways))]
        return None;
    }

    /// As [`super::State::push`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn push(&mut self, net: &AnyNetwork<'_>, added: &[Piece], removed: &[Piece]) -> Result<(), StateError> {
        #[cfg(short_ways)]
        if self.line.push_quickly(net, added, removed) {
            return Ok(());
        }
        self.push_any(net, added, removed)
    }

    #[cfg_attr(not(short_ways), inline)]
    #[cfg_attr(short_ways, inline(never))]
    fn push_any(&mut self, net: &AnyNetwork<'_>, added: &[Piece], removed: &[Piece]) -> Result<(), StateError> {
        self.line.push(net, added, removed)
    }

    /// As [`super::State::push_null`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn push_null(&mut self) -> Result<(), RunError> {
        self.line.push_null()
    }

    /// As [`super::State::pop`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn pop(&mut self) -> Result<(), RunError> {
        #[cfg(short_ways)]
        if self.line.pop_quickly() {
            return Ok(());
        }
        self.pop_any()
    }

    #[cfg_attr(not(short_ways), inline)]
    #[cfg_attr(short_ways, inline(never))]
    fn pop_any(&mut self) -> Result<(), RunError> {
        self.line.pop()
    }

    /// As [`super::State::goto`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn goto(&mut self, ply: usize) -> Result<(), StateError> {
        self.line.goto(ply)
    }

    /// As [`super::State::evaluate`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn evaluate(&mut self, net: &AnyNetwork<'_>, to_move: Colour) -> Result<i32, RunError> {
        #[cfg(short_ways)]
        if let Some(score) = self.evaluate_quickly(net, to_move) {
            return Ok(score);
        }
        self.evaluate_any(net, to_move)
    }

    /// See [`super::State`].
    #[cfg(short_ways)]
    #[inline(never)]
    fn evaluate_quickly(&mut self, net: &AnyNetwork<'_>, to_move: Colour) -> Option<i32> {
        self.line.evaluate_quickly(net, to_move, None)
    }

    #[cfg_attr(not(short_ways), inline)]
    #[cfg_attr(short_ways, inline(never))]
    fn evaluate_any(&mut self, net: &AnyNetwork<'_>, to_move: Colour) -> Result<i32, RunError> {
        self.line.evaluate(net, to_move, self.scratch)
    }

    /// As [`super::State::evaluate_bucket`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn evaluate_bucket(&mut self, net: &AnyNetwork<'_>, to_move: Colour, bucket: usize) -> Result<i32, RunError> {
        self.line.evaluate_bucket(net, to_move, bucket, self.scratch)
    }

    /// As [`super::State::outputs`].
    ///
    /// # Errors
    /// As there.
    pub fn outputs(&mut self, net: &AnyNetwork<'_>, to_move: Colour) -> Result<Output<'_>, RunError> {
        self.line.outputs(net, to_move, self.scratch)
    }

    /// As [`super::State::output_rows`].
    ///
    /// # Errors
    /// As there.
    pub fn output_rows(&mut self, net: &AnyNetwork<'_>, to_move: Colour, rows: &[u32]) -> Result<Output<'_>, RunError> {
        self.line.output_rows(net, to_move, rows, self.scratch)
    }

    /// As [`super::State::accumulator`].
    ///
    /// # Errors
    /// As there.
    pub fn accumulator(&mut self, net: &AnyNetwork<'_>, colour: Colour) -> Result<&[i16], RunError> {
        self.line.accumulator(net, colour)
    }

    /// As [`super::State::pieces`].
    pub fn pieces(&self) -> impl Iterator<Item = Piece> {
        self.line.board.without(&Board::EMPTY)
    }

    /// As [`super::State::height`].
    pub fn height(&self) -> usize {
        self.line.height()
    }
}

/// As many whole elements as there are; the rest of a part is padding.
fn typed<T: Pod>(part: &mut [u8]) -> Option<&mut [T]> {
    let whole = part.len() / size_of::<T>() * size_of::<T>();
    try_cast_slice_mut(part.get_mut(..whole)?).ok()
}
