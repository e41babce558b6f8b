//! `Σ activation(x)·w` over both accumulators: the head of a network of one layer. How a product is added to the sums
//! is [`super::term`]'s to say; several independent chains of sums hide the latency of the multiplication.

use super::term::{
    BYTE_MAX, Between, Biased, Bytes, Clip, Plain, Rounded, SQUARE_FITS_I16, SQUARE_FITS_U16, Short, Split, Square,
    Term, total,
};
use super::{IS_COMPACT, Simd};
use crate::kernels::Dot;
use crate::num;

/// CReLU.
#[inline(always)]
pub(in crate::kernels) fn crelu<S: Simd>(s: S, first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    both::<S, Plain, 4>(s, first, second, w, max)
}

/// SCReLU or squared ReLU, any weights.
#[inline(always)]
pub(in crate::kernels) fn screlu<S: Simd>(s: S, first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    if !IS_COMPACT && max <= SQUARE_FITS_I16 {
        both::<S, Square, 4>(s, first, second, w, max)
    } else if !IS_COMPACT && max <= SQUARE_FITS_U16 {
        both::<S, Biased, 2>(s, first, second, w, max)
    } else {
        both::<S, Split, 2>(s, first, second, w, max)
    }
}

/// SCReLU where the products fit.
///
/// Accumulators of whole rounds, clipped at a byte's end, are most networks': they are done here, and `others`, which
/// is [`screlu_short_others`] in a function of its own, does the rest. In one function with the rest, a short dot
/// would spend some hundredths of its time on registers that only the rest needs. So it was measured on x86-64;
/// elsewhere `others` does all.
#[inline(always)]
pub(in crate::kernels) fn screlu_short<S: Simd>(
    s: S,
    first: &[i16],
    second: &[i16],
    w: &[i16],
    max: i16,
    others: Dot,
) -> i32 {
    const CHAINS: usize = 4;
    let len = first.len();
    let clips_bytes = const { cfg!(target_arch = "x86_64") && S::CLIPS_BYTES && <Short as Term<S>>::CLIPS_BYTES };
    if clips_bytes
        && max == BYTE_MAX
        && second.len() == len
        && w.len() == 2 * len
        && len.is_multiple_of(CHAINS / 2 * S::LANES)
    {
        let (w_first, w_second) = w.split_at(len);
        // SAFETY: just asked.
        let sums = unsafe { whole_rounds::<S, Short, Bytes, CHAINS>(s, [first, second], [w_first, w_second], Bytes) };
        return total::<S, Short, CHAINS>(s, sums);
    }
    others(first, second, w, max)
}

/// [`screlu_short`] of any accumulators.
#[inline(always)]
pub(in crate::kernels) fn screlu_short_others<S: Simd>(
    s: S,
    first: &[i16],
    second: &[i16],
    w: &[i16],
    max: i16,
) -> i32 {
    both::<S, Short, 4>(s, first, second, w, max)
}

/// SCReLU with rounded products.
#[inline(always)]
pub(in crate::kernels) fn screlu_rounded<S: Simd>(s: S, first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    both::<S, Rounded, 4>(s, first, second, w, max)
}

#[inline(always)]
fn both<S: Simd, T: Term<S>, const CHAINS: usize>(s: S, first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    if S::CLIPS_BYTES && T::CLIPS_BYTES && max == BYTE_MAX {
        clipped::<S, T, Bytes, CHAINS>(s, first, second, w, Bytes, max)
    } else {
        clipped::<S, T, Between<S>, CHAINS>(s, first, second, w, Between::new(s, max), max)
    }
}

/// `clip` is to `max`.
#[inline(always)]
fn clipped<S: Simd, T: Term<S>, C: Clip<S>, const CHAINS: usize>(
    s: S,
    first: &[i16],
    second: &[i16],
    w: &[i16],
    clip: C,
    max: i16,
) -> i32 {
    let len = first.len();
    let (w_first, w_second) = w.split_at(len.min(w.len()));
    let round = CHAINS / 2 * S::LANES;
    if second.len() == len && w_second.len() == len && w_first.len() == len && len.is_multiple_of(round) {
        // SAFETY: just asked.
        let sums = unsafe { whole_rounds::<S, T, C, CHAINS>(s, [first, second], [w_first, w_second], clip) };
        return total::<S, T, CHAINS>(s, sums);
    }
    let mut sums = [T::zero(s); CHAINS];
    let mut singles = 0i32;
    for (x, w) in [(first, w_first), (second, w_second)] {
        let ((x, x_rest), (w, w_rest)) = (S::chunks(x), S::chunks(w));
        let ((x, x_few), (w, w_few)) = (x.as_chunks::<CHAINS>(), w.as_chunks::<CHAINS>());
        for (x, w) in x.iter().zip(w) {
            for ((sums, x), w) in sums.iter_mut().zip(x).zip(w) {
                *sums = T::add(s, *sums, clip.single(s, s.load(x)), s.load(w));
            }
        }
        for ((sums, x), w) in sums.iter_mut().zip(x_few).zip(w_few) {
            *sums = T::add(s, *sums, clip.single(s, s.load(x)), s.load(w));
        }
        for (x, w) in x_rest.iter().zip(w_rest) {
            singles = singles.wrapping_add(T::single(num::clip(*x, max), *w));
        }
    }
    total::<S, T, CHAINS>(s, sums).wrapping_add(singles)
}

/// The sums over both accumulators and their weights, whole rounds of both in one loop.
///
/// # Safety
/// All four are of one length, a multiple of `CHAINS / 2` vectors.
#[inline(always)]
unsafe fn whole_rounds<S: Simd, T: Term<S>, C: Clip<S>, const CHAINS: usize>(
    s: S,
    [first, second]: [&[i16]; 2],
    [w_first, w_second]: [&[i16]; 2],
    clip: C,
) -> [T::Sums; CHAINS] {
    let mut sums = [T::zero(s); CHAINS];
    for start in (0..first.len()).step_by(CHAINS / 2 * S::LANES) {
        for (lane, [sums_first, sums_second]) in sums.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let at = start + lane * S::LANES;
            // SAFETY: the length is a multiple of the step, so that `at + LANES` is at most the length of all four.
            let (a, b, w_a, w_b) = unsafe {
                (chunk::<S>(first, at), chunk::<S>(second, at), chunk::<S>(w_first, at), chunk::<S>(w_second, at))
            };
            let [x, y] = clip.both(s, s.load(&a), s.load(&b));
            *sums_first = T::add(s, *sums_first, x, s.load(&w_a));
            *sums_second = T::add(s, *sums_second, y, s.load(&w_b));
        }
    }
    sums
}

/// A chunk of a slice.
///
/// # Safety
/// `at + S::LANES` is at most the length of `x`.
#[inline(always)]
unsafe fn chunk<S: Simd>(x: &[i16], at: usize) -> S::Chunk {
    const { assert!(size_of::<S::Chunk>() == S::LANES * size_of::<i16>()) };
    // SAFETY: the caller's for bounds; a chunk is an array of LANES i16 (asserted above), as aligned as one.
    unsafe { *x.as_ptr().add(at).cast::<S::Chunk>() }
}
