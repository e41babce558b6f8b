//! A search's own memory: the line of play and the refresh cache, with their sizes in the type.

use super::error::StateError;
use super::line::{Line, Position};
use super::network::Network;
use super::ply::Ply;
use crate::accumulators::{Cache, Ply as _, Stack};
use crate::chess::board::Board;
use crate::chess::piece::{Colour, Piece};
use crate::error::RunError;
use crate::output::Output;
use crate::workspace::Workspace;
use bytemuck::Zeroable;

/// What one thread of a search owns: up to `PLIES` positions with their accumulators of `HIDDEN` elements, the root
/// included, an entry of the refresh cache for each of `KEYS` places of a king, and `SCRATCH` bytes for an evaluation.
///
/// [`super::AnyNetwork::keys`] says how many entries a network can use; with fewer, the other places are filled from
/// nothing. A network of one layer behind its accumulators needs 128 bytes of scratch, others what `inspect` calls the
/// workspace.
///
/// It is large (`(PLIES + KEYS) · 4 · HIDDEN` bytes and some), so it belongs in a static or on the heap. All bytes zero
/// is an empty state, which `bytemuck` can allocate in place (`bytemuck::allocation::zeroed_box`).
///
/// When not to use it: for other games, whose features the runtime does not know; [`crate::nnue::Stack`] takes feature
/// numbers.
#[derive(Debug, Clone, Zeroable)]
#[repr(C, align(64))]
pub struct State<const HIDDEN: usize, const PLIES: usize = 256, const KEYS: usize = 1, const SCRATCH: usize = 8192> {
    accumulators: [[[i16; HIDDEN]; 2]; PLIES],
    cached: [[[i16; HIDDEN]; 2]; KEYS],
    scratch: Workspace<SCRATCH>,
    boards: [[Board; 2]; KEYS],
    filled: [[u8; 2]; KEYS],
    plies: [Ply; PLIES],
    position: Position,
}

/// Bytes of a [`State`] of these sizes, the same on every target: for who knows them only when it runs.
pub fn state_len_bytes(hidden: usize, plies: usize, keys: usize, scratch: usize) -> usize {
    let behind = |end: usize, len: usize, align: usize| end.next_multiple_of(align) + len;
    let pair = 2 * hidden * size_of::<i16>();
    let end = behind(pair * (plies + keys), scratch.next_multiple_of(64), 64);
    let end = behind(end, 2 * keys * size_of::<Board>(), align_of::<Board>()) + 2 * keys;
    let end = behind(end, plies * size_of::<Ply>(), align_of::<Ply>());
    behind(end, size_of::<Position>(), align_of::<Position>()).next_multiple_of(64)
}

