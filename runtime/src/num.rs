//! The arithmetic, once. Every kernel of every tier, and on the host the proof and the integer model, round, clip and
//! add through these definitions; FORMAT.md states them in words. (How a weight becomes a stored integer is the
//! quantiser's.)

mod divisor;
mod exp;

pub use divisor::Divisor;
pub use exp::{exp, sigmoid, tanh};

use crate::features::HAS_ZEROS;
use crate::format::activation;

/// The ends of u8.
pub const U8_ENDS: [i32; 2] = [0, 255];
/// The ends of i8.
pub const I8_ENDS: [i32; 2] = [-128, 127];

/// How an input stores a real number: the multiple of `unit` that is nearest, halves away from 0, behind the zero
/// point; what lies beyond an end goes to it. x: finite · unit: positive · zero: of i16 · low ≤ high: of i16.
///
/// What is far beyond is cut first, so that a conversion to i32 and back takes the fraction off: `f64::round` is a call
/// where the build names no instruction set, and this is a few instructions for several numbers.
///
/// ```
/// use tamis_runtime::raw::num::store;
/// assert_eq!([0.49, 0.5, -0.5, 1e9].map(|x| store(x, 1.0, 3, 0, 255)), [3, 4, 2, 255]);
/// ```
#[inline]
pub fn store(x: f64, unit: f64, zero: i32, low: i32, high: i32) -> i32 {
    const FAR: f64 = 1_000_000.0;
    let quotient = (x / unit).clamp(-FAR, FAR);
    let whole = quotient as i32;
    let rest = quotient - f64::from(whole);
    let away = i32::from(rest >= 0.5) - i32::from(rest <= -0.5);
    (whole + away + zero).clamp(low, high)
}

/// The engine's integer head: [`rescale_exact`], reduced to its low 32 bits.
///
/// `pre_divisor`, `divisor` ≥ 1, `factor` 1 to 2³⁰.
///
/// # Panics
/// If a divisor is 0, which no checked file has.
///
/// ```
/// // The bias carries QA·QB and enters after the first division: 255·64 = 16320.
/// assert_eq!(tamis_runtime::raw::num::rescale(1_000_000, 255, -1200, 400, 16320), 66);
/// ```
pub const fn rescale(sum: i32, pre_divisor: i32, bias: i32, factor: i32, divisor: i32) -> i32 {
    rescale_exact(sum, pre_divisor, bias, factor, divisor) as i32
}

/// `((sum / pre_divisor + bias) · factor) / divisor` in 64 bits, where nothing overflows (|factor| ≤ 2³¹ − 1), both
/// divisions toward zero, as in C and Rust. Arguments and panics as for [`rescale`].
pub const fn rescale_exact(sum: i32, pre_divisor: i32, bias: i32, factor: i32, divisor: i32) -> i64 {
    let with_bias = sum as i64 / pre_divisor as i64 + bias as i64;
    with_bias * factor as i64 / divisor as i64
}

/// [`rescale`] of a sum in 64 bits, modulo 2⁶⁴ on the way: exact wherever the result, before its low 32 bits are taken,
/// is within `i64::MAX / divisor`.
///
/// ```
/// use tamis_runtime::raw::num::rescale_wide;
/// assert_eq!(rescale_wide(1_000_000, 255, -1200, 400, 16320), 66);
/// assert_eq!(rescale_wide(5_000_000_000, 255, -1200, 400, 16320), 480_554);
/// ```
pub const fn rescale_wide(sum: i64, pre_divisor: i32, bias: i32, factor: i32, divisor: i32) -> i32 {
    // No quotient of i64 by a divisor from 1 on leaves it.
    let with_bias = (sum / pre_divisor as i64).wrapping_add(bias as i64);
    (with_bias.wrapping_mul(factor as i64) / divisor as i64) as i32
}

/// [`rescale`] with divisors made ready; the same numbers.
#[cfg_attr(not(short_ways), inline)]
#[cfg_attr(short_ways, inline(always))]
pub fn rescale_by(sum: i32, pre_divisor: Divisor, bias: i32, factor: i32, divisor: Divisor) -> i32 {
    let with_bias = pre_divisor.divide(i64::from(sum)) + i64::from(bias);
    divisor.divide(with_bias * i64::from(factor)) as i32
}

/// The least shift of [`requantise`] at which the low word of the product is not needed: with `k = shift − 33` the
/// result is `((high word >> k) + 1) >> 1`, clamped.
pub(crate) const HIGH_WORD_ONLY: u32 = 33;

