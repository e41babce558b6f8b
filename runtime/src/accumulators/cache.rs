//! Accumulators that were filled before, to fill the next one from what is different.
//!
//! When a king goes to another bucket, all features of its side change, but the pieces on the board are nearly those of
//! the last time that it stood there. An entry for every place that numbers features differently, and each side, keeps
//! that accumulator and what it was filled for.

use super::{ROWS, Rows};
use crate::plan::Plan;

/// All that an accumulator's features follow from.
pub trait Contents: Copy {
    /// Without any feature.
    const EMPTY: Self;
    /// What is to be known beside it to number the features.
    type Numbering;

    /// How many features differ between the two, or as near to it as is quickly found.
    fn distance(&self, other: &Self) -> usize;

    /// The features that are here and not there.
    fn without(&self, other: &Self, numbering: &Self::Numbering) -> impl Iterator<Item = u32>;
}

/// The entries, over memory that somebody else owns.
#[derive(Debug)]
pub struct Cache<'s, C> {
    /// (keys, 2, hidden)
    pub accumulators: &'s mut [i16],
    /// (keys, 2): what was filled.
    pub contents: &'s mut [C],
    /// (keys, 2): whether it was.
    pub filled: &'s mut [u8],
}

impl<C: Contents> Cache<'_, C> {
    /// Forgets all.
    pub fn empty(&mut self) {
        self.filled.fill(0);
    }

    /// Fills `out`, (hidden,), with the features of `wanted`, through the entry of a key and a side; from nothing where
    /// there is no such entry.
    pub fn fill(
        &mut self,
        plan: &Plan<'_>,
        [key, side]: [usize; 2],
        wanted: &C,
        numbering: &C::Numbering,
        out: &mut [i16],
    ) {
        let (hidden, place) = (out.len(), 2 * key + side);
        let cached = self.accumulators.get_mut(place * hidden..(place + 1) * hidden);
        let (Some(cached), Some(contents), Some(filled)) =
            (cached, self.contents.get_mut(place), self.filled.get_mut(place))
        else {
            plan.start(out);
            return change(plan, out, &C::EMPTY, wanted, numbering);
        };
        if *filled == 0 || wanted.distance(contents) >= wanted.distance(&C::EMPTY) {
            plan.start(cached);
            *contents = C::EMPTY;
        }
        change(plan, cached, contents, wanted, numbering);
        (*contents, *filled) = (*wanted, 1);
        out.copy_from_slice(cached);
    }
}

/// Takes an accumulator from what it was filled for to something else.
pub fn change<C: Contents>(plan: &Plan<'_>, accumulator: &mut [i16], from: &C, to: &C, numbering: &C::Numbering) {
    let (mut added, mut removed) = (to.without(from, numbering).fuse(), from.without(to, numbering).fuse());
    loop {
        let plus: Rows = added.by_ref().take(ROWS).collect();
        let minus: Rows = removed.by_ref().take(ROWS).collect();
        if plus.is_empty() && minus.is_empty() {
            return;
        }
        plan.change(accumulator, None, &plus, &minus);
    }
}
