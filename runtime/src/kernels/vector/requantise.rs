//! `clamp((x·m + 2^(s−1)) >> s, low, high)` in lanes of 32 bits.
//!
//! The definition wants 64 bits. Where `s` ≥ 33, the rounding term is a multiple of 2³², so that the low word of the
//! product never matters: with `h` the product's high word, the result is `(h + 2^(s−33)) >> (s − 32)`. Nothing leaves
//! 32 bits: |x·m| is at most 2⁶² and the rounding term 2⁶¹, so |h| + 2^(s−33) is below 2³¹. The quantiser writes
//! multipliers of 31 bits, whose shifts are that large; any other layer takes the definition's loop.

use super::Simd;
#[cfg(short_ways)]
use crate::kernels::layers::OneScale;
use crate::kernels::scalar;
use crate::num::around_zero;
use crate::workspace::{range, rest_mut};

/// Smallest shift of which the low word is not needed.
const HIGH_WORD_ONLY: i32 = crate::num::HIGH_WORD_ONLY as i32;

/// What a requantised value is stored as.
pub(in crate::kernels) trait Narrow<S: Simd>: Copy {
    /// As many as a vector has i32.
    type Chunk;
    fn chunks_mut(out: &mut [Self]) -> (&mut [Self::Chunk], &mut [Self]);
    fn store(s: S, out: &mut Self::Chunk, x: S::I32);
    fn single(x: i32) -> Self;
}

impl<S: Simd> Narrow<S> for u8 {
    type Chunk = S::NarrowByteChunk;
    #[inline(always)]
    fn chunks_mut(out: &mut [Self]) -> (&mut [Self::Chunk], &mut [Self]) {
        S::narrow_byte_chunks_mut(out)
    }
    #[inline(always)]
    fn store(s: S, out: &mut Self::Chunk, x: S::I32) {
        s.store_low_bytes32(out, x);
    }
    #[inline(always)]
    fn single(x: i32) -> Self {
        x as u8
    }
}

impl<S: Simd> Narrow<S> for i32 {
    type Chunk = S::Chunk32;
    #[inline(always)]
    fn chunks_mut(out: &mut [Self]) -> (&mut [Self::Chunk], &mut [Self]) {
        S::chunks32_mut(out)
    }
    #[inline(always)]
    fn store(s: S, out: &mut Self::Chunk, x: S::I32) {
        s.store32(out, x);
    }
    #[inline(always)]
    fn single(x: i32) -> Self {
        x
    }
}

/// What a vector of sums is multiplied by, in fixed point: multipliers of 31 bits and their shifts, 33 to 62.
#[derive(Clone, Copy)]
pub(super) struct Scale<S: Simd> {
    multipliers: S::I32,
    /// `2^(s − 33)`.
    halves: S::I32,
    /// `s − 32`.
    shifts: S::I32,
}

impl<S: Simd> Scale<S> {
    #[inline(always)]
    #[cfg_attr(not(short_ways), allow(dead_code, reason = "only a chain's layers are known to have such shifts"))]
    pub fn load(s: S, multipliers: &S::Chunk32, shifts: &S::NarrowByteChunk) -> Self {
        Self::new(s, s.load32(multipliers), s.add32(s.widen32(shifts), s.splat32(-32)))
    }

    /// The same for every output.
    #[cfg(short_ways)]
    #[inline(always)]
    pub fn splat(s: S, by: &OneScale) -> Self {
        Self { multipliers: s.splat32(by.multiplier), halves: s.splat32(by.half), shifts: s.splat32(by.shift) }
    }

    /// `shifts`: less 32.
    #[inline(always)]
    fn new(s: S, multipliers: S::I32, shifts: S::I32) -> Self {
        Self { multipliers, halves: s.power_of_two32(s.add32(shifts, s.splat32(-1))), shifts }
    }

    /// `(x·m + 2^(s−1)) >> s`, which is below 2³⁰ in magnitude.
    #[inline(always)]
    pub fn round(self, s: S, x: S::I32) -> S::I32 {
        s.shift_right32(s.add32(s.mul_high32(x, self.multipliers), self.halves), self.shifts)
    }
}

/// [`crate::kernels::Requantise`]; i8 as the u8 of the same bits.
#[inline(always)]
pub(in crate::kernels) fn requantise<S: Simd, T: Narrow<S>>(
    s: S,
    x: &[i32],
    multipliers: &[i32],
    shifts: &[u8],
    low: i32,
    high: i32,
    zero: i32,
    out: &mut [T],
) {
    let (least_out, most_out, added) = around_zero(low, high, zero);
    let lanes = S::LANES / 2;
    let (mut done, mut least) = (0, s.splat32(i32::MAX));
    let vectors = S::chunks32(x).0.iter().zip(S::chunks32(multipliers).0).zip(S::narrow_byte_chunks(shifts).0);
    for (out, ((x, multipliers), shifts)) in T::chunks_mut(out).0.iter_mut().zip(vectors) {
        let shift = s.add32(s.widen32(shifts), s.splat32(-32));
        least = s.min32(least, shift);
        let rounded = Scale::new(s, s.load32(multipliers), shift).round(s, s.load32(x));
        let rounded = s.min32(s.max32(rounded, s.splat32(least_out)), s.splat32(most_out));
        T::store(s, out, s.add32(rounded, s.splat32(added)));
        done += lanes;
    }
    // Asking once, behind the loop, costs less than before it; a layer with a small shift is then done again.
    let mut shift = S::Chunk32::default();
    s.store32(&mut shift, least);
    if shift.as_ref().iter().any(|shift| *shift < HIGH_WORD_ONLY - 32) {
        done = 0;
    }
    if done == out.len() {
        return;
    }
    let rest = |len: usize| done.min(len)..len;
    scalar::requantise(
        range(x, rest(x.len())),
        range(multipliers, rest(multipliers.len())),
        range(shifts, rest(shifts.len())),
        low,
        high,
        zero,
        rest_mut(out, done),
        T::single,
    );
}
