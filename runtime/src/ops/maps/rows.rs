//! Operations a band of rows at a time: those whose values do not lie whole in the workspace, and those that write over
//! what they read.
//!
//! A band of rows is an operation of its own: of maps with fewer rows, and with less padding above. So no kernel knows
//! of bands, and the bits are those of the whole maps.
//!
//! In a stretch each operation but the last leaves its rows in a place that holds a few. The loop goes to the last
//! operation for which there is something to do: it writes as many rows as its input is there for and its place has
//! room for, and where that is none the one before it gets its turn. Rows that the reader is done with make room when
//! it is short: what is still read moves to the front of the place.

use super::{Bytes, Convolution, Elementwise, OnMaps, Parts, Place, Pool, RunOnMaps, Running};
use crate::format::{MOST_STAGES, NONE, OpRecord, Overlap, RowWindow, ValueRecord, element, op};
use crate::kernels::maps::Map;
use crate::ops::Places;
use crate::workspace::range;
use core::mem::take;
use core::ops::Range;

/// Runs an operation whose rows are not written all at once; false, and nothing done, if it is another one. An
/// operation that hands rows on runs with the last one of its stretch. own: its kind's.
#[inline(never)]
pub(super) fn run(on: &Running<'_, '_>, at: &Places, workspace: &mut [u8], own: RunOnMaps) -> bool {
    let index = at.output - 1;
    let Some(stage) = Stage::of(on, index) else { return false };
    if stage.to.rows_held() > 0 {
        return true;
    }
    if stage.from.rows_held() > 0 {
        let is_done = stretch(on, index, workspace, |_| ());
        debug_assert!(is_done.is_some(), "a stretch that the loader let through and that cannot run");
        return true;
    }
    over_input(on, &stage, at, workspace, own)
}

/// Runs the operations up to one that hands rows on and shows its output, from the first row to the last, in pieces;
/// false, and nothing done, for any other. value: its output.
pub(crate) fn trace(on: &Running<'_, '_>, value: usize, workspace: &mut [u8], observe: impl FnMut(&[u8])) -> bool {
    let is_one = on.model.values().get(value).is_some_and(|value| value.rows_held() > 0);
    is_one && stretch(on, value - 1, workspace, observe).is_some()
}

/// An operation that goes row by row.
struct Stage<'m> {
    record: &'m OpRecord,
    window: RowWindow,
    from: &'m ValueRecord,
    to: &'m ValueRecord,
}

impl<'m> Stage<'m> {
    fn of(on: &Running<'m, '_>, index: usize) -> Option<Self> {
        let record = on.model.ops().get(index)?;
        let value = |index: u32| on.model.values().get(index as usize);
        let (from, to) = (value(record.input)?, value(record.output)?);
        // A single pixel meets all of the second map, which is what goes by rows then.
        let is_pixel = record.kind == op::ELEMENTWISE;
        let pixel = || is_pixel.then(|| RowWindow::whole(from.pixels()[0]));
        Some(Self { record, window: RowWindow::of(record, from, to).or_else(pixel)?, from, to })
    }

    /// Rows that the place of the output holds.
    const fn place(&self) -> u32 {
        match self.to.rows_held() {
            0 => self.to.pixels()[0],
            rows => rows,
        }
    }
}

/// Bytes of a row.
fn row_len_bytes(map: &Map) -> usize {
    map.row() << element::shift(map.element)
}

/// Where rows lie: the first byte of row `first`.
#[derive(Clone, Copy)]
struct Strip {
    start: usize,
    first: u32,
}

impl Strip {
    /// The bytes of rows of a map.
    fn range(self, map: &Map, rows: &Range<u32>) -> Range<usize> {
        let row = row_len_bytes(map);
        let start = self.start + (rows.start - self.first) as usize * row;
        start..start + rows.len() * row
    }
}

/// Writes some rows of an operation's output. own: its kind's.
fn band(
    on: &Running<'_, '_>,
    stage: &Stage<'_>,
    [read, write]: [Strip; 2],
    rows: Range<u32>,
    workspace: &mut [u8],
    own: RunOnMaps,
) {
    let Stage { record, window, .. } = *stage;
    let (from, to) = (Map::of(stage.from), Map::of(stage.to));
    let seen = window.first(rows.start)..window.end(rows.end - 1);
    let mut band = *record;
    if record.kind != op::ELEMENTWISE {
        let above = window.before + seen.start - rows.start * window.stride;
        let [steps, more, low, high] = record.params;
        band.params = [steps, more & !(0xFF << ABOVE) | above << ABOVE, low, high];
    }
    let mut parts = Parts::around(on, workspace, write.range(&to, &rows));
    let second = on.model.values().get(record.second as usize).map(|second| -> Bytes<'_> {
        let (map, place) = (Map::of(second), Place::of(on.model, record.second, 0, second.len).range());
        // Another one has a single pixel, which meets all.
        let rows = if map.height == to.height { rows.clone() } else { 0..map.height as u32 };
        let place = Strip { start: place.start, first: 0 }.range(&map, &rows);
        (Map { height: rows.len(), ..map }, parts.read(place, record.second == 0))
    });
    let from = (Map { height: seen.len(), ..from }, parts.read(read.range(&from, &seen), record.input == 0));
    let to = (Map { height: rows.len(), ..to }, take(&mut parts.out));
    let is_done = own(on, &band, from, second, to);
    debug_assert!(is_done.is_some(), "rows of an operation that cannot run");
}

