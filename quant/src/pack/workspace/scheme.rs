//! Which values lie in the workspace a few rows at a time, which may lie over what they are made of, and what that
//! means for their places.

use super::{Life, last_read, reads};
use std::ops::Range;
use tamis_runtime::raw::{
    ALIGNMENT, MOST_ROWS, MOST_STAGES, NONE, OpRecord, Overlap, RowWindow, ValueRecord, element, op,
};

/// How values lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scheme {
    /// Of each value how many rows lie in the workspace at a time; 0 for all.
    held: Vec<u32>,
    /// Rows that are written at once where an operation writes over what it reads; 0 where none does.
    batch: u32,
}

impl Scheme {
    /// All values whole and apart.
    pub fn whole(values: usize) -> Self {
        Self { held: vec![0; values], batch: 0 }
    }

    /// Values that may be written over what they are made of, `batch` rows at once, and of those in `handed_on` as many
    /// rows at a time as their reader needs to write `batch` rows.
    pub fn by_rows(values: &[ValueRecord], ops: &[OpRecord], handed_on: impl Fn(usize) -> bool, batch: u32) -> Self {
        let mut held = vec![0; values.len()];
        let mut stages = 1;
        for index in 1..values.len() {
            let rows = can_be_handed_on(values, ops, index)
                .map(|reader| reader.reach + (batch - 1) * reader.stride)
                .filter(|rows| *rows <= MOST_ROWS && *rows < values[index].pixels()[0])
                .filter(|_| handed_on(index) && stages < MOST_STAGES);
            stages = if rows.is_some() { stages + 1 } else { 1 };
            if let Some(rows) = rows {
                held[index] = rows;
            }
        }
        Self { held, batch }
    }

    pub fn rows_held(&self, index: usize) -> u32 {
        self.held[index]
    }

    /// Bytes of a value's place.
    pub fn len_bytes(&self, values: &[ValueRecord], index: usize) -> Option<usize> {
        let value = values.get(index)?;
        let rows = match self.held[index] {
            0 => value.pixels()[0],
            rows => rows,
        };
        let row = value.len as usize / value.pixels()[0] as usize;
        (row * rows as usize).checked_mul(element::len_bytes(value.element())?)
    }

    /// The operations that run at the same time as this one.
    pub fn stretch(&self, index: usize) -> Range<usize> {
        let (mut start, mut end) = (index, index);
        while self.held[start] > 0 {
            start -= 1;
        }
        while self.held.get(end + 1).is_some_and(|rows| *rows > 0) {
            end += 1;
        }
        start..end + 1
    }

    /// The end of what runs at the same time as an operation, or as the caller, who comes behind all.
    pub fn end_of(&self, index: usize) -> usize {
        if index + 1 < self.held.len() { self.stretch(index).end - 1 } else { index }
    }

    /// The starts, an open range of them, that a value of a length may not have beside one that is alive with it.
    pub fn taken(
        &self,
        values: &[ValueRecord],
        ops: &[OpRecord],
        other: &Life,
        (index, len): (usize, usize),
    ) -> (isize, isize) {
        let at = |start: usize| start as isize;
        if let Some([down, up]) = self.over(values, ops, other.index, index) {
            (at(other.start) - down, at(other.start) + up)
        } else if let Some([down, up]) = self.over(values, ops, index, other.index) {
            (at(other.start) - up, at(other.start) + down)
        } else {
            (at(other.start) - at(len), at(other.end))
        }
    }

    /// How far below and above what it reads an operation may write, if it may write over it: it stands alone, and
    /// nothing else reads that value behind it.
    fn over(&self, values: &[ValueRecord], ops: &[OpRecord], read: usize, written: usize) -> Option<[isize; 2]> {
        let writer = written.checked_sub(1).filter(|_| self.batch > 0)?;
        let record = ops.get(writer).filter(|record| reads(record, read) && self.stretch(writer).len() == 1)?;
        let is_map = [op::CONVOLUTION, op::POOL, op::ELEMENTWISE].contains(&record.kind);
        if !is_map || last_read(values, ops, read) != writer || chosen(values, ops, record) != read {
            return None;
        }
        let (from, to) = (&values[read], &values[written]);
        let window = if record.input as usize == read {
            RowWindow::of(record, from, to)?
        } else {
            RowWindow::of_second(from, to)
        };
        let Overlap { read_row, write_row, rows, .. } = Overlap::of(from, to, window);
        let batch = self.batch;
        let down = |y: u32| {
            let written = (y + batch).min(rows) * write_row;
            i64::from(written) - i64::from(window.first(y) * read_row)
        };
        let up = |end: u32| {
            let before = end.saturating_sub(batch) * write_row;
            i64::from(window.end(end - 1) * read_row) - i64::from(before)
        };
        // A map has a row.
        let [down, up] = [(0..rows).map(down).max()?, (1..rows + 1).map(up).max()?];
        let [down, up] = [down.min((rows * write_row).into()), up.min((window.size * read_row).into())];
        let aligned = |bytes: i64| (bytes.max(0) as usize).next_multiple_of(ALIGNMENT) as isize;
        Some([aligned(down), aligned(up)])
    }
}

/// Of two values that end with an operation the one over which it may write: one order of rows must suit both.
fn chosen(values: &[ValueRecord], ops: &[OpRecord], record: &OpRecord) -> usize {
    let (input, second) = (record.input as usize, record.second as usize);
    let writer = record.output as usize - 1;
    let is_second = record.second != NONE
        && second != 0
        && second != input
        && last_read(values, ops, second) == writer
        && values[second].extent == values[record.output as usize].extent;
    if is_second { second } else { input }
}

/// The window of a value's reader, if both its writer and that go row by row and the one comes behind the other.
pub(super) fn can_be_handed_on(values: &[ValueRecord], ops: &[OpRecord], index: usize) -> Option<RowWindow> {
    let (writer, reader) = (ops.get(index - 1)?, ops.get(index)?);
    let window =
        |record: &OpRecord| RowWindow::of(record, &values[record.input as usize], &values[record.output as usize]);
    let is_only = ops.iter().filter(|record| reads(record, index)).count() == 1;
    let is_first = reader.input as usize == index && reader.second as usize != index;
    window(writer)?;
    window(reader).filter(|_| is_only && is_first)
}
