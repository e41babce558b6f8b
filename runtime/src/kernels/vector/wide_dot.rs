//! The dot products of [`super::dot`] in 64 bits.
//!
//! A pair of products fits i32, because a clipped value is at most 32767 and no factor is below −32768. So vectors of
//! i32 are added twice: modulo 2³², and, shifted down by 16, without loss. With `count` vectors, at most 2¹⁶,
//!
//! ```text
//! Σ v = 2¹⁶ · Σ (v >> 16) + Σ (v mod 2¹⁶),      0 ≤ Σ (v mod 2¹⁶) < 2³²
//! ```
//!
//! and the last sum follows modulo 2³² from the other two. A square is `c · (c·w)`, the product in two halves.

use super::Simd;
use crate::num;

/// The sums of some vectors of i32.
#[derive(Clone, Copy)]
struct Wide<S: Simd> {
    /// Modulo 2³².
    low: S::I32,
    /// Of the upper halves.
    high: S::I32,
}

impl<S: Simd> Wide<S> {
    #[inline(always)]
    fn zero(s: S) -> Self {
        Self { low: s.zero32(), high: s.zero32() }
    }

    /// Adds the products of neighbours; each of `clipped` is 0 to 32767.
    #[inline(always)]
    fn add(self, s: S, clipped: S::I16, factor: S::I16) -> Self {
        let pairs = s.mul_add_pairs(clipped, factor);
        Self { low: s.add32(self.low, pairs), high: s.add32(self.high, s.upper_halves32(pairs)) }
    }

    /// The sum of all lanes.
    #[inline(always)]
    fn total(self, s: S) -> i64 {
        let (mut low, mut high) = (S::Chunk32::default(), S::Chunk32::default());
        s.store32(&mut low, self.low);
        s.store32(&mut high, self.high);
        let mut sum = 0;
        for (low, high) in low.as_ref().iter().zip(high.as_ref()) {
            let rest = low.wrapping_sub(high.wrapping_shl(16)) as u32;
            sum += (i64::from(*high) << 16) + i64::from(rest);
        }
        sum
    }
}

/// CReLU.
#[inline(always)]
pub(in crate::kernels) fn crelu<S: Simd>(s: S, first: &[i16], second: &[i16], w: &[i16], max: i16) -> i64 {
    let (w_first, w_second) = w.split_at(first.len().min(w.len()));
    let (low, high) = (s.splat(0), s.splat(max));
    let (mut sums, mut singles) = ([Wide::zero(s); 2], 0i64);
    for ((x, w), sums) in [(first, w_first), (second, w_second)].into_iter().zip(&mut sums) {
        let ((x, x_rest), (w, w_rest)) = (S::chunks(x), S::chunks(w));
        for (x, w) in x.iter().zip(w) {
            *sums = sums.add(s, s.min(s.max(s.load(x), low), high), s.load(w));
        }
        for (x, w) in x_rest.iter().zip(w_rest) {
            singles += i64::from(num::clip(*x, max)) * i64::from(*w);
        }
    }
    singles + sums[0].total(s) + sums[1].total(s)
}

/// SCReLU or squared ReLU.
#[inline(always)]
pub(in crate::kernels) fn screlu<S: Simd>(s: S, first: &[i16], second: &[i16], w: &[i16], max: i16) -> i64 {
    let (w_first, w_second) = w.split_at(first.len().min(w.len()));
    let (least, greatest) = (s.splat(0), s.splat(max));
    // Of the lower and of the upper halves of `c·w`.
    let (mut sums, mut singles) = ([Wide::zero(s); 2], 0i64);
    for (x, w) in [(first, w_first), (second, w_second)] {
        let ((x, x_rest), (w, w_rest)) = (S::chunks(x), S::chunks(w));
        for (x, w) in x.iter().zip(w) {
            let (clipped, w) = (s.min(s.max(s.load(x), least), greatest), s.load(w));
            // With `low` read as signed, `high` is one more where `low` is negative.
            let low = s.mul_low(clipped, w);
            let high = s.add(s.mul_high(clipped, w), s.shift_right(low, 15));
            sums = [sums[0].add(s, clipped, low), sums[1].add(s, clipped, high)];
        }
        for (x, w) in x_rest.iter().zip(w_rest) {
            let clipped = i64::from(num::clip(*x, max));
            singles += clipped * clipped * i64::from(*w);
        }
    }
    singles + sums[0].total(s) + (sums[1].total(s) << 16)
}
