//! `out = bias + W·x` for bytes and several `x`, on weights in K4.
//!
//! One input meets every weight once, so a layer takes as long as its weights take to load. Several share a load: a
//! tile of inputs by vectors of rows keeps its sums in registers while all columns pass, and a group of columns costs a
//! load of weights for each vector and a broadcast for each input, where it makes a product for each pair of them. All
//! inputs pass a block of rows before the next is begun, so that a layer beyond the second cache is read once.
//!
//! How large a tile is follows from the registers: with 32 of them six inputs by four vectors, or by two where a row's
//! sums take two registers; with 16 four by two. With 16 and sums of two nothing is gained: what a weight or an input
//! needs before it is multiplied would not stay in a register, so each input goes alone, through [`dense`].

use super::super::scalar;
use super::dense::{self, Dense, fits};
use super::dense_end::{Sums, store};
use crate::workspace::rest;

/// Whether the instruction set has 32 registers for vectors: of x86 the one of 512 bits has.
const fn has_many_registers<D: Dense>() -> bool {
    size_of::<D::Weights>() == 64 || cfg!(target_arch = "aarch64")
}

/// Whether a vector's sums take several registers.
const fn has_long_sums<D: Dense>() -> bool {
    size_of::<D::Sums>() > size_of::<D::Weights>()
}

/// [`crate::kernels::table::AffineBatch`] for u8: with `narrow` where it is exact for all inputs, else with `any`.
#[inline(always)]
pub(in crate::kernels) fn affine_u8<N: Dense, A: Dense>(
    narrow: N,
    any: A,
    x: &[&[u8]],
    w: &[i8],
    stride: usize,
    bias: &[i32],
    out: &mut [&mut [i32]],
) {
    let mut is_narrow = true;
    for x in x {
        is_narrow = is_narrow && (N::ANY_U8 || narrow.all_below_128(x));
    }
    if is_narrow {
        affine(narrow, x, w, stride, bias, out);
    } else {
        affine(any, x, w, stride, bias, out);
    }
}

/// [`crate::kernels::table::AffineBatch`]; i8 inputs as the bytes that they are.
#[inline(always)]
pub(in crate::kernels) fn affine<D: Dense>(
    d: D,
    x: &[&[u8]],
    w: &[i8],
    stride: usize,
    bias: &[i32],
    out: &mut [&mut [i32]],
) {
    let ([first, ..], [first_out, ..]) = (x, &*out) else { return };
    let (columns, rows) = (first.len(), first_out.len());
    let mut fits = x.len() == out.len() && fits(columns.div_ceil(4), stride, w.len(), rows);
    // Plain loops here and below: a closure that is not inlined would be compiled without the instruction set.
    for (x, out) in x.iter().zip(&*out) {
        fits &= x.len() == columns && out.len() == rows;
    }
    if !fits {
        for out in out {
            scalar::out_of_contract(out);
        }
        return;
    }
    if !has_many_registers::<D>() && has_long_sums::<D>() {
        for (x, out) in x.iter().zip(out) {
            dense::affine(d, x, w, stride, bias, out);
        }
        return;
    }
    let to = To { w, stride, bias };
    let mut row = 0;
    // SAFETY: inputs and outputs are as many and as long as the first; `fits` has compared the stride and the weights
    // with them. Whole vectors are taken where so many rows are left of the stride.
    unsafe {
        while !has_long_sums::<D>() && has_many_registers::<D>() && row < rows && stride - row >= 4 * D::ROWS {
            row += block::<D, 4, 6, true>(d, x, &to, row, out);
        }
        while has_long_sums::<D>() && row < rows && stride - row >= 2 * D::ROWS {
            row += block::<D, 2, 6, true>(d, x, &to, row, out);
        }
        while !has_many_registers::<D>() && row < rows && stride - row >= 2 * D::ROWS {
            row += block::<D, 2, 4, true>(d, x, &to, row, out);
        }
        while row < rows && stride - row >= D::ROWS {
            row += block::<D, 1, 6, true>(d, x, &to, row, out);
        }
        // A stride is a multiple of four, so that four rows are never too many.
        if D::ROWS > 4 && row < rows {
            block::<D, 1, 6, false>(d, x, &to, row, out);
        }
    }
}

/// What all inputs meet.
struct To<'a> {
    w: &'a [i8],
    stride: usize,
    bias: &'a [i32],
}

