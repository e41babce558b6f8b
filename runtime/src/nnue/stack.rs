//! The ply stack for programs that number their features themselves.
//!
//! It knows no game. It belongs to one thread and is tied to one model; plan and model are shared. How it is brought up
//! to date is [`crate::accumulators::Stack`].

use super::cache::RefreshCache;
use super::lists::{Lists, Noted};
use crate::accumulators::{self, Mark, Ply as _, Top};
use crate::error::RunError;
use crate::input::Input;
use crate::output::Output;
use crate::plan::Plan;
use bytemuck::Zeroable;

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
    accumulators: [[[i16; HIDDEN]; 2]; PLIES],
    plies: [Noted; PLIES],
    top: Top,
}

impl<const HIDDEN: usize, const PLIES: usize> Stack<HIDDEN, PLIES> {
    /// Empty: a root is to be set.
    pub const fn new() -> Self {
        Self { accumulators: [[[0; HIDDEN]; 2]; PLIES], plies: [Noted::EMPTY; PLIES], top: Top::EMPTY }
    }

    #[inline]
    fn stack(&mut self) -> accumulators::Stack<'_, Noted> {
        accumulators::Stack {
            hidden: HIDDEN as u32,
            accumulators: self.accumulators.as_flattened_mut().as_flattened_mut(),
            plies: &mut self.plies,
            top: &mut self.top,
        }
    }

    /// Plies above the root, null moves included.
    pub const fn height(&self) -> usize {
        self.top.height()
    }

    /// Forgets all and computes a first position from its two lists of features. Ties the stack to the plan's model.
    ///
    /// # Errors
    /// As [`Plan::refresh`]; the stack is then empty. [`RunError::StackFull`] if `PLIES` is 0.
    pub fn set_root(&mut self, plan: &Plan<'_>, features: [&[u32]; 2]) -> Result<(), RunError> {
        let mut stack = self.stack();
        stack.set_root(plan.identity())?;
        for (side, features) in features.into_iter().enumerate() {
            if let Err(error) = stack.fill(side, |out| plan.refresh(out, features)) {
                stack.clear();
                return Err(error);
            }
        }
        if let Some(root) = self.plies.first_mut() {
            root.set_active(0, Some(features[0].len()));
            root.set_active(1, Some(features[1].len()));
        }
        Ok(())
    }

    /// Adds a ply: what it changes in perspective 0 and in perspective 1. Nothing is computed yet.
    ///
    /// # Errors
    /// [`RunError`] for a full or empty stack, a plan of another model, a feature that the network does not have, and
    /// more than `max_active` features in a list or active behind the change; the stack is then as before.
    #[inline]
    pub fn push(&mut self, plan: &Plan<'_>, changes: [Change<'_>; 2]) -> Result<(), RunError> {
        let mut stack = self.stack();
        stack.check(plan.identity())?;
        let (parent, ply) = stack.next()?;
        *ply.mark_mut() = Mark::EMPTY;
        ply.clear_whole();
        let limit = plan.max_active();
        let mut is_long = false;
        for (side, change) in changes.iter().enumerate() {
            let Change::Features { added, removed } = *change else {
                ply.set_whole(side);
                ply.set_active(side, None);
                continue;
            };
            plan.check_features(added, removed)?;
            // Behind a perspective that waits for its features the count is not known; its refresh checks it.
            let active = parent.active(side).map(|active| (active + added.len()).saturating_sub(removed.len()));
            if let Some(found) = active.filter(|active| *active > limit) {
                return Err(RunError::TooManyFeatures { found, limit });
            }
            ply.set_active(side, active);
            if ply.added[side].note(added) && ply.removed[side].note(removed) {
                continue;
            }
            if active.is_none() {
                return Err(RunError::WantsFeatures { side });
            }
            is_long = true;
        }
        if is_long {
            compute_long(&mut stack, plan, changes);
        }
        stack.grow();
        Ok(())
    }

    /// Adds a ply that changes no feature: the side to move passes. It shares its parent's accumulators.
    ///
    /// # Errors
    /// [`RunError::StackFull`], [`RunError::StackEmpty`].
    pub fn push_null(&mut self) -> Result<(), RunError> {
        self.stack().push_null()
    }

    /// Takes the last ply back, a null move too. What was computed below stays.
    ///
    /// # Errors
    /// [`RunError::StackEmpty`] at the root.
    #[inline]
    pub fn pop(&mut self) -> Result<(), RunError> {
        self.stack().pop().map(|_| ())
    }

    /// Whether a perspective's accumulator can be had only from its features, through [`Stack::refresh`].
    ///
    /// # Panics
    /// If `side` is neither 0 nor 1.
    pub fn wants_features(&self, side: usize) -> bool {
        let plies = self.plies.get(..self.top.len as usize).into_iter().flatten();
        let known = plies.rev().find(|ply| ply.mark().is_computed(side) || ply.is_whole(side));
        known.is_some_and(|ply| !ply.mark().is_computed(side))
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
        let mut stack = self.stack();
        stack.check(plan.identity())?;
        stack.fill(side, |out| cache.fill(plan, out, side, key, features))?;
        if let Some(ply) = self.plies.get_mut((self.top.len as usize).saturating_sub(1)) {
            ply.set_active(side, Some(features.len()));
        }
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
        let mut stack = self.stack();
        stack.check(plan.identity())?;
        if !stack.bring_up_to_date(&Lists(plan), side) {
            return Err(RunError::WantsFeatures { side });
        }
        let top = (self.top.len as usize).saturating_sub(1);
        self.accumulators.get(top).map(|pair| &pair[side]).ok_or(RunError::StackEmpty)
    }

    /// Evaluates the position on top with perspective `side` to move; see [`Plan::run`].
    ///
    /// # Errors
    /// As [`Stack::accumulator`] for both perspectives, or for the one that the network has, and as [`Plan::run`].
    ///
    /// # Panics
    /// If `side` is neither 0 nor 1.
    #[inline]
    pub fn evaluate<'w>(
        &mut self,
        plan: &Plan<'_>,
        side: usize,
        bucket: usize,
        workspace: &'w mut [u8],
    ) -> Result<Output<'w>, RunError> {
        let mut stack = self.stack();
        stack.check(plan.identity())?;
        stack.prepare(&Lists(plan), side, |_, side| Err(RunError::WantsFeatures { side }))?;
        let top = (self.top.len as usize).wrapping_sub(1);
        let Some(pair) = self.accumulators.get(top) else { return Err(RunError::StackEmpty) };
        let [own, other] = [side, 1 - side].map(|side| &pair[side][..]);
        if let Some(head) = &plan.head {
            return plan.run_head(head, own, other, bucket, workspace);
        }
        plan.run(Input::Accumulators(own, other), bucket, workspace)
    }
}

/// Computes the ply above the top, of which a list is too long to be noted.
#[cold]
fn compute_long(stack: &mut accumulators::Stack<'_, Noted>, plan: &Plan<'_>, changes: [Change<'_>; 2]) {
    for (side, change) in changes.into_iter().enumerate() {
        if let Change::Features { added, removed } = change
            && stack.bring_up_to_date(&Lists(plan), side)
        {
            stack.step_ahead(plan, side, added, removed);
        }
    }
}

impl<const HIDDEN: usize, const PLIES: usize> Default for Stack<HIDDEN, PLIES> {
    fn default() -> Self {
        Self::new()
    }
}
