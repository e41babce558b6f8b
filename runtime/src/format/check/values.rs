//! Values: vectors of a known element and length, at places within the workspace.

use super::rules::{A, AT_MOST, B, C, D, E, NOTHING, Rule, Table, word};
use super::{Checker, Kind, MAX_LEN, MAX_LEN_BITS, Refused};
use crate::features::{ACCUMULATORS, CONVOLUTIONS, GENERAL, IN_PLACE, IS_SMALL, ROWS};
use crate::format::records::{element, input_kind};
use crate::format::{ALIGNMENT, Header, MAX_WORKSPACE_LEN_BYTES, ValueRecord};
use core::mem::offset_of;

/// What the rules know of the input: the element and the length that it must have.
const ELEMENT: i8 = A;
const LEN: i8 = B;
/// The element of value 0: in builds without maps the word that it shares with a zero point, which is 0 there.
const FOUND: i8 = if CONVOLUTIONS { D } else { word(offset_of!(ValueRecord, element)) };
/// What the word of the extent must be, beside the demands of maps: anything, or 0.
const EXTENT_WORD: (i8, u8) = if CONVOLUTIONS { (NOTHING, AT_MOST) } else { (0, 0) };

/// Value 0, which is the input.
pub(super) const INPUT: [Rule; 4] = [
    Rule::known(FOUND, ELEMENT, 0, "value.element", "the input's element"),
    Rule::new(offset_of!(ValueRecord, len), LEN, 0, "value.len", "the input's length"),
    Rule::new(offset_of!(ValueRecord, place), NOTHING, 0, "value.place", "none for the input"),
    OTHER[0],
];
/// The others.
pub(super) const OTHER: [Rule; 2] = [
    Rule::new(
        offset_of!(ValueRecord, extent),
        EXTENT_WORD.0,
        EXTENT_WORD.1,
        "value.extent",
        "0: the build has no maps",
    ),
    Rule::new(offset_of!(ValueRecord, len), 1, MAX_LEN_BITS, "value.len", "1 to 2^24"),
];
/// Of all, where there are maps.
pub(super) const EXTENT: [Rule; 2] = [
    Rule::known(PIXELS, 0, 0, "value.extent", "0, or pixels that divide the length"),
    Rule::known(ZERO, 0, 0, "value.zero", "0, or a zero point that the value's element holds"),
];
/// What is left of the length.
const PIXELS: i8 = C;
/// The zero point, less what the element holds of it.
const ZERO: i8 = E;

/// Of the workspace, whose end the rules know.
pub(super) const WORKSPACE: [Rule; 1] = [Rule::new(
    offset_of!(Header, workspace_len_bytes),
    USED,
    0,
    "header.workspace_len_bytes",
    "the end of the last place, rounded up to 64",
)];
const USED: i8 = A;

/// The bits that no multiple of [`ALIGNMENT`] has.
const UNALIGNED: u32 = ALIGNMENT as u32 - 1;

impl Checker<'_> {
    /// Value 0 is the input; the others lie in the workspace.
    pub(super) fn values(&self) -> Result<(), Refused> {
        let input = self.model.input();
        let (element_code, len) = match input.kind {
            input_kind::FEATURES if ACCUMULATORS => (element::I16, input.perspectives * input.hidden),
            input_kind::SPARSE if GENERAL => (element::I16, input.max_active),
            _ => (input.element, input.size),
        };
        self.know(ELEMENT, element_code);
        self.know(LEN, len);
        let asked = self.model.header().workspace_len_bytes;
        let (mut index, mut used) = (0, 0);
        while let Some(value) = self.model.values().get(index) {
            self.turn(index, value);
            let extent = u32::from(value.extent[0]) << 16 | u32::from(value.extent[1]);
            if !CONVOLUTIONS && !IS_SMALL && (extent, value.zero) != (0, 0) {
                return Err(self.missing("value.extent", extent, Kind::Convolutions));
            }
            if index == 0 {
                if CONVOLUTIONS {
                    self.know(FOUND, value.element());
                }
                self.rules(Table::INPUT)?;
                self.need(asked <= MAX_WORKSPACE_LEN_BYTES, "header.workspace_len_bytes", asked, "at most 2^26")?;
            } else {
                self.rules(Table::OTHER)?;
                let (place, end) = (value.offset_bytes(), end(value));
                if IN_PLACE && !ROWS && place & UNALIGNED != 0 {
                    return Err(self.missing("value.place", place, Kind::Maps));
                }
                self.need(place & UNALIGNED == 0, "value.place", place, "a multiple of 64")?;
                self.need(end <= asked, "value.len", value.len, "a value that ends within the workspace")?;
                used = end.max(used);
            }
            if CONVOLUTIONS {
                self.know(PIXELS, left_over(value));
                // Neither accumulators nor lists of features have one.
                let has_zero = index > 0 || input.kind == input_kind::DENSE;
                self.know(ZERO, if has_zero { beyond_element(value) } else { value.zero.into() } as u32);
                self.rules(Table::EXTENT)?;
            }
            if ROWS {
                let rows = value.rows_held();
                self.need(
                    rows < value.pixels()[0],
                    "value.place",
                    rows,
                    "fewer rows than the value has, or 0 for all",
                )?;
            }
            index = self.index.get() + 1;
        }
        self.need(index > 0, "header.value_count", 0, "at least 1")?;
        self.turn_to_header();
        // No multiple of 64 that is at most 2^26 leaves 32 bits.
        self.know(USED, (used + UNALIGNED) & !UNALIGNED);
        self.rules(Table::WORKSPACE)
    }
}

/// Of a map the elements that are left when all its pixels have equally many.
fn left_over(value: &ValueRecord) -> u32 {
    let [height, width] = value.pixels();
    // 2^32 pixels are more than any length.
    let divide = height.checked_mul(width).is_some_and(|pixels| value.len.is_multiple_of(pixels));
    if divide { 0 } else { 1 }
}

/// A zero point less what its element holds of it: 0 if all of it.
fn beyond_element(value: &ValueRecord) -> i32 {
    let zero = i32::from(value.zero);
    match value.element() {
        element::U8 => zero ^ i32::from(zero as u8),
        element::I8 => zero ^ i32::from(zero as i8),
        element::I16 => 0,
        _ => zero,
    }
}

/// The element's code; in builds without maps of no element where there is a zero point.
fn code(value: &ValueRecord) -> u32 {
    let [first, ..] = bytemuck::must_cast_ref::<ValueRecord, [u32; 4]>(value);
    if CONVOLUTIONS { value.element() } else { *first }
}

/// Where a value's place in the workspace ends; the largest number if its element is unknown or it is beyond all that a
/// file may ask for.
#[inline(never)]
fn end(value: &ValueRecord) -> u32 {
    if element::len_bytes(code(value)).is_none() {
        return u32::MAX;
    }
    value.offset_bytes().saturating_add(value.len_held().min(MAX_LEN) << element::shift(code(value)))
}

/// Whether two values, whose places lie within the workspace, share no byte of it.
pub(super) fn are_apart(a: &ValueRecord, b: &ValueRecord) -> bool {
    end(a) <= b.offset_bytes() || end(b) <= a.offset_bytes()
}
