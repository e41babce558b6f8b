//! Operations: every one reads what an earlier one wrote, and writes to a place of its own. After this the executor cannot
//! fail for anything that the file says.

use super::rules::{FIRST, Rule, words};
use super::values::are_apart;
use super::{Checker, Refused};
use crate::format::records::element;
use crate::format::{Model, OpRecord, ValueRecord};
use core::mem::offset_of;

/// The most operations. Whether a value is still intact when it is read takes a pass over the operations since, so the
/// loader's time is bounded through this.
const MAX_OPS: usize = 4096;

/// Of every operation.
const NUMBER: [Rule; 1] =
    [Rule::new(offset_of!(OpRecord, output), FIRST, 0, "op.output", "the value numbered one more than the operation")];

impl<'a> Checker<'_, 'a> {
    /// The operations, in order; operation `i` writes value `i + 1`.
    #[inline(never)]
    pub(super) fn ops(&self) -> Result<(), Refused> {
        let (ops, values) = (self.model.ops(), self.model.values());
        let (count, output) = (ops.len(), self.model.input().output);
        self.need((1..=MAX_OPS).contains(&count), "header.op_count", count as u32, "1 to 4096")?;
        let one_more = values.len() == count + 1;
        self.need(one_more, "header.value_count", values.len() as u32, "one more than operations")?;
        self.need(output as usize == count, "input.output", output, "the output of the last operation")?;
        for (index, record) in ops.iter().enumerate() {
            self.at(index);
            self.op(record)?;
        }
        self.at(0);
        let last = values.last().map_or(0, |value| value.element);
        self.need(last == element::I32 || last == element::F32, "input.output", last, "a value of i32 or f32")
    }

    #[inline(never)]
    fn op(&self, record: &'a OpRecord) -> Result<(), Refused> {
        let number = self.index.get() as u32 + 1;
        self.rules(words(record), &NUMBER, number, 0)?;
        let output = self.value(number, "op.output")?;
        let input = self.read(record.input, record.input_start, record.input_len, output, "op.input")?;
        let operation = Operation { checker: self, model: self.model, record, input, output };
        if let Some(len) = operation.second_len()? {
            let second = self.read(record.second, record.second_start, len, output, "op.second")?;
            let same = second.element == input.element;
            self.need(same, "op.second", second.element, "a value of the input's element")?;
        }
        operation.input_is_known()?;
        operation.kind()
    }

    #[inline(never)]
    fn value(&self, index: u32, name: &'static str) -> Result<&'a ValueRecord, Refused> {
        self.model.values().get(index as usize).ok_or_else(|| self.fault(name, index, "a value that exists"))
    }

    /// A value that an earlier operation has written, a range within it, and that `output` is apart from.
    #[inline(never)]
    fn read(
        &self,
        index: u32,
        start: u32,
        len: u32,
        output: &ValueRecord,
        name: &'static str,
    ) -> Result<&'a ValueRecord, Refused> {
        let now = self.index.get();
        self.need(index as usize <= now, name, index, "the input or an earlier operation's output")?;
        let value = self.value(index, name)?;
        let fits = len >= 1 && start <= value.len && len <= value.len - start;
        self.need(fits, name, start, "a range within the value (found: its start)")?;
        // Places are used again, but not before the last operation that reads them. The input has none.
        if index != 0 {
            let since = self.model.values().get(index as usize + 1..now + 1).unwrap_or(&[]);
            let intact = since.iter().all(|later| are_apart(value, later));
            self.need(intact, name, index, "a value that no operation since has written over")?;
            let apart = are_apart(value, output);
            self.need(apart, "op.output", now as u32 + 1, "a place that the operation does not read")?;
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
