//! Operations: every one reads what an earlier one wrote, and writes to a place of its own. After this the executor cannot
//! fail for anything that the file says.

use super::values::are_apart;
use super::{Checker, Refused};
use crate::format::records::element;
use crate::format::{Model, OpRecord, ValueRecord};

/// The most operations. Whether a value is still intact when it is read takes a pass over the operations since, so the
/// loader's time is bounded through this.
const MAX_OPS: u32 = 4096;

impl<'a> Checker<'_, 'a> {
    /// The operations, in order; operation `i` writes value `i + 1`.
    pub(super) fn ops(&self) -> Result<(), Refused> {
        let (header, ops, output) = (self.model.header(), self.model.ops(), self.model.input().output);
        let count = header.op_count;
        self.need((1..=MAX_OPS).contains(&count), "header.op_count", count, "1 to 4096")?;
        let values = header.value_count;
        self.need(values == count + 1, "header.value_count", values, "one more than operations")?;
        self.need(output == count, "input.output", output, "the output of the last operation")?;
        for (index, record) in ops.iter().enumerate() {
            self.at(index);
            self.op(record)?;
        }
        self.at(0);
        let last = self.model.values().last().map_or(0, |value| value.element);
        self.need(last == element::I32 || last == element::F32, "input.output", last, "a value of i32 or f32")
    }

    fn op(&self, record: &'a OpRecord) -> Result<(), Refused> {
        let number = self.index.get() as u32 + 1;
        let is_next = record.output == number;
        self.need(is_next, "op.output", record.output, "the value numbered one more than the operation")?;
        let output = self.value(number);
        let input = self.read(record.input, record.input_start, record.input_len, "op.input")?;
        let operation = Operation { checker: self, model: self.model, record, input, output };
        if let Some(len) = operation.second_len()? {
            let second = self.read(record.second, record.second_start, len, "op.second")?;
            let same = second.element == input.element;
            self.need(same, "op.second", second.element, "a value of the input's element")?;
        }
        operation.input_is_known()?;
        operation.kind()
    }

    /// One of the values, of which there is one more than operations.
    fn value(&self, index: u32) -> &'a ValueRecord {
        const NOWHERE: &ValueRecord = &ValueRecord { element: 0, len: 0, offset_bytes: 0, reserved: 0 };
        self.model.values().get(index as usize).unwrap_or(NOWHERE)
    }

    /// A value that an earlier operation has written, a range within it, and that `output` is apart from.
    fn read(&self, index: u32, start: u32, len: u32, name: &'static str) -> Result<&'a ValueRecord, Refused> {
        let now = self.index.get() as u32;
        self.need(index <= now, name, index, "the input or an earlier operation's output")?;
        let value = self.value(index);
        // At least one element, which no number of them from the end on is.
        let fits = len.wrapping_sub(1) < value.len.saturating_sub(start);
        self.need(fits, name, start, "a range within the value (found: its start)")?;
        // Places are used again, but not before the last operation that reads them. The input has none. This operation's own output is
        // the last of those that must be apart.
        for later in index + 1..if index == 0 { 0 } else { now + 2 } {
            if !are_apart(value, self.value(later)) {
                return Err(if later > now {
                    self.fault("op.output", later, "a place that the operation does not read")
                } else {
                    self.fault(name, index, "a value that no operation since has written over")
                });
            }
        }
        Ok(value)
    }
}

/// One operation, within its model, and the values that it reads first and writes.
pub(super) struct Operation<'c, 'm, 'a> {
    pub checker: &'c Checker<'m, 'a>,
    pub model: &'m Model<'a>,
    pub record: &'a OpRecord,
    pub input: &'a ValueRecord,
    pub output: &'a ValueRecord,
}

impl Operation<'_, '_, '_> {
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
