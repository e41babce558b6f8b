//! The line of play over memory that somebody else owns: the one algorithm behind [`super::State`] and
//! [`super::AnyState`].
//!
//! A push notes which men move and keeps the board; it computes nothing, because most positions of a search are left
//! without being evaluated. An evaluation walks back, each colour on its own, to the last ply whose accumulator is
//! computed, and forward again, parent to child, one pass a ply. Where that colour's king has gone to a place with
//! other features on the way, the walk ends: the accumulator is then filled from the cache's entry for the king's
//! place, by the men that differ from those that the entry was last filled for.

use super::board::Board;
use super::cache::{Cache, features};
use super::error::StateError;
use super::eyes::Eyes;
use super::man::{Colour, Man};
use super::network::AnyNetwork;
use super::ply::Ply;
use crate::error::RunError;
use crate::format::Identity;
use crate::input::Input;
use crate::kernels::Moved;
use crate::output::Output;
use bytemuck::{Pod, Zeroable};

/// The last position, and how many there are.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
pub(super) struct Top {
    pub board: Board,
    /// Of the network that the root was set for.
    pub identity: Identity,
    /// Plies in use; 0 while there is no root.
    pub len: u32,
    /// The same with null moves.
    pub plies: u32,
}

impl Top {
    pub const EMPTY: Self = Self { board: Board::EMPTY, identity: Identity::NONE, len: 0, plies: 0 };
}

/// The parts of a state.
#[derive(Debug)]
pub(super) struct Line<'s> {
    /// Width of an accumulator.
    pub hidden: usize,
    /// (plies, 2, hidden)
    pub accumulators: &'s mut [i16],
    pub plies: &'s mut [Ply],
    pub cache: Cache<'s>,
    pub top: &'s mut Top,
}

