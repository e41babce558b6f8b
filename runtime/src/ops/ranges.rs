//! Where an operation reads and where it writes.

use super::list::List;
use super::{Input, Running};
use crate::features::{GENERAL, ROWS};
use crate::format::{InputRecord, Model, OpRecord, element, input_kind, perspective_order};
use crate::workspace::{range, range_mut, split};
use core::ops::Range;

/// Bytes of the workspace, or of the network's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    start: u32,
    end: u32,
}

impl Place {
    /// Elements of a value.
    pub fn of(model: &Model<'_>, value: u32, start: u32, len: u32) -> Self {
        let Some(record) = model.values().get(value as usize) else { return Self { start: 0, end: 0 } };
        let shift = element::shift(record.element());
        let base = if value == 0 { 0 } else { record.offset_bytes() };
        // What lies there a few rows at a time is read as a whole, by its operation.
        let len = if ROWS && record.rows_held() > 0 { record.len_held() } else { len };
        // Within the workspace, as the loader has checked.
        let start = base.wrapping_add(start << shift);
        Self { start, end: start.wrapping_add(len << shift) }
    }

    pub const fn is_apart_from(self, other: Self) -> bool {
        self.end <= other.start || other.end <= self.start
    }

    pub const fn len_bytes(self) -> usize {
        (self.end - self.start) as usize
    }

    /// The same in memory that starts later, no later than it.
    pub const fn back(self, start: usize) -> Self {
        Self { start: self.start - start as u32, end: self.end - start as u32 }
    }

    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The places of an operation. What reads a second value knows itself where that is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    pub read: Place,
    pub write: Place,
    /// Number of the value that is written.
    pub output: usize,
    /// Whether it reads the network's input, which does not lie in the workspace.
    pub reads_input: bool,
}

impl Places {
    /// `None` if there is no such value, which the loader rules out.
    pub fn of(model: &Model<'_>, record: &OpRecord) -> Option<Self> {
        let output = model.values().get(record.output as usize)?;
        Some(Self {
            read: Place::of(model, record.input, record.input_start, record.input_len),
            write: Place::of(model, record.output, 0, output.len),
            output: record.output as usize,
            reads_input: record.input == 0,
        })
    }

    /// Whether it writes where it reads.
    pub fn is_in_place(&self) -> bool {
        !self.reads_input && self.read == self.write
    }

    /// What is read, of the workspace or of a vector that is the network's input, and what is written.
    #[inline(always)]
    pub fn bytes<'w>(&self, on: &Running<'w, '_>, workspace: &'w mut [u8]) -> (&'w [u8], &'w mut [u8]) {
        self.bytes_of(self.read, self.reads_input, on, workspace)
    }

    /// The same with another place in place of the first.
    #[inline(always)]
    pub fn bytes_of<'w>(
        &self,
        read: Place,
        reads_input: bool,
        on: &Running<'w, '_>,
        workspace: &'w mut [u8],
    ) -> (&'w [u8], &'w mut [u8]) {
        if GENERAL && reads_input && matches!(on.input, Input::Sparse { .. }) {
            // A list, which has no bytes.
            (&[], range_mut(workspace, self.write.range()))
        } else if reads_input {
            (range(on.input.bytes(), read.range()), range_mut(workspace, self.write.range()))
        } else {
            split(workspace, read.range(), self.write.range())
        }
    }

    /// The accumulators that are the network's input, in its order, and what is written; the second is empty with one
    /// perspective.
    #[inline(always)]
    pub fn accumulators<'w>(
        &self,
        on: &Running<'w, '_>,
        workspace: &'w mut [u8],
    ) -> (&'w [i16], &'w [i16], &'w mut [u8]) {
        let out = range_mut(workspace, self.write.range());
        match *on.input {
            Input::Accumulators(own, other) => {
                let (first, second) = in_order(on.model.input(), own, other);
                (first, second, out)
            }
            _ => (&[], &[], out),
        }
    }

    /// What is read, where nothing is written: of the workspace, or of a vector that is the network's input. Nothing of
    /// accumulators, which [`Places::sides`] has.
    pub fn source<'w>(&self, on: &Running<'w, '_>, workspace: &'w [u8]) -> &'w [u8] {
        match on.input {
            Input::Accumulators(..) if self.reads_input => &[],
            input => range(if self.reads_input { input.bytes() } else { workspace }, self.read.range()),
        }
    }

    /// The accumulators that are the network's input, in its order.
    pub fn sides<'w>(&self, on: &Running<'w, '_>) -> (&'w [i16], &'w [i16]) {
        match *on.input {
            Input::Accumulators(own, other) => in_order(on.model.input(), own, other),
            _ => (&[], &[]),
        }
    }

    /// The list that is the network's input, if it is one and is read.
    pub fn list<'w>(&self, on: &Running<'w, '_>) -> Option<List<'w>> {
        match *on.input {
            Input::Sparse { features, values } if self.reads_input => {
                Some(List { features, values, unit: on.model.input().unit })
            }
            _ => None,
        }
    }
}

/// Accumulators in the network's order, as many as it has perspectives.
pub(crate) fn in_order<'x>(record: &InputRecord, own: &'x [i16], other: &'x [i16]) -> (&'x [i16], &'x [i16]) {
    debug_assert_eq!(record.kind, input_kind::FEATURES);
    match (record.perspectives, record.order) {
        (2, perspective_order::OTHER_FIRST) => (other, own),
        (2, _) => (own, other),
        _ => (own, &[]),
    }
}
