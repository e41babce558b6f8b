//! What each kind of operation demands of elements, lengths, tensors and parameters.

use super::general::GENERAL;
use super::ops::Checker;
use crate::format::records::{activation, claim, element, input_kind, op};
use crate::format::{Layout, MAX_RESCALE_FACTOR, NONE, ParseError, Tensor, ValueRecord, quads_fit};

/// Upper limit of a clip or a divisor that is an i16 quantity.
const I16_MAX: u32 = i16::MAX as u32;
/// Upper limit of a divisor that is an i32 quantity.
const I32_MAX: u32 = i32::MAX as u32;
impl Checker<'_, '_> {
    /// The demands of the operation's own kind.
    pub(super) fn kind(&self, input: &ValueRecord, output: &ValueRecord) -> Result<(), ParseError> {
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
                self.need((1..=MAX_RESCALE_FACTOR as u32).contains(&p1), "op.params[1]", p1, "a factor of 1 to 2^30")?;
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
                self.activated(m, halves, 0)?;
                self.need((1..=I16_MAX).contains(&p0), "op.params[0]", p0, "a clip of 1 to 32767")?;
                self.finite(p1, "op.params[1]")?;
                self.zeros(&[p2, p3])
            }
            op::PAIRWISE_U8 => {
                self.accumulators()?;
                self.elements(from, element::I16, to, element::U8)?;
                self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts])?;
                self.activation(activation::PAIRWISE_CRELU)?;
                self.activated(m, true, p2)?;
                let fits = (1..=I16_MAX).contains(&p0) && p1 < 32 && (p0 * p0) >> p1 <= 255;
                self.need(fits, "op.params[0]", p0, "a clip and a shift whose largest product fits u8")?;
                self.zeros(&[p3])
            }
            op::AFFINE_I8 => {
                let narrow = from == element::U8 || from == element::I8;
                self.need(narrow, "op.input", from, "a value of u8 or i8")?;
                self.need(to == element::I32, "op.output", to, "a value of i32")?;
                let weights = self.tensor(record.weights, "op.weights", &[element::I8], Layout::K4, m, n)?;
                self.quads(&weights)?;
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
                let known = record.activation <= activation::DUAL_CRELU || GENERAL;
                self.need(
                    known,
                    "op.activation",
                    record.activation,
                    "1 to 7: this build leaves out the feature `general`",
                )?;
                let leaky = record.activation == activation::LEAKY_RELU;
                let fits = match record.activation {
                    activation::IDENTITY
                    | activation::RELU
                    | activation::CRELU
                    | activation::SCRELU
                    | activation::SQRRELU
                    | activation::LEAKY_RELU
                    | activation::SIGMOID
                    | activation::TANH
                    | activation::SOFTMAX => n == m,
                    activation::PAIRWISE_CRELU => Some(n) == m.checked_mul(2),
                    activation::DUAL_CRELU => n.checked_mul(2) == Some(m),
                    other => return Err(self.fault("op.activation", other, "a code that is defined")),
                };
                self.need(fits, "op.input_len", n, "a length that the activation turns into the output's")?;
                if leaky {
                    self.finite(p0, "op.params[0]")?
                } else {
                    self.zeros(&[p0])?
                }
                self.zeros(&[p1, p2, p3])
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
                let is_integer = [element::U8, element::I8, element::I16, element::I32].contains(&to);
                self.need(is_integer, "op.output", to, "a value of u8, i8, i16 or i32")?;
                self.clamps(p0, p1, to, "op.params[0]")?;
                let plain = p2 == 0 && to != element::I16;
                self.need(
                    plain || GENERAL,
                    "op.params[2]",
                    p2,
                    "0, and no i16: this build leaves out the feature `general`",
                )?;
                self.zero_point(p2, "op.params[2]")?;
                self.need(p2 == 0 || to != element::I32, "op.params[2]", p2, "the zero point 0 of i32")?;
                self.zeros(&[p3])
            }
            _ => self.general(input, output),
        }
    }

    pub(super) fn accumulators(&self) -> Result<(), ParseError> {
        let whole = self.record.input == 0 && self.record.input_start == 0;
        let features = self.model.input().kind == input_kind::FEATURES;
        let len = self.model.values().first().map_or(0, |value| value.len);
        self.need(whole && features && self.record.input_len == len, "op.input", self.record.input, "all accumulators")
    }

    pub(super) fn elements(&self, from: u32, want_from: u32, to: u32, want_to: u32) -> Result<(), ParseError> {
        self.need(from == want_from, "op.input", from, "a value of the operation's input element")?;
        self.need(to == want_to, "op.output", to, "a value of the operation's output element")
    }

    /// Accumulator activations without the last `left_out` elements of each perspective: as long as what they read, or half of it in
    /// pairs within each perspective.
    pub(super) fn activated(&self, m: u32, halves: bool, left_out: u32) -> Result<(), ParseError> {
        let input = self.model.input();
        let used = input.hidden.checked_sub(left_out).filter(|used| *used >= 1);
        let used = used.ok_or(self.fault("op.params[2]", left_out, "fewer elements than an accumulator has"))?;
        let len = u64::from(used) * u64::from(input.perspectives);
        let fits = if halves { used.is_multiple_of(2) && len == 2 * u64::from(m) } else { len == u64::from(m) };
        self.need(fits, "op.output", m, "the activation's length")
    }

    pub(super) fn tensor(
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

    /// The claim by which a kernel takes a form that could otherwise wrap: the only one that is checked here, because not all
    /// tiers have the form, and a file must give the same numbers on all of them.
    fn quads(&self, weights: &Tensor<'_>) -> Result<(), ParseError> {
        let claims = weights.record.claims;
        let banks = weights.record.banks.max(1) as usize;
        let fits = claims & claim::QUADS_FIT_I16 == 0
            || (0..banks).all(|bank| quads_fit(weights.bank(bank), weights.stride()));
        self.need(
            fits,
            "tensor.claims",
            claims,
            "bit 8 only where every four weights of one sign sum up to at most 258",
        )
    }

    pub(super) fn optional(&self, index: u32, name: &'static str, element: u32, rows: u32) -> Result<(), ParseError> {
        if index == NONE {
            return Ok(());
        }
        self.tensor(index, name, &[element], Layout::Rows, rows, 1).map(|_| ())
    }

    pub(super) fn no_tensors(&self, indices: &[u32]) -> Result<(), ParseError> {
        indices.iter().try_for_each(|index| self.need(*index == NONE, "op: an unused tensor", *index, "none"))
    }

    pub(super) fn activation(&self, code: u32) -> Result<(), ParseError> {
        self.need(self.record.activation == code, "op.activation", self.record.activation, "the kind's only one, or 0")
    }

    pub(super) fn zeros(&self, params: &[u32]) -> Result<(), ParseError> {
        params.iter().try_for_each(|param| self.need(*param == 0, "op.params", *param, "0 where unused"))
    }

    pub(super) fn finite(&self, bits: u32, place: &'static str) -> Result<(), ParseError> {
        self.need(f32::from_bits(bits).is_finite(), place, bits, "a finite f32")
    }
}
