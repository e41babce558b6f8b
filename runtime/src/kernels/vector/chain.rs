//! Small dense layers of bytes in one call: a layer's sums are rounded while they are in registers, and its bytes lie
//! in the first cache when the next layer broadcasts them.
//!
//! Between single steps a network of small layers spends as long on the way to the kernels as in them: sums go through
//! memory, lengths are asked again, and each call saves and clears registers. Here operands are known to fit
//! ([`ByteLayer`]), and the shifts of bytes are 33 to 62, so that their rounding is [`Scale::round`] and nothing else.
//! Most layers have one scale: what rounds their outputs is made once for all vectors of a tile.

use super::dense::{Dense, fitting};
use super::dense_end::Ending;
use super::requantise::Scale;
use super::{IS_COMPACT, Simd};
use crate::kernels::layers::{ByteLayer, CHAIN_WIDTH, Rounding};
use crate::num;
use crate::sure::at;
use crate::workspace::{range, range_mut, rest_mut, typed_mut};

/// Whether a vector of rows is one of i32, as it is but for the portable tier: without it there would be nothing to
/// gain.
pub(in crate::kernels) const fn is_for<S: Simd, D: Dense>() -> bool {
    D::ROWS == S::LANES / 2
}

/// [`crate::kernels::table::Chain`], where [`is_for`] holds.
#[inline(always)]
pub(in crate::kernels) fn chain<S: Simd, N: Dense, P: Dense>(
    s: S,
    narrow: N,
    paired: P,
    x: &[u8],
    layers: &[ByteLayer<'_>],
    out: &mut [u8],
) -> bool {
    const { assert!(!IS_COMPACT) };
    if !N::ANY_U8 && !narrow.all_below_128(x) {
        return false;
    }
    let mut between = [[0u8; CHAIN_WIDTH]; 2];
    let mut len = x.len();
    for (index, layer) in layers.iter().enumerate() {
        let [even, odd] = &mut between;
        let (from, to) = if index % 2 == 0 { (odd, even) } else { (even, odd) };
        let x = if index == 0 { x } else { range(from, 0..len) };
        len = layer.outputs_len_bytes();
        let y = if index + 1 == layers.len() { &mut *out } else { range_mut(to, 0..len.min(CHAIN_WIDTH)) };
        if x.len() != layer.inputs() || y.len() != len {
            return false;
        }
        // Where all products are exact anyway there is one form.
        if P::ANY_U8 || !layer.is_paired() {
            one(s, narrow, x, layer, y);
        } else {
            one(s, paired, x, layer, y);
        }
    }
    !layers.is_empty()
}

/// x: as long as the layer's inputs · out: as long as its outputs.
#[inline(always)]
fn one<S: Simd, D: Dense>(s: S, d: D, x: &[u8], layer: &ByteLayer<'_>, out: &mut [u8]) {
    let mut end = Rounded::new(s, layer, out);
    // SAFETY: a layer's stride is a multiple of four, and its weights are as many as its inputs need, of which `x` has
    // no more.
    unsafe { fitting(d, x, layer.weights(), layer.stride(), &mut end) };
}

/// Where sums become outputs.
struct Rounded<'e, S> {
    s: S,
    layer: &'e ByteLayer<'e>,
    /// One for each output.
    bias: &'e [i32],
    rounding: Option<&'e Rounding<'e>>,
    out: &'e mut [u8],
}

impl<'e, S> Rounded<'e, S> {
    /// `out`: as long as the layer's outputs.
    #[inline(always)]
    fn new(s: S, layer: &'e ByteLayer<'e>, out: &'e mut [u8]) -> Self {
        Self { s, layer, bias: layer.bias(), rounding: layer.rounding(), out }
    }
}

