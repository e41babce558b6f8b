//! `out = bias + W·x` for bytes, on weights in K4, a block of rows at a time.
//!
//! In K4 the weights of neighbouring rows for the same four inputs lie side by side, four bytes a row, so that a block of rows
//! unpacks its inputs once and walks the weights from group to group with one stride. The block is the target's own
//! ([`Blocks`]) and adds to the outputs in place, which start as biases; rows that make no whole block go one by one, and a last
//! group that is not whole is added here.

use crate::kernels::scalar;
use crate::kernels::vector::fits;

/// A target's way through whole groups of four inputs of type `T`, exact modulo 2³².
pub(in crate::kernels) trait Blocks<T> {
    /// Rows of a block: 4 or 8.
    const ROWS: usize;

    /// `sums[r] += Σ x[k]·w[r,k]` for `ROWS` rows.
    ///
    /// # Safety
    /// `4·groups` inputs can be read from `x`; `w` is a multiple of four and holds `ROWS` rows at each of `groups` strides of
    /// `stride_bytes`, a multiple of four; `ROWS` sums can be read and written at `sums`.
    unsafe fn block(x: *const T, w: *const i8, stride_bytes: usize, groups: usize, sums: *mut i32);

    /// The same for one row, returned.
    ///
    /// # Safety
    /// As above, with 1 for `ROWS`.
    unsafe fn one(x: *const T, w: *const i8, stride_bytes: usize, groups: usize) -> i32;
}

/// [`crate::kernels::AffineI8`].
#[inline(always)]
pub(in crate::kernels) fn affine<B: Blocks<T>, T: Copy + Into<i32>>(
    x: &[T],
    w: &[i8],
    stride: usize,
    bias: &[i32],
    out: &mut [i32],
) {
    const { assert!(size_of::<T>() == 1) };
    let stride_bytes = stride.wrapping_mul(4);
    let groups = x.len() / 4;
    let is_held = fits(x.len().div_ceil(4), stride, w.len(), out.len());
    if !is_held || !w.as_ptr().addr().is_multiple_of(4) {
        return scalar::affine_or_zeros(is_held, x, w, stride, bias, out);
    }
    scalar::start(bias, out);
    let rest = x.get(groups * 4..).unwrap_or(&[]);
    if !rest.is_empty() {
        let (weights, _) = w.get(groups * stride_bytes..).unwrap_or(&[]).as_chunks::<4>();
        for (sum, weights) in out.iter_mut().zip(weights) {
            for (x, w) in rest.iter().zip(weights) {
                *sum = sum.wrapping_add((*x).into() * i32::from(*w));
            }
        }
    }
    let (x, mut w) = (x.as_ptr(), w.as_ptr());
    let mut blocks = out.chunks_exact_mut(B::ROWS);
    for sums in &mut blocks {
        // SAFETY: `x` holds `groups` whole groups. `fits` says that all outputs lie within the stride, which is a multiple of
        // four, and that the weights, whose start was looked at above, hold a stride for every group; `w` is at the row of the
        // first of `sums`, which are `ROWS`.
        unsafe {
            B::block(x, w, stride_bytes, groups, sums.as_mut_ptr());
            w = w.add(4 * B::ROWS);
        }
    }
    for sum in blocks.into_remainder() {
        // SAFETY: as above, for one row.
        unsafe {
            *sum = sum.wrapping_add(B::one(x, w, stride_bytes, groups));
            w = w.add(4);
        }
    }
}