/// Rows `row..row + VECTORS·ROWS`, or, if not `WHOLE`, those that are left of the stride, of all inputs; returns how
/// many.
///
/// # Safety
/// As [`tile`], for all inputs.
#[inline(always)]
unsafe fn block<D: Dense, const VECTORS: usize, const INPUTS: usize, const WHOLE: bool>(
    d: D,
    x: &[&[u8]],
    to: &To<'_>,
    row: usize,
    out: &mut [&mut [i32]],
) -> usize {
    let (tiles, rest) = x.as_chunks::<INPUTS>();
    let (out_tiles, out_rest) = out.as_chunks_mut::<INPUTS>();
    for (x, out) in tiles.iter().zip(out_tiles) {
        // SAFETY: the caller's.
        unsafe { tile::<D, VECTORS, INPUTS, WHOLE>(d, x, to, row, out) };
    }
    let (pairs, single) = rest.as_chunks::<2>();
    let (out_pairs, out_single) = out_rest.as_chunks_mut::<2>();
    for (x, out) in pairs.iter().zip(out_pairs) {
        // SAFETY: the caller's.
        unsafe { tile::<D, VECTORS, 2, WHOLE>(d, x, to, row, out) };
    }
    if let ([x], [out]) = (single, out_single) {
        // SAFETY: the caller's.
        unsafe { tile::<D, VECTORS, 1, WHOLE>(d, &[*x], to, row, &mut [&mut **out]) };
    }
    VECTORS * D::ROWS
}

/// # Safety
/// The inputs are equally long; the weights of `VECTORS·ROWS` rows from `row` on, or, if not `WHOLE`, of those that are
/// left of the stride, are there for every four elements of them, begun ones included.
#[inline(always)]
unsafe fn tile<D: Dense, const VECTORS: usize, const INPUTS: usize, const WHOLE: bool>(
    d: D,
    x: &[&[u8]; INPUTS],
    to: &To<'_>,
    row: usize,
    out: &mut [&mut [i32]; INPUTS],
) {
    let (left, step) = (to.stride - row, 4 * to.stride);
    let len = if let [first, ..] = x.as_slice() { first.len() } else { 0 };
    let mut sums = [[d.zero(); VECTORS]; INPUTS];
    // Behind the last group the place points anywhere, and is not read.
    let mut place = to.w.as_ptr().wrapping_add(4 * row);
    let mut from = [core::ptr::null(); INPUTS];
    for (from, x) in from.iter_mut().zip(x) {
        *from = x.as_ptr();
    }
    let mut at = 0;
    while at + 4 <= len {
        // SAFETY: the caller vouches for the weights of this group, and each input has four elements from `at` on.
        unsafe {
            let w = weights::<D, VECTORS, WHOLE>(d, place, left);
            for (sums, from) in sums.iter_mut().zip(from) {
                let four = from.wrapping_add(at).cast::<[u8; 4]>().read();
                for (sum, w) in sums.iter_mut().zip(w) {
                    *sum = d.mac(*sum, u32::from_le_bytes(four), w);
                }
            }
        }
        (place, at) = (place.wrapping_add(step), at + 4);
    }
    if at < len {
        // SAFETY: the caller vouches for the weights of a begun group too.
        let w = unsafe { weights::<D, VECTORS, WHOLE>(d, place, left) };
        for (sums, x) in sums.iter_mut().zip(x) {
            let mut four = [0; 4];
            for (four, x) in four.iter_mut().zip(rest(x, at)) {
                *four = *x;
            }
            for (sum, w) in sums.iter_mut().zip(w) {
                *sum = d.mac(*sum, u32::from_le_bytes(four), w);
            }
        }
    }
    for (sums, out) in sums.into_iter().zip(out) {
        store(d, [sums], row, &mut Sums { bias: to.bias, out });
    }
}

/// The weights of a group.
///
/// # Safety
/// Those of `VECTORS·ROWS` rows, or, if not `WHOLE`, which is for one vector, of `rows`, can be read from `place`.
#[inline(always)]
unsafe fn weights<D: Dense, const VECTORS: usize, const WHOLE: bool>(
    d: D,
    place: *const i8,
    rows: usize,
) -> [D::Weights; VECTORS] {
    // SAFETY: the caller's.
    unsafe {
        let mut w = [if WHOLE { d.load(place) } else { d.load_part(place, rows) }; VECTORS];
        for (vector, w) in w.iter_mut().enumerate().skip(1) {
            *w = d.load(place.wrapping_add(4 * vector * D::ROWS));
        }
        w
    }
}