impl<const HIDDEN: usize, const PLIES: usize, const KEYS: usize, const SCRATCH: usize>
    State<HIDDEN, PLIES, KEYS, SCRATCH>
{
    /// Without a position: [`State::refresh`] comes first.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            accumulators: [[[0; HIDDEN]; 2]; PLIES],
            cached: [[[0; HIDDEN]; 2]; KEYS],
            scratch: Workspace::new(),
            boards: [[Board::EMPTY; 2]; KEYS],
            filled: [[0; 2]; KEYS],
            plies: [Ply::EMPTY; PLIES],
            position: Position::EMPTY,
        }
    }

    #[cfg_attr(target_os = "none", inline)]
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn line(&mut self) -> (Line<'_>, &mut [u8]) {
        let line = Line {
            board: &mut self.position.board,
            numberings: &mut self.position.numberings,
            stack: Stack {
                hidden: HIDDEN as u32,
                accumulators: self.accumulators.as_flattened_mut().as_flattened_mut(),
                plies: &mut self.plies,
                top: &mut self.position.top,
            },
            cache: Cache {
                accumulators: self.cached.as_flattened_mut().as_flattened_mut(),
                contents: self.boards.as_flattened_mut(),
                filled: self.filled.as_flattened_mut(),
            },
        };
        (line, self.scratch.as_mut())
    }

    /// Forgets the line of play and takes a position, kings included, as its root; a side without one counts as having
    /// it on a1. With another network than before it also empties the cache; a state is never mixed of two networks.
    ///
    /// # Errors
    /// [`StateError::Piece`] for a piece that is given twice or a second king of a colour,
    /// [`RunError::TooManyFeatures`], [`RunError::Workspace`] if `SCRATCH` is too small for the network; the state is
    /// then without a position.
    pub fn refresh(
        &mut self,
        net: &Network<'_, HIDDEN>,
        pieces: impl IntoIterator<Item = Piece>,
    ) -> Result<(), StateError> {
        self.line().0.refresh(net.any(), pieces, SCRATCH)
    }

    /// Makes a move: the pieces that come and those that go, four of each at most, e.g. for a capture one and two. A
    /// promotion adds another piece than it removes, castling has two and two. Computes nothing.
    ///
    /// What counts is the difference: a piece that a move both adds and removes, as a pawn that goes to its last square
    /// before it becomes a queen, is as if it were in neither list.
    ///
    /// # Errors
    /// [`StateError`] for a piece that is removed and not there or added and there, a king that only comes or only
    /// goes, too many pieces, and in [`StateError::Run`] a full or empty stack and another network; the state is then
    /// as before.
    #[inline]
    pub fn push(&mut self, net: &Network<'_, HIDDEN>, added: &[Piece], removed: &[Piece]) -> Result<(), StateError> {
        #[cfg(short_ways)]
        if self.line().0.push_quickly(net.any(), added, removed) {
            return Ok(());
        }
        self.push_any(net, added, removed)
    }

    #[cfg_attr(not(short_ways), inline)]
    #[cfg_attr(short_ways, inline(never))]
    fn push_any(&mut self, net: &Network<'_, HIDDEN>, added: &[Piece], removed: &[Piece]) -> Result<(), StateError> {
        self.line().0.push(net.any(), added, removed)
    }

    /// Makes a null move: it costs nothing.
    ///
    /// # Errors
    /// [`RunError::StackFull`], [`RunError::StackEmpty`].
    #[inline]
    pub fn push_null(&mut self) -> Result<(), RunError> {
        self.line().0.push_null()
    }

    /// Takes the last move back, a null move too. What was computed before it stays.
    ///
    /// # Errors
    /// [`RunError::StackEmpty`] at the root.
    #[inline]
    pub fn pop(&mut self) -> Result<(), RunError> {
        #[cfg(short_ways)]
        if self.line().0.pop_quickly() {
            return Ok(());
        }
        self.pop_any()
    }

    #[cfg_attr(not(short_ways), inline)]
    #[cfg_attr(short_ways, inline(never))]
    fn pop_any(&mut self) -> Result<(), RunError> {
        self.line().0.pop()
    }

    /// Goes back to the position `ply` moves behind the root, null moves included: what came later is taken back, and
    /// what was computed before it stays. At that position already, it does nothing.
    ///
    /// A search that calls it with a node's own ply before each move that the node makes, and before it evaluates,
    /// needs no [`State::pop`]: it may return from anywhere.
    ///
    /// # Errors
    /// [`StateError::Ply`] for a ply that the line has not come to, [`RunError::StackEmpty`] without a position.
    #[inline]
    pub fn goto(&mut self, ply: usize) -> Result<(), StateError> {
        self.line().0.goto(ply)
    }

    /// Evaluates the last position for `to_move`: the network's first output in its own unit (centipawns of most chess
    /// networks), a real one cut to an integer.
    ///
    /// # Errors
    /// [`RunError::StackEmpty`], [`RunError::OtherModel`].
    #[inline]
    pub fn evaluate(&mut self, net: &Network<'_, HIDDEN>, to_move: Colour) -> Result<i32, RunError> {
        #[cfg(short_ways)]
        if let Some(score) = self.evaluate_quickly(net, to_move) {
            return Ok(score);
        }
        self.evaluate_any(net, to_move)
    }

    /// A function of its own, so that what it gives comes in registers, and what the other way needs is kept by who
    /// calls both.
    #[cfg(short_ways)]
    #[inline(never)]
    fn evaluate_quickly(&mut self, net: &Network<'_, HIDDEN>, to_move: Colour) -> Option<i32> {
        self.line().0.evaluate_quickly(net.any(), to_move, None)
    }

    #[cfg_attr(not(short_ways), inline)]
    #[cfg_attr(short_ways, inline(never))]
    fn evaluate_any(&mut self, net: &Network<'_, HIDDEN>, to_move: Colour) -> Result<i32, RunError> {
        let (mut line, scratch) = self.line();
        line.evaluate(net.any(), to_move, scratch)
    }

    /// The same in an output bucket of the engine's choice, for networks that are trained with buckets by something
    /// else than the number of pieces: by pawns, by both sides' pieces, by the phase of the game.
    ///
    /// # Errors
    /// As [`State::evaluate`], and [`RunError::Bucket`].
    #[inline]
    pub fn evaluate_bucket(
        &mut self,
        net: &Network<'_, HIDDEN>,
        to_move: Colour,
        bucket: usize,
    ) -> Result<i32, RunError> {
        let (mut line, scratch) = self.line();
        line.evaluate_bucket(net.any(), to_move, bucket, scratch)
    }

    /// All outputs for the last position: of a network of three, win, draw and loss.
    ///
    /// # Errors
    /// As [`State::evaluate`], and [`RunError::Workspace`] if `SCRATCH` is too small even for a network of one layer.
    pub fn outputs(&mut self, net: &Network<'_, HIDDEN>, to_move: Colour) -> Result<Output<'_>, RunError> {
        let (mut line, scratch) = self.line();
        line.outputs(net.any(), to_move, scratch)
    }

    /// Some outputs for the last position, in the order of `rows`: those of a policy head that its moves ask for; see
    /// [`crate::Plan::run_rows`].
    ///
    /// # Errors
    /// As [`State::outputs`] and [`crate::Plan::run_rows`].
    pub fn output_rows(
        &mut self,
        net: &Network<'_, HIDDEN>,
        to_move: Colour,
        rows: &[u32],
    ) -> Result<Output<'_>, RunError> {
        let (mut line, scratch) = self.line();
        line.output_rows(net.any(), to_move, rows, scratch)
    }

    /// The accumulator of a colour in the last position: (hidden,). For tests that hold it against one that is filled
    /// anew.
    ///
    /// # Errors
    /// [`RunError::StackEmpty`], [`RunError::OtherModel`].
    pub fn accumulator(&mut self, net: &Network<'_, HIDDEN>, colour: Colour) -> Result<&[i16; HIDDEN], RunError> {
        self.line().0.accumulator(net.any(), colour)?;
        let top = (self.position.top.len as usize).saturating_sub(1);
        self.accumulators.get(top).map(|pair| &pair[colour.index()]).ok_or(RunError::StackEmpty)
    }

    /// The pieces of the last position, as the state believes them.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> {
        self.position.board.without(&Board::EMPTY)
    }

    /// Moves made since the root, null moves included.
    pub const fn height(&self) -> usize {
        self.position.top.height()
    }
}

impl<const HIDDEN: usize, const PLIES: usize, const KEYS: usize, const SCRATCH: usize> Default
    for State<HIDDEN, PLIES, KEYS, SCRATCH>
{
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{State, state_len_bytes};

    /// Widths that leave padding behind them, states without a cache and without scratch, and odd counts.
    #[test]
    fn a_state_is_as_long_as_its_sizes_say() {
        macro_rules! sizes {
            ($(($hidden:literal, $plies:literal, $keys:literal, $scratch:literal)),*) => { $(
                let found = size_of::<State<$hidden, $plies, $keys, $scratch>>();
                assert_eq!(state_len_bytes($hidden, $plies, $keys, $scratch), found);
            )* };
        }
        sizes!((64, 17, 0, 0), (3, 1, 1, 1), (3, 64, 1, 65), (8, 5, 3, 127), (128, 256, 1, 8192), (1024, 3, 32, 192));
        sizes!((1, 1, 0, 0), (1, 2, 5, 64), (16, 31, 7, 0));
    }
}
