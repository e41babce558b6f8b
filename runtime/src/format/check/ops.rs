//! Operations: every one reads what an earlier one wrote, and writes to a place of its own; a rounding to i32 may write
//! where it reads, and one that goes row by row over what it has read (`by_rows`). After this the executor cannot fail
//! for anything that the file says.

use super::rules::{A, B, D, Rule, Table, word};
use super::values::are_apart;
use super::{Checker, Refused};
use crate::features::{CONVOLUTIONS, GENERAL, IN_PLACE, ROWS};
use crate::format::op;
use crate::format::records::element;
use crate::format::{Header, MOST_STAGES, Model, OpRecord, ValueRecord};
use core::mem::offset_of;

/// The most operations. Whether a value is still intact when it is read takes a pass over the operations since, so the
/// loader's time is bounded through this.
const MAX_OPS_BITS: u8 = 12;

/// What the rules know before the operations: one more than those, and the number of the value that is the network's
/// output.
const NEXT: i8 = A;
const OUTPUT: i8 = B;
/// And of each its output's element, in the end that of the last.
pub(super) const TO: i8 = D;
/// Of the header.
pub(super) const COUNTS: [Rule; 3] = [
    Rule::new(offset_of!(Header, op_count), 1, MAX_OPS_BITS, "header.op_count", "1 to 4096"),
    Rule::new(offset_of!(Header, value_count), NEXT, 0, "header.value_count", "one more than operations"),
    Rule::known(OUTPUT, word(offset_of!(Header, op_count)), 0, "input.output", "the output of the last operation"),
];
pub(super) const RESULT: [Rule; 1] = [Rule::known(TO, element::I32 as i8, 1, "input.output", "a value of i32 or f32")];

/// The field of the value that an operation reads first.
const INPUT_NAME: &str = "op.input";

impl<'a> Checker<'a> {
    /// The operations, in order; operation `i` writes value `i + 1`. The checker has turned to the header.
    #[inline(never)]
    pub(super) fn ops(&self) -> Result<(), Refused> {
        // It is below 2^32, because the records that it counts fit the file.
        self.know(NEXT, self.model.header().op_count + 1);
        self.know(OUTPUT, self.model.input().output);
        self.rules(Table::COUNTS)?;
        let mut index = 0;
        while let Some(record) = self.model.ops().get(index) {
            self.turn(index, record);
            self.op(record)?;
            index = self.index.get() + 1;
        }
        self.turn_to_header();
        self.rules(Table::RESULT)
    }

    fn op(&self, record: &'a OpRecord) -> Result<(), Refused> {
        let number = self.index.get() as u32 + 1;
        let is_next = record.output == number;
        self.need(is_next, "op.output", record.output, "the value numbered one more than the operation")?;
        let input = self.read(record.input, record.input_start, record.input_len, INPUT_NAME)?;
        let output = self.value(number);
        let operation = Operation { checker: self, model: &self.model, record, input, output };
        if let Some(len) = operation.second_len()? {
            let second = self.read(record.second, record.second_start, len, "op.second")?;
            // Maps of several elements are added; what they must be is said there.
            let same = second.element() == input.element() || CONVOLUTIONS && record.kind >= op::CONVOLUTION;
            self.need(same, "op.second", second.element(), "a value of the input's element")?;
        }
        operation.input_is_known()?;
        self.know(TO, output.element());
        operation.kind()?;
        if IN_PLACE { operation.by_rows() } else { Ok(()) }
    }

    /// One of the values, of which there is one more than operations.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn value(&self, index: u32) -> &'a ValueRecord {
        const NOWHERE: &ValueRecord = &ValueRecord { element: 0, zero: 0, len: 0, place: 0, extent: [0; 2] };
        self.model.values().get(index as usize).unwrap_or(NOWHERE)
    }

    /// A value that an earlier operation has written, a range within it, and that `output` is apart from, or takes the
    /// place of.
    fn read(&self, index: u32, start: u32, len: u32, name: &'static str) -> Result<&'a ValueRecord, Refused> {
        let now = self.index.get() as u32;
        self.need(index <= now, name, index, "the input or an earlier operation's output")?;
        let value = self.value(index);
        if ROWS && index > 0 && value.rows_held() > 0 {
            // What is not there at once is read as it comes, by the operation behind it.
            self.need(index == now && name == INPUT_NAME, name, index, "a value that lies whole in its place")?;
        }
        // At least one element, which no number of them from the end on is.
        let fits = len.wrapping_sub(1) < value.len.saturating_sub(start);
        self.need(fits, name, start, "a range within the value (found: its start)")?;
        // Places are used again, but not before the last operation that reads them. The input has none. This
        // operation's own output is the last of those that must be apart; of a stretch of operations that run a few
        // rows at a time, its end's.
        let end = if ROWS { self.stretch_end(now) } else { now };
        let mut later = if index == 0 { end + 1 } else { index };
        while later <= end {
            later += 1;
            let other = self.value(later);
            let may_meet = later > now && (self.is_in_place(value, other) || IN_PLACE && self.goes_by_rows());
            if !are_apart(value, other) && !may_meet {
                return Err(if later > now {
                    self.fault("op.output", later, "a place that the operation does not read")
                } else {
                    self.fault(name, index, "a value that no operation since has written over")
                });
            }
        }
        Ok(value)
    }

    /// The last operation of the stretch in which this one is: those that write a value of which a few rows lie in the
    /// workspace at a time, and the one behind them.
    fn stretch_end(&self, from: u32) -> u32 {
        let (mut end, most) = (from, from + MOST_STAGES as u32);
        while end < most && self.value(end + 1).rows_held() > 0 {
            end += 1;
        }
        end
    }

    /// Whether the operation at hand stands alone and may go row by row, so that what it overwrites is looked at when
    /// its window is known to be one.
    pub(super) fn goes_by_rows(&self) -> bool {
        let now = self.index.get() as u32;
        let kind = self.model.ops().get(self.index.get()).map(|record| record.kind);
        matches!(kind, Some(op::CONVOLUTION | op::POOL | op::ELEMENTWISE))
            && (now == 0 || self.value(now).rows_held() == 0)
            && self.value(now + 1).rows_held() == 0
    }

    /// Whether the operation at hand rounds a whole value of i32 to i32 where it lies.
    fn is_in_place(&self, value: &ValueRecord, output: &ValueRecord) -> bool {
        let kind = self.model.ops().get(self.index.get()).map(|record| record.kind);
        GENERAL
            && kind == Some(op::REQUANTISE)
            && [value.element(), output.element()] == [element::I32; 2]
            && (value.place, value.len) == (output.place, output.len)
    }
}

/// One operation, within its model, and the values that it reads first and writes.
pub(super) struct Operation<'c, 'a> {
    pub checker: &'c Checker<'a>,
    pub model: &'c Model<'a>,
    pub record: &'a OpRecord,
    pub input: &'a ValueRecord,
    pub output: &'a ValueRecord,
}

impl Operation<'_, '_> {
    #[inline(always)]
    pub(super) fn fault(&self, place: &'static str, found: u32, expected: &'static str) -> Refused {
        self.checker.fault(place, found, expected)
    }

    #[inline(always)]
    pub(super) fn need(
        &self,
        holds: bool,
        place: &'static str,
        found: u32,
        expected: &'static str,
    ) -> Result<(), Refused> {
        self.checker.need(holds, place, found, expected)
    }
}
