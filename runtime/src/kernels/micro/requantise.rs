//! `clamp((x·m + 2^(s−1)) >> s, low, high)` without 64-bit shifts.
//!
//! Where `s` ≥ 33 only the high word `h` of the product matters (see the vectors' `requantise`), and with `k = s − 33`
//! the result is `((h >> k) + 1) >> 1`: rounding after the last bit but one is rounding to nearest. The quantiser
//! writes multipliers of 31 bits, whose shifts are that large for whatever becomes bytes; outputs of i32 that are worth
//! more than a sum take both words ([`both_words`]).

use crate::num::{HIGH_WORD_ONLY, around_zero, mul_high};
use crate::workspace::{rest, rest_mut};

/// [`crate::kernels::Requantise`]; `both_words`: a target's own way to the value of the function of that name.
#[inline(always)]
pub(in crate::kernels) fn requantise<T>(
    x: &[i32],
    multipliers: &[i32],
    shifts: &[u8],
    low: i32,
    high: i32,
    zero: i32,
    out: &mut [T],
    narrow: impl Fn(i32) -> T,
    both_words: impl Fn(i32, i32, u32) -> i32,
) {
    let (len, (low, high, zero)) = (out.len(), around_zero(low, high, zero));
    if x.len() < len || multipliers.len() < len || shifts.len() < len {
        return;
    }
    let mut done = len;
    for (index, (((to, x), multiplier), shift)) in out.iter_mut().zip(x).zip(multipliers).zip(shifts).enumerate() {
        // 62 is the largest shift.
        let less = u32::from(*shift).wrapping_sub(HIGH_WORD_ONLY);
        if less >= 32 {
            done = index;
            break;
        }
        *to = narrow((((mul_high(*x, *multiplier) >> less) + 1) >> 1).max(low).min(high).wrapping_add(zero));
    }
    if done < len {
        // By a loop of its own, since the one above has no registers to spare.
        let (x, multipliers, shifts) = (rest(x, done), rest(multipliers, done), rest(shifts, done));
        by_both_words(x, multipliers, shifts, low, high, zero, rest_mut(out, done), narrow, both_words);
    }
}

/// The same for any shift, and ends before the zero point.
#[inline(never)]
fn by_both_words<T>(
    x: &[i32],
    multipliers: &[i32],
    shifts: &[u8],
    low: i32,
    high: i32,
    zero: i32,
    out: &mut [T],
    narrow: impl Fn(i32) -> T,
    both_words: impl Fn(i32, i32, u32) -> i32,
) {
    for (((out, x), multiplier), shift) in out.iter_mut().zip(x).zip(multipliers).zip(shifts) {
        let shift = u32::from(*shift);
        let value = if shift >= HIGH_WORD_ONLY {
            ((mul_high(*x, *multiplier) >> ((shift - HIGH_WORD_ONLY) & 31)) + 1) >> 1
        } else {
            both_words(*x, *multiplier, shift)
        };
        *out = narrow(value.max(low).min(high).wrapping_add(zero));
    }
}

/// `(x·multiplier + 2^(shift−1)) >> shift`, its nearest i32 where it is none, of both words of the product, shift 1 to
/// 32 and the second factor not negative. No product of two i32 is so large that half of a bit overflows it. Shifts by
/// a word's size are two.
#[inline(always)]
pub(in crate::kernels) fn both_words(x: i32, multiplier: i32, shift: u32) -> i32 {
    let less = shift.wrapping_sub(1) & 31;
    let (low, is_carried) = (x.wrapping_mul(multiplier) as u32).overflowing_add(1 << less);
    let high = mul_high(x, multiplier).wrapping_add(is_carried.into());
    let value = (high << (31 - less)) | (low >> less >> 1) as i32;
    let above = high >> less >> 1;
    if value >> 31 == above { value } else { above >> 31 ^ i32::MAX }
}

#[cfg(test)]
mod tests {
    use super::{both_words, requantise};
    use crate::num;

    /// Both ends of both factors, and what lies on either side of a half, at every shift.
    #[test]
    fn both_words_round_as_the_definition_does() {
        let ends = [i32::MIN, i32::MIN + 1, -65_537, -65_536, -3, -1, 0, 1, 2, 65_535, 65_536, 1 << 30, i32::MAX];
        let around = (-40..40).map(|step| step * 26_843_545 + step % 3);
        for x in ends.into_iter().chain(around) {
            for multiplier in [0, 1, 2, 3, 65_535, 65_536, 1 << 30, 0x4000_0001, 0x7654_3210, i32::MAX] {
                for shift in 1..=62 {
                    for (low, high) in [(i32::MIN, i32::MAX), (-128, 127), (0, 255), (-1_000_000, 70_000)] {
                        let mut out = [0];
                        requantise(&[x], &[multiplier], &[shift], low, high, 0, &mut out, |value| value, both_words);
                        let expected = num::requantise(x, multiplier, shift.into(), low, high);
                        assert_eq!(out, [expected], "{x} {multiplier} {shift} {low} {high}");
                    }
                }
            }
        }
    }
}
