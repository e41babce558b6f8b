//! The line of play of a chess engine, behind [`super::State`] and [`super::AnyState`]: a board that moves change, a
//! stack of plies with their accumulators, and the cache that they are filled from.

use super::error::StateError;
use super::network::AnyNetwork;
use super::pieces::{Numberings, Pieces};
use super::ply::{PIECES, Ply};
use super::related;
use crate::accumulators::{Cache, Stack, Top};
use crate::chess::board::Board;
use crate::chess::piece::{Colour, Piece};
use crate::error::RunError;
use crate::input::Input;
use crate::output::Output;
use crate::sure::at;
use bytemuck::{Pod, Zeroable};

/// The last position, and how many there are.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
pub(super) struct Position {
    pub board: Board,
    pub top: Top,
    pub numberings: Numberings,
    padding: u32,
}

impl Position {
    pub const EMPTY: Self = Self { board: Board::EMPTY, top: Top::EMPTY, numberings: Numberings::UNKNOWN, padding: 0 };
}

/// The parts of a state.
#[derive(Debug)]
pub(super) struct Line<'s> {
    pub board: &'s mut Board,
    pub numberings: &'s mut Numberings,
    pub stack: Stack<'s, Ply>,
    pub cache: Cache<'s, Board>,
}

impl Line<'_> {
    /// A new root; see [`super::State::refresh`].
    pub fn refresh(
        &mut self,
        net: &AnyNetwork<'_>,
        pieces: impl IntoIterator<Item = Piece>,
        scratch_len_bytes: usize,
    ) -> Result<(), StateError> {
        self.stack.clear();
        if net.hidden() != self.stack.hidden() {
            let (found, expected) = (self.stack.hidden(), net.hidden());
            return Err(RunError::Length { what: "accumulator of the state", found, expected }.into());
        }
        // A network of one layer is scored without.
        let workspace = net.plan().model().workspace_len_bytes();
        if scratch_len_bytes < workspace && !net.plan().is_one_layer() {
            return Err(RunError::Workspace { found: scratch_len_bytes, expected: workspace }.into());
        }
        let identity = net.plan().identity();
        if self.stack.top.identity != identity {
            self.cache.empty();
            *self.numberings = Numberings::UNKNOWN;
            self.stack.top.identity = identity;
        }
        *self.board = Board::EMPTY;
        for piece in pieces {
            if !self.board.add(piece) {
                return Err(StateError::Piece { piece, is_added: true });
            }
        }
        net.admit(self.board, self.board.without(&Board::EMPTY))?;
        self.stack.set_root(identity)?;
        for colour in Colour::BOTH {
            self.fill(net, colour)?;
        }
        Ok(())
    }

    /// See [`super::State::push`].
    #[cfg_attr(target_os = "none", inline)]
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub fn push(&mut self, net: &AnyNetwork<'_>, added: &[Piece], removed: &[Piece]) -> Result<(), StateError> {
        self.stack.check(net.plan().identity())?;
        let Some(ply) = Ply::new(added, removed) else {
            return Err(StateError::TooManyPieces { found: added.len().max(removed.len()), limit: PIECES });
        };
        if let Some(colour) = ply.lone_king() {
            return Err(StateError::LoneKing { colour });
        }
        let (_, place) = self.stack.next()?;
        if !self.board.change(added, removed) {
            return push_difference(net, self.board, (self.stack.plies, self.stack.top), added, removed);
        }
        if let Err(error) = net.admit(self.board, added.iter().copied()) {
            self.board.undo(added, removed);
            return Err(error);
        }
        *place = ply;
        self.stack.grow();
        Ok(())
    }

    /// See [`super::State::push_null`].
    #[inline]
    pub fn push_null(&mut self) -> Result<(), RunError> {
        self.stack.push_null()?;
        #[cfg(short_ways)]
        if let Some(ply) = self.stack.top.index().and_then(|top| self.stack.plies.get_mut(top)) {
            ply.forget_relocation();
        }
        Ok(())
    }

    /// See [`super::State::goto`].
    #[inline]
    pub fn goto(&mut self, ply: usize) -> Result<(), StateError> {
        if self.stack.top.len == 0 {
            return Err(RunError::StackEmpty.into());
        }
        let last = self.height();
        if ply > last {
            return Err(StateError::Ply { found: ply, last });
        }
        for _ in ply..last {
            #[cfg(short_ways)]
            if self.pop_quickly() {
                continue;
            }
            self.pop()?;
        }
        Ok(())
    }

    /// See [`super::State::height`].
    #[inline]
    pub const fn height(&self) -> usize {
        self.stack.top.height()
    }

    /// See [`super::State::pop`].
    #[cfg_attr(target_os = "none", inline)]
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub fn pop(&mut self) -> Result<(), RunError> {
        if let Some(ply) = self.stack.pop()? {
            self.board.undo(ply.added(), ply.removed());
        }
        Ok(())
    }

    /// The accumulator of a colour in the last position, brought up to date.
    pub fn accumulator(&mut self, net: &AnyNetwork<'_>, colour: Colour) -> Result<&[i16], RunError> {
        self.stack.check(net.plan().identity())?;
        let pieces = Pieces { net, board: self.board, numberings: self.numberings.of(net, self.board) };
        if net.is_related() {
            related::bring_up_to_date(&mut self.stack, &mut self.cache, pieces, colour)?;
        } else if !self.stack.bring_up_to_date(&pieces, colour.index()) {
            self.fill(net, colour)?;
        }
        Ok(self.stack.pair(colour.index()).0)
    }

    /// See [`super::State::evaluate`].
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub fn evaluate(&mut self, net: &AnyNetwork<'_>, to_move: Colour, scratch: &mut [u8]) -> Result<i32, RunError> {
        // Where it does not, the short way is still to be tried.
        #[cfg(short_ways)]
        if !net.has_bucket_of_count() {
            return self.evaluate_bucket(net, to_move, net.bucket(self.board, to_move), scratch);
        }
        let bucket = self.prepare(net, to_move)?;
        self.score(net, to_move, bucket, scratch)
    }

    /// See [`super::State::evaluate_bucket`].
    pub fn evaluate_bucket(
        &mut self,
        net: &AnyNetwork<'_>,
        to_move: Colour,
        bucket: usize,
        scratch: &mut [u8],
    ) -> Result<i32, RunError> {
        let limit = net.plan().model().input().bucket_count as usize;
        if bucket >= limit {
            return Err(RunError::Bucket { found: bucket, limit });
        }
        #[cfg(short_ways)]
        if let Some(score) = self.evaluate_quickly(net, to_move, Some(bucket)) {
            return Ok(score);
        }
        self.prepare(net, to_move)?;
        self.score(net, to_move, bucket, scratch)
    }

    /// The score from accumulators that are up to date, in a bucket that there is.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn score(
        &mut self,
        net: &AnyNetwork<'_>,
        to_move: Colour,
        bucket: usize,
        scratch: &mut [u8],
    ) -> Result<i32, RunError> {
        let (own, other) = self.stack.pair(to_move.index());
        if let Some(score) = net.plan().score(own, other, bucket) {
            return Ok(score);
        }
        let output = net.plan().run(Input::Accumulators(own, other), bucket, scratch)?;
        match output {
            Output::I32(values) => Ok(at(values, 0)),
            // `as` cuts toward zero, and what is beyond i32 to its ends.
            Output::F32(values) => Ok(at(values, 0) as i32),
        }
    }

    /// See [`super::State::outputs`].
    pub fn outputs<'w>(
        &mut self,
        net: &AnyNetwork<'_>,
        to_move: Colour,
        scratch: &'w mut [u8],
    ) -> Result<Output<'w>, RunError> {
        let bucket = self.prepare(net, to_move)?;
        let (own, other) = self.stack.pair(to_move.index());
        net.plan().run(Input::Accumulators(own, other), bucket, scratch)
    }

    /// See [`super::State::output_rows`].
    pub fn output_rows<'w>(
        &mut self,
        net: &AnyNetwork<'_>,
        to_move: Colour,
        rows: &[u32],
        scratch: &'w mut [u8],
    ) -> Result<Output<'w>, RunError> {
        let bucket = self.prepare(net, to_move)?;
        let (own, other) = self.stack.pair(to_move.index());
        net.plan().run_rows(Input::Accumulators(own, other), bucket, rows, scratch)
    }

    /// Accumulators up to date; gives the output bucket.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn prepare(&mut self, net: &AnyNetwork<'_>, to_move: Colour) -> Result<usize, RunError> {
        let Self { board, numberings, stack, cache } = self;
        stack.check(net.plan().identity())?;
        let pieces = Pieces { net, board, numberings: numberings.of(net, board) };
        if net.is_related() {
            for colour in [to_move, to_move.other()] {
                related::bring_up_to_date(stack, cache, pieces, colour)?;
            }
            return Ok(net.bucket(board, to_move));
        }
        stack.prepare(&pieces, to_move.index(), |stack, side| fill(stack, cache, pieces, Colour::BOTH[side]))?;
        Ok(net.bucket(board, to_move))
    }

    /// The last position's accumulator of a colour through the cache's entry for its king's place.
    fn fill(&mut self, net: &AnyNetwork<'_>, colour: Colour) -> Result<(), RunError> {
        let pieces = Pieces { net, board: self.board, numberings: self.numberings.of(net, self.board) };
        if net.is_related() {
            return related::bring_up_to_date(&mut self.stack, &mut self.cache, pieces, colour);
        }
        fill(&mut self.stack, &mut self.cache, pieces, colour)
    }
}

