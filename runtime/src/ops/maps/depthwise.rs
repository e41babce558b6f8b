//! CONVOLUTION with a filter of its own for every channel: weights (taps, channels).
//!
//! A block of channels of a place at a time, tap after tap, so that neighbouring channels, weights and sums meet.

use super::gather::Patch;
use super::layer::Layer;
use super::round::Beside;
use super::window::Map;
use super::{Bytes, copy, rest};

/// Channels that are summed at once.
const CHANNELS: usize = 64;

/// x, beside, out: the bytes of the maps.
pub(super) fn run(layer: &Layer<'_>, (from, x): Bytes<'_>, second: Option<Bytes<'_>>, (to, out): (Map, &mut [u8])) {
    let (weights, stride) = (layer.weights.bank(0), layer.weights.stride);
    let taps = layer.geometry.kernel[0] * layer.geometry.kernel[1];
    for place in 0..to.height * to.width {
        let pixel = [place / to.width.max(1), place % to.width.max(1)];
        let mut first = 0;
        while first < to.channels {
            let count = (to.channels - first).min(CHANNELS);
            let (mut sums, mut inputs) = ([0i32; CHANNELS], [0i16; CHANNELS]);
            let (Some(sums), Some(inputs)) = (sums.get_mut(..count), inputs.get_mut(..count)) else { return };
            if let Some(bias) = layer.bias.get(first..first + count) {
                copy(bias, sums);
            }
            let patch = Patch { geometry: &layer.geometry, from, x, place: pixel, first, count };
            for tap in 0..taps {
                patch.fill(tap * count, inputs);
                let row = rest(weights, tap * stride + first);
                for ((sum, x), weight) in sums.iter_mut().zip(&*inputs).zip(row) {
                    *sum = sum.wrapping_add(i32::from(*x) * i32::from(*weight));
                }
            }
            let start = place * to.channels + first;
            let beside = second.map(|(map, bytes)| Beside { map, bytes, start });
            layer.rounding.block(sums, first, beside, (to, out, start));
            first += count;
        }
    }
}
