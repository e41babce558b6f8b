//! How `activation(x)·w` is added to sums, a vector at a time: the terms of [`super::dot`] and [`super::move_dot`].
//!
//! Values are i16 between 0 and the clip `c`. One instruction multiplies sixteen-bit neighbours and adds the two
//! products in i32, so a plain product costs one instruction for two elements; a square needs more care, because `c²`
//! leaves i16:
//!
//! | form | used when | per vector, behind the clip |
//! |---|---|---|
//! | short: `(c·w) · c` | the file claims that every c·w fits i16 | multiply low, pairs, add |
//! | rounded: `round(c·w / 2¹⁵) · c` | the operation is ROUNDED_DOT | multiply and round, pairs, add |
//! | square: `c² · w` | c ≤ 181, so that c² fits i16 | multiply low, pairs, add |
//! | biased: `(c² − 2¹⁵)·w + 2¹⁵·w` | c ≤ 255, so that c² fits u16 | multiply low, xor, pairs, add; pairs, add |
//! | split: `c² = high·2¹⁶ + low` | any c | multiply low and high, correct the sign, pairs, add; pairs, add |
//!
//! The rounded form is an operation of its own; the others are exact modulo 2³². Where the clip is 255, as in most
//! networks, an instruction set may clip two vectors in less than two instructions each ([`Bytes`]).

use super::Simd;
use crate::num;

/// Largest clip whose square fits i16.
pub(super) const SQUARE_FITS_I16: i16 = 181;
/// Largest clip whose square fits u16.
pub(super) const SQUARE_FITS_U16: i16 = 255;

/// How two vectors are clipped to 0 to the clip.
pub(super) trait Clip<S: Simd>: Copy {
    /// Whether most networks have it, where others have loops of their own.
    #[cfg_attr(not(short_ways), expect(dead_code, reason = "only moves with their dots ask"))]
    const IS_COMMON: bool;
    fn both(self, s: S, a: S::I16, b: S::I16) -> [S::I16; 2];
    #[inline(always)]
    fn single(self, s: S, x: S::I16) -> S::I16 {
        self.both(s, x, x)[0]
    }
}

/// To any clip, which is in every lane of `high`.
#[derive(Clone, Copy)]
pub(super) struct Between<S: Simd> {
    low: S::I16,
    high: S::I16,
}

impl<S: Simd> Between<S> {
    #[inline(always)]
    pub fn new(s: S, max: i16) -> Self {
        Self { low: s.splat(0), high: s.splat(max) }
    }
}

impl<S: Simd> Clip<S> for Between<S> {
    const IS_COMMON: bool = !S::CLIPS_BYTES;
    #[inline(always)]
    fn both(self, s: S, a: S::I16, b: S::I16) -> [S::I16; 2] {
        [self.single(s, a), self.single(s, b)]
    }
    #[inline(always)]
    fn single(self, s: S, x: S::I16) -> S::I16 {
        s.min(s.max(x, self.low), self.high)
    }
}

/// To 255.
#[derive(Clone, Copy)]
pub(super) struct Bytes;

/// The clip of [`Bytes`].
pub(super) const BYTE_MAX: i16 = 255;

impl<S: Simd> Clip<S> for Bytes {
    const IS_COMMON: bool = true;
    #[inline(always)]
    fn both(self, s: S, a: S::I16, b: S::I16) -> [S::I16; 2] {
        s.clip_bytes(a, b)
    }
}

/// One way to add `activation(x)·w` to sums. `max` is the clip in every lane, `x` is clipped.
pub(super) trait Term<S: Simd>: Copy {
    /// Whether clips of 255 have a loop of their own, where it is shorter.
    const CLIPS_BYTES: bool;
    /// Independent sums.
    type Sums: Copy;
    fn zero(s: S) -> Self::Sums;
    fn add(s: S, sums: Self::Sums, clipped: S::I16, w: S::I16) -> Self::Sums;
    fn merge(s: S, a: Self::Sums, b: Self::Sums) -> Self::Sums;
    fn total(s: S, sums: Self::Sums) -> i32;
    fn single(clipped: i16, w: i16) -> i32;
}

#[derive(Clone, Copy)]
pub(super) struct Plain;

