//! `clamp((x·m + 2^(s−1)) >> s, low, high)` without 64-bit shifts.
//!
//! Where `s` ≥ 33 only the high word `h` of the product matters (see the vectors' `requantise`), and with `k = s − 33`
//! the result is `((h >> k) + 1) >> 1`: rounding after the last bit but one is rounding to nearest. The quantiser
//! writes multipliers of 31 bits, whose shifts are that large; any other takes the definition.

use crate::num;

/// Smallest shift of which the low word is not needed.
const HIGH_WORD_ONLY: u32 = 33;

/// [`crate::kernels::Requantise`]; `mul_high` is the high word of the product, of which the second factor is not
/// negative.
#[inline(always)]
pub(in crate::kernels) fn requantise<T>(
    x: &[i32],
    multipliers: &[i32],
    shifts: &[u8],
    low: i32,
    high: i32,
    out: &mut [T],
    narrow: impl Fn(i32) -> T,
    mul_high: impl Fn(i32, i32) -> i32,
) {
    let len = out.len();
    if x.len() < len || multipliers.len() < len || shifts.len() < len {
        return;
    }
    for (((out, x), multiplier), shift) in out.iter_mut().zip(x).zip(multipliers).zip(shifts) {
        let shift = u32::from(*shift);
        let value = match shift.wrapping_sub(HIGH_WORD_ONLY) {
            // 62 is the largest shift.
            less @ 0..32 => (((mul_high(*x, *multiplier) >> less) + 1) >> 1).max(low).min(high),
            _ => with_low_word(*x, *multiplier, shift, low, high),
        };
        *out = narrow(value);
    }
}

/// Apart from the loop, which has no registers to spare for 64 bits.
#[cold]
#[inline(never)]
fn with_low_word(x: i32, multiplier: i32, shift: u32, low: i32, high: i32) -> i32 {
    num::requantise(x, multiplier, shift, low, high)
}