impl Line<'_> {
    /// A new root; see [`super::State::refresh`].
    pub fn refresh(
        &mut self,
        net: &AnyNetwork<'_>,
        men: impl IntoIterator<Item = Man>,
        scratch_len_bytes: usize,
    ) -> Result<(), StateError> {
        self.top.len = 0;
        self.top.plies = 0;
        if net.hidden() != self.hidden {
            let (found, expected) = (self.hidden, net.hidden());
            return Err(RunError::Length { what: "accumulator of the state", found, expected }.into());
        }
        // A network of one layer is scored without.
        let workspace = net.plan().model().workspace_len_bytes();
        if scratch_len_bytes < workspace && !net.plan().is_one_layer() {
            return Err(RunError::Workspace { found: scratch_len_bytes, expected: workspace }.into());
        }
        if self.top.identity != net.plan().identity() {
            self.cache.empty();
            self.top.identity = net.plan().identity();
        }
        let mut board = Board::EMPTY;
        for man in men {
            if !board.add(man) {
                return Err(StateError::Man { man, is_added: true });
            }
        }
        net.check_count(board.count())?;
        let Some(root) = self.plies.first_mut() else { return Err(RunError::StackFull { limit: 0 }.into()) };
        *root = Ply::EMPTY;
        (self.top.board, self.top.len, self.top.plies) = (board, 1, 1);
        for colour in Colour::BOTH {
            self.fill(net, colour);
        }
        Ok(())
    }

    /// See [`super::State::push`].
    #[inline]
    pub fn push(&mut self, net: &AnyNetwork<'_>, added: &[Man], removed: &[Man]) -> Result<(), StateError> {
        self.check(net)?;
        let Some(ply) = Ply::new(added, removed) else {
            return Err(StateError::TooManyMen { found: added.len().max(removed.len()), limit: super::ply::MEN });
        };
        if let Some(colour) = ply.lone_king() {
            return Err(StateError::LoneKing { colour });
        }
        let limit = self.plies.len();
        let place = match self.plies.get_mut(self.top.len as usize) {
            Some(place) if (self.top.plies as usize) < limit => place,
            _ => return Err(RunError::StackFull { limit }.into()),
        };
        let board = &mut self.top.board;
        if !board.change(added, removed) {
            return Err(board.refusal(added, removed));
        }
        if let Err(error) = net.check_count(board.count()) {
            board.undo(added, removed);
            return Err(error.into());
        }
        *place = ply;
        self.top.len += 1;
        self.top.plies += 1;
        Ok(())
    }

    /// See [`super::State::push_null`].
    #[inline]
    pub fn push_null(&mut self) -> Result<(), RunError> {
        let limit = self.plies.len();
        let Some(ply) = self.top_index().and_then(|top| self.plies.get_mut(top)) else {
            return Err(RunError::StackEmpty);
        };
        let nulls = ply.nulls.checked_add(1).filter(|_| (self.top.plies as usize) < limit);
        ply.nulls = nulls.ok_or(RunError::StackFull { limit })?;
        self.top.plies += 1;
        Ok(())
    }

    /// See [`super::State::pop`].
    #[inline]
    pub fn pop(&mut self) -> Result<(), RunError> {
        let Some(ply) = self.top_index().filter(|_| self.top.plies > 1).and_then(|top| self.plies.get_mut(top)) else {
            return Err(RunError::StackEmpty);
        };
        self.top.plies -= 1;
        if ply.nulls > 0 {
            ply.nulls -= 1;
            return Ok(());
        }
        self.top.len -= 1;
        self.top.board.undo(ply.added(), ply.removed());
        Ok(())
    }

    /// The men of the last position.
    pub fn men(&self) -> impl Iterator<Item = Man> {
        self.top.board.without(&Board::EMPTY)
    }

    /// The accumulator of a colour in the last position, brought up to date.
    pub fn accumulator(&mut self, net: &AnyNetwork<'_>, colour: Colour) -> Result<&[i16], RunError> {
        self.check(net)?;
        self.bring_up_to_date(net, colour);
        Ok(self.pair(colour).0)
    }

    /// See [`super::State::evaluate`].
    #[inline]
    pub fn evaluate(&mut self, net: &AnyNetwork<'_>, to_move: Colour, scratch: &mut [u8]) -> Result<i32, RunError> {
        let bucket = self.prepare(net, to_move)?;
        let (own, other) = self.pair(to_move);
        if let Some(score) = net.plan().score(own, other, bucket) {
            return Ok(score);
        }
        match net.plan().run(Input::Accumulators(own, other), bucket, scratch)? {
            Output::I32(values) => Ok(values.first().copied().unwrap_or(0)),
            // `as` cuts toward zero, and what is beyond i32 to its ends.
            Output::F32(values) => Ok(values.first().copied().unwrap_or(0.0) as i32),
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
        let (own, other) = self.pair(to_move);
        net.plan().run(Input::Accumulators(own, other), bucket, scratch)
    }

    /// Accumulators up to date; gives the output bucket.
    #[inline]
    fn prepare(&mut self, net: &AnyNetwork<'_>, to_move: Colour) -> Result<usize, RunError> {
        self.check(net)?;
        if !self.bring_both_up_to_date(net) {
            self.bring_up_to_date(net, to_move);
            if net.is_two_sided() {
                self.bring_up_to_date(net, to_move.other());
            }
        }
        Ok(net.bucket(self.top.board.count()))
    }

    #[inline]
    fn check(&self, net: &AnyNetwork<'_>) -> Result<(), RunError> {
        if self.top.len == 0 {
            return Err(RunError::StackEmpty);
        }
        let (found, expected) = (self.top.identity, net.plan().identity());
        if found == expected { Ok(()) } else { Err(RunError::OtherModel { found, expected }) }
    }

    #[inline]
    fn top_index(&self) -> Option<usize> {
        (self.top.len as usize).checked_sub(1)
    }

    /// The accumulators of the last position: a colour's, and the other's.
    #[inline]
    fn pair(&self, first: Colour) -> (&[i16], &[i16]) {
        let hidden = self.hidden;
        let start = self.top_index().unwrap_or(0) * 2 * hidden;
        let both = self.accumulators.get(start..start + 2 * hidden).unwrap_or(&[]);
        let (white, black) = both.split_at_checked(hidden).unwrap_or((&[], &[]));
        match first {
            Colour::White => (white, black),
            Colour::Black => (black, white),
        }
    }

    /// Both colours along the same plies, from the last one that is computed for both. False, and nothing done, where
    /// one of them is further than the other or a king goes to a place with other features on the way.
    #[inline]
    fn bring_both_up_to_date(&mut self, net: &AnyNetwork<'_>) -> bool {
        let Some(top) = self.top_index() else { return false };
        let mut from = top;
        loop {
            let Some(ply) = self.plies.get(from) else { return false };
            if ply.is_computed_for_both() {
                break;
            }
            let goes_on = ply.is_plain() || (!ply.is_computed_for_any() && !crosses(net, ply));
            if !goes_on || from == 0 {
                return false;
            }
            from -= 1;
        }
        let eyes = Colour::BOTH.map(|colour| net.eyes(colour, self.top.board.king(colour)));
        for index in from + 1..=top {
            self.step_both(net, &eyes, index);
        }
        true
    }

    /// A ply's accumulators from its parent's. The commonest moves, a man that goes and perhaps takes one, in one pass.
    #[inline]
    fn step_both(&mut self, net: &AnyNetwork<'_>, [white, black]: &[Eyes; 2], index: usize) {
        let hidden = self.hidden;
        let Some(ply) = self.plies.get_mut(index) else { return };
        let moved = match (ply.added(), ply.removed()) {
            _ if !ply.is_plain() && !net.view().has_king_features() => None,
            (&[to], &[from]) => {
                Some(Moved::Quiet([[white.feature(to), white.feature(from)], [black.feature(to), black.feature(from)]]))
            }
            (&[to], &[from, taken]) => Some(Moved::Capture([
                [white.feature(to), white.feature(from), white.feature(taken)],
                [black.feature(to), black.feature(from), black.feature(taken)],
            ])),
            _ => None,
        };
        let end = (index + 1) * 2 * hidden;
        if let Some(moved) = moved
            && let Some(pairs) = self.accumulators.get_mut(end - 4 * hidden..end)
        {
            let (before, after) = pairs.split_at_mut(2 * hidden);
            if net.plan().move_both(after, before, &moved) {
                return ply.set_computed_for_both();
            }
        }
        self.step(net, Colour::White, white, index);
        self.step(net, Colour::Black, black, index);
    }

    /// Walks back to the last computed ply and forward again, or fills from the cache.
    #[inline]
    fn bring_up_to_date(&mut self, net: &AnyNetwork<'_>, colour: Colour) {
        let Some(top) = self.top_index() else { return };
        let mut from = top;
        loop {
            let Some(ply) = self.plies.get(from) else { return };
            if ply.is_computed(colour) {
                break;
            }
            if from == 0 || crosses_for(net, ply, colour) {
                return self.fill(net, colour);
            }
            from -= 1;
        }
        // Between equal keys, any of the king's squares gives the same features.
        let eyes = net.eyes(colour, self.top.board.king(colour));
        for index in from + 1..=top {
            self.step(net, colour, &eyes, index);
        }
    }

    /// A ply's accumulator from its parent's.
    fn step(&mut self, net: &AnyNetwork<'_>, colour: Colour, eyes: &Eyes, index: usize) {
        let hidden = self.hidden;
        let Some(ply) = self.plies.get_mut(index) else { return };
        let added = features(net, eyes, ply.added().iter().copied());
        let removed = features(net, eyes, ply.removed().iter().copied());
        let start = (2 * index + colour.index()) * hidden;
        let (done, rest) = self.accumulators.split_at_mut(start);
        let parent = done.get(start - 2 * hidden..).and_then(|from| from.get(..hidden));
        if let (Some(parent), Some(child)) = (parent, rest.get_mut(..hidden)) {
            net.plan().change(child, Some(parent), &added, &removed);
            ply.set_computed(colour);
        }
    }

    /// The last position's accumulator of a colour through the cache's entry for its king's place.
    #[cold]
    fn fill(&mut self, net: &AnyNetwork<'_>, colour: Colour) {
        let Some(top) = self.top_index() else { return };
        let (hidden, board) = (self.hidden, self.top.board);
        let king = board.king(colour);
        let start = (2 * top + colour.index()) * hidden;
        let Some(out) = self.accumulators.get_mut(start..start + hidden) else { return };
        self.cache.fill(net, colour, king, &board, out);
        if let Some(ply) = self.plies.get_mut(top) {
            ply.set_computed(colour);
        }
    }
}

/// Whether a king goes to a place with other features.
fn crosses(net: &AnyNetwork<'_>, ply: &Ply) -> bool {
    Colour::BOTH.into_iter().any(|colour| crosses_for(net, ply, colour))
}

fn crosses_for(net: &AnyNetwork<'_>, ply: &Ply, colour: Colour) -> bool {
    ply.king_move(colour).is_some_and(|(from, to)| net.key(colour, from) != net.key(colour, to))
}
