//! `out = bias + W·x` for bytes, on weights in K4, a block of rows at a time.
//!
//! In K4 the weights of neighbouring rows for the same four inputs lie side by side, four bytes a row, so that a block
//! of rows unpacks its inputs once and walks the weights from group to group with one stride. The block is the target's
//! own ([`Blocks`]) and adds to the outputs in place, which start as biases; rows that make no whole block go one by
//! one, and a last group that is not whole is added here.

use crate::kernels::scalar;
use crate::kernels::vector::dense::fits;
use crate::sure::{bias_at, sure};

/// A target's way through whole groups of four inputs of type `T`, exact modulo 2³².
pub(in crate::kernels) trait Blocks<T> {
    /// Rows of a block: 4 or 8.
    const ROWS: usize;

    /// `sums[r] += Σ x[k]·w[r,k]` for `ROWS` rows.
    ///
    /// # Safety
    /// `4·groups` inputs can be read from `x`; `w` is a multiple of four and holds `ROWS` rows at each of `groups`
    /// strides of `stride_bytes`, a multiple of four; `ROWS` sums can be read and written at `sums`.
    unsafe fn block(x: *const T, w: *const i8, stride_bytes: usize, groups: usize, sums: *mut i32);

    /// `sum + Σ x[k]·w[k]` for one row.
    ///
    /// # Safety
    /// As above, with 1 for `ROWS`.
    unsafe fn one(sum: i32, x: *const T, w: *const i8, stride_bytes: usize, groups: usize) -> i32;
}

/// [`crate::kernels::AffineI8`]. One output, the last layer of most networks, has a function of its own, because
/// setting out for blocks would cost as much as the layer.
#[inline(always)]
pub(in crate::kernels) fn affine<B: Blocks<T>, T: Copy + Into<i32>>(
    x: &[T],
    w: &[i8],
    stride: usize,
    bias: &[i32],
    out: &mut [i32],
) {
    if out.len() == 1 { single::<B, T>(x, w, stride, bias, out) } else { several::<B, T>(x, w, stride, bias, out) }
}

/// Whether blocks can walk the slices: weights for every group, at a multiple of four, and a bias an output or none.
#[inline(always)]
fn is_walkable<T>(x: &[T], w: &[i8], stride: usize, bias: &[i32], outputs: usize) -> bool {
    // No slice is so long that the sum wraps; rounding up by a comparison is dearer.
    fits(x.len().wrapping_add(3) / 4, stride, w.len(), outputs)
        && w.as_ptr().addr().is_multiple_of(4)
        && (bias.is_empty() || bias.len() == outputs)
}

/// What cannot be walked: slices that break the contract, and those whose weights or biases are unusual.
#[cold]
#[inline(never)]
fn unwalkable<T: Copy + Into<i32>>(x: &[T], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    if fits(x.len().div_ceil(4), stride, w.len(), out.len()) {
        scalar::affine(x, w, stride, bias, out);
    } else {
        scalar::out_of_contract(out);
    }
}

#[inline(always)]
fn single<B: Blocks<T>, T: Copy + Into<i32>>(x: &[T], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    if !is_walkable(x, w, stride, bias, 1) {
        return unwalkable(x, w, stride, bias, out);
    }
    let ([sum], start) = (&mut *out, bias_at(bias, 0)) else { return };
    // SAFETY: `x` holds as many whole groups, and `is_walkable` has found what else is asked.
    *sum = unsafe { B::one(start, x.as_ptr(), w.as_ptr(), stride.wrapping_mul(4), x.len() / 4) };
    if !x.len().is_multiple_of(4) {
        last_group(x, w, stride.wrapping_mul(4), out);
    }
}

#[inline(never)]
fn several<B: Blocks<T>, T: Copy + Into<i32>>(x: &[T], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    const { assert!(size_of::<T>() == 1) };
    if !is_walkable(x, w, stride, bias, out.len()) {
        return unwalkable(x, w, stride, bias, out);
    }
    let (stride_bytes, groups) = (stride.wrapping_mul(4), x.len() / 4);
    // SAFETY: `x` holds `groups` whole groups. `is_walkable` says that all outputs lie within the stride, which is a
    // multiple of four, that the weights, at a multiple of four, hold a stride for every group, and that there are as
    // many biases as outputs or none. `sums` is at the first of the outputs that are left, `row` at its weights,
    // `starts` at its bias. With no group nothing is read through `row`, which then only counts.
    unsafe {
        let (mut left, mut sums) = (out.len(), out.as_mut_ptr());
        let (mut row, mut starts) = (w.as_ptr(), bias.as_ptr());
        while left >= B::ROWS {
            if bias.is_empty() {
                sums.write_bytes(0, B::ROWS);
            } else {
                sums.copy_from_nonoverlapping(starts, B::ROWS);
                starts = starts.add(B::ROWS);
            }
            B::block(x.as_ptr(), row, stride_bytes, groups, sums);
            (row, sums, left) = (row.wrapping_add(4 * B::ROWS), sums.add(B::ROWS), left - B::ROWS);
        }
        while left > 0 {
            let mut start = 0;
            if !bias.is_empty() {
                start = *starts;
                starts = starts.add(1);
            }
            *sums = B::one(start, x.as_ptr(), row, stride_bytes, groups);
            (row, sums, left) = (row.wrapping_add(4), sums.add(1), left - 1);
        }
    }
    if !x.len().is_multiple_of(4) {
        last_group(x, w, stride_bytes, out);
    }
}

/// Adds the products of the inputs that make no whole group.
#[inline(never)]
fn last_group<T: Copy + Into<i32>>(x: &[T], w: &[i8], stride_bytes: usize, out: &mut [i32]) {
    let groups = x.len() / 4;
    let (_, rest) = x.as_chunks::<4>();
    let (weights, _) = sure(w.get(groups * stride_bytes..)).as_chunks::<4>();
    for (sum, weights) in out.iter_mut().zip(weights) {
        for (x, w) in rest.iter().zip(weights) {
            *sum = sum.wrapping_add((*x).into() * i32::from(*w));
        }
    }
}
