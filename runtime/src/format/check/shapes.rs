//! A tensor: shape, layout, stride and length belong together, what pads its rows is zero, and reals are finite.

use super::rules::{AT_LEAST, AT_MOST, B, C, D, E, F, PLACE, REST, Rule, Table};
use super::{Checker, Kind, Refused};
use crate::features::{IS_SMALL, REALS};
use crate::format::layout::{Lines, times};
use crate::format::records::{claim, element};
use crate::format::{Layout, TensorRecord};
use core::mem::offset_of;

/// What the rules know of a tensor, as it must be where it can be otherwise.
const ELEMENT: i8 = B;
const LAYOUT: i8 = C;
const BANKS: i8 = D;
const STRIDE: i8 = E;
const LEN: i8 = F;
/// Its place and the rest of the file are known from [`Checker::next_place`].
pub(super) const TENSOR: [Rule; 14] = [
    Rule::new(offset_of!(TensorRecord, offset_bytes), PLACE, 0, "tensor.offset_bytes", "the next free multiple of 64"),
    Rule::known(ELEMENT, 1, 16, "tensor.element", ELEMENTS),
    Rule::known(ELEMENT, element::F32 as i8, AT_MOST, "tensor.element", ELEMENTS),
    Rule::known(LAYOUT, 1, 16, "tensor.layout", LAYOUTS),
    Rule::known(LAYOUT, Layout::Columns.code() as i8, AT_MOST, "tensor.layout", LAYOUTS),
    Rule::known(LAYOUT, LAST_LAYOUT as i8, AT_MOST, "tensor.layout", "").of(Kind::Reals),
    Rule::new(offset_of!(TensorRecord, banks), 1, AT_LEAST, "tensor.banks", "1 or the number of output buckets"),
    Rule::new(offset_of!(TensorRecord, banks), BANKS, 0, "tensor.banks", "1 or the number of output buckets"),
    Rule::new(offset_of!(TensorRecord, rows), 1, AT_LEAST, "tensor.rows", "at least 1"),
    Rule::new(offset_of!(TensorRecord, cols), 1, AT_LEAST, "tensor.cols", "at least 1"),
    Rule::new(offset_of!(TensorRecord, stride), STRIDE, 0, "tensor.stride", "the stride of this layout and shape"),
    Rule::new(offset_of!(TensorRecord, len_bytes), LEN, 0, "tensor.len_bytes", "banks · rows · stride · element size"),
    Rule::new(offset_of!(TensorRecord, claims), 0, CLAIM_BITS, "tensor.claims", "only bits that are defined"),
    Rule::new(
        offset_of!(TensorRecord, len_bytes),
        REST,
        AT_MOST,
        "tensor.len_bytes",
        "a tensor that ends within the file",
    ),
];
const ELEMENTS: &str = "1 u8, 2 i8, 3 i16, 4 i32 or 5 f32";
const LAYOUTS: &str = "1 Rows, 2 K4 or 3 Columns";
/// The last of this build: only layers of reals lie in columns.
const LAST_LAYOUT: u16 = if REALS { Layout::Columns } else { Layout::K4 }.code();
const CLAIM_BITS: u8 = claim::ALL.trailing_ones() as u8;

impl Checker<'_> {
    /// The tensor that `record`, to which the checker has turned, places at `start`.
    pub(super) fn tensor(&self, record: &TensorRecord, start: usize) -> Result<(), Refused> {
        let (code, layout) = (u32::from(record.element), u32::from(record.layout));
        let (banks, rows, cols) = (record.banks as usize, record.rows as usize, record.cols as usize);
        let is_k4 = record.layout == Layout::K4.code();
        let is_columns = REALS && record.layout == Layout::Columns.code();
        let order = if is_k4 { Layout::K4 } else { Layout::Rows };
        let order = if is_columns { Layout::Columns } else { order };
        let lines = order.lines(rows, cols, element::shift(code));
        // Whatever is wrong with one of these, nothing is read by the others before its rule has been held.
        self.know(ELEMENT, code);
        self.know(LAYOUT, layout);
        self.know(BANKS, if record.banks == 1 { 1 } else { self.model.input().bucket_count });
        self.know(STRIDE, or_not(lines.len_bytes >> lines.shift, record.stride));
        self.know(LEN, or_not(times(times(lines.count, lines.len_bytes), banks), record.len_bytes));
        self.rules(Table::TENSOR)?;
        if code == element::F32 {
            self.finite_elements(start, record.len_bytes as usize)?;
        }
        self.padding(record, &lines, start)
    }

    /// Demands that what is no element is zero: behind what is used of every line and, in `K4`, the columns that are
    /// missing from each bank's last group.
    #[inline(always)]
    fn padding(&self, record: &TensorRecord, lines: &Lines, start: usize) -> Result<(), Refused> {
        let (banks, bank_len) = (record.banks as usize, lines.count * lines.len_bytes);
        let (mut at, mut count, mut used, mut len) =
            (start, banks * lines.count, lines.used_len_bytes, lines.len_bytes);
        let mut end = start;
        let mut groups = if record.layout == Layout::K4.code() { banks } else { 0 };
        loop {
            // Most matrices have no gaps at all.
            if used != len {
                for _ in 0..count {
                    self.blank(at + used, at + len)?;
                    at += len;
                }
            }
            if groups == 0 {
                return Ok(());
            }
            groups -= 1;
            end += bank_len;
            at = end - lines.len_bytes;
            count = record.rows as usize;
            len = 1 << lines.shift;
            used = ((record.cols as usize - 1) % 4 + 1) * (len / 4);
        }
    }

    fn finite_elements(&self, start: usize, len: usize) -> Result<(), Refused> {
        let (values, _) = self.model.part(start, len).as_chunks::<4>();
        // As with gaps: all at once, then one by one. By their bits, because builds without reals see such tensors,
        // too.
        let finite = !IS_SMALL && values.iter().fold(true, |finite, value| finite & is_finite(value));
        if !finite && let Some(at) = values.iter().position(|value| !is_finite(value)) {
            let expected = "a finite number (found: the element's index)";
            return Err(self.fault("tensor: an f32 element", at as u32, expected));
        }
        Ok(())
    }
}

/// A number as a field of 32 bits, or, if it is too large for one, a number that is not `found`.
fn or_not(number: usize, found: u32) -> u32 {
    u32::try_from(number).unwrap_or(!found)
}

/// Neither infinite nor no number: not all bits of the exponent are set.
fn is_finite(bytes: &[u8; 4]) -> bool {
    u32::from_le_bytes(*bytes) >> 23 & 0xff != 0xff
}