impl<S: Simd> Ending for Rounded<'_, S> {
    #[inline(always)]
    fn outputs(&self) -> usize {
        self.bias.len()
    }

    #[inline(always)]
    fn vectors<D: Dense, const VECTORS: usize>(&mut self, d: D, sums: [D::Sums; VECTORS], row: usize) -> bool {
        debug_assert!(const { is_for::<S, D>() });
        let (s, rows) = (self.s, row..row + VECTORS * D::ROWS);
        // Other shifts are those of a few outputs, one by one.
        let Some(bias) = self.bias.get(rows.clone()).filter(|_| self.layer.has_high_shifts()) else { return false };
        let Some(bias) = S::chunks32(bias).0.first_chunk::<VECTORS>() else { return false };
        // Arrays and their places. A chain of iterators lives in memory and asks each of them for every vector, and an
        // iterator's closure can be compiled apart, without the instruction set.
        let mut totals = [s.zero32(); VECTORS];
        for (vector, total) in totals.iter_mut().enumerate() {
            *total = s.add32(load::<S, D>(s, d, sums[vector]), s.load32(&bias[vector]));
        }
        if let Some(by) = self.rounding {
            if let Some(by) = self.layer.common() {
                let scale = Scale::splat(s, by);
                for total in &mut totals {
                    *total = scale.round(s, *total);
                }
            } else {
                let (multipliers, shifts) = (range(by.multipliers, rows.clone()), range(by.shifts, rows));
                let multipliers = S::chunks32(multipliers).0.first_chunk::<VECTORS>();
                let shifts = S::narrow_byte_chunks(shifts).0.first_chunk::<VECTORS>();
                let (Some(multipliers), Some(shifts)) = (multipliers, shifts) else { return false };
                for (vector, total) in totals.iter_mut().enumerate() {
                    *total = Scale::load(s, &multipliers[vector], &shifts[vector]).round(s, *total);
                }
            }
            if let Some((low, high)) = self.layer.bytes() {
                let out = S::narrow_byte_chunks_mut(rest_mut(self.out, row)).0.first_chunk_mut::<VECTORS>();
                let Some(out) = out else { return false };
                store_bytes(s, out, &totals, low, high);
                return true;
            }
            for total in &mut totals {
                *total = s.min32(s.max32(*total, s.splat32(by.low)), s.splat32(by.high));
            }
        }
        let out = S::chunks32_mut(rest_mut(typed_mut::<i32>(self.out), row)).0.first_chunk_mut::<VECTORS>();
        let Some(out) = out else { return false };
        for (vector, out) in out.iter_mut().enumerate() {
            s.store32(out, totals[vector]);
        }
        true
    }

    #[inline(always)]
    fn single(&mut self, sum: i32, row: usize) {
        let sum = sum.wrapping_add(at(self.bias, row));
        // Without a closure, which can be compiled apart.
        let rounded = match self.rounding {
            Some(by) => {
                let (multiplier, shift) = (at(by.multipliers, row), u32::from(at(by.shifts, row)));
                Some(num::requantise(sum, multiplier, shift, by.low, by.high))
            }
            None => None,
        };
        if let Some(Rounding { to_bytes: true, .. }) = self.rounding {
            if let (Some(out), Some(rounded)) = (self.out.get_mut(row), rounded) {
                *out = rounded as u8;
            }
        } else if let Some(out) = typed_mut::<i32>(self.out).get_mut(row) {
            *out = rounded.unwrap_or(sum);
        }
    }
}

/// Four vectors at once where there are as many: most tiers have a shorter way for them.
#[inline(always)]
pub(super) fn store_bytes<S: Simd, const VECTORS: usize>(
    s: S,
    out: &mut [S::NarrowByteChunk; VECTORS],
    rounded: &[S::I32; VECTORS],
    low: u8,
    high: u8,
) {
    let (fours, rest) = out.as_chunks_mut::<4>();
    let (rounded_fours, rounded_rest) = rounded.as_chunks::<4>();
    for (out, four) in fours.iter_mut().zip(rounded_fours) {
        s.store_clamped(out, *four, low, high);
    }
    for (out, vector) in rest.iter_mut().zip(rounded_rest) {
        let vector = s.max32(*vector, s.splat32(low.into()));
        s.store_low_bytes32(out, s.min32(vector, s.splat32(high.into())));
    }
}

/// Sums on their way as a vector of rows.
#[inline(always)]
pub(super) fn load<S: Simd, D: Dense>(s: S, d: D, sums: D::Sums) -> S::I32 {
    match S::chunks32(d.rows(sums).as_ref()).0 {
        [rows, ..] => s.load32(rows),
        [] => s.zero32(),
    }
}
