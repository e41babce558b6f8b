//! MOVE, PAD and RESIZE: elements at other places, and means of them.

use super::{Bytes, OnMaps, Running, integers};
use crate::format::OpRecord;
use crate::kernels::maps::Map;

/// MOVE.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Move;

impl OnMaps for Move {
    fn run(
        _: &Running<'_, '_>,
        record: &OpRecord,
        from: Bytes<'_>,
        _: Option<Bytes<'_>>,
        to: (Map, &mut [u8]),
    ) -> Option<()> {
        let [start, steps @ ..] = record.params;
        shift(start, steps.map(|step| step as i32), from, to);
        Some(())
    }
}

/// PAD.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pad;

impl OnMaps for Pad {
    fn run(
        _: &Running<'_, '_>,
        record: &OpRecord,
        from: Bytes<'_>,
        _: Option<Bytes<'_>>,
        to: (Map, &mut [u8]),
    ) -> Option<()> {
        let [above, left, ..] = record.params;
        pad([above, left], from, to);
        Some(())
    }
}

/// RESIZE.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resize;

impl OnMaps for Resize {
    fn run(
        on: &Running<'_, '_>,
        record: &OpRecord,
        from: Bytes<'_>,
        _: Option<Bytes<'_>>,
        to: (Map, &mut [u8]),
    ) -> Option<()> {
        resize(integers(on.model, record.multipliers), from, to);
        Some(())
    }
}

/// Element (y, x, c) is the one at `start + y · steps[0] + x · steps[1] + c · steps[2]`.
fn shift(start: u32, steps: [i32; 3], (from, x): Bytes<'_>, (to, out): (Map, &mut [u8])) {
    for index in 0..to.height * to.row() {
        let (place, channel) = (index / to.channels.max(1), index % to.channels.max(1));
        let at = [place / to.width.max(1), place % to.width.max(1), channel];
        let mut source = i64::from(start);
        for (at, step) in at.into_iter().zip(steps) {
            source += at as i64 * i64::from(step);
        }
        to.put(out, index, from.at(x, source as usize));
    }
}

/// The map from pixel `before` on; what lies around it stands for 0.
fn pad(before: [u32; 2], (from, x): Bytes<'_>, (to, out): (Map, &mut [u8])) {
    let [above, left] = before.map(|before| before as usize);
    for index in 0..to.height * to.row() {
        let (place, channel) = (index / to.channels.max(1), index % to.channels.max(1));
        let row = (place / to.width.max(1)).checked_sub(above).filter(|row| *row < from.height);
        let column = (place % to.width.max(1)).checked_sub(left).filter(|column| *column < from.width);
        let value = match (row, column) {
            (Some(row), Some(column)) => from.at(x, (row * from.width + column) * from.channels + channel),
            _ => to.zero,
        };
        to.put(out, index, value);
    }
}

/// Weights of the two neighbours of an axis, of which there are 1024 in all.
const WEIGHT_BITS: u32 = 10;

/// Means of four pixels, rounded to nearest, halves away from 0. taps: (height + width, 3): the two neighbours along
/// the axis and the second one's weight, of the rows, then of the columns.
fn resize(taps: &[i32], (from, x): Bytes<'_>, (to, out): (Map, &mut [u8])) {
    let taps = taps.as_chunks::<3>().0;
    for index in 0..to.height * to.row() {
        let (place, channel) = (index / to.channels.max(1), index % to.channels.max(1));
        let rows = taps.get(place / to.width.max(1));
        let columns = taps.get(to.height + place % to.width.max(1));
        let (Some([top, bottom, down]), Some([left, right, across])) = (rows, columns) else { return };
        let along = |row: i32| {
            let at = |column: i32| from.at(x, (row as usize * from.width + column as usize) * from.channels + channel);
            at(*left) * ((1 << WEIGHT_BITS) - across) + at(*right) * across
        };
        let sum = i64::from(along(*top)) * i64::from((1 << WEIGHT_BITS) - down)
            + i64::from(along(*bottom)) * i64::from(*down);
        let half = 1i64 << (2 * WEIGHT_BITS - 1);
        let magnitude = (sum.abs() + half) >> (2 * WEIGHT_BITS);
        to.put(out, index, if sum < 0 { -(magnitude as i32) } else { magnitude as i32 });
    }
}
