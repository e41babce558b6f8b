//! Places in the workspace, wherever the format allows them: of their own, the lowest that is free, or any that is
//! free, so that values lie over others that are done with, wholly or in part, and end to end with those that are not.
//! Every other rounding that may writes where it reads.

use super::program::Program;
use std::ops::Range;
use tamis_runtime::raw::{NONE, OpRecord, element, op};

impl Program<'_, '_> {
    pub(super) fn place(&mut self) {
        let style = self.choices.below(4);
        // Value 0 lies elsewhere.
        let elsewhere: Range<u32> = 0..0;
        let mut taken = vec![elsewhere];
        for value in 1..self.draft.values.len() as u32 {
            let record = self.value(value);
            if self.rounds_in_place(value) && self.choices.one_in(2) {
                // Its input's place, which is its own from now on.
                let place = taken[self.draft.ops[value as usize - 1].input as usize].clone();
                self.draft.values[value as usize].offset_bytes = place.start;
                taken.push(place);
                continue;
            }
            let len = record.len * element::len_bytes(record.element()).unwrap() as u32;
            // The value's place is apart from all that are read at its time or later and were there before.
            let alive = |other: u32| other >= 1 && value as usize <= last_reader(&self.draft.ops, other) + 1;
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
            self.draft.values[value as usize].offset_bytes = start;
            taken.push(start..start + len);
        }
    }
}

impl Program<'_, '_> {
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
