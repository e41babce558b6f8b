//! What the operations on accumulators demand.

use super::Refused;
use super::ops::Operation;
use crate::format::records::{element, input_kind};
use crate::format::{Layout, MAX_RESCALE_FACTOR};
use crate::format::{activation, op};

/// Upper limit of a clip or a divisor that is an i16 quantity.
const I16_MAX: u32 = i16::MAX as u32;
/// Upper limit of a divisor that is an i32 quantity.
const I32_MAX: u32 = i32::MAX as u32;

impl Operation<'_, '_> {
    pub(super) fn activate_dot(&self) -> Result<(), Refused> {
        let record = self.record;
        let ([clip, rest @ ..], (n, m)) = (record.params, (record.input_len, self.output.len));
        self.accumulators()?;
        self.elements(element::I16, element::I32)?;
        self.tensor(record.weights, "op.weights", &[element::I16], &[Layout::Rows], m, n)?;
        self.no_tensors(&[record.bias, record.multipliers, record.shifts])?;
        self.clip(clip)?;
        self.zeros(&rest)
    }

    pub(super) fn rounded_dot(&self) -> Result<(), Refused> {
        let record = self.record;
        let ([clip, rest @ ..], (n, m)) = (record.params, (record.input_len, self.output.len));
        self.accumulators()?;
        self.elements(element::I16, element::I32)?;
        self.tensor(record.weights, "op.weights", &[element::I16], &[Layout::Rows], m, n)?;
        self.optional(record.bias, "op.bias", element::I32, m)?;
        self.no_tensors(&[record.multipliers, record.shifts])?;
        self.activation(activation::SCRELU)?;
        self.need((1..=I16_MAX).contains(&clip), "op.params[0]", clip, "the clip, 1 to 32767")?;
        self.zeros(&rest)
    }

    pub(super) fn rescale(&self) -> Result<(), Refused> {
        let record = self.record;
        let [pre, factor, divisor, p3] = record.params;
        self.elements(element::I32, element::I32)?;
        self.same_len()?;
        let elements = [element::I16, element::I32];
        self.tensor(record.bias, "op.bias", &elements, &[Layout::Rows], self.output.len, 1)?;
        self.no_tensors(&[record.weights, record.multipliers, record.shifts])?;
        self.need((1..=I32_MAX).contains(&pre), "op.params[0]", pre, "a divisor of 1 to 2^31 − 1")?;
        self.need((1..=MAX_RESCALE_FACTOR as u32).contains(&factor), "op.params[1]", factor, "a factor of 1 to 2^30")?;
        self.need((1..=I32_MAX).contains(&divisor), "op.params[2]", divisor, "a divisor of 1 to 2^31 − 1")?;
        self.activation(0)?;
        self.zeros(&[p3])
    }

    pub(super) fn wide_head(&self) -> Result<(), Refused> {
        let record = self.record;
        let ([clip, pre, factor, divisor], (n, m)) = (record.params, (record.input_len, self.output.len));
        self.accumulators()?;
        self.elements(element::I16, element::I32)?;
        self.need(n <= op::WIDE_INPUTS, "op.input_len", n, "at most 65536 elements")?;
        self.tensor(record.weights, "op.weights", &[element::I16], &[Layout::Rows], m, n)?;
        let elements = [element::I16, element::I32];
        self.tensor(record.bias, "op.bias", &elements, &[Layout::Rows], m, 1)?;
        self.no_tensors(&[record.multipliers, record.shifts])?;
        self.clip(clip)?;
        self.need((1..=I32_MAX).contains(&pre), "op.params[1]", pre, "a divisor of 1 to 2^31 − 1")?;
        self.need((1..=MAX_RESCALE_FACTOR as u32).contains(&factor), "op.params[2]", factor, "a factor of 1 to 2^30")?;
        self.need((1..=I32_MAX).contains(&divisor), "op.params[3]", divisor, "a divisor of 1 to 2^31 − 1")
    }

    /// An activation in front of integer weights, and its clip.
    fn clip(&self, clip: u32) -> Result<(), Refused> {
        let activation = self.record.activation;
        let known = [activation::CRELU, activation::SCRELU, activation::SQRRELU].contains(&activation);
        self.need(known, "op.activation", activation, "CReLU, SCReLU or SqrReLU")?;
        let least = if activation == activation::SQRRELU { I16_MAX } else { 1 };
        let fits = (least..=I16_MAX).contains(&clip);
        self.need(fits, "op.params[0]", clip, "the clip, 1 to 32767 (32767 for SqrReLU)")
    }

    pub(super) fn pairwise_u8(&self) -> Result<(), Refused> {
        let [clip, shift, ..] = self.record.params;
        let fits = (1..=I16_MAX).contains(&clip) && shift < 32 && (clip * clip) >> shift <= 255;
        self.pairs(fits, "a clip and a shift whose largest product fits u8")
    }

    pub(super) fn pairwise_rounded(&self) -> Result<(), Refused> {
        let [clip, shift, ..] = self.record.params;
        // So that one factor, shifted up, fits i16: what is left of a product is then rounded at 15 bits.
        let is_narrow = (1..=I16_MAX).contains(&clip) && (1..=15).contains(&shift) && clip << (15 - shift) <= I16_MAX;
        let fits = is_narrow && (clip * clip + (1 << (shift - 1))) >> shift <= 255;
        self.pairs(
            fits,
            "a clip and a shift of 1 to 15, with clip << (15 − shift) in i16 and the largest product in u8",
        )
    }

    fn pairs(&self, fits: bool, expected: &'static str) -> Result<(), Refused> {
        let record = self.record;
        let [clip, _, left_out, p3] = record.params;
        self.accumulators()?;
        self.elements(element::I16, element::U8)?;
        self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts])?;
        self.activation(activation::PAIRWISE_CRELU)?;
        self.activated(true, left_out)?;
        self.need(fits, "op.params[0]", clip, expected)?;
        self.zeros(&[p3])
    }

    pub(super) fn accumulators(&self) -> Result<(), Refused> {
        let whole = self.record.input == 0 && self.record.input_start == 0;
        let features = self.model.input().kind == input_kind::FEATURES;
        let is_all = self.model.values().first().is_some_and(|value| self.record.input_len == value.len);
        let all = whole && features && is_all;
        self.need(all, "op.input", self.record.input, "all accumulators")
    }

    /// Accumulator activations without the last `left_out` elements of each perspective: as long as what they read, or
    /// half of it in pairs within each perspective.
    pub(super) fn activated(&self, halves: bool, left_out: u32) -> Result<(), Refused> {
        let (input, m) = (self.model.input(), u64::from(self.output.len));
        let used = input.hidden.saturating_sub(left_out);
        self.need(used >= 1, "op.params[2]", left_out, "fewer elements than an accumulator has")?;
        let len = u64::from(used) * u64::from(input.perspectives);
        let fits = if halves { used.is_multiple_of(2) && len == 2 * m } else { len == m };
        self.need(fits, "op.output", self.output.len, "the activation's length")
    }
}
