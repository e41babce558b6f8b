//! Values and operations: every operation reads what an earlier one wrote, with tensors of the right shape, and writes
//! to a place of its own. After this the executor cannot fail for anything that the file says.

use super::check::{MAX_LEN, field, require};
use super::records::{activation, element, input_kind, op};
use super::{ALIGNMENT, Layout, MAX_WORKSPACE_LEN_BYTES, Model, NONE, OpRecord, ParseError, Tensor, ValueRecord};
use core::ops::Range;

/// Upper limit of a clip or a divisor that is an i16 quantity.
const I16_MAX: u32 = i16::MAX as u32;
/// Upper limit of a divisor that is an i32 quantity.
const I32_MAX: u32 = i32::MAX as u32;
/// The most operations. Whether a value is still intact when it is read takes a pass over the operations since, so the
/// loader's time is bounded through this.
const MAX_OPS: usize = 4096;

/// Value 0 is the input; the others lie in the workspace.
pub(super) fn values(model: &Model<'_>) -> Result<(), ParseError> {
    let input = model.input();
    let (element_code, len) = match input.kind {
        input_kind::FEATURES => (element::I16, input.perspectives * input.hidden),
        _ => (input.element, input.size),
    };
    let Some((first, others)) = model.values().split_first() else {
        return Err(field("header.value_count", 0, 0, "at least 1"));
    };
    require(first.element == element_code, "value.element", 0, first.element.into(), "the input's element")?;
    require(first.len == len, "value.len", 0, first.len.into(), "the input's length")?;
    require(first.offset_bytes == NONE, "value.offset_bytes", 0, first.offset_bytes.into(), "none for the input")?;
    require(first.reserved == 0, "value.reserved", 0, first.reserved.into(), "0")?;
    require(
        model.header().workspace_len_bytes <= MAX_WORKSPACE_LEN_BYTES,
        "header.workspace_len_bytes",
        0,
        model.header().workspace_len_bytes.into(),
        "at most 2^26",
    )?;
    let mut workspace = 0;
    for (index, value) in others.iter().enumerate() {
        let index = index + 1;
        require(value.reserved == 0, "value.reserved", index, value.reserved.into(), "0")?;
        require((1..=MAX_LEN).contains(&value.len), "value.len", index, value.len.into(), "1 to 2^24")?;
        require(
            (value.offset_bytes as usize).is_multiple_of(ALIGNMENT),
            "value.offset_bytes",
            index,
            value.offset_bytes.into(),
            "a multiple of 64",
        )?;
        let end = place(value).map(|range| range.end);
        require(
            end.is_some_and(|end| end <= model.workspace_len_bytes()),
            "value.len",
            index,
            value.len.into(),
            "a value that ends within the workspace",
        )?;
        workspace = workspace.max(end.unwrap_or(0));
    }
    require(
        workspace.checked_next_multiple_of(ALIGNMENT) == Some(model.workspace_len_bytes()),
        "header.workspace_len_bytes",
        0,
        model.header().workspace_len_bytes.into(),
        "the end of the last place, rounded up to 64",
    )
}

/// Where a value lies in the workspace; `None` if the numbers overflow or the element is unknown.
pub(crate) fn place(value: &ValueRecord) -> Option<Range<usize>> {
    let len = (value.len as usize).checked_mul(element::len_bytes(value.element)?)?;
    let start = value.offset_bytes as usize;
    Some(start..start.checked_add(len)?)
}

/// Whether two values share no byte of the workspace.
fn are_apart(a: &ValueRecord, b: &ValueRecord) -> bool {
    matches!((place(a), place(b)), (Some(a), Some(b)) if a.end <= b.start || b.end <= a.start)
}

