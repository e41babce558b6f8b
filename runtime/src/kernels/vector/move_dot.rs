//! A move in both accumulators, and the head of a network of one layer over what it makes, in one pass.
//!
//! Most evaluations of a search follow one move. Apart, the move stores vectors that the dot loads again a moment
//! later, and each has its own way from the plan to its loop; here a vector of an accumulator is added up, stored,
//! clipped and multiplied while it is in a register. Which instructions add a product to the sums is
//! [`super::dot::Term`]'s to say, and the rows of a move are loaded as in [`super::accumulate`].

use super::Simd;
use super::accumulate::loaded;
use super::dot::{Biased, Plain, Rounded, SQUARE_FITS_I16, SQUARE_FITS_U16, Short, Split, Square, Term, total};
use crate::kernels::{MoveRows, Moved};

/// Vectors of a turn of the loop, and so chains of sums.
const ROUND: usize = 4;

/// CReLU.
#[inline(always)]
pub(in crate::kernels) fn crelu<S: Simd>(
    s: S,
    out: &mut [i16],
    source: &[i16],
    rows: &MoveRows<'_>,
    moved: &Moved,
    w: &[i16],
    first: usize,
    max: i16,
) -> Option<i32> {
    either::<S, Plain>(s, out, source, rows, moved, w, first, max)
}

/// SCReLU or squared ReLU, any weights.
#[inline(always)]
pub(in crate::kernels) fn screlu<S: Simd>(
    s: S,
    out: &mut [i16],
    source: &[i16],
    rows: &MoveRows<'_>,
    moved: &Moved,
    w: &[i16],
    first: usize,
    max: i16,
) -> Option<i32> {
    if max <= SQUARE_FITS_I16 {
        either::<S, Square>(s, out, source, rows, moved, w, first, max)
    } else if max <= SQUARE_FITS_U16 {
        either::<S, Biased>(s, out, source, rows, moved, w, first, max)
    } else {
        either::<S, Split>(s, out, source, rows, moved, w, first, max)
    }
}

/// SCReLU where the products fit.
#[inline(always)]
pub(in crate::kernels) fn screlu_short<S: Simd>(
    s: S,
    out: &mut [i16],
    source: &[i16],
    rows: &MoveRows<'_>,
    moved: &Moved,
    w: &[i16],
    first: usize,
    max: i16,
) -> Option<i32> {
    either::<S, Short>(s, out, source, rows, moved, w, first, max)
}

/// SCReLU with rounded products.
#[inline(always)]
pub(in crate::kernels) fn screlu_rounded<S: Simd>(
    s: S,
    out: &mut [i16],
    source: &[i16],
    rows: &MoveRows<'_>,
    moved: &Moved,
    w: &[i16],
    first: usize,
    max: i16,
) -> Option<i32> {
    either::<S, Rounded>(s, out, source, rows, moved, w, first, max)
}

#[inline(always)]
fn either<S: Simd, T: Term<S>>(
    s: S,
    out: &mut [i16],
    source: &[i16],
    rows: &MoveRows<'_>,
    moved: &Moved,
    w: &[i16],
    first: usize,
    max: i16,
) -> Option<i32> {
    match moved {
        Moved::Quiet(changes) => one_pass::<S, T, 2>(s, out, source, rows, &loaded(changes), w, first, max),
        Moved::Capture(changes) => one_pass::<S, T, 3>(s, out, source, rows, &loaded(changes), w, first, max),
    }
}

#[inline(always)]
fn one_pass<S: Simd, T: Term<S>, const N: usize>(
    s: S,
    out: &mut [i16],
    source: &[i16],
    table: &MoveRows<'_>,
    changes: &[[u32; N]; 2],
    w: &[i16],
    first: usize,
    max: i16,
) -> Option<i32> {
    const { assert!(size_of::<S::Chunk>() == S::LANES * size_of::<i16>()) };
    let len = out.len() / 2;
    let is_whole = len.is_multiple_of(S::LANES) && [out.len(), source.len(), w.len()] == [2 * len; 3];
    let last = table.rows.len().checked_sub(len).filter(|_| is_whole)?;
    let mut starts = [[0; N]; 2];
    let mut farthest = 0;
    for (start, row) in starts.as_flattened_mut().iter_mut().zip(changes.as_flattened()) {
        *start = (*row as usize).wrapping_mul(table.stride);
        farthest = farthest.max(*start);
    }
    if farthest > last {
        return None;
    }
    let clip = (s.splat(0), s.splat(max));
    let mut sums = [T::zero(s); ROUND];
    let in_rounds = len - len % (ROUND * S::LANES);
    // One perspective after the other, as in `accumulate`.
    for (side, starts) in starts.iter().enumerate() {
        // SAFETY: `at + LANES` below is at most `len`, since `len` is a multiple of LANES and `at` a smaller one. Of
        // `out`, `source` and `w`, 2 · len elements each, a perspective's half begins at most at len; and
        // `start + at + LANES` is at most `last + len`, the length of the rows. The chunks are arrays of LANES i16
        // (asserted above), as aligned as one. `out` is borrowed for writing, and no reference into it lives longer
        // than its vector.
        unsafe {
            let pass = Pass {
                source: source.as_ptr().add(side * len),
                out: out.as_mut_ptr().add(side * len),
                rows: starts.map(|start| table.rows.as_ptr().add(start)),
                weights: w.as_ptr().add(if side == first { 0 } else { len }),
            };
            let mut at = 0;
            while at < in_rounds {
                for (lane, sums) in sums.iter_mut().enumerate() {
                    *sums = pass.vector::<S, T>(s, clip, *sums, at + lane * S::LANES);
                }
                at += ROUND * S::LANES;
            }
            while at < len {
                sums[0] = pass.vector::<S, T>(s, clip, sums[0], at);
                at += S::LANES;
            }
        }
    }
    Some(total::<S, T, ROUND>(s, sums))
}

/// Where a perspective's vectors lie.
struct Pass<const N: usize> {
    source: *const i16,
    out: *mut i16,
    rows: [*const i16; N],
    weights: *const i16,
}

impl<const N: usize> Pass<N> {
    /// A vector, element `at` on.
    ///
    /// # Safety
    /// A vector can be read there of each, and written to `out`, to which nothing else refers.
    #[inline(always)]
    unsafe fn vector<S: Simd, T: Term<S>>(
        &self,
        s: S,
        (low, high): (S::I16, S::I16),
        sums: T::Sums,
        at: usize,
    ) -> T::Sums {
        // SAFETY: the caller's.
        unsafe {
            let mut sum = s.load(&*self.source.add(at).cast());
            for (place, row) in self.rows.iter().enumerate() {
                let row = s.load(&*row.add(at).cast());
                sum = if place == 0 { s.add(sum, row) } else { s.sub(sum, row) };
            }
            s.store(&mut *self.out.add(at).cast(), sum);
            T::add(s, sums, s.min(s.max(sum, low), high), s.load(&*self.weights.add(at).cast()))
        }
    }
}
