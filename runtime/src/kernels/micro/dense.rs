//! `out = bias + W·x` for bytes, on weights in K4, a block of rows at a time.
//!
//! In K4 the weights of neighbouring rows for the same four inputs lie side by side, four bytes a row, so that a block
//! of rows walks the weights from group to group with one stride. The block is the target's own ([`Blocks`]) and adds
//! to the outputs in place, which start as biases. Where unpacking inputs is dear, a piece of them that fits the stack
//! is unpacked once for all blocks ([`Blocks::WORDS`]). Rows that make no whole block go one by one, and a last group
//! that is not whole is added here.

use crate::kernels::scalar;
use crate::kernels::vector::dense::fits;
use crate::sure::{bias_at, sure};
use core::mem::MaybeUninit;

/// Words of inputs that are unpacked at once; where memory is scarcest, fewer.
const SPREAD: usize = if cfg!(cortex_m = "thumb1") { 128 } else { 320 };

/// Blocks of rows, one behind the other.
#[repr(C)]
pub(in crate::kernels) struct Several<T> {
    pub x: *const T,
    pub w: *const i8,
    pub stride_bytes: usize,
    /// At least one.
    pub groups: usize,
    /// What sums start as, and where they go.
    pub starts: *const i32,
    pub sums: *mut i32,
    /// At least one.
    pub blocks: usize,
}

/// A target's way through whole groups of four inputs of type `T`, exact modulo 2³².
pub(in crate::kernels) trait Blocks<T> {
    /// Rows of a block: 4 or 8.
    const ROWS: usize;
    /// Words that blocks take for a group of four inputs; 0 where they take the inputs as they are.
    const WORDS: usize = 0;

    /// Unpacks inputs to what blocks take, a word each if nothing else is said.
    ///
    /// # Safety
    /// `4·groups` inputs can be read from `x`, and `WORDS` words a group written at `out`.
    #[inline(always)]
    unsafe fn spread(x: *const T, groups: usize, out: *mut u32)
    where
        T: Copy + Into<i32>,
    {
        for index in 0..4 * groups {
            // SAFETY: the caller vouches for as many of both.
            unsafe { out.add(index).write(x.add(index).read().into() as u32) };
        }
    }

    /// `sums[r] += Σ x[k]·w[r,k]` for `ROWS` rows.
    ///
    /// # Safety
    /// `groups` groups, at least one, of four inputs can be read from `x`, unpacked if `WORDS` says so; `w` is a
    /// multiple of four and holds `ROWS` rows at each of `groups` strides of `stride_bytes`, a multiple of four; `ROWS`
    /// sums can be read and written at `sums`.
    unsafe fn block(x: *const T, w: *const i8, stride_bytes: usize, groups: usize, sums: *mut i32);

    /// Whether [`Self::blocks`] is there.
    const HAS_BLOCKS: bool = false;

    /// `sums[r] = starts[r] + Σ x[k]·w[r,k]` for the rows of some blocks, where setting out for each by itself would be
    /// dear.
    ///
    /// # Safety
    /// As above for each block, whose weights follow those of the block before; a start a sum can be read.
    #[inline(always)]
    unsafe fn blocks(_: &Several<T>) {}

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
    let in_blocks = out.len() - out.len() % B::ROWS;
    // SAFETY: `x` holds `groups` whole groups. `is_walkable` says that all outputs lie within the stride, which is a
    // multiple of four, that the weights, at a multiple of four, hold a stride for every group, and that there are as
    // many biases as outputs or none. `row` is at the weights of output `first`. What is unpacked fits `spread`.
    unsafe {
        let sums = out.as_mut_ptr();
        let start = |first: usize, count: usize| {
            if bias.is_empty() {
                sums.add(first).write_bytes(0, count);
            } else {
                sums.add(first).copy_from_nonoverlapping(bias.as_ptr().add(first), count);
            }
        };
        if groups == 0 {
            start(0, in_blocks);
        }
        // Clearing it would take longer than a small layer's inputs.
        let mut spread = MaybeUninit::<[u32; SPREAD]>::uninit();
        let spread = spread.as_mut_ptr().cast::<u32>();
        let at_once = if B::WORDS == 0 { groups } else { SPREAD / B::WORDS.max(1) };
        let mut done = 0;
        while done < groups && in_blocks > 0 {
            let count = (groups - done).min(at_once);
            let mut piece = x.as_ptr().wrapping_add(4 * done);
            if B::WORDS > 0 {
                B::spread(piece, count, spread);
                piece = spread.cast_const().cast();
            }
            let (mut row, mut first) = (w.as_ptr().wrapping_add(done * stride_bytes), 0);
            if B::HAS_BLOCKS {
                const { assert!(!B::HAS_BLOCKS || B::WORDS == 0) };
                if bias.is_empty() {
                    sums.write_bytes(0, in_blocks);
                }
                let starts = if bias.is_empty() { sums.cast_const() } else { bias.as_ptr() };
                let blocks = in_blocks / B::ROWS;
                B::blocks(&Several { x: piece, w: row, stride_bytes, groups: count, starts, sums, blocks });
                first = in_blocks;
            }
            while first < in_blocks {
                // So few are copied by registers; a call for all of them goes word by word on small cores.
                if done == 0 {
                    start(first, B::ROWS);
                }
                B::block(piece, row, stride_bytes, count, sums.add(first));
                (row, first) = (row.wrapping_add(4 * B::ROWS), first + B::ROWS);
            }
            done += count;
        }
        for output in in_blocks..out.len() {
            let row = w.as_ptr().wrapping_add(4 * output);
            *sums.add(output) = B::one(bias_at(bias, output), x.as_ptr(), row, stride_bytes, groups);
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