impl<S: Simd> Term<S> for Plain {
    const CLIPS_BYTES: bool = true;
    type Sums = S::I32;
    #[inline(always)]
    fn zero(s: S) -> S::I32 {
        s.zero32()
    }
    #[inline(always)]
    fn add(s: S, sums: S::I32, clipped: S::I16, w: S::I16) -> S::I32 {
        s.add_products(sums, clipped, w)
    }
    #[inline(always)]
    fn merge(s: S, a: S::I32, b: S::I32) -> S::I32 {
        s.add32(a, b)
    }
    #[inline(always)]
    fn total(s: S, sums: S::I32) -> i32 {
        s.sum32(sums)
    }
    #[inline(always)]
    fn single(clipped: i16, w: i16) -> i32 {
        i32::from(clipped) * i32::from(w)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Short;

impl<S: Simd> Term<S> for Short {
    const CLIPS_BYTES: bool = true;
    type Sums = S::I32;
    #[inline(always)]
    fn zero(s: S) -> S::I32 {
        s.zero32()
    }
    #[inline(always)]
    fn add(s: S, sums: S::I32, clipped: S::I16, w: S::I16) -> S::I32 {
        s.add_products(sums, s.mul_low(clipped, w), clipped)
    }
    #[inline(always)]
    fn merge(s: S, a: S::I32, b: S::I32) -> S::I32 {
        s.add32(a, b)
    }
    #[inline(always)]
    fn total(s: S, sums: S::I32) -> i32 {
        s.sum32(sums)
    }
    #[inline(always)]
    fn single(clipped: i16, w: i16) -> i32 {
        i32::from(clipped.wrapping_mul(w)) * i32::from(clipped)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Rounded;

impl<S: Simd> Term<S> for Rounded {
    /// Its scales are powers of two for the most part, and 255 is none: QA²·QB is a multiple of 2¹⁵.
    const CLIPS_BYTES: bool = false;
    type Sums = S::I32;
    #[inline(always)]
    fn zero(s: S) -> S::I32 {
        s.zero32()
    }
    #[inline(always)]
    fn add(s: S, sums: S::I32, clipped: S::I16, w: S::I16) -> S::I32 {
        s.add_products(sums, s.mul_round(clipped, w), clipped)
    }
    #[inline(always)]
    fn merge(s: S, a: S::I32, b: S::I32) -> S::I32 {
        s.add32(a, b)
    }
    #[inline(always)]
    fn total(s: S, sums: S::I32) -> i32 {
        s.sum32(sums)
    }
    #[inline(always)]
    fn single(clipped: i16, w: i16) -> i32 {
        i32::from(num::mul_round(clipped, w)) * i32::from(clipped)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Square;

impl<S: Simd> Term<S> for Square {
    const CLIPS_BYTES: bool = false;
    type Sums = S::I32;
    #[inline(always)]
    fn zero(s: S) -> S::I32 {
        s.zero32()
    }
    #[inline(always)]
    fn add(s: S, sums: S::I32, clipped: S::I16, w: S::I16) -> S::I32 {
        s.add_products(sums, s.mul_low(clipped, clipped), w)
    }
    #[inline(always)]
    fn merge(s: S, a: S::I32, b: S::I32) -> S::I32 {
        s.add32(a, b)
    }
    #[inline(always)]
    fn total(s: S, sums: S::I32) -> i32 {
        s.sum32(sums)
    }
    #[inline(always)]
    fn single(clipped: i16, w: i16) -> i32 {
        square(clipped, w)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Biased;

impl<S: Simd> Term<S> for Biased {
    const CLIPS_BYTES: bool = true;
    /// Of `(c² − 2¹⁵)·w`, and of `w`.
    type Sums = (S::I32, S::I32);
    #[inline(always)]
    fn zero(s: S) -> Self::Sums {
        (s.zero32(), s.zero32())
    }
    #[inline(always)]
    fn add(s: S, sums: Self::Sums, clipped: S::I16, w: S::I16) -> Self::Sums {
        // Flipping the top bit of a u16 and reading it as i16 takes 2¹⁵ away.
        let biased = s.xor(s.mul_low(clipped, clipped), s.splat(i16::MIN));
        (s.add_products(sums.0, biased, w), s.add_products(sums.1, s.splat(1), w))
    }
    #[inline(always)]
    fn merge(s: S, a: Self::Sums, b: Self::Sums) -> Self::Sums {
        (s.add32(a.0, b.0), s.add32(a.1, b.1))
    }
    #[inline(always)]
    fn total(s: S, sums: Self::Sums) -> i32 {
        s.sum32(sums.0).wrapping_add(s.sum32(sums.1) << 15)
    }
    #[inline(always)]
    fn single(clipped: i16, w: i16) -> i32 {
        square(clipped, w)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Split;

impl<S: Simd> Term<S> for Split {
    const CLIPS_BYTES: bool = false;
    /// Of the low and of the high halves.
    type Sums = (S::I32, S::I32);
    #[inline(always)]
    fn zero(s: S) -> Self::Sums {
        (s.zero32(), s.zero32())
    }
    #[inline(always)]
    fn add(s: S, sums: Self::Sums, clipped: S::I16, w: S::I16) -> Self::Sums {
        // With `low` read as signed, `high` is one more where `low` is negative.
        let low = s.mul_low(clipped, clipped);
        let high = s.add(s.mul_high(clipped, clipped), s.shift_right(low, 15));
        (s.add_products(sums.0, low, w), s.add_products(sums.1, high, w))
    }
    #[inline(always)]
    fn merge(s: S, a: Self::Sums, b: Self::Sums) -> Self::Sums {
        (s.add32(a.0, b.0), s.add32(a.1, b.1))
    }
    #[inline(always)]
    fn total(s: S, sums: Self::Sums) -> i32 {
        s.sum32(sums.0).wrapping_add(s.sum32(sums.1) << 16)
    }
    #[inline(always)]
    fn single(clipped: i16, w: i16) -> i32 {
        square(clipped, w)
    }
}

#[inline(always)]
fn square(clipped: i16, w: i16) -> i32 {
    let clipped = i32::from(clipped);
    (clipped * clipped).wrapping_mul(i32::from(w))
}

/// The sum of all chains.
#[inline(always)]
pub(super) fn total<S: Simd, T: Term<S>, const CHAINS: usize>(s: S, sums: [T::Sums; CHAINS]) -> i32 {
    let mut total = sums[0];
    for chain in sums.iter().skip(1) {
        total = T::merge(s, total, *chain);
    }
    T::total(s, total)
}
