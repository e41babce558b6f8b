//! The rounding in which a convolution ends.

use super::Map;
use crate::format::element;
use crate::num::{self, HIGH_WORD_ONLY};
use crate::workspace::{rest, rest_mut, typed_mut};

/// `clamp(zero + ((sum · multiplier + other · of_other + 2^(shift−1)) >> shift), low, high)`, a multiplier, a shift
/// and, where a second map is added, a multiplier of that a channel. Without multipliers sums stay i32.
#[derive(Debug, Clone, Copy)]
pub struct Rounding<'a> {
    /// (channels,), or (2 · channels,) with a second map: those of its elements stand behind.
    pub multipliers: &'a [i32],
    /// (channels,)
    pub shifts: &'a [u8],
    /// Least value that is written.
    pub low: i32,
    /// Greatest one.
    pub high: i32,
}

/// The second map's elements beside a block of sums.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside<'x> {
    pub map: Map,
    pub bytes: &'x [u8],
    /// Of the block's first output.
    pub start: usize,
}

impl Rounding<'_> {
    /// Rounds the sums of outputs `first..` of a pixel into `out`, where the block begins with element `start`.
    pub(crate) fn block(
        &self,
        sums: &[i32],
        first: usize,
        beside: Option<Beside<'_>>,
        (to, out, start): (Map, &mut [u8], usize),
    ) {
        match to.element {
            element::I16 => {
                let out = rest_mut(typed_mut::<i16>(out), start);
                self.each(sums, first, beside, to, |index, y| {
                    out.get_mut(index).into_iter().for_each(|out| *out = y as i16)
                });
            }
            element::I32 => {
                let out = rest_mut(typed_mut::<i32>(out), start);
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out = *sum);
            }
            _ => {
                let out = rest_mut(out, start);
                self.each(sums, first, beside, to, |index, y| {
                    out.get_mut(index).into_iter().for_each(|out| *out = y as u8)
                });
            }
        }
    }

    #[inline(always)]
    fn each(&self, sums: &[i32], first: usize, beside: Option<Beside<'_>>, to: Map, mut put: impl FnMut(usize, i32)) {
        let own = rest(self.multipliers, first);
        let others = if beside.is_some() { rest(self.multipliers, to.channels + first) } else { &[] };
        let shifts = rest(self.shifts, first);
        for (index, ((sum, multiplier), shift)) in sums.iter().zip(own).zip(shifts).enumerate() {
            let shift = u32::from(*shift);
            // Where products of 64 bits are dear; elsewhere two ways would only be longer.
            if cfg!(any(test, microcontroller))
                && beside.is_none()
                && let shift @ HIGH_WORD_ONLY.. = shift
            {
                put(index, rounded_high(num::mul_high(*sum, *multiplier), shift, to.zero, self.low, self.high));
                continue;
            }
            let mut product = i64::from(*sum) * i64::from(*multiplier);
            if let Some(Beside { map, bytes, start }) = beside {
                let other = map.at(bytes, start + index) - map.zero;
                if let Some(multiplier) = others.get(index) {
                    product += i64::from(other) * i64::from(*multiplier);
                }
            }
            put(index, rounded(product, shift, to.zero, self.low, self.high));
        }
    }
}

/// `clamp(zero + ((product + 2^(shift−1)) >> shift), low, high)`, shift 1 to 62.
#[inline(always)]
pub(crate) fn rounded(product: i64, shift: u32, zero: i32, low: i32, high: i32) -> i32 {
    // Down to one bit more than is wanted, then rounded by that bit: nothing overflows.
    let shifted = ((product >> (shift.wrapping_sub(1) & 63)) + 1) >> 1;
    (shifted + i64::from(zero)).max(low.into()).min(high.into()) as i32
}

/// The same of a product's high word, shift [`HIGH_WORD_ONLY`] to 62: of a product of two i32 the last bit but one that
/// is wanted, and all above it, lie there.
#[inline(always)]
fn rounded_high(product: i32, shift: u32, zero: i32, low: i32, high: i32) -> i32 {
    let shifted = ((product >> (shift.wrapping_sub(HIGH_WORD_ONLY) & 31)) + 1) >> 1;
    (shifted + zero).max(low).min(high)
}

/// [`rounded`] without its ends, which are of at most 16 bits, half: `1 + 2 · zero`. What leaves 32 bits before it is
/// clamped is as good as their end, so that all behind the shift is done in them.
#[cfg(any(test, microcontroller))]
#[inline(always)]
pub(crate) fn rounded_words(product: i64, shift: u32, half: i32) -> i32 {
    let less = shift.wrapping_sub(1);
    let (low, high) = (product as u32, (product >> 32) as i32);
    // Shifts by a word's size and more are two: less / 32 words, then the rest.
    let (value, above) = if less < 32 {
        let above = high >> less;
        ((low >> less | (high << 1 << (31 - less)) as u32) as i32, above)
    } else {
        (high >> (less & 31), high >> 31)
    };
    let value = if value >> 31 == above { value } else { above >> 31 ^ i32::MAX };
    value.saturating_add(half) >> 1
}

#[cfg(test)]
mod tests {
    use super::{rounded, rounded_high, rounded_words};
    use crate::num::HIGH_WORD_ONLY;
    use crate::num::mul_high;

    /// Both ends of both factors, and what lies on either side of a half.
    #[test]
    fn the_high_word_is_enough() {
        let ends = [i32::MIN, i32::MIN + 1, -65_537, -65_536, -3, -1, 0, 1, 2, 65_535, 65_536, 1 << 30, i32::MAX];
        let around = (-40..40).map(|step| step * 26_843_545 + step % 3);
        for sum in ends.into_iter().chain(around) {
            for multiplier in ends.into_iter().chain([0x4000_0001, 0x7654_3210]) {
                let product = i64::from(sum) * i64::from(multiplier);
                for (shift, zero) in (1..=62).flat_map(|shift| [(shift, -128), (shift, 0), (shift, 32_768)]) {
                    for (low, high) in [(-128, 127), (0, 255), (-32_768, 32_767)] {
                        let found = rounded_words(product, shift, 1 + 2 * zero).max(low).min(high);
                        assert_eq!(found, rounded(product, shift, zero, low, high), "{sum} {multiplier} {shift}");
                    }
                }
                assert_eq!(i64::from(mul_high(sum, multiplier)), product >> 32);
                for shift in HIGH_WORD_ONLY..=62 {
                    for (zero, low, high) in [(0, -128, 127), (-128, -128, 127), (7, i32::MIN, i32::MAX)] {
                        let found = rounded_high(mul_high(sum, multiplier), shift, zero, low, high);
                        assert_eq!(found, rounded(product, shift, zero, low, high), "{sum} {multiplier} {shift}");
                    }
                }
            }
        }
    }
}
