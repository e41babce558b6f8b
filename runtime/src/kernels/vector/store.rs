//! Real numbers as the bytes that a network takes for them, [`num::store`] without its division.
//!
//! Of an f32 `x` and an f32 unit `u` the quotient is a half, `k + ½`, or at least 2⁻²⁶ away from each: `x = X·2^a` and
//! `u = U·2^b` with X and U below 2²⁴, so that `x − (k + ½)·u` is a multiple of `2^min(a, b − 1)`. Where `a ≥ b − 1`
//! that is at least 2⁻¹/U of the unit. Where `a` is less, X·2^a must be about `u/2` or more to be near a half, so `a`
//! is at least `b − 2`, and it is 2⁻²/U.
//!
//! `x · (1/u)·(1 + 2⁻³⁸)` in f64 is above the quotient, in size, by 2⁻³⁸ of it, less roundings of about 2⁻⁵¹: up to
//! 2⁹ units that is at most 2⁻²⁹, which no other quotient lies within below a half, and a half itself is moved off. So
//! what is rounded to the nearest is never a tie, and is rounded as the quotient is with halves away from 0. Beyond 2⁹
//! units either side of the ends both are cut.
//!
//! Rounded is by addition: 1.5 · 2⁵² leaves no room for fractions, and its low bits are those of the integer.

use super::super::scalar;
use crate::num;

/// Above 1 by more than roundings, by less than what is between a half and any other quotient.
const A_LITTLE_MORE: f64 = 1.0 + 1.0 / (1u64 << 38) as f64;
/// What f64 has no fractions behind.
const NO_FRACTIONS: f64 = 1.5 * (1u64 << 52) as f64;
/// The bits of infinity: no finite number's are as many without the sign.
const INFINITY: i32 = f32::INFINITY.to_bits() as i32;

/// [`crate::kernels::table::StoreF32`]. `low` and `high`: the ends of the bytes' type.
#[inline(always)]
pub(in crate::kernels) fn store(x: &[f32], unit: f32, zero: i32, [low, high]: [i32; 2], out: &mut [u8]) -> bool {
    // Two ends within 2⁹ of 0 are within it behind any zero point that lies between them; another is not for this form.
    if zero < low || zero > high {
        for (out, x) in out.iter_mut().zip(x) {
            *out = num::store((*x).into(), unit.into(), zero, low, high) as u8;
        }
        return scalar::all_finite(x);
    }
    let inverse = A_LITTLE_MORE / f64::from(unit);
    let (least, most) = (f64::from(low - zero), f64::from(high - zero));
    let behind = NO_FRACTIONS + f64::from(zero);
    let mut largest = 0;
    for (out, x) in out.iter_mut().zip(x) {
        let quotient = f64::from(*x) * inverse;
        // Comparisons that are one instruction each, and cut what is no number too.
        let quotient = if quotient > least { quotient } else { least };
        let quotient = if quotient < most { quotient } else { most };
        *out = (quotient + behind).to_bits() as u8;
        largest = largest.max(x.to_bits() as i32 & i32::MAX);
    }
    largest < INFINITY
}
