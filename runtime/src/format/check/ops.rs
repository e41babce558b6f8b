//! Operations: every one reads what an earlier one wrote, and writes to a place of its own. After this the executor cannot
//! fail for anything that the file says.

use super::values::are_apart;
use super::{field, require};
use crate::format::records::element;
use crate::format::{Model, OpRecord, ParseError, ValueRecord};

/// The most operations. Whether a value is still intact when it is read takes a pass over the operations since, so the
/// loader's time is bounded through this.
const MAX_OPS: usize = 4096;

/// The operations, in order; operation `i` writes value `i + 1`.
pub(in crate::format) fn ops(model: &Model<'_>) -> Result<(), ParseError> {
    let count = model.ops().len();
    require((1..=MAX_OPS).contains(&count), "header.op_count", 0, count as u64, "1 to 4096")?;
    require(
        model.values().len() == count + 1,
        "header.value_count",
        0,
        model.values().len() as u64,
        "one more than operations",
    )?;
    require(
        model.input().output as usize == count,
        "input.output",
        0,
        model.input().output.into(),
        "the output of the last operation",
    )?;
    for (index, record) in model.ops().iter().enumerate() {
        Checker { model, index, record }.check()?;
    }
    let last = model.values().last().map_or(0, |value| value.element);
    require(last == element::I32 || last == element::F32, "input.output", 0, last.into(), "a value of i32 or f32")
}

/// One operation, within its model.
pub(super) struct Checker<'m, 'a> {
    pub model: &'m Model<'a>,
    index: usize,
    pub record: &'m OpRecord,
}

impl Checker<'_, '_> {
    fn check(&self) -> Result<(), ParseError> {
        let record = self.record;
        self.need(
            record.output as usize == self.index + 1,
            "op.output",
            record.output,
            "the value numbered one more than the operation",
        )?;
        let output = self.value(record.output, "op.output")?;
        let input = self.read(record.input, record.input_start, record.input_len, "op.input")?;
        self.apart(record.input, output)?;
        if let Some(len) = self.second_len(output)? {
            let second = self.read(record.second, record.second_start, len, "op.second")?;
            self.apart(record.second, output)?;
            self.need(second.element == input.element, "op.second", second.element, "a value of the input's element")?;
        }
        self.input_is_known()?;
        self.kind(input, output)
    }

    pub(super) fn fault(&self, place: &'static str, found: u32, expected: &'static str) -> ParseError {
        field(place, self.index, found.into(), expected)
    }

    pub(super) fn need(
        &self,
        holds: bool,
        place: &'static str,
        found: u32,
        expected: &'static str,
    ) -> Result<(), ParseError> {
        require(holds, place, self.index, found.into(), expected)
    }

    fn value(&self, index: u32, name: &'static str) -> Result<&ValueRecord, ParseError> {
        self.model.values().get(index as usize).ok_or(self.fault(name, index, "a value that exists"))
    }

    /// A value that an earlier operation has written, and a range within it.
    fn read(&self, index: u32, start: u32, len: u32, name: &'static str) -> Result<&ValueRecord, ParseError> {
        self.need(index as usize <= self.index, name, index, "the input or an earlier operation's output")?;
        let value = self.value(index, name)?;
        let fits = len >= 1 && start.checked_add(len).is_some_and(|end| end <= value.len);
        self.need(fits, name, start, "a range within the value (found: its start)")?;
        self.need(self.is_intact(index, value), name, index, "a value that no operation since has written over")?;
        Ok(value)
    }

    /// Places are used again, but not before the last operation that reads them. The input has none.
    fn is_intact(&self, index: u32, value: &ValueRecord) -> bool {
        let since = self.model.values().get(index as usize + 1..=self.index).unwrap_or(&[]);
        index == 0 || since.iter().all(|later| are_apart(value, later))
    }

    /// Reading and writing places do not overlap.
    fn apart(&self, input: u32, output: &ValueRecord) -> Result<(), ParseError> {
        let apart = input == 0 || are_apart(self.value(input, "op.input")?, output);
        self.need(apart, "op.output", self.record.output, "a place that the operation does not read")
    }
}