/// What runs an operation that goes by rows.
fn of_kind(kind: u32) -> RunOnMaps {
    match kind {
        op::CONVOLUTION => Convolution::run,
        op::POOL => Pool::run,
        _ => Elementwise::run,
    }
}

/// The bit of the second word of parameters at which the padding above begins.
const ABOVE: u32 = 16;

/// An operation that writes over what it reads; false, and nothing done, if its places are apart.
fn over_input(on: &Running<'_, '_>, stage: &Stage<'_>, at: &Places, workspace: &mut [u8], own: RunOnMaps) -> bool {
    let values = on.model.values();
    let overlaps = Overlap::all(stage.record, |index| sure_value(values, index));
    let overlaps = overlaps.iter().flatten();
    if overlaps.clone().all(Overlap::is_apart) {
        return false;
    }
    let is_down = overlaps.clone().all(Overlap::goes_down);
    let strips = [at.read, at.write].map(|place| Strip { start: place.range().start, first: 0 });
    let mut left = 0..stage.to.pixels()[0];
    while !left.is_empty() {
        let free = |overlap: &Overlap| if is_down { overlap.downward(left.start) } else { overlap.upward(left.end) };
        let count = overlaps.clone().map(free).fold(left.end - left.start, u32::min);
        if count == 0 {
            debug_assert!(false, "rows that the loader let through and that have no room");
            return true;
        }
        let rows = if is_down { left.start..left.start + count } else { left.end - count..left.end };
        left = if is_down { rows.end..left.end } else { left.start..rows.start };
        band(on, stage, strips, rows, workspace, own);
    }
    true
}

/// A value that the loader has found.
fn sure_value(values: &[ValueRecord], index: u32) -> &ValueRecord {
    const NOWHERE: &ValueRecord = &ValueRecord { element: 0, zero: 0, len: 1, place: NONE, extent: [0; 2] };
    let value = values.get(index as usize);
    debug_assert!(value.is_some(), "a value that is not there");
    value.unwrap_or(NOWHERE)
}

/// Rows `first..next` of an operation's output lie in its place; those before have been.
#[derive(Clone, Copy, Default)]
struct RowsReady {
    first: u32,
    next: u32,
}

/// Bytes to an earlier place, which may be over what they are. Not by `copy_within`, whose check the smallest images
/// would keep.
fn move_down(workspace: &mut [u8], from: Range<usize>, to: usize) {
    let distance = from.start - to;
    let Some(bytes) = workspace.get_mut(to..from.end) else { return };
    for at in 0..from.end - from.start {
        if let Some(byte) = bytes.get(at + distance).copied()
            && let Some(place) = bytes.get_mut(at)
        {
            *place = byte;
        }
    }
}

/// The operations that hand rows on to operation `last`, and that one. observe: its rows, in pieces. `None`, and not
/// all done, for what the loader rules out.
fn stretch(on: &Running<'_, '_>, last: usize, workspace: &mut [u8], mut observe: impl FnMut(&[u8])) -> Option<()> {
    let held_input = |index: usize| Stage::of(on, index).is_some_and(|stage| stage.from.rows_held() > 0);
    let mut first = last;
    while held_input(first) {
        first -= 1;
    }
    let mut all = [RowsReady::default(); MOST_STAGES];
    let mut index = last;
    loop {
        let stage = Stage::of(on, index)?;
        let RowsReady { first: oldest, next } = *all.get(index - first)?;
        let (rows, place) = (stage.to.pixels()[0], stage.place());
        let mut read = Strip { start: Place::of(on.model, stage.record.input, 0, 0).range().start, first: 0 };
        let (mut there, mut needed) = (rows, oldest);
        if index > first {
            let input = all.get(index - first - 1)?;
            there = rows.min(stage.window.rows_from(input.next));
            read.first = input.first;
        }
        if index < last {
            let reader = Stage::of(on, index + 1)?;
            needed = reader.window.first(all.get(index + 1 - first)?.next).min(next);
        }
        let end = there.min(needed + place);
        if end <= next {
            // Nothing to do for it, and so for those before it, until the rows before are there.
            index = index.checked_sub(1).filter(|index| *index >= first)?;
            continue;
        }
        let map = Map::of(stage.to);
        let mut write = Strip { start: Place::of(on.model, stage.record.output, 0, 0).range().start, first: oldest };
        if end - oldest > place {
            move_down(workspace, write.range(&map, &(needed..next)), write.start);
            write.first = needed;
        }
        band(on, &stage, [read, write], next..end, workspace, of_kind(stage.record.kind));
        let held = all.get_mut(index - first)?;
        *held = RowsReady { first: write.first, next: end };
        if index < last {
            index += 1;
            continue;
        }
        observe(range(workspace, write.range(&map, &(next..end))));
        if stage.to.rows_held() > 0 {
            held.first = end;
        }
        if end == rows {
            return Some(());
        }
    }
}
