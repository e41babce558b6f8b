//! A convolution with a filter for every channel: a block of channels of a place at a time, tap after tap, so that
//! neighbouring channels, weights and sums meet.

use crate::format::element;
use crate::kernels::maps::{Beside, Layer, Map};
use crate::sure::bias_at;
use crate::workspace::{range_mut, rest, typed};

/// Channels that are summed at once.
const CHANNELS: usize = 64;

/// [`crate::kernels::Depthwise`].
pub(in crate::kernels) fn depthwise(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    let to = &layer.to;
    let mut place = 0;
    for y in 0..to.height {
        for column in 0..to.width {
            let mut first = 0;
            while first < to.channels {
                let mut sums = [0; CHANNELS];
                let sums = range_mut(&mut sums, 0..(to.channels - first).min(CHANNELS));
                for (index, sum) in sums.iter_mut().enumerate() {
                    *sum = bias_at(layer.bias, first + index);
                }
                for down in 0..layer.geometry.kernel[0] {
                    for across in 0..layer.geometry.kernel[1] {
                        let Some(pixel) = layer.pixel([y, column], [down, across]) else { continue };
                        let tap = down * layer.geometry.kernel[1] + across;
                        tap_into(layer, x, pixel + first, rest(layer.weights, tap * layer.stride + first), sums);
                    }
                }
                let start = place + first;
                let beside = second.map(|(map, bytes)| Beside { map, bytes, start });
                layer.rounding.block(sums, first, beside, (*to, out, start));
                first += CHANNELS;
            }
            place += to.channels;
        }
    }
}

/// Adds a tap's products to the sums of neighbouring channels.
#[inline(always)]
fn tap_into(layer: &Layer<'_>, x: &[u8], start: usize, weights: &[i8], sums: &mut [i32]) {
    match layer.from.element {
        element::U8 => each(rest(x, start), layer.from.zero, weights, sums),
        element::I8 => each(rest(typed::<i8>(x), start), layer.from.zero, weights, sums),
        _ => each(rest(typed::<i16>(x), start), layer.from.zero, weights, sums),
    }
}

#[inline(always)]
fn each<T: Copy + Into<i32>>(x: &[T], zero: i32, weights: &[i8], sums: &mut [i32]) {
    for ((sum, x), weight) in sums.iter_mut().zip(x).zip(weights) {
        *sum = sum.wrapping_add(((*x).into() - zero) * i32::from(*weight));
    }
}
