//! How features are found where the caller numbers them: a ply notes the lists that it was given, a cache's entry the
//! sorted list that it was filled for.

use crate::accumulators::{Contents, Mark, Ply, Rows, Source};
use crate::kernels::Moved;
use crate::plan::Plan;
use crate::workspace::range;
use bytemuck::Zeroable;

/// Features that a ply notes for later, a side and a direction; a longer list, rare in any game, is applied at once.
const NOTED: usize = 4;

#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
pub(super) struct List {
    len: u32,
    features: [u32; NOTED],
}

impl List {
    const EMPTY: Self = Self { len: 0, features: [0; NOTED] };

    /// A copy; false if it does not fit.
    #[inline]
    pub fn note(&mut self, features: &[u32]) -> bool {
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

    /// What was noted; a list that did not fit was applied, and nobody asks for it.
    #[inline]
    fn as_slice(&self) -> &[u32] {
        range(&self.features, 0..self.len as usize)
    }
}

/// What a ply changes in both perspectives.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
pub(super) struct Noted {
    pub added: [List; 2],
    pub removed: [List; 2],
    /// Active features of each perspective, or `None` from one that waits for its features on.
    active: [u32; 2],
    /// A bit for each perspective in which everything changes.
    whole: u16,
    mark: Mark,
}

/// The number of active features from a perspective that waits for its features on.
const UNKNOWN: u32 = u32::MAX;

impl Noted {
    /// Active features of a perspective; `None` from one that waits for its features on.
    #[inline]
    pub fn active(&self, side: usize) -> Option<usize> {
        (self.active[side] != UNKNOWN).then_some(self.active[side] as usize)
    }

    /// Whether everything changes in a perspective.
    #[inline]
    pub const fn is_whole(&self, side: usize) -> bool {
        self.whole >> side & 1 != 0
    }

    /// Nothing but what is noted changes, in any perspective.
    #[inline]
    pub const fn clear_whole(&mut self) {
        self.whole = 0;
    }

    #[inline]
    pub const fn set_whole(&mut self, side: usize) {
        self.whole |= 1 << side;
    }

    #[inline]
    pub fn set_active(&mut self, side: usize, active: Option<usize>) {
        self.active[side] = match active {
            Some(active) => active as u32,
            None => UNKNOWN,
        };
    }
}

impl Ply for Noted {
    const EMPTY: Self =
        Self { added: [List::EMPTY; 2], removed: [List::EMPTY; 2], active: [0; 2], whole: 0, mark: Mark::EMPTY };

    #[inline]
    fn mark(&self) -> &Mark {
        &self.mark
    }

    #[inline]
    fn mark_mut(&mut self) -> &mut Mark {
        &mut self.mark
    }
}

/// A plan whose caller numbers the features.
pub(super) struct Lists<'p>(pub &'p Plan<'p>);

impl Source for Lists<'_> {
    type Ply = Noted;
    type Numbering = ();

    #[inline]
    fn plan(&self) -> &Plan<'_> {
        self.0
    }

    #[inline]
    fn numbering(&self, _: usize) {}

    #[inline]
    fn is_whole(&self, ply: &Noted, side: usize) -> bool {
        ply.is_whole(side)
    }

    #[inline]
    fn is_whole_for_any(&self, ply: &Noted) -> bool {
        ply.whole != 0
    }

    #[inline]
    fn moved(&self, ply: &Noted, _: &[(); 2]) -> Option<Moved> {
        Moved::of(ply.added.each_ref().map(List::as_slice), ply.removed.each_ref().map(List::as_slice))
    }

    #[inline]
    fn changes<'r>(&self, ply: &'r Noted, side: usize, (): &(), _: &'r mut [Rows; 2]) -> [&'r [u32]; 2] {
        [ply.added[side].as_slice(), ply.removed[side].as_slice()]
    }
}

/// A list of features in ascending order.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
pub(super) struct Sorted<const ACTIVE: usize> {
    features: [u32; ACTIVE],
    len: u32,
}

impl<const ACTIVE: usize> Sorted<ACTIVE> {
    /// `None` of a list that is longer.
    pub fn of(features: &[u32]) -> Option<Self> {
        let mut sorted = Self { len: features.len() as u32, ..Self::EMPTY };
        let place = sorted.features.get_mut(..features.len())?;
        // Lists are short, and an engine that goes over its pieces gives them nearly sorted.
        for (count, feature) in features.iter().enumerate() {
            let mut at = count;
            while at > 0 && place[at - 1] > *feature {
                place[at] = place[at - 1];
                at -= 1;
            }
            place[at] = *feature;
        }
        Some(sorted)
    }

    fn as_slice(&self) -> &[u32] {
        range(&self.features, 0..self.len as usize)
    }
}

impl<const ACTIVE: usize> Contents for Sorted<ACTIVE> {
    const EMPTY: Self = Self { features: [0; ACTIVE], len: 0 };
    type Numbering = ();

    fn distance(&self, other: &Self) -> usize {
        self.without(other, &()).count() + other.without(self, &()).count()
    }

    /// Repetitions count.
    fn without(&self, other: &Self, (): &()) -> impl Iterator<Item = u32> {
        let mut there = other.as_slice().iter().peekable();
        self.as_slice().iter().copied().filter(move |feature| {
            while there.next_if(|other| *other < feature).is_some() {}
            there.next_if_eq(&feature).is_none()
        })
    }
}
