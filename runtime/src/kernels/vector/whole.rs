//! [`WholeChain`]: a chain of which nothing is left over, and a last layer of up to four rows, as those of most
//! networks that score have.
//!
//! [`super::chain`] does the same of any layers. A network of 256, 32, 32 and 1 spends more instructions on what could
//! be left over than on its second and third layer, and a function with all of those cases keeps its places in memory;
//! here there is no such case, and a layer begins where the one before ends. What counts is how many instructions lie
//! between the last product of one evaluation and the first of the next: as long as they fit a processor's window, the
//! next evaluation's products fill the time in which this one's last sums wait for each other.

use super::Simd;
use super::chain::{is_for, store_bytes};
use super::dense::{Dense, few_rows, pair_of_groups};
use super::dense_end::{Ending, joined};
use super::requantise::Scale;
use crate::kernels::layers::CHAIN_WIDTH;
use crate::kernels::whole_chain::{LastLayer, WHOLE_ROWS, WholeChain, WholeLayer};
use core::mem::MaybeUninit;
use core::slice;

/// [`crate::kernels::table::WholeChainCall`], where [`is_for`] holds; false elsewhere.
#[inline(always)]
pub(in crate::kernels) fn chain<S: Simd, N: Dense, P: Dense>(
    s: S,
    narrow: N,
    paired: P,
    x: &[u8],
    chain: &WholeChain<'_>,
    out: &mut [u8],
) -> bool {
    // What `one` relies on, of both: a vector of rows is one of i32, and outputs are whole numbers of it.
    if const { !is_for::<S, N>() || P::ROWS != N::ROWS || !WHOLE_ROWS.is_multiple_of(N::ROWS) } {
        return false;
    }
    let last = chain.last();
    // Outputs in groups of bytes, which lie anywhere: that they are at a multiple of four need not be asked.
    let (out, rest) = out.as_chunks_mut();
    if x.len() != chain.inputs()
        || (out.len(), rest.len()) != (last.outputs(), 0)
        || (!N::ANY_U8 && !narrow.all_below_128(x))
    {
        return false;
    }
    // A layer writes all that the next one reads.
    let mut between = [const { MaybeUninit::<[u8; CHAIN_WIDTH]>::uninit() }; 2];
    let [mut to, mut next] = between.each_mut().map(|place| place.as_mut_ptr().cast::<u8>());
    let mut from = x.as_ptr();
    for layer in chain.first() {
        // SAFETY: what lies at `from` are the layer's inputs: `x`, or what the layer before wrote. Its outputs fit a
        // place, which is not that one, and it writes all of them.
        unsafe {
            let x = slice::from_raw_parts(from, layer.inputs());
            if P::ANY_U8 || !layer.is_paired() {
                one(s, narrow, x, layer, to);
            } else {
                one(s, paired, x, layer, to);
            }
        }
        from = to;
        (to, next) = (next, to);
    }
    let mut end = Last { layer: last, out };
    // SAFETY: as above; the layer has four rows to each group of its inputs.
    unsafe {
        let x = slice::from_raw_parts(from, last.inputs());
        if P::ANY_U8 || !last.is_paired() {
            few_rows(narrow, x, last.weights(), &mut end);
        } else {
            few_rows(paired, x, last.weights(), &mut end);
        }
    }
    true
}

/// Where the last layer's sums become outputs.
struct Last<'e> {
    layer: &'e LastLayer<'e>,
    out: &'e mut [[u8; 4]],
}

impl Ending for Last<'_> {
    #[inline(always)]
    fn outputs(&self) -> usize {
        self.layer.outputs()
    }

    /// One by one.
    #[inline(always)]
    fn vectors<D: Dense, const VECTORS: usize>(&mut self, _: D, _: [D::Sums; VECTORS], _: usize) -> bool {
        false
    }

    #[inline(always)]
    fn single(&mut self, sum: i32, row: usize) {
        if let Some(out) = self.out.get_mut(row) {
            *out = self.layer.output(sum, row).to_ne_bytes();
        }
    }
}

/// # Safety
/// `x` has the layer's inputs, and its outputs can be written to `out`, which nothing refers to; [`is_for`] holds.
#[inline(always)]
unsafe fn one<S: Simd, D: Dense>(s: S, d: D, x: &[u8], layer: &WholeLayer<'_>, out: *mut u8) {
    let outputs = layer.outputs();
    let mut row = 0;
    // SAFETY: the outputs are a multiple of `ROWS`, and a tile takes no more than are left.
    unsafe {
        while outputs - row >= 8 * D::ROWS {
            row += tile::<S, D, 8, 1>(s, d, x, layer, row, out);
        }
        if outputs - row >= 4 * D::ROWS {
            // What is exact for all bytes multiplies and adds in one instruction, for which sums wait; elsewhere only
            // an addition follows another.
            row += if D::ANY_U8 {
                tile::<S, D, 4, 2>(s, d, x, layer, row, out)
            } else {
                tile::<S, D, 4, 1>(s, d, x, layer, row, out)
            };
        }
        if outputs - row >= 2 * D::ROWS {
            row += tile::<S, D, 2, 4>(s, d, x, layer, row, out);
        }
        if outputs - row >= D::ROWS {
            tile::<S, D, 1, 8>(s, d, x, layer, row, out);
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
    layer: &WholeLayer<'_>,
    row: usize,
    out: *mut u8,
) -> usize {
    let step = 4 * layer.outputs();
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
    let (scale, (low, high)) = (Scale::splat(s, layer.scale()), layer.bytes());
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
