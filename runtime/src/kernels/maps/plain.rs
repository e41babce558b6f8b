//! The definition: an output at a time, its taps one after the other.

use super::{Beside, Layer, Map};
use crate::format::Layout;
use crate::sure::{at, bias_at};

/// [`crate::kernels::Convolve`]: one group, weights in `K4`.
pub(crate) fn convolve(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    let inputs = layer.from.channels;
    each(layer, x, second, out, &|tap, input, output| {
        at(layer.weights, Layout::K4.offset(layer.stride, output, tap * inputs + input))
    }, 0..inputs);
}

/// [`crate::kernels::Depthwise`]: weights in `Rows`, a row a tap, a column a channel.
pub(crate) fn depthwise(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    each(layer, x, second, out, &|tap, _, output| {
        at(layer.weights, Layout::Rows.offset(layer.stride, tap, output))
    }, 0..1);
}

/// inputs: those that every output sees of a pixel, or one, which is the output's own channel. weight: of a tap, an
/// input and an output.
#[inline(always)]
fn each(
    layer: &Layer<'_>,
    x: &[u8],
    second: Option<(Map, &[u8])>,
    out: &mut [u8],
    weight: &impl Fn(usize, usize, usize) -> i8,
    inputs: core::ops::Range<usize>,
) {
    let (from, to) = (layer.from, layer.to);
    let across = layer.geometry.kernel[1];
    for index in 0..to.height * to.row() {
        let (place, output) = (index / to.channels.max(1), index % to.channels.max(1));
        let place = [place / to.width.max(1), place % to.width.max(1)];
        let mut sum = bias_at(layer.bias, output);
        for tap in 0..layer.taps() {
            let Some(pixel) = layer.pixel(place, [tap / across.max(1), tap % across.max(1)]) else { continue };
            for input in inputs.clone() {
                let channel = if inputs.len() == from.channels { input } else { output };
                let value = from.at(x, pixel + channel) - from.zero;
                sum = sum.wrapping_add(value * i32::from(weight(tap, input, output)));
            }
        }
        let beside = second.map(|(map, bytes)| Beside { map, bytes, start: index });
        layer.rounding.block(&[sum], output, beside, (to, out, index));
    }
}
