//! Places in the workspace, wherever the format allows them: of their own, the lowest that is free, or any that is
//! free, so that values lie over others that are done with, wholly or in part, and end to end with those that are not.
//! Every other rounding that may writes where it reads, and so do operations that go row by row; of every other value
//! that is handed on row by row only a few rows lie there.

use super::program::Program;
use std::ops::Range;
use tamis_runtime::raw::{MOST_ROWS, MOST_STAGES, NONE, OpRecord, Overlap, RowWindow, ValueRecord, element, op};

impl Program<'_, '_> {
    pub(super) fn place(&mut self) {
        self.hand_rows_on();
        let style = self.choices.below(4);
        // Value 0 lies elsewhere.
        let elsewhere: Range<u32> = 0..0;
        let mut taken = vec![elsewhere];
        for value in 1..self.draft.values.len() as u32 {
            let record = self.value(value);
            if self.rounds_in_place(value) && self.choices.one_in(2) {
                // Its input's place, which is its own from now on.
                let place = taken[self.draft.ops[value as usize - 1].input as usize].clone();
                self.draft.values[value as usize].place = place.start;
                taken.push(place);
                continue;
            }
            let len = record.len_held() * element::len_bytes(record.element()).unwrap() as u32;
            // The value's place is apart from all that are read at its time or later and were there before.
            let alive =
                |other: u32| other >= 1 && value as usize <= self.stretch_end(last_reader(&self.draft.ops, other)) + 1;
            if let Some(start) = self.over_what_is_read(value, len, &taken, alive) {
                self.draft.values[value as usize].place = start;
                taken.push(start..start + len);
                continue;
            }
            let alive =
                |other: u32| other >= 1 && value as usize <= self.stretch_end(last_reader(&self.draft.ops, other)) + 1;
            let held: Vec<&Range<u32>> = (1..value).filter(|v| alive(*v)).map(|v| &taken[v as usize]).collect();
            let is_free = |start: &u32| held.iter().all(|held| *start >= held.end || start + len <= held.start);
            let end = taken.iter().map(|range| range.end).max().unwrap_or(0).next_multiple_of(64);
            let starts = taken.iter().flat_map(|range| [range.start, range.end.next_multiple_of(64)]);
            let mut free: Vec<u32> = starts.chain((0..end).step_by(64)).filter(is_free).collect();
            free.sort_unstable();
            free.dedup();
            let start = match style {
                0 => end,
                1 => free.first().copied().unwrap_or(end),
                _ if free.is_empty() || self.choices.one_in(8) => end,
                _ => self.choices.pick(&free),
            };
            self.draft.values[value as usize].place = start + record.rows_held();
            taken.push(start..start + len);
        }
    }

    /// Of some values that the next operation alone reads, row by row, a few rows at a time.
    fn hand_rows_on(&mut self) {
        let mut stages = 1;
        for value in 1..self.draft.values.len() as u32 - 1 {
            let rows = self.rows_to_hand_on(value).filter(|_| stages < MOST_STAGES && !self.choices.one_in(4));
            stages = if rows.is_some() { stages + 1 } else { 1 };
            if let Some([least, most]) = rows {
                let more = if self.choices.one_in(2) { 0 } else { self.below(most - least + 1) };
                self.draft.values[value as usize].place = least + more;
            }
        }
    }

    /// The least and the most.
    fn rows_to_hand_on(&self, value: u32) -> Option<[u32; 2]> {
        let (ops, record) = (&self.draft.ops, self.value(value));
        let (writer, reader) = (&ops[value as usize - 1], &ops[value as usize]);
        let window = |op: &OpRecord| RowWindow::of(op, &self.value(op.input), &self.value(op.output));
        let readers = ops.iter().filter(|op| op.input == value || (op.second != NONE && op.second == value)).count();
        let is_first = reader.input == value && reader.second != value;
        window(writer)?;
        let least = window(reader)?.reach;
        let most = (record.pixels()[0] - 1).min(MOST_ROWS);
        (readers == 1 && is_first && least <= most).then_some([least, most])
    }

    /// The last operation that runs at the time of one.
    fn stretch_end(&self, op: usize) -> usize {
        (op..self.draft.ops.len()).find(|op| self.value(*op as u32 + 1).rows_held() == 0).unwrap()
    }

    /// A place over what the writer of a value reads, where it goes row by row and is the last to read it.
    fn over_what_is_read(
        &self,
        value: u32,
        len: u32,
        taken: &[Range<u32>],
        alive: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let op = self.draft.ops[value as usize - 1];
        let is_alone = self.value(value).rows_held() == 0 && (op.input == 0 || self.value(op.input).rows_held() == 0);
        let is_row_by_row = [op::CONVOLUTION, op::POOL, op::ELEMENTWISE].contains(&op.kind);
        if !is_alone || !is_row_by_row {
            return None;
        }
        let reads = |other: u32| other == op.input || op.second != NONE && other == op.second;
        let is_over = |other: &u32| reads(*other) && last_reader(&self.draft.ops, *other) + 1 == value as usize;
        let held: Vec<&Range<u32>> =
            (1..value).filter(|v| alive(*v) && !is_over(v)).map(|v| &taken[v as usize]).collect();
        let over: Vec<&Range<u32>> = (1..value).filter(is_over).map(|v| &taken[v as usize]).collect();
        let meets = |start: u32, all: &[&Range<u32>]| all.iter().any(|r| start < r.end && r.start < start + len);
        let fits = |start: &u32| {
            let at = ValueRecord { place: *start, ..self.value(value) };
            let overlaps = Overlap::all(&op, |index| if index == value { &at } else { self.record(index) });
            let goes = |way: fn(&Overlap) -> bool| overlaps.iter().flatten().all(way);
            meets(*start, &over) && !meets(*start, &held) && (goes(Overlap::goes_down) || goes(Overlap::goes_up))
        };
        let end = taken.iter().map(|range| range.end).max().unwrap_or(0);
        let mut all = (0..end).step_by(64).filter(fits);
        // The lowest or the highest, which the parity of the value says, so that both orders come.
        if value.is_multiple_of(2) { all.next() } else { all.next_back() }
    }

    fn record(&self, index: u32) -> &ValueRecord {
        &self.draft.values[index as usize]
    }

    /// Whether a value is rounded from i32 to i32, of a whole value that nothing reads behind it.
    fn rounds_in_place(&self, value: u32) -> bool {
        let writer = value as usize - 1;
        let op = &self.draft.ops[writer];
        op.kind == op::REQUANTISE
            && op.input != 0
            && last_reader(&self.draft.ops, op.input) == writer
            && [op.input, value].map(|value| (self.value(value).element(), self.value(value).len))
                == [(element::I32, self.value(value).len); 2]
    }
}

/// The last operation that reads a value; operation 0, which reads only the input, if there is none.
fn last_reader(ops: &[OpRecord], value: u32) -> usize {
    ops.iter().rposition(|op| op.input == value || (op.second != NONE && op.second == value)).unwrap_or(0)
}
