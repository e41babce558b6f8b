//! `(clip(a)·clip(b)) >> shift` of an accumulator's two halves, into bytes.
//!
//! Where `max << (16 − shift)` fits i16, as with 255 and 9, one factor is shifted up by `16 − shift`; the high half of
//! the product is then the quotient itself. Where `max²` fits, as with 127 and 7, the low half is shifted. Otherwise
//! the halves are put together: `high << (16 − shift) | low >> shift`, of which the format promises that it fits a
//! byte.
//!
//! The rounded form, `(clip(a)·clip(b) + 2^(shift − 1)) >> shift`, shifts a factor up by `15 − shift` and takes the
//! product that is rounded at 15 bits; the format promises that the factor fits.

use super::{IS_COMPACT, Simd};
use crate::kernels::scalar;
use crate::workspace::rest;

/// [`crate::kernels::PairwiseU8`].
#[inline(always)]
pub(in crate::kernels) fn pairwise<S: Simd>(s: S, x: &[i16], max: i16, shift: u32, out: &mut [u8]) {
    if !(1..16).contains(&shift) {
        return scalar::pairwise_u8(x, max, shift, out);
    }
    let single = |a, b| scalar::pair_u8(a, b, max, shift);
    let fits = i32::from(max) << (16 - shift) <= i32::from(i16::MAX);
    match 16 - shift {
        // The shift of 255·255 >> 9, by an immediate.
        7 if fits => halves(s, x, max, out, single, |a, b| s.mul_high(s.shift_left(a, 7), b)),
        up if fits => halves(s, x, max, out, single, |a, b| s.mul_high(s.shift_left(a, up), b)),
        _ if i32::from(max) * i32::from(max) <= i32::from(i16::MAX) => {
            halves(s, x, max, out, single, |a, b| s.shift_right(s.mul_low(a, s.max(b, s.splat(0))), shift))
        }
        up => halves(s, x, max, out, single, |a, b| {
            let b = s.max(b, s.splat(0));
            s.or(s.shift_left(s.mul_high(a, b), up), s.shift_right(s.mul_low(a, b), shift))
        }),
    }
}

/// [`crate::kernels::PairwiseU8`], rounded.
#[inline(always)]
pub(in crate::kernels) fn rounded<S: Simd>(s: S, x: &[i16], max: i16, shift: u32, out: &mut [u8]) {
    let single = |a, b| scalar::pair_u8_rounded(a, b, max, shift);
    match 15 - shift.clamp(1, 15) {
        // 2040·2040 >> 15, the finest that there is: no shift at all.
        0 => halves(s, x, max, out, single, |a, b| s.mul_round(a, b)),
        // Those of 1020, 510 and 255, by an immediate: a count in a register costs a second operation.
        2 if !IS_COMPACT => halves(s, x, max, out, single, |a, b| s.mul_round(s.shift_left(a, 2), b)),
        4 if !IS_COMPACT => halves(s, x, max, out, single, |a, b| s.mul_round(s.shift_left(a, 4), b)),
        6 if !IS_COMPACT => halves(s, x, max, out, single, |a, b| s.mul_round(s.shift_left(a, 6), b)),
        up => halves(s, x, max, out, single, |a, b| s.mul_round(s.shift_left(a, up), b)),
    }
}

/// `product` gets a factor clipped on both sides and one clipped above only; where that one is negative, the quotient
/// may be anything below zero, which becomes zero when it is stored. `single` is one product, for elements that fill no
/// vector.
#[inline(always)]
fn halves<S: Simd>(
    s: S,
    x: &[i16],
    max: i16,
    out: &mut [u8],
    single: impl Fn(i16, i16) -> u8,
    product: impl Fn(S::I16, S::I16) -> S::I16,
) {
    let (first, second) = x.split_at(x.len() / 2);
    let high = s.splat(max);
    let product = |a, b| product(s.min(s.max(s.load(a), s.splat(0)), high), s.min(s.load(b), high));
    let (outs, outs_rest) = S::wide_byte_chunks_mut(out);
    let done = outs.len() * 2 * S::LANES;
    let (first_pairs, _) = S::chunks(first).0.as_chunks::<2>();
    let (second_pairs, _) = S::chunks(second).0.as_chunks::<2>();
    for ((out, a), b) in outs.iter_mut().zip(first_pairs).zip(second_pairs) {
        // One place that calls the closure, so that it becomes a part of this loop: apart it would be compiled without
        // the instruction set.
        let mut products = [high; 2];
        for ((quotient, a), b) in products.iter_mut().zip(a).zip(b) {
            *quotient = product(a, b);
        }
        s.store_bytes(out, products[0], products[1]);
    }
    // Most halves fill their vectors, and what goes before the loop below costs as much as two rounds of this one.
    if outs_rest.is_empty() {
        return;
    }
    let rest = (rest(first, done), rest(second, done));
    for ((out, a), b) in outs_rest.iter_mut().zip(rest.0).zip(rest.1) {
        *out = single(*a, *b);
    }
}
