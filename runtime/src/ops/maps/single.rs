//! A convolution of a single place that reads one pixel: a dense layer, by the tier's dense kernels.
//!
//! A kernel for maps lays out what ends its channels for many places; one place would pay for that alone. Where bytes
//! count from the lowest on, as behind a rectifier, they are the dense kernels' inputs but for their sign.

use super::range_mut;
use crate::format::element;
use crate::kernels::Tier;
use crate::kernels::maps::{Layer, Map, Rounding};
use crate::workspace::typed_mut;

/// Inputs and outputs of the longest.
const LONGEST: usize = 1024;
/// Those of what most have, which takes less of the stack.
const SHORT: usize = 128;

/// Whether a layer is one of these, which [`run_one`] then runs. layer: weights in `K4`, nothing added.
pub(super) fn is_one(layer: &Layer<'_>) -> bool {
    let (from, to) = (&layer.from, &layer.to);
    let is_place = |map: &Map| map.height * map.width == 1;
    let lowest = match from.element {
        element::U8 => 0,
        element::I8 => i8::MIN.into(),
        _ => return false,
    };
    is_place(from)
        && is_place(to)
        && layer.sees_itself()
        && from.zero == lowest
        && matches!(to.element, element::U8 | element::I8)
        && (layer.bias.is_empty() || layer.bias.len() == to.channels)
        && layer.rounding.multipliers.len() == to.channels
        && layer.rounding.shifts.len() == to.channels
        && from.channels.max(to.channels) <= LONGEST
}

/// x, out: the bytes of both maps.
pub(super) fn run_one(kernels: &Tier, layer: &Layer<'_>, x: &[u8], out: &mut [u8]) {
    if (x.len(), out.len()) != (layer.from.channels, layer.to.channels) {
        debug_assert!(false, "maps of other lengths");
    } else if x.len().max(out.len()) <= SHORT {
        of::<SHORT>(kernels, layer, x, out);
    } else {
        of::<LONGEST>(kernels, layer, x, out);
    }
}

/// One of at most so many inputs and outputs.
fn of<const MOST: usize>(kernels: &Tier, layer: &Layer<'_>, x: &[u8], out: &mut [u8]) {
    let (mut bytes, mut sums) = ([0; MOST], [0; MOST]);
    let x = if layer.from.element == element::I8 {
        let bytes = range_mut(&mut bytes, 0..x.len());
        // With their sign exchanged they are 128 more, which is what they count.
        bytes.iter_mut().zip(x).for_each(|(to, from)| *to = from ^ 0x80);
        &*bytes
    } else {
        x
    };
    let sums = range_mut(&mut sums, 0..out.len());
    (kernels.affine_u8.call)(x, layer.weights, layer.stride, layer.bias, sums);
    let (Rounding { multipliers, shifts, low, high }, zero) = (layer.rounding, layer.to.zero);
    if layer.to.element == element::I8 {
        (kernels.requantise_i8.call)(sums, multipliers, shifts, low, high, zero, typed_mut(out));
    } else {
        (kernels.requantise_u8.call)(sums, multipliers, shifts, low, high, zero, out);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::{LONGEST, SHORT, is_one, run_one};
    use crate::format::element;
    use crate::kernels::maps::{Geometry, Layer, Map, Rounding, plain};
    use crate::kernels::tiers;
    use crate::testing::SplitMix;
    use std::vec;
    use std::vec::Vec;

    /// On every tier as by the definition, at the edges of both lengths, and no other layer.
    #[test]
    fn a_single_place_is_a_dense_layer() {
        let mut random = SplitMix(40);
        let sizes = [1, 3, 4, 8, 17, SHORT - 1, SHORT, SHORT + 1, 640, LONGEST, LONGEST + 1];
        for round in 0..200 {
            let mut of = |limit: usize| random.below(limit as u32) as usize;
            let [inputs, outputs] = [sizes[of(sizes.len())], sizes[of(sizes.len())]];
            let kinds = [(element::U8, 0), (element::I8, -128), (element::U8, 3), (element::I8, 0)];
            let (kind, zero) = kinds[if round % 8 == 0 { of(4) } else { of(2) }];
            let geometry =
                Geometry { kernel: [1, 1], stride: [1, 1], dilation: [1, 1], before: [0, 0], transposed: false };
            let map = |channels, element, zero| Map { height: 1, width: 1, channels, element, zero };
            let (to, low) = [((element::U8, 128), 0), ((element::I8, -128), -128), ((element::I8, 5), 5)][of(3)];
            let high = if to.0 == element::U8 { 255 } else { 127 };
            let stride = outputs.next_multiple_of(4);
            let least = [33, 1][of(2)];
            let mut many = |len: usize| (0..len).map(|_| random.draw() as i32).collect::<Vec<i32>>();
            let weights: Vec<i8> = many(inputs.div_ceil(4) * 4 * stride).iter().map(|value| *value as i8).collect();
            let x: Vec<u8> = many(inputs).iter().map(|value| *value as u8).collect();
            let (bias, multipliers) = (many(outputs), many(outputs));
            let multipliers: Vec<i32> = multipliers.iter().map(|value| value & i32::MAX).collect();
            let shifts: Vec<u8> =
                many(outputs).iter().map(|value| (least + *value as u32 % (63 - least)) as u8).collect();
            let layer = Layer {
                geometry,
                from: map(inputs, kind, zero),
                to: map(outputs, to.0, to.1),
                weights: &weights,
                stride,
                bias: if round % 5 == 0 { &[] } else { &bias },
                rounding: Rounding { multipliers: &multipliers, shifts: &shifts, low, high },
            };
            let mut expected = vec![0; outputs];
            plain::convolve(&layer, &x, None, &mut expected);
            for tier in tiers() {
                let mut found = vec![0; outputs];
                let expects_one =
                    inputs.max(outputs) <= LONGEST && matches!((kind, zero), (element::U8, 0) | (element::I8, -128));
                assert_eq!(is_one(&layer), expects_one, "{inputs} {outputs} {kind} {zero}");
                if expects_one {
                    run_one(tier, &layer, &x, &mut found);
                    assert!(found == expected, "{}: {inputs} {outputs} {kind}", tier.name);
                }
            }
        }
    }
}
