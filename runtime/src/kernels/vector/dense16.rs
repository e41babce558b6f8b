//! Dense layers on i16, row after row: `out[n] = bias[n] + Σ_k x[k]·w[n,k]` modulo 2³².
//!
//! One instruction multiplies sixteen-bit neighbours and adds the two products in i32; rows of i8 are widened as they
//! are loaded. A sum of two products leaves i32 only where all four factors are −32768, and there it wraps, as the
//! definition does. Four rows at a time share each load of the inputs, and are the independent chains that hide the
//! latency of the multiplication.

use super::Simd;
use super::accumulate::Row;
use crate::kernels::scalar;
use crate::sure::sure;

/// Rows that pass together.
const ROWS: usize = 4;

/// [`crate::kernels::AffineI16`].
#[inline(always)]
pub(in crate::kernels) fn affine<S: Simd, R: Row<S>>(
    s: S,
    x: &[i16],
    w: &[R],
    stride: usize,
    bias: &[i32],
    out: &mut [i32],
) {
    // The last row need not be padded.
    let needed = stride.checked_mul(out.len().saturating_sub(1)).and_then(|start| start.checked_add(x.len()));
    if needed.is_none_or(|needed| needed > w.len()) || (x.len() > stride && out.len() > 1) {
        return scalar::out_of_contract(out);
    }
    let (fours, rest) = out.as_chunks_mut::<ROWS>();
    let first_of_rest = ROWS * fours.len();
    for (index, four) in fours.iter_mut().enumerate() {
        *four = sums::<S, R, ROWS>(s, x, w, stride, ROWS * index);
    }
    for (index, out) in rest.iter_mut().enumerate() {
        [*out] = sums::<S, R, 1>(s, x, w, stride, first_of_rest + index);
    }
    for (out, bias) in out.iter_mut().zip(bias) {
        *out = out.wrapping_add(*bias);
    }
}

/// The sums of rows `row..row + N`.
#[inline(always)]
fn sums<S: Simd, R: Row<S>, const N: usize>(s: S, x: &[i16], w: &[R], stride: usize, row: usize) -> [i32; N] {
    let mut rows = [&[][..]; N];
    for (index, slot) in rows.iter_mut().enumerate() {
        let start = (row + index) * stride;
        *slot = sure(w.get(start..start + x.len()));
    }
    let (inputs, inputs_rest) = S::chunks(x);
    let count = inputs.len();
    let chunks = rows.map(R::chunks);
    let mut totals = [0i32; N];
    // Slices of one length let the compiler leave the bounds out of the loop.
    if chunks.iter().all(|chunks| chunks.len() >= count) {
        let chunks = chunks.map(|chunks| &chunks[..count]);
        let mut sums = [s.zero32(); N];
        for (at, input) in inputs.iter().enumerate() {
            let input = s.load(input);
            for (sum, chunks) in sums.iter_mut().zip(&chunks) {
                *sum = s.add_products(*sum, input, R::load(s, &chunks[at]));
            }
        }
        for (total, sum) in totals.iter_mut().zip(sums) {
            *total = s.sum32(sum);
        }
    }
    for (total, row) in totals.iter_mut().zip(rows) {
        for (x, w) in inputs_rest.iter().zip(row.iter().skip(count * S::LANES)) {
            *total = total.wrapping_add(i32::from(*x) * i32::from(w.widen()));
        }
    }
    totals
}
