//! Small layers on reals behind sums, all of them in one call: what one hands to the next stays in the first cache, and
//! a network's last layers wait for each other, not for calls.

use super::{Columns, Reals, columns, real};
use crate::format::Layout;
use crate::kernels::{Dequantisation, RealLayer, TAIL_WIDTH};

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
