//! The definition: an output at a time, its taps one after the other.

use super::{Beside, Layer, Map, Sum};
use crate::format::{Layout, element};
use crate::sure::{at, bias_at};
use crate::workspace::range;

/// [`crate::kernels::Convolve`]: one group, weights in `K4`.
pub(crate) fn convolve(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    every_output(layer, false, x, second, out);
}

/// [`crate::kernels::SinglePlace`].
#[cfg(short_ways)]
pub(crate) fn single_place(layer: &Layer<'_>, x: &[u8], out: &mut [u8]) {
    convolve(layer, x, None, out);
}

/// [`crate::kernels::Depthwise`]: weights in `Rows`, a row a tap, a column a channel.
pub(crate) fn depthwise(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    every_output(layer, true, x, second, out);
}

/// is_depthwise: whether an output sees its own channel of a pixel, or all of them. One function for both, which the
/// smallest images have once.
#[inline(never)]
fn every_output(layer: &Layer<'_>, is_depthwise: bool, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    let (from, to, [down, across]) = (&layer.from, layer.to, layer.geometry.kernel);
    let mut start = 0;
    for y in 0..to.height {
        for column in 0..to.width {
            for output in 0..to.channels {
                let mut sum = bias_at(layer.bias, output);
                for tap in 0..down * across {
                    let Some(pixel) = layer.pixel([y, column], [tap / across.max(1), tap % across.max(1)]) else {
                        continue;
                    };
                    let products = if is_depthwise {
                        let weight = at(layer.weights, Layout::Rows.offset(layer.stride, tap, output));
                        (from.at(x, pixel + output) - from.zero) * i32::from(weight)
                    } else {
                        every_input(layer, range(x, pixel..pixel + from.channels), tap * from.channels, output)
                    };
                    sum = sum.wrapping_add(products);
                }
                let beside = second.map(|(map, bytes)| Beside { map, bytes, start });
                layer.rounding.block(&[sum], output, beside, (to, out, start));
                start += 1;
            }
        }
    }
}

/// Products of a pixel's bytes with an output's weights from column `first` on.
#[inline(always)]
fn every_input(layer: &Layer<'_>, x: &[u8], first: usize, output: usize) -> i32 {
    // Of bytes with a sign it is exchanged, which adds 128.
    let (sign, more) = if layer.from.element == element::I8 { (0x80, 128) } else { (0, 0) };
    let (mut sum, zero) = (0i32, layer.from.zero + more);
    for (column, byte) in (first..).zip(x) {
        let weight = at(layer.weights, Layout::K4.offset(layer.stride, output, column));
        sum = sum.wrapping_add((i32::from(byte ^ sign) - zero) * i32::from(weight));
    }
    sum
}

/// [`crate::kernels::AddMaps`].
pub(crate) fn add(sum: &Sum, (from, x): (Map, &[u8]), (other, second): (Map, &[u8]), (to, out): (Map, &mut [u8])) {
    for index in 0..to.height * to.row() {
        let (a, b) = (from.at(x, index) - from.zero, other.at(second, index) - other.zero);
        to.put(out, index, sum.of(a, b, to.zero));
    }
}
