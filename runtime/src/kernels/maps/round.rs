//! The rounding in which a convolution ends.

use super::Map;
use crate::format::element;
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
            let mut product = i64::from(*sum) * i64::from(*multiplier);
            if let Some(Beside { map, bytes, start }) = beside {
                let other = map.at(bytes, start + index) - map.zero;
                if let Some(multiplier) = others.get(index) {
                    product += i64::from(other) * i64::from(*multiplier);
                }
            }
            put(index, rounded(product, u32::from(*shift), to.zero, self.low, self.high));
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
