//! Values: vectors of a known element and length, at places within the workspace.

use super::rules::{A, B, NOTHING, Rule, words};
use super::{Checker, MAX_LEN, MAX_LEN_BITS, Refused};
use crate::built::{ACCUMULATORS, GENERAL};
use crate::format::records::{element, input_kind};
use crate::format::{ALIGNMENT, MAX_WORKSPACE_LEN_BYTES, ValueRecord};
use core::mem::offset_of;

/// What the rules know of a value: the element that it must have, or the multiple of 64 at or before its place, and the length that is right.
const ELEMENT: i8 = A;
const ALIGNED: i8 = A;
const LEN: i8 = B;

/// Value 0, which is the input.
const INPUT: [Rule; 4] = [
    Rule::new(offset_of!(ValueRecord, element), ELEMENT, 0, "value.element", "the input's element"),
    Rule::new(offset_of!(ValueRecord, len), LEN, 0, "value.len", "the input's length"),
    Rule::new(offset_of!(ValueRecord, offset_bytes), NOTHING, 0, "value.offset_bytes", "none for the input"),
    Rule::new(offset_of!(ValueRecord, reserved), 0, 0, "value.reserved", "0"),
];
/// The others.
const OTHER: [Rule; 4] = [
    Rule::new(offset_of!(ValueRecord, reserved), 0, 0, "value.reserved", "0"),
    Rule::new(offset_of!(ValueRecord, len), 1, MAX_LEN_BITS, "value.len", "1 to 2^24"),
    Rule::new(offset_of!(ValueRecord, offset_bytes), ALIGNED, 0, "value.offset_bytes", "a multiple of 64"),
    Rule::new(offset_of!(ValueRecord, len), LEN, 0, "value.len", "a value that ends within the workspace"),
];

/// The bits that no multiple of [`ALIGNMENT`] has.
const UNALIGNED: u32 = ALIGNMENT as u32 - 1;

impl Checker<'_, '_> {
    /// Value 0 is the input; the others lie in the workspace.
    pub(super) fn values(&self) -> Result<(), Refused> {
        let input = self.model.input();
        let (element_code, len) = match input.kind {
            input_kind::FEATURES if ACCUMULATORS => (element::I16, input.perspectives * input.hidden),
            input_kind::SPARSE if GENERAL => (element::I16, input.max_active),
            _ => (input.element, input.size),
        };
        let Some((first, others)) = self.model.values().split_first() else {
            return Err(self.fault("header.value_count", 0, "at least 1"));
        };
        self.know(ELEMENT, element_code);
        self.know(LEN, len);
        self.rules(words(first), &INPUT)?;
        let asked = self.model.header().workspace_len_bytes;
        self.need(asked <= MAX_WORKSPACE_LEN_BYTES, "header.workspace_len_bytes", asked, "at most 2^26")?;
        let mut used = 0;
        for (index, value) in others.iter().enumerate() {
            self.at(index + 1);
            let end = end(value);
            self.know(ALIGNED, value.offset_bytes & !UNALIGNED);
            self.know(LEN, if end <= asked { value.len } else { !value.len });
            self.rules(words(value), &OTHER)?;
            used = end.max(used);
        }
        self.at(0);
        // What is left behind the last place is less than a place can begin at.
        let fits = asked.wrapping_sub(used) <= UNALIGNED && asked & UNALIGNED == 0;
        self.need(fits, "header.workspace_len_bytes", asked, "the end of the last place, rounded up to 64")
    }
}

/// Where a value's place in the workspace ends; the largest number if its element is unknown or it is beyond all that a file may ask for.
#[inline(never)]
fn end(value: &ValueRecord) -> u32 {
    if element::len_bytes(value.element).is_none() {
        return u32::MAX;
    }
    value.offset_bytes.saturating_add(value.len.min(MAX_LEN) << element::shift(value.element))
}

/// Whether two values, whose places lie within the workspace, share no byte of it.
pub(super) fn are_apart(a: &ValueRecord, b: &ValueRecord) -> bool {
    end(a) <= b.offset_bytes || end(b) <= a.offset_bytes
}
