//! Dense layers of bytes, one behind the other, as [`super::table::Chain`] takes them: what a kernel would have to ask
//! of lengths, shifts and claims at every call is asked once, when a plan is made.

use crate::num::HIGH_WORD_ONLY;
use core::ops::RangeInclusive;

/// Bytes of the widest value between two layers of a chain.
pub const CHAIN_WIDTH: usize = 256;
/// The most layers of a chain.
pub const CHAIN_LAYERS: usize = 4;

/// Shifts that there are.
const SHIFTS: RangeInclusive<u8> = 1..=62;
/// Those for which the low word of a product is not needed, and a register of 32 bits holds all else.
const HIGH_SHIFTS: RangeInclusive<u8> = HIGH_WORD_ONLY as u8..=62;

/// A layer whose operands fit each other. Inputs are up to 127.
#[derive(Debug, Clone, Copy)]
pub struct ByteLayer<'a> {
    weights: &'a [i8],
    stride: usize,
    bias: &'a [i32],
    inputs: usize,
    is_paired: bool,
    rounding: Option<Rounding<'a>>,
    has_high_shifts: bool,
    common: Option<OneScale>,
}

/// What rounds all outputs of a layer alike: numbers of 32 bits, which an instruction loads into all lanes of a vector.
#[derive(Debug, Clone, Copy)]
pub struct OneScale {
    pub multiplier: i32,
    /// The shift less 32; of bytes 1 to 30.
    pub shift: i32,
    /// Two to the power of this shift less one, and 0 where that is no number.
    pub half: i32,
}

/// How its sums are rounded: [`crate::num::requantise`].
#[derive(Debug, Clone, Copy)]
pub struct Rounding<'a> {
    /// (outputs,)
    pub multipliers: &'a [i32],
    /// (outputs,), to u8 33 to 62 each, to i32 1 to 62.
    pub shifts: &'a [u8],
    pub low: i32,
    pub high: i32,
    /// Whether outputs are u8; i32 otherwise.
    pub to_bytes: bool,
}

impl Rounding<'_> {
    fn common(&self) -> Option<OneScale> {
        let (multiplier, shift) = (*self.multipliers.first()?, *self.shifts.first()?);
        let is_common = self.multipliers.iter().all(|other| *other == multiplier)
            && self.shifts.iter().all(|other| *other == shift);
        let shift = i32::from(shift) - 32;
        let half = if shift > 0 { 1 << (shift - 1) } else { 0 };
        is_common.then_some(OneScale { multiplier, shift, half })
    }
}

impl<'a> ByteLayer<'a> {
    /// weights: one bank in `K4`, `stride` rows a group · bias: (outputs,) · inputs: up to 127 each · `is_paired`:
    /// whether the weights have [`crate::format::claim::QUADS_FIT_I16`]. `None` where lengths do not fit, a shift is
    /// not what [`Rounding`] says or bytes could be no bytes.
    pub fn new(
        weights: &'a [i8],
        stride: usize,
        bias: &'a [i32],
        inputs: usize,
        is_paired: bool,
        rounding: Option<Rounding<'a>>,
    ) -> Option<Self> {
        let needed = inputs.div_ceil(4).checked_mul(stride)?.checked_mul(4)?;
        let shifts_within =
            |all: RangeInclusive<u8>| rounding.is_none_or(|by| by.shifts.iter().all(|shift| all.contains(shift)));
        let has_high_shifts = shifts_within(HIGH_SHIFTS);
        let is_rounded = rounding.is_none_or(|by| {
            let is_byte = has_high_shifts && by.low >= 0 && by.high <= u8::MAX.into();
            (by.multipliers.len(), by.shifts.len()) == (bias.len(), bias.len())
                && if by.to_bytes { is_byte } else { shifts_within(SHIFTS) }
        });
        let fits = needed <= weights.len() && bias.len() <= stride && stride.is_multiple_of(4) && is_rounded;
        let common = rounding.and_then(|by| by.common());
        let layer = Self { weights, stride, bias, inputs, is_paired, rounding, has_high_shifts, common };
        fits.then_some(layer)
    }

    /// Whether another layer can read what it writes, where the kernel keeps it.
    pub fn can_lead_to(&self, next: &Self) -> bool {
        let is_narrow = self.rounding.is_some_and(|by| by.to_bytes && by.high <= 127);
        is_narrow && self.bias.len() == next.inputs && self.bias.len() <= CHAIN_WIDTH
    }

    /// Bytes of the outputs.
    pub const fn outputs_len_bytes(&self) -> usize {
        match self.rounding {
            Some(Rounding { to_bytes: true, .. }) => self.bias.len(),
            _ => size_of_val(self.bias),
        }
    }

    /// `4·stride` weights for every four inputs, begun ones included; the stride is a multiple of four and no less
    /// than there are biases.
    pub const fn weights(&self) -> &'a [i8] {
        self.weights
    }

    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// One for each output.
    pub const fn bias(&self) -> &'a [i32] {
        self.bias
    }

    pub const fn inputs(&self) -> usize {
        self.inputs
    }

    pub const fn is_paired(&self) -> bool {
        self.is_paired
    }

    /// Whether all shifts are 33 to 62; true where nothing is rounded.
    pub const fn has_high_shifts(&self) -> bool {
        self.has_high_shifts
    }

    /// The scale of every output, where all have the same: that of a layer that is not quantised by the output.
    pub const fn common(&self) -> Option<&OneScale> {
        self.common.as_ref()
    }

    /// The least and the greatest output, where they are u8.
    pub const fn bytes(&self) -> Option<(u8, u8)> {
        match &self.rounding {
            // That both are bytes was asked when the layer was made.
            Some(by) if by.to_bytes => Some((by.low as u8, by.high as u8)),
            _ => None,
        }
    }

    /// `None`: outputs are the sums.
    pub const fn rounding(&self) -> Option<&Rounding<'a>> {
        self.rounding.as_ref()
    }
}
