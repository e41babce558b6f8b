//! The accumulators of a line of play: a stack of plies that is brought up to date only where it is asked.
//!
//! A push writes down which features come and go and computes nothing, because most positions of a search are left
//! without being evaluated. When the position on top is asked for, each perspective walks back on its own to the last
//! ply that was computed, and from there forward again, parent to child, one pass a ply. A ply of which a perspective
//! says that everything changed (its king has crossed to another bucket) ends the walk: that perspective then wants the
//! list of its features, and fills its accumulator through a [`super::RefreshCache`].
//!
//! The stack knows no game. It belongs to one thread and is tied to one model; plan and model are shared.

use super::cache::RefreshCache;
use crate::error::RunError;
use crate::format::Identity;
use crate::input::Input;
use crate::output::Output;
use crate::plan::Plan;
use bytemuck::Zeroable;

/// The number of active features from a perspective that waits for its features on.
const UNKNOWN: u32 = u32::MAX;

/// Features that a ply notes for later, a side and a direction; a longer list, rare in any game, is applied at once.
const NOTED: usize = 4;

/// What a ply changes in one perspective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Change<'c> {
    /// Features that come and go. Each list has at most `max_active`, and so have the active features behind the
    /// change.
    Features {
        /// That become active.
        added: &'c [u32],
        /// That were active.
        removed: &'c [u32],
    },
    /// Everything: the perspective's features are to be given to [`Stack::refresh`] before it is evaluated.
    All,
}

/// How far a perspective of a ply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable)]
#[repr(transparent)]
struct State(u8);

impl State {
    /// The changes are noted; the accumulator is the parent's with them applied.
    const NOTED: Self = Self(0);
    const COMPUTED: Self = Self(1);
    /// Waits for a list of features.
    const WANTS_FEATURES: Self = Self(2);
}

#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct List {
    len: u32,
    features: [u32; NOTED],
}

impl List {
    const EMPTY: Self = Self { len: 0, features: [0; NOTED] };

    /// A copy; false if it does not fit.
    #[inline]
    fn note(&mut self, features: &[u32]) -> bool {
        self.len = features.len() as u32;
        // The commonest first, and one by one: a call that copies so few costs more than the rest of a push.
        match *features {
            [a] => self.features[0] = a,
            [a, b] => (self.features[0], self.features[1]) = (a, b),
            [] => {}
            [a, b, ref rest @ ..] => {
                let [first, second, kept @ ..] = &mut self.features;
                (*first, *second) = (a, b);
                let Some(kept) = kept.get_mut(..rest.len()) else { return false };
                kept.copy_from_slice(rest);
            }
        }
        true
    }

    #[inline]
    fn as_slice(&self) -> &[u32] {
        self.features.get(..self.len as usize).unwrap_or(&[])
    }
}

/// A computed or computable position.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C, align(64))]
struct Slot<const HIDDEN: usize> {
    accumulators: [[i16; HIDDEN]; 2],
    added: [List; 2],
    removed: [List; 2],
    /// Active features of each perspective, or [`UNKNOWN`].
    active: [u32; 2],
    states: [State; 2],
}