#[cold]
fn fill(
    stack: &mut Stack<'_, Ply>,
    cache: &mut Cache<'_, Board>,
    Pieces { net, board, numberings }: Pieces<'_>,
    colour: Colour,
) -> Result<(), RunError> {
    let (place, numbering) = ([net.key(colour, board.king(colour)), colour.index()], numberings[colour.index()]);
    stack.fill(colour.index(), |out| {
        cache.fill(net.plan(), place, board, &numbering, out);
        Ok(())
    })
}

/// Pushes a move that the board refuses as it is given, without the pieces that it both adds and removes, behind the
/// last ply, where [`Stack::next`] has a place.
#[cold]
#[inline(never)]
fn push_difference(
    net: &AnyNetwork<'_>,
    board: &mut Board,
    (plies, top): (&mut [Ply], &mut Top),
    added: &[Piece],
    removed: &[Piece],
) -> Result<(), StateError> {
    let Some(ply) = Ply::difference(added, removed) else {
        let refused = refuse(board, added, removed);
        debug_assert!(refused.is_err(), "a move that is refused without a reason");
        return refused.and(Err(RunError::StackEmpty.into()));
    };
    if let Some(colour) = ply.lone_king() {
        return Err(StateError::LoneKing { colour });
    }
    let limit = plies.len();
    let Some(place) = plies.get_mut(top.len as usize) else { return Err(RunError::StackFull { limit }.into()) };
    let (added, removed) = (ply.added(), ply.removed());
    refuse(board, added, removed)?;
    // A change is made as its reverse is taken back; `Board::change` would look once more at what is known.
    board.undo(removed, added);
    if let Err(error) = net.admit(board, added.iter().copied()) {
        board.undo(added, removed);
        return Err(error);
    }
    *place = ply;
    top.grow();
    Ok(())
}

/// What a board says of a move, if it does not make it.
#[cold]
#[inline(never)]
fn refuse(board: &Board, added: &[Piece], removed: &[Piece]) -> Result<(), StateError> {
    match board.refused(added, removed) {
        None => Ok(()),
        Some((piece, is_added)) => Err(StateError::Piece { piece, is_added }),
    }
}