/// The one requantisation: `clamp((sum · multiplier + 2^(shift−1)) >> shift, low, high)` in 64 bits, an arithmetic
/// shift: a single rounding, to nearest, halves upward.
///
/// `multiplier` ≥ 0, `shift` 1 to 62.
///
/// ```
/// use tamis_runtime::raw::num::requantise;
/// assert_eq!(requantise(5, 1, 1, 0, 127), 3);   //  2.5 →  3
/// assert_eq!(requantise(-5, 1, 1, -127, 127), -2); // −2.5 → −2
/// ```
pub const fn requantise(sum: i32, multiplier: i32, shift: u32, low: i32, high: i32) -> i32 {
    // Down to one bit more than is wanted, then rounded by that bit: what lies below it decides nothing.
    let product = sum as i64 * multiplier as i64;
    let rounded = ((product >> (shift - 1)) + 1) >> 1;
    if rounded < low as i64 {
        low
    } else if rounded > high as i64 {
        high
    } else {
        rounded as i32
    }
}

/// The high word of a product.
#[inline(always)]
pub(crate) const fn mul_high(x: i32, multiplier: i32) -> i32 {
    if !cfg!(cortex_m = "thumb1") {
        return ((x as i64 * multiplier as i64) >> 32) as i32;
    }
    mul_high_by_halves(x, multiplier)
}

/// The same for a processor that multiplies to 32 bits: four products of halves fit those, carries and all, and take
/// half the time of the compiler's 64-bit multiplication.
#[inline(always)]
const fn mul_high_by_halves(x: i32, multiplier: i32) -> i32 {
    let (low, high) = (x as u32 & 0xFFFF, x >> 16);
    let (by_low, by_high) = (multiplier as u32 & 0xFFFF, multiplier >> 16);
    let (ll, lh) = (low * by_low, (low as i32) * by_high);
    let (hl, hh) = (high * by_low as i32, high * by_high);
    let middle = (ll >> 16) + (lh as u32 & 0xFFFF) + (hl as u32 & 0xFFFF);
    hh.wrapping_add(lh >> 16).wrapping_add(hl >> 16).wrapping_add((middle >> 16) as i32)
}

/// A product rounded at 15 bits, to nearest, halves upward: `(a·b + 2¹⁴) >> 15`. At most 32767 in magnitude, so that
/// it fits, unless both are −32768, where it wraps; a clipped activation is never negative.
///
/// ```
/// use tamis_runtime::raw::num::mul_round;
/// assert_eq!(mul_round(255, 32767), 255);
/// assert_eq!(mul_round(1, 16384), 1);   //  0.5 →  1
/// assert_eq!(mul_round(1, -16384), 0);  // −0.5 →  0
/// ```
#[inline]
pub const fn mul_round(a: i16, b: i16) -> i16 {
    ((a as i32 * b as i32 + (1 << 14)) >> 15) as i16
}

/// A product shifted right and rounded to nearest, halves upward: `(product + 2^(shift − 1)) >> shift`, `shift` at
/// least 1.
///
/// ```
/// use tamis_runtime::raw::num::shift_round;
/// assert_eq!(shift_round(255 * 255, 9), 127);
/// assert_eq!(shift_round(16 * 16, 9), 1); // 0.5 → 1
/// ```
#[inline]
pub const fn shift_round(product: i32, shift: u32) -> i32 {
    (product + (1 << (shift - 1))) >> shift
}

/// Ends before a zero point is added behind rounding, and the zero point, which is 0 in builds that round none so:
/// firmware and pages without `general`, whose maps are rounded by kernels of their own.
#[inline(always)]
pub(crate) const fn around_zero(low: i32, high: i32, zero: i32) -> (i32, i32, i32) {
    if HAS_ZEROS { (low.wrapping_sub(zero), high.wrapping_sub(zero), zero) } else { (low, high, 0) }
}