/// The operations, in order; operation `i` writes value `i + 1`.
pub(super) fn ops(model: &Model<'_>) -> Result<(), ParseError> {
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

struct Checker<'m, 'a> {
    model: &'m Model<'a>,
    index: usize,
    record: &'m OpRecord,
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
        if record.kind == op::ADD_F32 {
            let second = self.read(record.second, record.second_start, output.len, "op.second")?;
            self.apart(record.second, output)?;
            self.need(second.element == element::F32, "op.second", record.second, "a value of f32")?;
        } else {
            self.need(record.second == NONE, "op.second", record.second, "none")?;
            self.need(record.second_start == 0, "op.second_start", record.second_start, "0")?;
        }
        self.kind(input, output)
    }

    /// What each kind of operation demands of elements, lengths, tensors and parameters.
    fn kind(&self, input: &ValueRecord, output: &ValueRecord) -> Result<(), ParseError> {
        let record = self.record;
        let [p0, p1, p2, p3] = record.params;
        let (from, to) = (input.element, output.element);
        let (n, m) = (record.input_len, output.len);
        match record.kind {
            op::ACTIVATE_DOT => {
                self.accumulators()?;
                self.elements(from, element::I16, to, element::I32)?;
                self.tensor(record.weights, "op.weights", &[element::I16], Layout::Rows, m, n)?;
                self.no_tensors(&[record.bias, record.multipliers, record.shifts])?;
                let known = [activation::CRELU, activation::SCRELU, activation::SQRRELU].contains(&record.activation);
                self.need(known, "op.activation", record.activation, "CReLU, SCReLU or SqrReLU")?;
                let clip =
                    if record.activation == activation::SQRRELU { p0 == I16_MAX } else { (1..=I16_MAX).contains(&p0) };
                self.need(clip, "op.params[0]", p0, "the clip, 1 to 32767 (32767 for SqrReLU)")?;
                self.zeros(&[p1, p2, p3])
            }
            op::RESCALE => {
                self.elements(from, element::I32, to, element::I32)?;
                self.need(n == m, "op.input_len", n, "the output's length")?;
                self.tensor(record.bias, "op.bias", &[element::I16, element::I32], Layout::Rows, m, 1)?;
                self.no_tensors(&[record.weights, record.multipliers, record.shifts])?;
                self.need((1..=I32_MAX).contains(&p0), "op.params[0]", p0, "a divisor of 1 to 2^31 − 1")?;
                self.need((1..=1 << 30).contains(&p1), "op.params[1]", p1, "a factor of 1 to 2^30")?;
                self.need((1..=I32_MAX).contains(&p2), "op.params[2]", p2, "a divisor of 1 to 2^31 − 1")?;
                self.activation(0)?;
                self.zeros(&[p3])
            }
            op::ACTIVATE_F32 => {
                self.accumulators()?;
                self.elements(from, element::I16, to, element::F32)?;
                self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts])?;
                let halves = record.activation == activation::PAIRWISE_CRELU;
                let known = [activation::CRELU, activation::SCRELU, activation::SQRRELU, activation::PAIRWISE_CRELU];
                self.need(
                    known.contains(&record.activation),
                    "op.activation",
                    record.activation,
                    "CReLU, SCReLU, SqrReLU or pairwise",
                )?;
                self.halves(n, m, halves)?;
                self.need((1..=I16_MAX).contains(&p0), "op.params[0]", p0, "a clip of 1 to 32767")?;
                self.finite(p1, "op.params[1]")?;
                self.zeros(&[p2, p3])
            }
            op::PAIRWISE_U8 => {
                self.accumulators()?;
                self.elements(from, element::I16, to, element::U8)?;
                self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts])?;
                self.activation(activation::PAIRWISE_CRELU)?;
                self.halves(n, m, true)?;
                let fits = (1..=I16_MAX).contains(&p0) && p1 < 32 && (p0 * p0) >> p1 <= 255;
                self.need(fits, "op.params[0]", p0, "a clip and a shift whose largest product fits u8")?;
                self.zeros(&[p2, p3])
            }
            op::AFFINE_I8 => {
                let narrow = from == element::U8 || from == element::I8;
                self.need(narrow, "op.input", from, "a value of u8 or i8")?;
                self.need(to == element::I32, "op.output", to, "a value of i32")?;
                self.tensor(record.weights, "op.weights", &[element::I8], Layout::K4, m, n)?;
                self.optional(record.bias, "op.bias", element::I32, m)?;
                self.no_tensors(&[record.multipliers, record.shifts])?;
                self.activation(0)?;
                self.zeros(&[p0, p1, p2, p3])
            }
            op::DEQUANTISE => {
                self.elements(from, element::I32, to, element::F32)?;
                self.need(n == m, "op.input_len", n, "the output's length")?;
                self.optional(record.bias, "op.bias", element::F32, m)?;
                self.no_tensors(&[record.weights, record.multipliers, record.shifts])?;
                self.activation(0)?;
                self.finite(p0, "op.params[0]")?;
                self.zeros(&[p1, p2, p3])
            }
            op::AFFINE_F32 => {
                self.elements(from, element::F32, to, element::F32)?;
                self.tensor(record.weights, "op.weights", &[element::F32], Layout::Rows, m, n)?;
                self.optional(record.bias, "op.bias", element::F32, m)?;
                self.no_tensors(&[record.multipliers, record.shifts])?;
                self.activation(0)?;
                self.zeros(&[p0, p1, p2, p3])
            }
            op::ACTIVATION_F32 => {
                self.elements(from, element::F32, to, element::F32)?;
                self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts])?;
                let fits = match record.activation {
                    activation::IDENTITY
                    | activation::RELU
                    | activation::CRELU
                    | activation::SCRELU
                    | activation::SQRRELU => n == m,
                    activation::PAIRWISE_CRELU => Some(n) == m.checked_mul(2),
                    activation::DUAL_CRELU => n.checked_mul(2) == Some(m),
                    other => return Err(self.fault("op.activation", other, "a code that is defined")),
                };
                self.need(fits, "op.input_len", n, "a length that the activation turns into the output's")?;
                self.zeros(&[p0, p1, p2, p3])
            }
            op::ADD_F32 | op::SCALE_F32 => {
                self.elements(from, element::F32, to, element::F32)?;
                self.need(n == m, "op.input_len", n, "the output's length")?;
                self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts])?;
                self.activation(0)?;
                if record.kind == op::SCALE_F32 {
                    self.finite(p0, "op.params[0]")?;
                } else {
                    self.zeros(&[p0])?;
                }
                self.zeros(&[p1, p2, p3])
            }
            op::REQUANTISE => {
                self.need(from == element::I32, "op.input", from, "a value of i32")?;
                self.need(n == m, "op.input_len", n, "the output's length")?;
                self.no_tensors(&[record.weights, record.bias])?;
                self.activation(0)?;
                let multipliers =
                    self.tensor(record.multipliers, "op.multipliers", &[element::I32], Layout::Rows, m, 1)?;
                let shifts = self.tensor(record.shifts, "op.shifts", &[element::U8], Layout::Rows, m, 1)?;
                let small = |words: &[i32]| words.iter().all(|word| *word >= 0);
                self.need(
                    small(bytemuck::try_cast_slice(multipliers.data).unwrap_or(&[-1])),
                    "op.multipliers",
                    record.multipliers,
                    "multipliers of 0 to 2^31 − 1",
                )?;
                self.need(
                    shifts.data.iter().all(|shift| (1..=62).contains(shift)),
                    "op.shifts",
                    record.shifts,
                    "shifts of 1 to 62",
                )?;
                let (low, high) = (p0 as i32, p1 as i32);
                let range = match to {
                    element::U8 => 0..=255,
                    element::I8 => -128..=127,
                    element::I32 => i32::MIN..=i32::MAX,
                    other => return Err(self.fault("op.output", other, "a value of u8, i8 or i32")),
                };
                self.need(
                    low <= high && range.contains(&low) && range.contains(&high),
                    "op.params[0]",
                    p0,
                    "clamps that fit the output's element",
                )?;
                self.zeros(&[p2, p3])
            }
            other => Err(self.fault("op.kind", other, "a kind that is defined")),
        }
    }

    fn fault(&self, place: &'static str, found: u32, expected: &'static str) -> ParseError {
        field(place, self.index, found.into(), expected)
    }

    fn need(&self, holds: bool, place: &'static str, found: u32, expected: &'static str) -> Result<(), ParseError> {
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

    fn accumulators(&self) -> Result<(), ParseError> {
        let whole = self.record.input == 0 && self.record.input_start == 0;
        let features = self.model.input().kind == input_kind::FEATURES;
        let len = self.model.values().first().map_or(0, |value| value.len);
        self.need(whole && features && self.record.input_len == len, "op.input", self.record.input, "all accumulators")
    }

    fn elements(&self, from: u32, want_from: u32, to: u32, want_to: u32) -> Result<(), ParseError> {
        self.need(from == want_from, "op.input", from, "a value of the operation's input element")?;
        self.need(to == want_to, "op.output", to, "a value of the operation's output element")
    }

    /// Accumulator activations: as long as the input, or half of it in pairs within each perspective.
    fn halves(&self, n: u32, m: u32, halves: bool) -> Result<(), ParseError> {
        let fits = if halves { self.model.input().hidden.is_multiple_of(2) && n == 2 * m } else { n == m };
        self.need(fits, "op.output", m, "the activation's length")
    }

    fn tensor(
        &self,
        index: u32,
        name: &'static str,
        elements: &[u32],
        layout: Layout,
        rows: u32,
        cols: u32,
    ) -> Result<Tensor<'_>, ParseError> {
        let tensor = self.model.tensor(index).ok_or(self.fault(name, index, "a tensor that exists"))?;
        let record = tensor.record;
        self.need(
            elements.contains(&record.element.into()),
            name,
            record.element.into(),
            "a tensor of the operation's element",
        )?;
        self.need(tensor.layout == layout, name, record.layout.into(), "a tensor in the operation's layout")?;
        self.need(record.rows == rows, name, record.rows, "a row an output")?;
        self.need(record.cols == cols, name, record.cols, "a column an input, one for a vector")?;
        Ok(tensor)
    }

    fn optional(&self, index: u32, name: &'static str, element: u32, rows: u32) -> Result<(), ParseError> {
        if index == NONE {
            return Ok(());
        }
        self.tensor(index, name, &[element], Layout::Rows, rows, 1).map(|_| ())
    }

    fn no_tensors(&self, indices: &[u32]) -> Result<(), ParseError> {
        indices.iter().try_for_each(|index| self.need(*index == NONE, "op: an unused tensor", *index, "none"))
    }

    fn activation(&self, code: u32) -> Result<(), ParseError> {
        self.need(self.record.activation == code, "op.activation", self.record.activation, "the kind's only one, or 0")
    }

    fn zeros(&self, params: &[u32]) -> Result<(), ParseError> {
        params.iter().try_for_each(|param| self.need(*param == 0, "op.params", *param, "0 where unused"))
    }

    fn finite(&self, bits: u32, place: &'static str) -> Result<(), ParseError> {
        self.need(f32::from_bits(bits).is_finite(), place, bits, "a finite f32")
    }
}
