//! The operations on maps of features: height × width × channels, channels last.
//!
//! Convolutions of bytes and those with a filter for every channel are kernels of the tier. What else convolutions do,
//! groups, i16, places and pixels exchanged, meets the tier's dense kernel pixel by pixel. What has no products of
//! weights, pools, sums of two maps, moved elements, is the same loop on every tier.

#[cfg(short_ways)]
mod ahead;
mod convolution;
mod elementwise;
mod gather;
mod moved;
mod pool;
mod rows;

use super::{Banks, Kind, Place, Places, Running, typed};
use crate::features::IN_PLACE;
use crate::format::{Model, OpRecord};
use crate::kernels::Tier;
use crate::kernels::maps::Map;
use crate::workspace::{around, range, range_mut, rest};
#[cfg(short_ways)]
pub(crate) use ahead::Ahead;
pub(crate) use convolution::Convolution;
use core::marker::PhantomData;
use core::mem::take;
use core::ops::Range;
pub(crate) use elementwise::Elementwise;
pub(crate) use moved::{Move, Pad, Resize};
pub(crate) use pool::Pool;
pub(crate) use rows::trace as trace_rows;

/// A map that is read.
type Bytes<'x> = (Map, &'x [u8]);

/// A kind of operation on maps.
pub(crate) trait OnMaps {
    /// Runs it once. record: its own · from, second, to: the maps that are read, the second only where the record names
    /// one, and the map that is written. `None`, and nothing done, for what the loader rules out.
    fn run(
        on: &Running<'_, '_>,
        record: &OpRecord,
        from: Bytes<'_>,
        second: Option<Bytes<'_>>,
        to: (Map, &mut [u8]),
    ) -> Option<()>;
}

/// [`OnMaps::run`] of a kind.
type RunOnMaps = fn(&Running<'_, '_>, &OpRecord, Bytes<'_>, Option<Bytes<'_>>, (Map, &mut [u8])) -> Option<()>;

/// Looked up as it runs: what it does takes longer, and its operands more room than all others'. On hosts a plan has
/// those of most convolutions, in the module `ahead`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Late<T>(PhantomData<T>);

impl<T: OnMaps> Kind<'_> for Late<T> {
    fn resolve(_: &Model<'_>, _: &Tier, _: &OpRecord) -> Option<Self> {
        Some(Self(PhantomData))
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        if IN_PLACE && rows::run(on, at, workspace, T::run) {
            return;
        }
        let is_done = look_up(on, at, workspace).and_then(|found| {
            let Operands { record, from, second, to } = found;
            T::run(on, record, from, second, to)
        });
        debug_assert!(is_done.is_some(), "an operation on maps that the loader let through and that cannot run");
    }
}

/// What an operation on maps works with.
struct Operands<'w> {
    record: &'w OpRecord,
    from: Bytes<'w>,
    second: Option<Bytes<'w>>,
    to: (Map, &'w mut [u8]),
}

/// Once for all kinds, which would repeat it.
#[inline(never)]
fn look_up<'w>(on: &Running<'w, 'w>, at: &Places, workspace: &'w mut [u8]) -> Option<Operands<'w>> {
    let record = on.model.ops().get(at.output.checked_sub(1)?)?;
    let value = |index: u32| on.model.values().get(index as usize);
    let (from, to) = (Map::of(value(record.input)?), Map::of(value(record.output)?));
    let mut parts = Parts::around(on, workspace, at.write.range());
    let second = value(record.second).map(|second| {
        let place = Place::of(on.model, record.second, 0, second.len);
        (Map::of(second), parts.read(place.range(), record.second == 0))
    });
    let from = (from, parts.read(at.read.range(), at.reads_input));
    Some(Operands { record, from, second, to: (to, take(&mut parts.out)) })
}

/// The workspace around what is written, and the network's input.
struct Parts<'w> {
    input: &'w [u8],
    before: &'w [u8],
    out: &'w mut [u8],
    behind: &'w [u8],
    /// Where what lies behind begins.
    end: usize,
}

impl<'w> Parts<'w> {
    fn around(on: &Running<'w, '_>, workspace: &'w mut [u8], write: Range<usize>) -> Self {
        let end = write.end;
        let (before, out, behind) = around(workspace, write);
        Self { input: on.input.bytes(), before, out, behind, end }
    }

    fn read(&self, place: Range<usize>, is_input: bool) -> &'w [u8] {
        if is_input {
            range(self.input, place)
        } else if place.start >= self.end {
            range(self.behind, place.start - self.end..place.end - self.end)
        } else {
            range(self.before, place)
        }
    }
}

/// The integers of a tensor of one bank; none where there is no tensor.
fn integers<'a>(model: &Model<'a>, index: u32) -> &'a [i32] {
    Banks::new(model.tensor(index)).bank(0)
}

/// Its bytes.
fn bytes<'a>(model: &Model<'a>, index: u32) -> &'a [u8] {
    Banks::new(model.tensor(index)).bank(0)
}

/// Sums into sums, as many as both have; without the check of `copy_from_slice`, which stays in the smallest images.
fn copy(from: &[i32], to: &mut [i32]) {
    debug_assert_eq!(from.len(), to.len(), "sums of as many rows");
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}
