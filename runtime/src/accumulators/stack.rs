//! The stack of plies: the one algorithm behind [`crate::engine::State`], [`crate::engine::AnyState`] and
//! [`crate::nnue::Stack`].
//!
//! A push notes what a move changes and computes nothing, because most positions of a search are left without being
//! evaluated. An evaluation walks back, each side on its own, to the last ply whose accumulator is computed, and
//! forward again, parent to child, one pass a ply. Where a ply gives that side other features altogether, a king that
//! has gone to another bucket for instance, the walk ends, and the accumulator of the last position is to be filled.

use super::{Mark, Ply, Source};
use crate::error::RunError;
use crate::format::Identity;
use crate::plan::Plan;
use crate::workspace::{range, range_mut};
use bytemuck::{Pod, Zeroable};

/// How many plies there are, and of which network.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
pub struct Top {
    /// Of the model that the root was set for.
    pub identity: Identity,
    /// Plies in use; 0 while there is no root.
    pub len: u32,
    /// Null moves between them, as many as the plies in use have in their marks, which have no ply of their own.
    /// Counted by themselves, so that a push or a pop changes one number: of two beside each other, one access of
    /// memory would read what two have just written, and would wait for all that was begun before them.
    pub nulls: u32,
}

impl Top {
    pub const EMPTY: Self = Self { identity: Identity::NONE, len: 0, nulls: 0 };

    /// Plies above the root, null moves included.
    #[inline]
    pub const fn height(&self) -> usize {
        self.plies().saturating_sub(1)
    }

    /// Plies and null moves.
    #[inline]
    pub const fn plies(&self) -> usize {
        self.len as usize + self.nulls as usize
    }

    /// The place of the last position; `None` without one.
    #[inline]
    pub fn index(&self) -> Option<usize> {
        (self.len as usize).checked_sub(1)
    }

    /// See [`Stack::grow`].
    #[inline]
    pub const fn grow(&mut self) {
        self.len += 1;
    }
}

/// The parts of a stack.
#[derive(Debug)]
pub struct Stack<'s, P> {
    /// Width of an accumulator: a number of 32 bits, so that the compiler knows of its multiples that they fit a usize.
    pub hidden: u32,
    /// (plies, 2, hidden)
    pub accumulators: &'s mut [i16],
    pub plies: &'s mut [P],
    pub top: &'s mut Top,
}