/// Up to `PLIES` positions, the root included, with accumulators of `HIDDEN` elements for two perspectives, which the
/// caller numbers 0 and 1: by colour, say.
///
/// It is large (`PLIES · 4 · HIDDEN` bytes and some), so it belongs in a static or on the heap. All bytes zero is an
/// empty stack, which `bytemuck` can allocate in place (`bytemuck::allocation::zeroed_box`).
///
/// When not to use it: for positions that do not follow one another; [`super::AccumulatorPair`] keeps single ones.
///
/// ```
/// # if !cfg!(feature = "accumulators") { return Ok(()) } // refused without
/// use tamis_runtime::nnue::{Change, Stack};
/// use tamis_runtime::{Output, Plan, Workspace, format::Model, kernels};
///
/// static NET: &[u8] = tamis_runtime::include_model!("../../../tests/vectors/tiny.bin");
/// let plan = Plan::new(Model::parse(NET)?, kernels::best());
/// let mut stack = Stack::<2, 64>::new();
/// let mut scratch = Workspace::<128>::new();
/// stack.set_root(&plan, [&[0, 1], &[2, 3]])?;
/// assert_eq!(stack.evaluate(&plan, 0, 0, scratch.as_mut())?, Output::I32(&[-187]));
///
/// // A move: feature 3 comes and 1 goes in perspective 0, nothing changes in perspective 1.
/// let stays = Change::Features { added: &[], removed: &[] };
/// stack.push(&plan, [Change::Features { added: &[3], removed: &[1] }, stays])?;
/// stack.push_null()?; // and a null move, which costs nothing
/// assert_eq!(stack.accumulator(&plan, 0)?, &[115, 97]);
/// stack.pop()?;
/// stack.pop()?;
/// assert_eq!(stack.evaluate(&plan, 0, 0, scratch.as_mut())?, Output::I32(&[-187]));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug, Clone, Zeroable)]
#[repr(C, align(64))]
pub struct Stack<const HIDDEN: usize, const PLIES: usize> {
    slots: [Slot<HIDDEN>; PLIES],
    /// Null moves behind each slot, before the next.
    nulls: [u16; PLIES],
    /// Slots in use; 0 while there is no root.
    len: usize,
    /// Plies in use, null moves included.
    plies: usize,
    /// Of the model that the root was set from.
    identity: Identity,
}

impl<const HIDDEN: usize, const PLIES: usize> Stack<HIDDEN, PLIES> {
    /// Empty: a root is to be set.
    pub const fn new() -> Self {
        let slot = Slot {
            accumulators: [[0; HIDDEN]; 2],
            added: [List::EMPTY; 2],
            removed: [List::EMPTY; 2],
            active: [0; 2],
            states: [State::NOTED; 2],
        };
        Self { slots: [slot; PLIES], nulls: [0; PLIES], len: 0, plies: 0, identity: Identity::NONE }
    }

    /// Plies above the root, null moves included.
    pub const fn height(&self) -> usize {
        self.plies.saturating_sub(1)
    }

    /// Forgets all and computes a first position from its two lists of features. Ties the stack to the plan's model.
    ///
    /// # Errors
    /// As [`Plan::refresh`]; the stack is then empty. [`RunError::StackFull`] if `PLIES` is 0.
    pub fn set_root(&mut self, plan: &Plan<'_>, features: [&[u32]; 2]) -> Result<(), RunError> {
        (self.len, self.plies) = (0, 0);
        let Some(slot) = self.slots.first_mut() else { return Err(RunError::StackFull { limit: PLIES }) };
        for (side, features) in features.into_iter().enumerate() {
            plan.refresh(&mut slot.accumulators[side], features)?;
            (slot.states[side], slot.active[side]) = (State::COMPUTED, features.len() as u32);
        }
        (self.len, self.plies, self.identity, self.nulls[0]) = (1, 1, plan.identity(), 0);
        Ok(())
    }

