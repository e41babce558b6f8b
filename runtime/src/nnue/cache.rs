//! Accumulators that were filled before, to fill the next one from what is different.
//!
//! When a king crosses to another bucket, all features of its perspective change, but the men on the board are nearly
//! those of the last time its king stood in that bucket. An entry for every bucket and perspective keeps that
//! accumulator and its list of features; a refresh applies the difference of two sorted lists instead of adding thirty
//! rows.

use crate::error::RunError;
use crate::format::Identity;
use crate::plan::Plan;
use bytemuck::Zeroable;

#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C, align(64))]
struct Entry<const HIDDEN: usize, const ACTIVE: usize> {
    accumulator: [i16; HIDDEN],
    /// Sorted.
    features: [u32; ACTIVE],
    len: u32,
    is_filled: u32,
}

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
    entries: [[Entry<HIDDEN, ACTIVE>; 2]; KEYS],
    identity: Identity,
    is_tied: u64,
}

impl<const HIDDEN: usize, const KEYS: usize, const ACTIVE: usize> RefreshCache<HIDDEN, KEYS, ACTIVE> {
    /// Empty, tied to no model.
    pub const fn new() -> Self {
        let entry = Entry { accumulator: [0; HIDDEN], features: [0; ACTIVE], len: 0, is_filled: 0 };
        Self { entries: [[entry; 2]; KEYS], identity: Identity::NONE, is_tied: 0 }
    }

    /// Empties the cache and unties it, for use with another model.
    pub fn reset(&mut self) {
        self.is_tied = 0;
        for entry in self.entries.iter_mut().flatten() {
            entry.is_filled = 0;
        }
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
        if self.is_tied != 0 && self.identity != plan.identity() {
            return Err(RunError::OtherModel { found: self.identity, expected: plan.identity() });
        }
        plan.check_accumulator("accumulator of the cache", HIDDEN)?;
        plan.check_features(features, &[])?;
        let Some(entry) = self.entries.get_mut(key as usize).map(|sides| &mut sides[side]) else {
            return Err(RunError::RefreshKey { found: key, limit: KEYS as u32 });
        };
        if features.len() > ACTIVE {
            return plan.refresh(out, features);
        }
        (self.identity, self.is_tied) = (plan.identity(), 1);
        let mut wanted = [0u32; ACTIVE];
        let wanted = sorted(features, &mut wanted);
        let had = entry.features.get(..entry.len as usize).unwrap_or(&[]);
        let (mut added, mut removed) = ([0u32; ACTIVE], [0u32; ACTIVE]);
        let (added, removed) = difference(had, wanted, &mut added, &mut removed);
        if entry.is_filled != 0 && added.len() + removed.len() < wanted.len() {
            plan.update_in_place(&mut entry.accumulator, added, removed)?;
        } else {
            plan.refresh(&mut entry.accumulator, wanted)?;
        }
        out.copy_from_slice(&entry.accumulator);
        if let Some(place) = entry.features.get_mut(..wanted.len()) {
            place.copy_from_slice(wanted);
        }
        (entry.len, entry.is_filled) = (wanted.len() as u32, 1);
        Ok(())
    }
}

impl<const HIDDEN: usize, const KEYS: usize, const ACTIVE: usize> Default for RefreshCache<HIDDEN, KEYS, ACTIVE> {
    fn default() -> Self {
        Self::new()
    }
}

/// Insertion sort: lists are short, and an engine that goes over its pieces gives them nearly sorted.
fn sorted<'b>(features: &[u32], buffer: &'b mut [u32]) -> &'b [u32] {
    let mut len = 0;
    for feature in features {
        let mut place = len;
        while place > 0 && buffer[place - 1] > *feature {
            buffer[place] = buffer[place - 1];
            place -= 1;
        }
        buffer[place] = *feature;
        len += 1;
    }
    &buffer[..len]
}

/// What is in `wanted` only and what is in `had` only; both sorted, repetitions counted.
fn difference<'b>(had: &[u32], wanted: &[u32], added: &'b mut [u32], removed: &'b mut [u32]) -> (&'b [u32], &'b [u32]) {
    let (mut plus, mut minus) = (0, 0);
    let (mut old, mut new) = (had.iter().copied().peekable(), wanted.iter().copied().peekable());
    loop {
        match (old.peek().copied(), new.peek().copied()) {
            (Some(a), Some(b)) if a == b => {
                old.next();
                new.next();
            }
            (Some(a), b) if b.is_none_or(|b| a < b) => {
                removed[minus] = a;
                minus += 1;
                old.next();
            }
            (_, Some(b)) => {
                added[plus] = b;
                plus += 1;
                new.next();
            }
            (_, None) => return (&added[..plus], &removed[..minus]),
        }
    }
}
