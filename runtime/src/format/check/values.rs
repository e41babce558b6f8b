//! Values: vectors of a known element and length, at places within the workspace.

use super::{Checker, MAX_LEN, Refused};
use crate::format::records::{element, input_kind};
use crate::format::{ALIGNMENT, MAX_WORKSPACE_LEN_BYTES, NONE, ValueRecord};
use core::ops::Range;

impl Checker<'_, '_> {
    /// Value 0 is the input; the others lie in the workspace.
    pub(super) fn values(&self) -> Result<(), Refused> {
        let input = self.model.input();
        let (element_code, len) = match input.kind {
            input_kind::FEATURES => (element::I16, input.perspectives * input.hidden),
            input_kind::SPARSE => (element::I16, input.max_active),
            _ => (input.element, input.size),
        };
        let Some((first, others)) = self.model.values().split_first() else {
            return Err(self.fault("header.value_count", 0, "at least 1"));
        };
        self.need(first.element == element_code, "value.element", first.element, "the input's element");
        self.need(first.len == len, "value.len", first.len, "the input's length");
        self.need(first.offset_bytes == NONE, "value.offset_bytes", first.offset_bytes, "none for the input");
        self.need(first.reserved == 0, "value.reserved", first.reserved, "0");
        let asked = self.model.header().workspace_len_bytes;
        self.need(asked <= MAX_WORKSPACE_LEN_BYTES, "header.workspace_len_bytes", asked, "at most 2^26");
        let mut used = 0;
        for (index, value) in others.iter().enumerate() {
            self.at(index + 1);
            self.need(value.reserved == 0, "value.reserved", value.reserved, "0");
            self.need((1..=MAX_LEN).contains(&value.len), "value.len", value.len, "1 to 2^24");
            let aligned = (value.offset_bytes as usize).is_multiple_of(ALIGNMENT);
            self.need(aligned, "value.offset_bytes", value.offset_bytes, "a multiple of 64");
            let end = place(value).map_or(usize::MAX, |range| range.end);
            self.need(end <= asked as usize, "value.len", value.len, "a value that ends within the workspace");
            used = used.max(end);
        }
        self.at(0);
        let fits = used.checked_next_multiple_of(ALIGNMENT) == Some(asked as usize);
        self.need(fits, "header.workspace_len_bytes", asked, "the end of the last place, rounded up to 64");
        Ok(())
    }
}

/// Where a value lies in the workspace; `None` if the numbers overflow or the element is unknown.
fn place(value: &ValueRecord) -> Option<Range<usize>> {
    let len = (value.len as usize).checked_mul(element::len_bytes(value.element)?)?;
    let start = value.offset_bytes as usize;
    Some(start..start.checked_add(len)?)
}

/// Whether two values share no byte of the workspace.
pub(super) fn are_apart(a: &ValueRecord, b: &ValueRecord) -> bool {
    matches!((place(a), place(b)), (Some(a), Some(b)) if a.end <= b.start || b.end <= a.start)
}