impl<P: Ply> Stack<'_, P> {
    /// Width of an accumulator.
    #[inline(always)]
    pub const fn hidden(&self) -> usize {
        self.hidden as usize
    }

    /// Forgets all.
    pub const fn clear(&mut self) {
        (self.top.len, self.top.nulls) = (0, 0);
    }

    /// An empty root, of which nothing is computed, for a model.
    pub fn set_root(&mut self, identity: Identity) -> Result<&mut P, RunError> {
        let Some(root) = self.plies.first_mut() else { return Err(RunError::StackFull { limit: 0 }) };
        *root = P::EMPTY;
        *self.top = Top { identity, len: 1, nulls: 0 };
        Ok(root)
    }

    /// That there is a position, and of this model.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub fn check(&self, expected: Identity) -> Result<(), RunError> {
        if self.top.len == 0 {
            return Err(RunError::StackEmpty);
        }
        let found = self.top.identity;
        if found == expected { Ok(()) } else { Err(RunError::OtherModel { found, expected }) }
    }

    /// The place of the next ply, behind the last; it counts from [`Stack::grow`] on.
    #[cfg_attr(target_os = "none", inline)]
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub fn next(&mut self) -> Result<(&P, &mut P), RunError> {
        let limit = self.plies.len();
        let full = RunError::StackFull { limit };
        if self.top.plies() >= limit {
            return Err(full);
        }
        match self.top.index().and_then(|top| self.plies.get_mut(top..)) {
            Some([last, next, ..]) => Ok((last, next)),
            Some(_) => Err(full),
            None => Err(RunError::StackEmpty),
        }
    }

    /// The next ply is in its place.
    #[inline]
    pub const fn grow(&mut self) {
        self.top.grow();
    }

    /// Adds a ply that changes nothing and shares its parent's accumulators.
    #[inline]
    pub fn push_null(&mut self) -> Result<(), RunError> {
        let limit = self.plies.len();
        let Some(ply) = self.top.index().and_then(|top| self.plies.get_mut(top)) else {
            return Err(RunError::StackEmpty);
        };
        let Mark { nulls, .. } = ply.mark_mut();
        let more = nulls.checked_add(1).filter(|_| self.top.plies() < limit);
        *nulls = more.ok_or(RunError::StackFull { limit })?;
        self.top.nulls += 1;
        Ok(())
    }

    /// Takes the last ply back, and gives it unless it was a null move. What was computed before it stays.
    #[cfg_attr(target_os = "none", inline)]
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub fn pop(&mut self) -> Result<Option<&P>, RunError> {
        let Some(ply) = self.top.index().filter(|_| self.top.plies() > 1).and_then(|top| self.plies.get_mut(top))
        else {
            return Err(RunError::StackEmpty);
        };
        let Mark { nulls, .. } = ply.mark_mut();
        if *nulls > 0 {
            *nulls -= 1;
            self.top.nulls -= 1;
            return Ok(None);
        }
        self.top.len -= 1;
        Ok(Some(ply))
    }

    /// The accumulators of the last position: a side's, and the other's.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub fn pair(&self, first: usize) -> (&[i16], &[i16]) {
        debug_assert!(self.top.len > 0, "a pair of a stack without a position");
        let hidden = self.hidden();
        let start = (self.top.len as usize).saturating_sub(1) * 2 * hidden;
        let both = range(self.accumulators, start..start + 2 * hidden);
        let (zeroth, other) = both.split_at_checked(hidden).unwrap_or((&[], &[]));
        if first == 0 { (zeroth, other) } else { (other, zeroth) }
    }

    /// Brings the accumulators of the last position up to date that an evaluation reads: a side's, and of a network of
    /// two perspectives the other's. Where one follows from no earlier one, `fill` has to fill it.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub fn prepare<E>(
        &mut self,
        source: &impl Source<Ply = P>,
        side: usize,
        mut fill: impl FnMut(&mut Self, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let is_two_sided = source.plan().is_two_sided();
        if is_two_sided && self.bring_both_up_to_date(source) {
            return Ok(());
        }
        for side in [Some(side), is_two_sided.then_some(1 - side)].into_iter().flatten() {
            if !self.bring_up_to_date(source, side) {
                fill(self, side)?;
            }
        }
        Ok(())
    }

    /// Both sides along the same plies, from the last one that is computed for both. False, and nothing done, where one
    /// of them is further than the other or is to be filled.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn bring_both_up_to_date<S: Source<Ply = P>>(&mut self, source: &S) -> bool {
        let Some(top) = self.top.index() else { return false };
        let mut from = top;
        loop {
            let Some(ply) = self.plies.get(from) else { return false };
            match ply.mark().is_computed_for_both() {
                Some(false) => {}
                Some(true) => break,
                None => return false,
            }
            if from == 0 || source.is_whole_for_any(ply) {
                return false;
            }
            from -= 1;
        }
        if from == top {
            return true;
        }
        let numberings = [source.numbering(0), source.numbering(1)];
        for index in from + 1..=top {
            self.step_both(source, &numberings, index);
        }
        true
    }

    /// A ply's accumulators from its parent's. The commonest moves, a piece that goes and perhaps takes one, in one
    /// pass.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn step_both<S: Source<Ply = P>>(&mut self, source: &S, numberings: &[S::Numbering; 2], index: usize) {
        let hidden = self.hidden();
        let Some(ply) = self.plies.get_mut(index) else { return };
        let end = (index + 1) * 2 * hidden;
        if let Some(moved) = source.moved(ply, numberings)
            && let Some(pairs) = self.accumulators.get_mut(end - 4 * hidden..end)
        {
            let (before, after) = pairs.split_at_mut(2 * hidden);
            if source.plan().move_both(after, before, &moved) {
                ply.mark_mut().set_computed_for_both();
                return;
            }
        }
        for (side, numbering) in numberings.iter().enumerate() {
            self.step(source, side, numbering, index);
        }
    }

    /// From where on a side follows from its computed accumulators; `None` where the last position's is to be filled.
    #[inline]
    pub fn computed_from(&self, source: &impl Source<Ply = P>, side: usize) -> Option<usize> {
        let mut from = self.top.index()?;
        loop {
            let ply = self.plies.get(from)?;
            if ply.mark().is_computed(side) {
                return Some(from);
            }
            if from == 0 || source.is_whole(ply, side) {
                return None;
            }
            from -= 1;
        }
    }

    /// Walks back to the last computed ply and forward again; false where the last position's accumulator is to be
    /// filled.
    #[inline]
    pub fn bring_up_to_date(&mut self, source: &impl Source<Ply = P>, side: usize) -> bool {
        let Some(from) = self.computed_from(source, side) else { return false };
        // Plies that are not whole leave the numbering what it is in the last position.
        let numbering = source.numbering(side);
        for index in from + 1..self.top.len as usize {
            self.step(source, side, &numbering, index);
        }
        true
    }

    /// A side's accumulator of a ply from its parent's.
    fn step<S: Source<Ply = P>>(&mut self, source: &S, side: usize, numbering: &S::Numbering, index: usize) {
        let Some(ply) = self.plies.get_mut(index) else { return };
        let mut rows = [const { super::Rows::new() }; 2];
        let [added, removed] = source.changes(ply, side, numbering, &mut rows);
        let hidden = self.hidden as usize;
        let (child, parent) = ends(self.accumulators, hidden, side, index);
        source.plan().change(child, Some(parent), added, removed);
        ply.mark_mut().set_computed(side);
    }

    /// The last position's accumulator of a side from that of an earlier ply, however many lie between: `change` is
    /// handed a copy of the earlier one.
    pub fn leap(&mut self, side: usize, from: usize, change: impl FnOnce(&mut [i16])) {
        let (hidden, Some(top)) = (self.hidden(), self.top.index()) else { return };
        let (start, end) = ((2 * from + side) * hidden, (2 * top + side) * hidden);
        debug_assert!(start < end && end + hidden <= self.accumulators.len(), "a leap to a later ply");
        self.accumulators.copy_within(start..start + hidden, end);
        change(range_mut(self.accumulators, end..end + hidden));
        if let Some(ply) = self.plies.get_mut(top) {
            ply.mark_mut().set_computed(side);
        }
    }

    /// The same for the ply that [`Stack::next`] gave, behind a position that is up to date, with lists that it cannot
    /// note.
    #[cold]
    pub fn step_ahead(&mut self, plan: &Plan<'_>, side: usize, added: &[u32], removed: &[u32]) {
        let (hidden, index) = (self.hidden(), self.top.len as usize);
        let (child, parent) = ends(self.accumulators, hidden, side, index);
        plan.change(child, Some(parent), added, removed);
        if let Some(ply) = self.plies.get_mut(index) {
            ply.mark_mut().set_computed(side);
        }
    }

    /// Has a side's accumulator of the last position filled.
    pub fn fill<E: From<RunError>>(
        &mut self,
        side: usize,
        fill: impl FnOnce(&mut [i16]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(top) = self.top.index() else { return Err(RunError::StackEmpty.into()) };
        let (hidden, start) = (self.hidden(), (2 * top + side) * self.hidden());
        fill(range_mut(self.accumulators, start..start + hidden))?;
        if let Some(ply) = self.plies.get_mut(top) {
            ply.mark_mut().set_computed(side);
        }
        Ok(())
    }
}

/// A side's accumulators of a ply and of its parent.
#[inline]
fn ends(accumulators: &mut [i16], hidden: usize, side: usize, index: usize) -> (&mut [i16], &[i16]) {
    debug_assert!(index > 0, "the root has no parent");
    let start = (2 * index + side) * hidden;
    let (done, rest) = accumulators.split_at_mut(start);
    (range_mut(rest, 0..hidden), range(done, start - 2 * hidden..start - hidden))
}
