//! The refresh cache for programs that number their features themselves.

use super::lists::Sorted;
use crate::accumulators::{Cache, Contents as _};
use crate::error::RunError;
use crate::format::Identity;
use crate::plan::Plan;
use bytemuck::Zeroable;

/// An entry for each of `KEYS` refresh keys and both perspectives, with room for `ACTIVE` features; a longer list is
/// filled from nothing. Tied to the model that it was first used with: with another it is an error, until
/// [`RefreshCache::reset`].
///
/// It is large (`KEYS · 4 · HIDDEN` bytes and some), so it belongs in a static or on the heap. All bytes zero is an
/// empty cache.
///
/// ```
/// # if !cfg!(feature = "accumulators") { return Ok(()) } // refused without
/// use tamis_runtime::nnue::RefreshCache;
/// use tamis_runtime::{Plan, RunError, format::Model, kernels};
///
/// static NET: &[u8] = tamis_runtime::include_model!("../../../tests/vectors/tiny.bin");
/// let plan = Plan::new(Model::parse(NET)?, kernels::best());
/// let mut cache = RefreshCache::<2, 1>::new();
/// let mut accumulator = [0; 2];
/// cache.refresh(&plan, &mut accumulator, 0, 0, &[0, 1])?;
/// assert_eq!(accumulator, [165, 7]);
/// cache.refresh(&plan, &mut accumulator, 0, 0, &[1, 2])?; // one feature comes, one goes
/// assert_eq!(accumulator, [15, 227]);
/// assert_eq!(cache.refresh(&plan, &mut accumulator, 0, 1, &[]), Err(RunError::RefreshKey { found: 1, limit: 1 }));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug, Clone, Zeroable)]
#[repr(C, align(64))]
pub struct RefreshCache<const HIDDEN: usize, const KEYS: usize, const ACTIVE: usize = 32> {
    accumulators: [[[i16; HIDDEN]; 2]; KEYS],
    lists: [[Sorted<ACTIVE>; 2]; KEYS],
    filled: [[u8; 2]; KEYS],
    identity: Identity,
    is_tied: u64,
}

impl<const HIDDEN: usize, const KEYS: usize, const ACTIVE: usize> RefreshCache<HIDDEN, KEYS, ACTIVE> {
    /// Empty, tied to no model.
    pub const fn new() -> Self {
        Self {
            accumulators: [[[0; HIDDEN]; 2]; KEYS],
            lists: [[Sorted::EMPTY; 2]; KEYS],
            filled: [[0; 2]; KEYS],
            identity: Identity::NONE,
            is_tied: 0,
        }
    }

    /// Empties the cache and unties it, for use with another model.
    pub fn reset(&mut self) {
        (self.filled, self.is_tied) = ([[0; 2]; KEYS], 0);
    }

    /// Fills `out` as [`Plan::refresh`] does.
    ///
    /// side: 0 or 1, whose entry · key: below `KEYS` · features: in any order.
    ///
    /// # Errors
    /// [`RunError::OtherModel`], [`RunError::RefreshKey`], and as [`Plan::refresh`].
    ///
    /// # Panics
    /// If `side` is neither 0 nor 1.
    pub fn refresh(
        &mut self,
        plan: &Plan<'_>,
        out: &mut [i16; HIDDEN],
        side: usize,
        key: u32,
        features: &[u32],
    ) -> Result<(), RunError> {
        self.fill(plan, out, side, key, features)
    }

    /// The same for an accumulator whose width is `HIDDEN` without its type saying so.
    pub(super) fn fill(
        &mut self,
        plan: &Plan<'_>,
        out: &mut [i16],
        side: usize,
        key: u32,
        features: &[u32],
    ) -> Result<(), RunError> {
        assert!(side < 2, "a side is 0 or 1");
        if self.is_tied != 0 && self.identity != plan.identity() {
            return Err(RunError::OtherModel { found: self.identity, expected: plan.identity() });
        }
        plan.check_accumulator("accumulator of the cache", HIDDEN)?;
        plan.check_features(features, &[])?;
        if key as usize >= KEYS {
            return Err(RunError::RefreshKey { found: key, limit: KEYS as u32 });
        }
        let Some(wanted) = Sorted::of(features) else { return plan.refresh(out, features) };
        (self.identity, self.is_tied) = (plan.identity(), 1);
        let mut cache = Cache {
            accumulators: self.accumulators.as_flattened_mut().as_flattened_mut(),
            contents: self.lists.as_flattened_mut(),
            filled: self.filled.as_flattened_mut(),
        };
        cache.fill(plan, [key as usize, side], &wanted, &(), out);
        Ok(())
    }
}

impl<const HIDDEN: usize, const KEYS: usize, const ACTIVE: usize> Default for RefreshCache<HIDDEN, KEYS, ACTIVE> {
    fn default() -> Self {
        Self::new()
    }
}