    /// Adds a ply: what it changes in perspective 0 and in perspective 1. Nothing is computed yet.
    ///
    /// # Errors
    /// [`RunError`] for a full or empty stack, a plan of another model, a feature that the network does not have, and
    /// more than `max_active` features in a list or active behind the change; the stack is then as before.
    pub fn push(&mut self, plan: &Plan<'_>, changes: [Change<'_>; 2]) -> Result<(), RunError> {
        self.check(plan)?;
        if self.plies >= PLIES {
            return Err(RunError::StackFull { limit: PLIES });
        }
        let limit = plan.max_active();
        let (done, free) = self.slots.split_at_mut(self.len);
        let (Some(parent), Some(slot)) = (done.last(), free.first_mut()) else { return Err(RunError::StackEmpty) };
        let mut is_long = false;
        for (side, change) in changes.iter().enumerate() {
            let Change::Features { added, removed } = *change else {
                (slot.states[side], slot.active[side]) = (State::WANTS_FEATURES, UNKNOWN);
                continue;
            };
            plan.check_features(added, removed)?;
            slot.states[side] = State::NOTED;
            slot.active[side] = parent.active[side];
            // Behind a perspective that waits for its features the count is not known; its refresh checks it.
            let is_known = slot.active[side] != UNKNOWN;
            if is_known {
                slot.active[side] = (slot.active[side] + added.len() as u32).saturating_sub(removed.len() as u32);
                if slot.active[side] as usize > limit {
                    return Err(RunError::TooManyFeatures { found: slot.active[side] as usize, limit });
                }
            }
            if slot.added[side].note(added) && slot.removed[side].note(removed) {
                continue;
            }
            if !is_known {
                return Err(RunError::WantsFeatures { side });
            }
            is_long = true;
        }
        if is_long {
            self.compute_long(plan, changes);
        }
        self.nulls[self.len] = 0;
        self.len += 1;
        self.plies += 1;
        Ok(())
    }

    /// Computes the ply above the top, of which a list is too long to be noted.
    #[cold]
    fn compute_long(&mut self, plan: &Plan<'_>, changes: [Change<'_>; 2]) {
        for (side, change) in changes.into_iter().enumerate() {
            if let Change::Features { added, removed } = change {
                self.bring_up_to_date(plan, side);
                let (done, free) = self.slots.split_at_mut(self.len);
                if let (Some(parent), Some(slot)) = (done.last(), free.first_mut())
                    && parent.states[side] == State::COMPUTED
                {
                    let source = Some(&parent.accumulators[side][..]);
                    plan.change(&mut slot.accumulators[side], source, added, removed);
                    slot.states[side] = State::COMPUTED;
                }
            }
        }
    }

    /// Adds a ply that changes no feature: the side to move passes. It shares its parent's accumulators.
    ///
    /// # Errors
    /// [`RunError::StackFull`], [`RunError::StackEmpty`].
    pub fn push_null(&mut self) -> Result<(), RunError> {
        let Some(top) = self.len.checked_sub(1) else { return Err(RunError::StackEmpty) };
        if self.plies >= PLIES {
            return Err(RunError::StackFull { limit: PLIES });
        }
        self.nulls[top] += 1;
        self.plies += 1;
        Ok(())
    }

    /// Takes the last ply back, a null move too. What was computed below stays.
    ///
    /// # Errors
    /// [`RunError::StackEmpty`] at the root.
    pub fn pop(&mut self) -> Result<(), RunError> {
        if self.plies <= 1 {
            return Err(RunError::StackEmpty);
        }
        self.plies -= 1;
        match self.nulls.get_mut(self.len - 1) {
            Some(nulls @ 1..) => *nulls -= 1,
            _ => self.len -= 1,
        }
        Ok(())
    }

    /// Whether a perspective's accumulator can be had only from its features, through [`Stack::refresh`].
    ///
    /// # Panics
    /// If `side` is neither 0 nor 1.
    pub fn wants_features(&self, side: usize) -> bool {
        Self::wants(self.slots.get(..self.len).unwrap_or(&[]), side)
    }

    fn wants(slots: &[Slot<HIDDEN>], side: usize) -> bool {
        let known = slots.iter().rev().map(|slot| slot.states[side]).find(|state| *state != State::NOTED);
        known == Some(State::WANTS_FEATURES)
    }

    /// Fills a perspective of the position on top from its features, through a cache of earlier fillings. `key` says
    /// which of the cache's entries is near: of chess what [`crate::engine::AnyNetwork::key`] gives, or 0.
    ///
    /// # Errors
    /// As [`Plan::refresh`]; an empty stack; [`RunError::OtherModel`] for a stack or a cache of another model;
    /// [`RunError::RefreshKey`].
    ///
    /// # Panics
    /// If `side` is neither 0 nor 1.
    pub fn refresh<const KEYS: usize, const ACTIVE: usize>(
        &mut self,
        plan: &Plan<'_>,
        cache: &mut RefreshCache<HIDDEN, KEYS, ACTIVE>,
        side: usize,
        key: u32,
        features: &[u32],
    ) -> Result<(), RunError> {
        self.check(plan)?;
        let Some(slot) = self.len.checked_sub(1).and_then(|top| self.slots.get_mut(top)) else {
            return Err(RunError::StackEmpty);
        };
        cache.refresh(plan, &mut slot.accumulators[side], side, key, features)?;
        (slot.states[side], slot.active[side]) = (State::COMPUTED, features.len() as u32);
        Ok(())
    }

    /// The accumulator of one perspective of the position on top, brought up to date.
    ///
    /// # Errors
    /// An empty stack, a plan of another model; [`RunError::WantsFeatures`] where [`Stack::wants_features`].
    ///
    /// # Panics
    /// If `side` is neither 0 nor 1.
    pub fn accumulator(&mut self, plan: &Plan<'_>, side: usize) -> Result<&[i16; HIDDEN], RunError> {
        self.check(plan)?;
        if !self.bring_up_to_date(plan, side) {
            return Err(RunError::WantsFeatures { side });
        }
        match self.len.checked_sub(1).and_then(|top| self.slots.get(top)) {
            Some(slot) => Ok(&slot.accumulators[side]),
            None => Err(RunError::StackEmpty),
        }
    }

    /// Evaluates the position on top with perspective `side` to move; see [`Plan::run`].
    ///
    /// # Errors
    /// As [`Stack::accumulator`] for both perspectives, or for the one that the network has, and as [`Plan::run`].
    ///
    /// # Panics
    /// If `side` is neither 0 nor 1.
    pub fn evaluate<'w>(
        &mut self,
        plan: &Plan<'_>,
        side: usize,
        bucket: usize,
        workspace: &'w mut [u8],
    ) -> Result<Output<'w>, RunError> {
        self.check(plan)?;
        if !self.bring_both_up_to_date(plan) {
            let sides = if plan.model().input().perspectives == 2 { [side, 1 - side] } else { [side; 2] };
            for side in sides {
                if !self.bring_up_to_date(plan, side) {
                    return Err(RunError::WantsFeatures { side });
                }
            }
        }
        let Some(slot) = self.len.checked_sub(1).and_then(|top| self.slots.get(top)) else {
            return Err(RunError::StackEmpty);
        };
        let [own, other] = [side, 1 - side].map(|side| &slot.accumulators[side][..]);
        if let Some(head) = &plan.head {
            return plan.run_head(head, own, other, bucket, workspace);
        }
        plan.run(Input::Accumulators(own, other), bucket, workspace)
    }

    fn check(&self, plan: &Plan<'_>) -> Result<(), RunError> {
        if self.len == 0 {
            return Err(RunError::StackEmpty);
        }
        if self.identity != plan.identity() {
            return Err(RunError::OtherModel { found: self.identity, expected: plan.identity() });
        }
        plan.check_accumulator("accumulator of the stack", HIDDEN)
    }

    /// The commonest case in one pass: a move on top of a computed position. False, and nothing done, for any other.
    #[inline]
    fn bring_both_up_to_date(&mut self, plan: &Plan<'_>) -> bool {
        let Some([.., parent, slot]) = self.slots.get_mut(..self.len) else { return false };
        if slot.states != [State::NOTED; 2] || parent.states != [State::COMPUTED; 2] {
            return false;
        }
        let (added, removed) = (slot.added.each_ref().map(List::as_slice), slot.removed.each_ref().map(List::as_slice));
        let (child, parent) = (slot.accumulators.as_flattened_mut(), parent.accumulators.as_flattened());
        let is_done = plan.change_both(child, parent, added, removed);
        if is_done {
            slot.states = [State::COMPUTED; 2];
        }
        is_done
    }

    /// Walks back to the last computed ply and forward again; false where features are wanted first.
    #[inline]
    fn bring_up_to_date(&mut self, plan: &Plan<'_>, side: usize) -> bool {
        let Some(line) = self.slots.get_mut(..self.len) else { return false };
        let Some(from) = line.iter().rposition(|slot| slot.states[side] != State::NOTED) else { return false };
        let Some([first, rest @ ..]) = line.get_mut(from..) else { return false };
        if first.states[side] != State::COMPUTED {
            return false;
        }
        let mut parent = &first.accumulators[side];
        for Slot { accumulators, added, removed, states, .. } in rest {
            let (child, added, removed) = (&mut accumulators[side], added[side].as_slice(), removed[side].as_slice());
            plan.change(child, Some(parent), added, removed);
            states[side] = State::COMPUTED;
            parent = child;
        }
        true
    }
}

impl<const HIDDEN: usize, const PLIES: usize> Default for Stack<HIDDEN, PLIES> {
    fn default() -> Self {
        Self::new()
    }
}
