//! Small layers on reals behind sums, all of them in one call: what one hands to the next stays in the first cache, and
//! a network's last layers wait for each other, not for calls.

use super::{Columns, IS_COMPACT, Reals, columns, real};
use crate::format::{Layout, activation};
use crate::kernels::{Dequantisation, RealLayer, TAIL_WIDTH};
use crate::num;
use crate::sure::bias_at;
use core::hint::black_box;
use core::mem::MaybeUninit;
use core::slice;

/// Lanes of the definition.
const LANES: usize = 8;

/// [`crate::kernels::TailF32`].
#[inline(always)]
pub(in crate::kernels) fn tail<R: Reals, W: Columns>(
    r: R,
    wide: W,
    sums: &[i32],
    first: &Dequantisation<'_>,
    layers: &[RealLayer<'_>],
    scale: f32,
    out: &mut [f32],
) {
    if let (false, [hidden, last], [out, ..]) = (IS_COMPACT, layers, &mut *out)
        && let Some(x) = single(r, wide, sums, first, hidden, last)
    {
        *out = x * scale;
        return;
    }
    let (mut one, mut two) = ([0f32; TAIL_WIDTH], [0f32; TAIL_WIDTH]);
    let (mut from, mut to) = (&mut one, &mut two);
    let mut len = sums.len().min(TAIL_WIDTH);
    let (x, _) = from.split_at_mut(len);
    real::dequantise(r, sums, first.factor, first.bias, first.activation, x);
    for layer in layers {
        let outputs = layer.outputs.min(TAIL_WIDTH);
        let ((x, _), (y, _)) = (from.split_at(len), to.split_at_mut(outputs));
        if layer.layout == Layout::Columns {
            columns::affine(wide, r, x, layer.weights, layer.stride, layer.bias, layer.activation, y);
        } else {
            real::affine(r, x, layer.weights, layer.stride, layer.bias, layer.activation, y);
        }
        len = outputs;
        (from, to) = (to, from);
    }
    for (out, x) in out.iter_mut().zip(from.iter().take(len)) {
        *out = x * scale;
    }
}

/// The output of two layers as most engines' networks end: eight or sixteen sums, a layer on columns and a single row;
/// `None` where there are others.
#[inline(always)]
fn single<R: Reals, W: Columns>(
    r: R,
    wide: W,
    sums: &[i32],
    first: &Dequantisation<'_>,
    hidden: &RealLayer<'_>,
    last: &RealLayer<'_>,
) -> Option<f32> {
    let rows = hidden.outputs;
    // Any safe code can call a kernel, with any stride, so the product must not wrap.
    let fits = rows <= TAIL_WIDTH.min(hidden.stride) && hidden.stride.checked_mul(sums.len())? <= hidden.weights.len();
    if !fits || hidden.layout != Layout::Columns || last.layout != Layout::Rows || last.outputs != 1 {
        return None;
    }
    let (sums, []) = sums.as_chunks() else { return None };
    // SAFETY: just compared.
    unsafe {
        match *sums {
            [a] => of_eights(r, wide, [a], first, hidden, last),
            [a, b] => of_eights(r, wide, [a, b], first, hidden, last),
            _ => None,
        }
    }
}

/// [`single`] of so many sums.
///
/// What lies between is in registers or is written before it is read, and nothing else is written: a load of weights
/// may wait for any store before it whose place in its page is the same, and the fewer stores there are, the fewer
/// loads do.
///
/// # Safety
/// `hidden` has at most [`TAIL_WIDTH`] rows and its stride, and weights for as many inputs.
#[inline(always)]
unsafe fn of_eights<R: Reals, W: Columns, const EIGHTS: usize>(
    r: R,
    wide: W,
    sums: [[i32; LANES]; EIGHTS],
    first: &Dequantisation<'_>,
    hidden: &RealLayer<'_>,
    last: &RealLayer<'_>,
) -> Option<f32> {
    let (rows, factor) = (hidden.outputs, Columns::splat(r, first.factor));
    let (weights, []) = last.weights.get(..rows)?.as_chunks::<LANES>() else { return None };
    let mut reals = [factor; EIGHTS];
    for (index, real) in reals.iter_mut().enumerate() {
        *real = Columns::mul(r, r.from_i32(&sums[index]), factor);
    }
    match first.bias.as_chunks() {
        ([], []) => {}
        (biases, []) if biases.len() == EIGHTS => {
            for (real, bias) in reals.iter_mut().zip(biases) {
                *real = Columns::add(r, *real, Reals::load(r, bias));
            }
        }
        _ => return None,
    }
    let mut x = [[0f32; LANES]; EIGHTS];
    for (x, real) in x.iter_mut().zip(columns::all_active(r, reals, first.activation)) {
        Reals::store(r, x, real);
    }
    let mut y = MaybeUninit::<[f32; TAIL_WIDTH]>::uninit();
    // In memory, from which one load repeats an input; out of a register it would take two shuffles.
    let (x, out) = (black_box(&x).as_flattened(), y.as_mut_ptr().cast());
    let RealLayer { weights: w, stride, bias, activation: code, .. } = *hidden;
    // SAFETY: the caller's; `y` has room for as many rows.
    if !unsafe { columns::vectors(wide, r, x, w, stride, bias, code, out, rows) } {
        return None;
    }
    // SAFETY: just written, all of the rows.
    let (y, _) = unsafe { slice::from_raw_parts(y.as_ptr().cast::<f32>(), rows) }.as_chunks();
    // As many as most have, in a straight line.
    let sum = match (y.try_into(), weights.try_into()) {
        (Ok::<&[_; 4], _>(y), Ok::<&[_; 4], _>(weights)) => real::row_sum(r, y, weights),
        _ => real::row_sum(r, y, weights),
    };
    let total = real::total(r, sum, bias_at(last.bias, 0));
    Some(if last.activation == activation::IDENTITY { total } else { num::activate(total, last.activation) })
}
