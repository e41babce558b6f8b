//! Chains of which every layer but the last is whole: its outputs fill vectors, its inputs are groups in pairs, one
//! scale rounds them to bytes ([`ByteLayer::is_whole`]); the last has up to four rows, as those of most networks that
//! score have.
//!
//! [`super::chain`] does the same of any layers. A network of 256, 32, 32 and 1 spends more instructions on what could
//! be left over than on its second and third layer, and a function with all of those cases keeps its places in memory;
//! here there is no such case, and a layer begins where the one before ends.

use super::Simd;
use super::chain::{Rounded, store_bytes};
use super::dense::{Dense, few_rows, pair_of_groups};
use super::dense_end::joined;
use super::requantise::Scale;
use crate::kernels::layers::{ByteLayer, CHAIN_WIDTH, OneScale};
use core::mem::MaybeUninit;
use core::slice;

/// What makes bytes of a layer's sums: the scale, and the least and the greatest byte.
type By<'l> = (&'l OneScale, (u8, u8));

/// [`crate::kernels::Chain`], where [`super::chain::is_for`] holds; false also of layers that are not as this module
/// says.
#[inline(always)]
pub(in crate::kernels) fn chain<S: Simd, N: Dense, P: Dense>(
    s: S,
    narrow: N,
    paired: P,
    x: &[u8],
    layers: &[ByteLayer<'_>],
    out: &mut [u8],
) -> bool {
    let Some((last, whole)) = layers.split_last() else { return false };
    if !N::ANY_U8 && !narrow.all_below_128(x) {
        return false;
    }
    // A layer writes all that the next one reads.
    let mut between = [const { MaybeUninit::<[u8; CHAIN_WIDTH]>::uninit() }; 2];
    let [mut to, mut next] = between.each_mut().map(|place| place.as_mut_ptr().cast::<u8>());
    let mut x = x;
    for layer in whole {
        let (Some(scale), Some(range)) = (layer.common(), layer.bytes()) else { return false };
        if !layer.is_whole() || x.len() != layer.inputs() {
            return false;
        }
        let by = (scale, range);
        // SAFETY: such a layer is whole and has these inputs; its outputs fit a place, and `x` is not in this one. It
        // writes all of them.
        x = unsafe {
            if P::ANY_U8 || !layer.is_paired() {
                one(s, narrow, x, layer, by, to);
            } else {
                one(s, paired, x, layer, by, to);
            }
            slice::from_raw_parts(to, layer.stride())
        };
        (to, next) = (next, to);
    }
    if last.stride() != 4 || x.len() != last.inputs() || out.len() != last.outputs_len_bytes() {
        return false;
    }
    let mut end = Rounded::new(s, last, out);
    // SAFETY: the layer has four rows to each group of its inputs, which are these.
    unsafe {
        if P::ANY_U8 || !last.is_paired() {
            few_rows(narrow, x, last.weights(), &mut end);
        } else {
            few_rows(paired, x, last.weights(), &mut end);
        }
    }
    true
}

/// # Safety
/// The layer is whole, `x` has its inputs, and its outputs can be written to `out`, which nothing refers to.
#[inline(always)]
unsafe fn one<S: Simd, D: Dense>(s: S, d: D, x: &[u8], layer: &ByteLayer<'_>, by: By<'_>, out: *mut u8) {
    let outputs = layer.stride();
    let mut row = 0;
    // SAFETY: the outputs are a multiple of `ROWS`, and a tile takes no more than are left.
    unsafe {
        while outputs - row >= 8 * D::ROWS {
            row += tile::<S, D, 8, 1>(s, d, x, layer, by, row, out);
        }
        if outputs - row >= 4 * D::ROWS {
            row += tile::<S, D, 4, 2>(s, d, x, layer, by, row, out);
        }
        if outputs - row >= 2 * D::ROWS {
            row += tile::<S, D, 2, 4>(s, d, x, layer, by, row, out);
        }
        if outputs - row >= D::ROWS {
            tile::<S, D, 1, 8>(s, d, x, layer, by, row, out);
        }
    }
}

/// # Safety
/// As of [`one`], and rows `row..row + VECTORS·ROWS` are the layer's.
#[inline(always)]
unsafe fn tile<S: Simd, D: Dense, const VECTORS: usize, const CHAINS: usize>(
    s: S,
    d: D,
    x: &[u8],
    layer: &ByteLayer<'_>,
    (scale, (low, high)): By<'_>,
    row: usize,
    out: *mut u8,
) -> usize {
    let step = 4 * layer.stride();
    let mut place = layer.weights().as_ptr().wrapping_add(4 * row);
    // SAFETY: `place` is where this row's weights of some group of `x` start, and as many vectors of rows are there.
    let weights = |place: *const i8, vector: usize| unsafe { d.load(place.add(4 * vector * D::ROWS)) };
    let mut sums = [[d.zero(); VECTORS]; CHAINS];
    let (pairs, _) = x.as_chunks::<4>().0.as_chunks::<2>();
    let (rounds, rest) = pairs.as_chunks::<CHAINS>();
    for round in rounds {
        for (sums, pair) in sums.iter_mut().zip(round) {
            pair_of_groups(d, sums, pair, place, step, &weights);
            place = place.wrapping_add(2 * step);
        }
    }
    for pair in rest {
        pair_of_groups(d, &mut sums[0], pair, place, step, &weights);
        place = place.wrapping_add(2 * step);
    }
    let sums = joined(d, sums);
    let scale = Scale::splat(s, scale);
    let mut totals = [s.zero32(); VECTORS];
    // SAFETY: the layer's biases, and `out`, go on to the end of these rows.
    let (bias, out) = unsafe {
        let bias = layer.bias().as_ptr().add(row).cast::<[S::Chunk32; VECTORS]>();
        (&*bias, &mut *out.add(row).cast::<[S::NarrowByteChunk; VECTORS]>())
    };
    for (vector, total) in totals.iter_mut().enumerate() {
        let sum = s.add32(super::chain::load::<S, D>(s, d, sums[vector]), s.load32(&bias[vector]));
        *total = scale.round(s, sum);
    }
    store_bytes(s, out, &totals, low, high);
    VECTORS * D::ROWS
}
