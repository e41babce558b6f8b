//! Storage for the accumulators of one position. The width is the type's; the plan checks that it is the network's.

use crate::error::RunError;
use crate::input::Input;
use crate::output::Output;
use crate::plan::Plan;

/// Both accumulators of a position, 64-byte aligned: index 0 for one colour, 1 for the other (the caller's choice).
///
/// `Copy`, for positions that are copied and then changed. [`AccumulatorPair::update_both`] is cheaper: it reads the
/// position before, so that nothing is to be copied first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct AccumulatorPair<const HIDDEN: usize> {
    sides: [[i16; HIDDEN]; 2],
}

impl<const HIDDEN: usize> AccumulatorPair<HIDDEN> {
    /// Zeros; [`AccumulatorPair::refresh`] each side before use.
    pub const fn new() -> Self {
        Self { sides: [[0; HIDDEN]; 2] }
    }

    /// One side's accumulator.
    ///
    /// # Panics
    /// If `side` is neither 0 nor 1.
    pub const fn side(&self, side: usize) -> &[i16; HIDDEN] {
        &self.sides[side]
    }

    /// Fills one side from its list of active features; see [`Plan::refresh`].
    ///
    /// # Errors
    /// As [`Plan::refresh`].
    ///
    /// # Panics
    /// If `side` is neither 0 nor 1.
    pub fn refresh(&mut self, plan: &Plan<'_>, side: usize, features: &[u32]) -> Result<(), RunError> {
        plan.refresh(&mut self.sides[side], features)
    }

    /// Takes one side over from the position before, changed; see [`Plan::update`].
    ///
    /// # Errors
    /// As [`Plan::update`].
    ///
    /// # Panics
    /// If `side` is neither 0 nor 1.
    pub fn update(
        &mut self,
        plan: &Plan<'_>,
        before: &Self,
        side: usize,
        added: &[u32],
        removed: &[u32],
    ) -> Result<(), RunError> {
        plan.update(&mut self.sides[side], &before.sides[side], added, removed)
    }

    /// Takes both sides over from the position before, changed; see [`Plan::update_both`]. Faster than one side after
    /// the other.
    ///
    /// # Errors
    /// As [`Plan::update`].
    #[inline(always)]
    pub fn update_both(
        &mut self,
        plan: &Plan<'_>,
        before: &Self,
        added: [&[u32]; 2],
        removed: [&[u32]; 2],
    ) -> Result<(), RunError> {
        plan.update_both(self.sides.as_flattened_mut(), before.sides.as_flattened(), added, removed)
    }

    /// [`AccumulatorPair::update_both`], then [`AccumulatorPair::evaluate`]: in one pass where a network has one layer
    /// and the lists are those of a move that games are made of, which is faster than the two.
    ///
    /// # Errors
    /// As [`Plan::update`] and [`Plan::run`]; the accumulators are then unspecified.
    ///
    /// # Panics
    /// If `side` is neither 0 nor 1.
    #[expect(clippy::too_many_arguments, reason = "those of the two methods that it is in one")]
    #[inline]
    pub fn update_and_evaluate<'w>(
        &mut self,
        plan: &Plan<'_>,
        before: &Self,
        added: [&[u32]; 2],
        removed: [&[u32]; 2],
        side: usize,
        bucket: usize,
        workspace: &'w mut [u8],
    ) -> Result<Output<'w>, RunError> {
        #[cfg(short_ways)]
        {
            let (out, source) = (self.sides.as_flattened_mut(), before.sides.as_flattened());
            if let Some(score) = plan.move_and_score(out, source, [added, removed], side, bucket, workspace) {
                return Ok(plan.written(score, workspace));
            }
        }
        // Lists one by one: as arrays they would be put into memory before it is known that this way is taken.
        let ([white, black], [white_gone, black_gone]) = (added, removed);
        self.update_then_evaluate(plan, before, [side, bucket], white, black, white_gone, black_gone, workspace)
    }

    #[expect(clippy::too_many_arguments, reason = "lists one by one, as its caller says")]
    #[cfg_attr(short_ways, cold)]
    #[cfg_attr(short_ways, inline(never))]
    fn update_then_evaluate<'w>(
        &mut self,
        plan: &Plan<'_>,
        before: &Self,
        [side, bucket]: [usize; 2],
        white: &[u32],
        black: &[u32],
        white_gone: &[u32],
        black_gone: &[u32],
        workspace: &'w mut [u8],
    ) -> Result<Output<'w>, RunError> {
        self.update_both(plan, before, [white, black], [white_gone, black_gone])?;
        self.evaluate(plan, side, bucket, workspace)
    }

    /// Evaluates with `side` to move; see [`Plan::run`].
    ///
    /// # Errors
    /// As [`Plan::run`].
    ///
    /// # Panics
    /// If `side` is neither 0 nor 1.
    pub fn evaluate<'w>(
        &self,
        plan: &Plan<'_>,
        side: usize,
        bucket: usize,
        workspace: &'w mut [u8],
    ) -> Result<Output<'w>, RunError> {
        plan.run(Input::Accumulators(&self.sides[side], &self.sides[1 - side]), bucket, workspace)
    }
}

impl<const HIDDEN: usize> Default for AccumulatorPair<HIDDEN> {
    fn default() -> Self {
        Self::new()
    }
}