/// A real as an integer: `clamp(round(x · inverse) + zero, low, high)`, to nearest, halves away from 0, a NaN as 0.
///
/// `zero`, `low`, `high` within ±2¹⁶, so that sums that saturate are clamped to what the exact ones would be.
///
/// ```
/// use tamis_runtime::raw::num::quantise;
/// assert_eq!(quantise(1.25, 2.0, 0, -127, 127), 3);    //  2.5 →  3
/// assert_eq!(quantise(-1.25, 2.0, 100, 0, 255), 97);   // −2.5 → −3
/// assert_eq!(quantise(f32::NAN, 2.0, 100, 0, 255), 100);
/// ```
pub fn quantise(x: f32, inverse: f32, zero: i32, low: i32, high: i32) -> i32 {
    let scaled = x * inverse;
    // Toward zero; saturating, and 0 for NaN. The difference is exact: beyond 2²³ a number has no fraction.
    let whole = scaled as i32;
    let rest = scaled - whole as f32;
    let rounded = if rest >= 0.5 {
        whole.saturating_add(1)
    } else if rest <= -0.5 {
        whole.saturating_sub(1)
    } else {
        whole
    };
    rounded.saturating_add(zero).max(low).min(high)
}

/// `clamp(value, 0, max)`.
pub const fn clip(value: i16, max: i16) -> i16 {
    if value < 0 {
        0
    } else if value > max {
        max
    } else {
        value
    }
}

/// `clamp(sum >> shift, 0, max)`, an arithmetic shift of 0 to 31.
pub const fn shift_clip(sum: i32, shift: u32, max: i32) -> i32 {
    let shifted = sum >> shift;
    if shifted < 0 {
        0
    } else if shifted > max {
        max
    } else {
        shifted
    }
}

/// `min(sum² >> shift, max)` in 64 bits, where nothing overflows; shift 0 to 62.
pub const fn shift_square(sum: i32, shift: u32, max: i32) -> i32 {
    let shifted = (sum as i64 * sum as i64) >> shift;
    if shifted > max as i64 { max } else { shifted as i32 }
}

/// `clamp(x, 0, 1)` in f32; NaN and −0 become +0.
pub fn crelu(x: f32) -> f32 {
    if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 }
}

/// `max(x, 0)` in f32; NaN and −0 become +0.
pub fn relu(x: f32) -> f32 {
    if x > 0.0 { x } else { 0.0 }
}

/// `x · clamp(x + 3, 0, 6) / 6` in f32, the product rounded before the quotient; `x` itself from 3 on, and NaN becomes
/// +0.
///
/// ```
/// use tamis_runtime::raw::num::hard_swish;
/// assert_eq!([-3.0, -1.5, 0.0, 1.5, 3.0, 1e30].map(hard_swish), [0.0, -0.375, 0.0, 1.125, 3.0, 1e30]);
/// ```
pub fn hard_swish(x: f32) -> f32 {
    let gate = x + 3.0;
    if gate >= 6.0 {
        x
    } else if gate > 0.0 {
        x * gate / 6.0
    } else {
        0.0
    }
}

/// The activations that turn one number into one: identity, ReLU, CReLU, SCReLU and SqrReLU by their codes in
/// [`crate::format::activation`]; any other code counts as identity.
pub fn activate(x: f32, code: u32) -> f32 {
    match code {
        activation::RELU => relu(x),
        activation::CRELU => crelu(x),
        activation::SCRELU => crelu(x) * crelu(x),
        activation::SQRRELU => relu(x) * relu(x),
        _ => x,
    }
}

