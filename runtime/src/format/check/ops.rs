//! Operations: every one reads what an earlier one wrote, and writes to a place of its own. After this the executor cannot
//! fail for anything that the file says.

use super::values::are_apart;
use super::{Checker, Refused};
use crate::format::records::element;
use crate::format::{Model, OpRecord, ValueRecord};

/// The most operations. Whether a value is still intact when it is read takes a pass over the operations since, so the
/// loader's time is bounded through this.
const MAX_OPS: usize = 4096;

impl<'a> Checker<'_, 'a> {
    /// The operations, in order; operation `i` writes value `i + 1`.
    pub(super) fn ops(&self) -> Result<(), Refused> {
        let (ops, values) = (self.model.ops(), self.model.values());
        let (count, output) = (ops.len(), self.model.input().output);
        self.need((1..=MAX_OPS).contains(&count), "header.op_count", count as u32, "1 to 4096");
        let one_more = values.len() == count + 1;
        self.need(one_more, "header.value_count", values.len() as u32, "one more than operations");
        self.need(output as usize == count, "input.output", output, "the output of the last operation");
        self.so_far()?;
        for (index, record) in ops.iter().enumerate() {
            self.at(index);
            self.op(record)?;
            self.so_far()?;
        }
        self.at(0);
        let last = values.last().map_or(0, |value| value.element);
        self.need(last == element::I32 || last == element::F32, "input.output", last, "a value of i32 or f32");
        Ok(())
    }

    fn op(&self, record: &'a OpRecord) -> Result<(), Refused> {
        let number = record.output;
        let own = number as usize == self.index.get() + 1;
        self.need(own, "op.output", number, "the value numbered one more than the operation");
        self.so_far()?;
        let output = self.value(number, "op.output")?;
        let input = self.read(record.input, record.input_start, record.input_len, "op.input")?;
        let operation = Operation { checker: self, model: self.model, record, input, output };
        operation.apart(record.input, input);
        if let Some(len) = operation.second_len()? {
            let second = self.read(record.second, record.second_start, len, "op.second")?;
            operation.apart(record.second, second);
            operation.need(
                second.element == input.element,
                "op.second",
                second.element,
                "a value of the input's element",
            );
        }
        operation.input_is_known();
        self.so_far()?;
        operation.kind()
    }

    fn value(&self, index: u32, name: &'static str) -> Result<&'a ValueRecord, Refused> {
        self.model.values().get(index as usize).ok_or_else(|| self.fault(name, index, "a value that exists"))
    }

    /// A value that an earlier operation has written, and a range within it.
    fn read(&self, index: u32, start: u32, len: u32, name: &'static str) -> Result<&'a ValueRecord, Refused> {
        let earlier = index as usize <= self.index.get();
        self.need(earlier, name, index, "the input or an earlier operation's output");
        let value = self.value(index, name)?;
        let fits = len >= 1 && start.checked_add(len).is_some_and(|end| end <= value.len);
        self.need(fits, name, start, "a range within the value (found: its start)");
        self.need(self.is_intact(index, value), name, index, "a value that no operation since has written over");
        Ok(value)
    }

    /// Places are used again, but not before the last operation that reads them. The input has none.
    fn is_intact(&self, index: u32, value: &ValueRecord) -> bool {
        let (index, last) = (index as usize, self.index.get());
        let since = self.model.values().get(index + 1..=last).unwrap_or(&[]);
        index == 0 || since.iter().all(|later| are_apart(value, later))
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
    pub(super) fn need(&self, holds: bool, place: &'static str, found: u32, expected: &'static str) {
        self.checker.need(holds, place, found, expected);
    }

    /// Reading and writing places do not overlap. The input has none.
    fn apart(&self, index: u32, value: &ValueRecord) {
        let apart = index == 0 || are_apart(value, self.output);
        self.need(apart, "op.output", self.record.output, "a place that the operation does not read");
    }
}
