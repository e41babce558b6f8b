//! What the operations of networks of the Stockfish family demand.

use super::Refused;
use super::ops::Operation;
use crate::format::records::{element, feature_sums};
use crate::format::{activation, op};

/// Upper limit of a clip of accumulators.
const I16_MAX: u32 = i16::MAX as u32;
/// Upper limit of what is stored as u8.
const U8_MAX: u32 = u8::MAX as u32;

impl Operation<'_, '_> {
    pub(super) fn clip_u8(&self) -> Result<(), Refused> {
        let [max, shift, left_out, p3] = self.record.params;
        self.no_tensors_at_all()?;
        self.accumulators()?;
        self.elements(element::I16, element::U8)?;
        self.activation(activation::CRELU)?;
        self.activated(false, left_out)?;
        let fits = (1..=I16_MAX).contains(&max) && shift < 16 && max >> shift <= U8_MAX;
        self.need(fits, "op.params[0]", max, "a clip and a shift that leave what fits u8")?;
        self.zeros(&[p3])
    }

    pub(super) fn psqt(&self) -> Result<(), Refused> {
        let [digits, bits, rest @ ..] = self.record.params;
        self.no_tensors_at_all()?;
        self.accumulators()?;
        self.elements(element::I16, element::I32)?;
        self.activation(0)?;
        let (model, output) = (self.model.input(), self.output);
        self.need(model.perspectives == 2, "input.perspectives", model.perspectives, "2 for this operation")?;
        self.need(output.len == 1, "op.output", output.len, "one element")?;
        // Both factors are small, so that their product is exact.
        let known = (1..=op::MAX_DIGITS).contains(&digits) && digits * model.bucket_count <= model.hidden;
        self.need(known, "op.params[0]", digits, "1 to 5 digits a bucket, all within an accumulator")?;
        self.need(bits < op::DIGIT_BITS, "op.params[1]", bits, "bits of a digit, 1 to 9, or 0 for 10")?;
        self.zeros(&rest)
    }

    pub(super) fn feature_sums(&self) -> Result<(), Refused> {
        let [digits, bits, sides, banks] = self.record.params;
        self.no_tensors_at_all()?;
        self.accumulators()?;
        self.elements(element::I16, element::I32)?;
        self.activation(0)?;
        let (model, len) = (self.model.input(), u64::from(self.output.len));
        let most = if model.perspectives == 2 { feature_sums::SECOND_LESS_FIRST } else { feature_sums::FIRST };
        self.need(sides <= most, "op.params[2]", sides, "0 to 3, with one perspective 0")?;
        let known = banks == 1 || banks == model.bucket_count;
        self.need(known, "op.params[3]", banks, "1, or the number of output buckets")?;
        let known = (1..=op::MAX_DIGITS).contains(&digits);
        let fits = known && u64::from(digits) * u64::from(banks) * len <= u64::from(model.hidden);
        self.need(fits, "op.params[0]", digits, "1 to 5 digits a number, all within an accumulator")?;
        self.need(bits < op::DIGIT_BITS, "op.params[1]", bits, "bits of a digit, 1 to 9, or 0 for 10")
    }

    fn no_tensors_at_all(&self) -> Result<(), Refused> {
        let record = self.record;
        self.no_tensors(&[record.weights, record.bias, record.multipliers, record.shifts])
    }

    pub(super) fn activate_u8(&self) -> Result<(), Refused> {
        let record = self.record;
        self.no_tensors_at_all()?;
        let (n, m) = (record.input_len, self.output.len);
        let [max, clip_shift, square_shift, p3] = record.params;
        self.elements(element::I32, element::U8)?;
        let (clips, squares) = match record.activation {
            activation::SHIFT_CLIP => (true, false),
            activation::SHIFT_SQUARE => (false, true),
            activation::SQUARE_AND_CLIP => (true, true),
            other => return Err(self.fault("op.activation", other, "12 clip, 13 square or 14 both")),
        };
        let len = if clips && squares { n.checked_mul(2) } else { Some(n) };
        self.need(len == Some(m), "op.output", m, "the activation's length")?;
        self.need((1..=U8_MAX).contains(&max), "op.params[0]", max, "a clip of 1 to 255")?;
        let clip_fits = if clips { clip_shift < 32 } else { clip_shift == 0 };
        self.need(clip_fits, "op.params[1]", clip_shift, "a shift of 0 to 31, 0 where nothing is clipped alone")?;
        let square_fits = if squares { square_shift < 63 } else { square_shift == 0 };
        self.need(square_fits, "op.params[2]", square_shift, "a shift of 0 to 62, 0 where nothing is squared")?;
        self.zeros(&[p3])
    }
}