/// The sum of eight lanes in the one order that every tier follows: lanes four apart, then two apart, then neighbours.
pub fn reduce_f32(lanes: [f32; 8]) -> f32 {
    let [a, b, c, d, e, f, g, h] = lanes;
    let quarters = [a + e, b + f, c + g, d + h];
    let halves = [quarters[0] + quarters[2], quarters[1] + quarters[3]];
    halves[0] + halves[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The way of the smallest processors, over the corners of both factors and their halves.
    #[test]
    fn halves_give_the_high_word() {
        let some =
            [i32::MIN, -65_537, -65_536, -65_535, -1, 0, 1, 0x7FFF, 0x8000, 0xFFFF, 65_536, 0x1234_5678, i32::MAX];
        for x in some {
            for multiplier in some {
                assert_eq!(mul_high_by_halves(x, multiplier), mul_high(x, multiplier), "{x} {multiplier}");
            }
        }
    }

    /// `requantise` against its definition as a rational number, floor(x + 1/2), over every shift and the corners of
    /// the rest.
    #[test]
    fn requantise_is_one_rounding() {
        let sums = [i32::MIN, i32::MIN + 1, -65_537, -3, -2, -1, 0, 1, 2, 3, 255, 65_536, i32::MAX - 1, i32::MAX];
        let multipliers = [0, 1, 2, 3, 127, 1 << 30, (1 << 30) + 1, i32::MAX];
        for shift in 1..=62u32 {
            for sum in sums {
                for multiplier in multipliers {
                    let product = i128::from(sum) * i128::from(multiplier);
                    let twice = 2 * product + (1i128 << shift);
                    let exact = twice.div_euclid(1i128 << (shift + 1));
                    let clamped = exact.clamp(i128::from(i32::MIN), i128::from(i32::MAX));
                    let found = requantise(sum, multiplier, shift, i32::MIN, i32::MAX);
                    assert_eq!(i128::from(found), clamped, "{sum} · {multiplier} >> {shift}");
                }
            }
        }
    }

    /// Every 16-bit sum at every small shift.
    #[test]
    fn requantise_exhaustively_on_small_sums() {
        for sum in i32::from(i16::MIN)..=i32::from(i16::MAX) {
            for (multiplier, shift) in [(1, 1), (3, 2), (5, 4), (1_518_500_250, 40)] {
                let twice = 2 * i128::from(sum) * multiplier + (1i128 << shift);
                let exact = twice.div_euclid(1i128 << (shift + 1)).clamp(-127, 127);
                assert_eq!(i128::from(requantise(sum, multiplier as i32, shift, -127, 127)), exact);
            }
        }
    }

    #[test]
    fn division_is_toward_zero() {
        assert_eq!(rescale(-509, 255, 0, 1, 1), -1);
        assert_eq!(rescale(509, 255, 0, 1, 1), 1);
        assert_eq!(
            rescale(i32::MIN, 1, i32::MIN, 1 << 30, i32::MAX),
            (i64::from(i32::MIN) * 2 * (1 << 30) / i64::from(i32::MAX)) as i32
        );
    }

    #[test]
    fn a_divisor_divides() {
        let mut random = 1u64;
        for divisor in [1, 2, 3, 16, 255, 16_320, 65_536, 1_000_003, i32::MAX - 1, i32::MAX] {
            let ready = Divisor::new(divisor);
            let d = i64::from(divisor);
            let near = [0, 1, 2, d - 1, d, d + 1, 2 * d - 1, 2 * d, i64::MAX, i64::MAX - 1, i64::MIN, i64::MIN + 1];
            let multiples = (0..64).flat_map(|bit| [(i64::MAX >> bit) / d * d, (i64::MAX >> bit) / d * d - 1]);
            for n in near.into_iter().chain(multiples) {
                assert_eq!(ready.divide(n), n / d, "{n} / {d}");
                assert_eq!(ready.divide(n.wrapping_neg()), n.wrapping_neg() / d, "−{n} / {d}");
            }
            for _ in 0..10_000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let n = random as i64 >> (random >> 58);
                assert_eq!(ready.divide(n), n / d, "{n} / {d}");
            }
        }
    }

    /// Around every half and every end, against 64-bit arithmetic, where the halves are exact.
    #[test]
    fn quantising_rounds_halves_away_from_zero() {
        for whole in -70_000..=70_000i32 {
            for (offset, rounded) in [(-0.5, whole - i32::from(whole <= 0)), (0.0, whole), (0.25, whole)] {
                let x = (f64::from(whole) + offset) as f32;
                for (zero, low, high) in [(0, -32_768, 32_767), (7, 0, 255), (-128, -128, 127), (32_768, -1, 0)] {
                    let expected = (i64::from(rounded) + i64::from(zero)).clamp(low.into(), high.into());
                    assert_eq!(i64::from(quantise(x, 1.0, zero, low, high)), expected, "{x} + {zero}");
                }
            }
        }
        let just_below = f32::from_bits(0.5f32.to_bits() - 1);
        assert_eq!((quantise(just_below, 1.0, 0, -9, 9), quantise(-just_below, 1.0, 0, -9, 9)), (0, 0));
        for zero in [-32_768, 0, 32_768] {
            for huge in [f32::INFINITY, f32::MAX, 4e9, 2_147_483_648.0] {
                assert_eq!(quantise(huge, 1.0, zero, -32_768, 32_767), 32_767);
                assert_eq!(quantise(-huge, 1.0, zero, -32_768, 32_767), -32_768);
            }
        }
        assert_eq!(quantise(f32::NAN, 1.0, 300, 0, 255), 255);
    }

    #[test]
    fn clipping_floats_tames_everything() {
        assert_eq!(crelu(f32::NAN).to_bits(), 0);
        assert_eq!(crelu(-0.0).to_bits(), 0);
        assert_eq!(crelu(f32::INFINITY), 1.0);
        assert_eq!(relu(f32::NAN).to_bits(), 0);
    }
}
