//! The only place of a convolution of single pixels: a dense layer between maps of bytes.
//!
//! A kernel for maps lays out what ends its channels for many places; one place would pay for that alone. And what
//! bytes count too much, the sum of an output's weights times the zero point, costs as much as one more pixel: beside
//! one it would be a second walk over all weights, which lie beyond the first cache where a layer is large. Here a
//! vector of weights meets the inputs and is summed while it is in a register, and a tile's sums are rounded where it
//! ends.

use super::band::{Lane, Scratch};
use super::dense::{AHEAD, fits};
use super::requantise::requantise;
use super::tile::Tile;
use super::{IS_COMPACT, Simd};
use crate::kernels::maps::{Layer, SINGLE_PLACE_INPUTS, plain};
use crate::kernels::prefetch::fetch_row;
use crate::workspace::{range, range_mut, rest, rest_mut};

/// Outputs of the widest tile.
const MOST_ROWS: usize = 128;

/// [`crate::kernels::SinglePlace`].
#[inline(always)]
pub(in crate::kernels) fn single_place<S: Simd, T: Tile>(s: S, t: T, layer: &Layer<'_>, x: &[u8], out: &mut [u8]) {
    const { assert!(!IS_COMPACT) };
    let (inputs, outputs) = (layer.from.channels, layer.to.channels);
    let is_held = fits(inputs.div_ceil(4), layer.stride, layer.weights.len(), outputs);
    if !layer.is_single_place() || !is_held || (x.len(), out.len()) != (inputs, outputs) {
        return plain::convolve(layer, x, None, out);
    }
    let (mut line, padding) = (Scratch::<T::Input, SINGLE_PLACE_INPUTS>::new(), T::Input::zero(&layer.from));
    let line = line.filled(inputs.next_multiple_of(4), padding);
    T::Input::read(&layer.from, x, 0, range_mut(line, 0..inputs));
    // SAFETY: `is_held`, for as many fours as `line` has.
    unsafe {
        if padding == T::Input::default() {
            tiles::<S, T, false>(s, t, layer, line, out);
        } else {
            tiles::<S, T, true>(s, t, layer, line, out);
        }
    }
}

/// `ZERO`: whether inputs hold a zero point.
///
/// # Safety
/// [`fits`], for the fours of `x`.
#[inline(always)]
unsafe fn tiles<S: Simd, T: Tile, const ZERO: bool>(s: S, t: T, layer: &Layer<'_>, x: &[T::Input], out: &mut [u8]) {
    let outputs = out.len();
    // A single place leaves the sums of others to more vectors of weights.
    let sums_of_eight = if ZERO { 16 } else { 8 };
    let mut row = 0;
    while row < outputs {
        let left = layer.stride - row;
        // SAFETY: whole vectors are taken where so many rows are left of the stride. It is a multiple of four, and so
        // is `row`, so that what is left for the last way is one, below `ROWS`.
        row += unsafe {
            if T::SUMS >= sums_of_eight && left >= 8 * T::ROWS && outputs - row > 7 * T::ROWS {
                tile::<S, T, 8, 1, true, ZERO>(s, t, layer, x, row, out)
            } else if left >= 4 * T::ROWS && outputs - row > 3 * T::ROWS {
                tile::<S, T, 4, 1, true, ZERO>(s, t, layer, x, row, out)
            } else if left >= 2 * T::ROWS && outputs - row > T::ROWS {
                tile::<S, T, 2, 2, true, ZERO>(s, t, layer, x, row, out)
            } else if T::ROWS == 4 || left >= T::ROWS {
                tile::<S, T, 1, 4, true, ZERO>(s, t, layer, x, row, out)
            } else {
                tile::<S, T, 1, 4, false, ZERO>(s, t, layer, x, row, out)
            }
        };
    }
}

/// Outputs from `row` on; returns how many. `CHAINS`: sums of an output that take turns, so that no addition waits for
/// the one before.
///
/// # Safety
/// The weights of `VECTORS·ROWS` rows from `row` on, or, if not `WHOLE`, which is for one vector, of those that are
/// left of the stride, can be read for every four of `x`.
#[inline(always)]
unsafe fn tile<S: Simd, T: Tile, const VECTORS: usize, const CHAINS: usize, const WHOLE: bool, const ZERO: bool>(
    s: S,
    t: T,
    layer: &Layer<'_>,
    x: &[T::Input],
    row: usize,
    out: &mut [u8],
) -> usize {
    const { assert!(VECTORS * T::ROWS <= MOST_ROWS) };
    let (left, step) = (layer.stride - row, 4 * layer.stride);
    // Of products, and of the weights.
    let mut chains = [[[t.zero(); VECTORS]; 2]; CHAINS];
    let mut place = layer.weights.as_ptr().wrapping_add(4 * row);
    let mut fours = x.as_chunks::<4>().0;
    while !fours.is_empty() {
        for [sums, ones] in &mut chains {
            let Some((four, rest)) = fours.split_first() else { break };
            if T::FETCHES && VECTORS > 1 {
                fetch_row(place.wrapping_add(2 * AHEAD * step), 4 * VECTORS * T::ROWS);
            }
            // SAFETY: the caller vouches for the weights of this group; there are four inputs.
            unsafe {
                let mut w = [if WHOLE { t.load(place) } else { t.load_part(place, left) }; VECTORS];
                for (vector, w) in w.iter_mut().enumerate().skip(1) {
                    *w = t.load(place.wrapping_add(4 * vector * T::ROWS));
                }
                for (vector, w) in w.into_iter().enumerate() {
                    sums[vector] = t.mac(sums[vector], four.as_ptr(), w);
                    if ZERO {
                        ones[vector] = t.mac_ones(ones[vector], w);
                    }
                }
            }
            (place, fours) = (place.wrapping_add(step), rest);
        }
    }
    let (mut all, others) = (chains[0], &chains[1..]);
    for other in others {
        for (all, other) in all.as_flattened_mut().iter_mut().zip(other.as_flattened()) {
            *all = t.merge(*all, *other);
        }
    }
    let zero: i32 = T::Input::zero(&layer.from).into();
    let mut totals = [0; MOST_ROWS];
    for (vector, (sums, ones)) in all[0].into_iter().zip(all[1]).enumerate() {
        let totals = rest_mut(&mut totals, vector * T::ROWS);
        totals.iter_mut().zip(t.rows(sums).as_ref()).for_each(|(total, sum)| *total = *sum);
        if ZERO {
            for (total, ones) in totals.iter_mut().zip(t.ones_rows(ones).as_ref()) {
                *total = total.wrapping_sub(zero.wrapping_mul(*ones));
            }
        }
    }
    let count = (out.len() - row).min(VECTORS * T::ROWS);
    let totals = range_mut(&mut totals, 0..count);
    if !layer.bias.is_empty() {
        for (total, bias) in totals.iter_mut().zip(rest(layer.bias, row)) {
            *total = total.wrapping_add(*bias);
        }
    }
    let (by, those) = (&layer.rounding, row..row + count);
    let (multipliers, shifts) = (range(by.multipliers, those.clone()), range(by.shifts, those.clone()));
    requantise(s, totals, multipliers, shifts, by.low, by.high, layer.to.zero, range_mut::<u8>(out, those));
    count
}

#[cfg(test)]
#[cfg(feature = "convolutions")]
mod tests {
    extern crate std;

    use super::{MOST_ROWS, SINGLE_PLACE_INPUTS};
    use crate::format::element;
    use crate::kernels::maps::{Geometry, Layer, Map, Rounding, plain};
    use crate::kernels::tiers;
    use crate::testing::SplitMix;
    use std::vec;
    use std::vec::Vec;

    /// On every tier as by the definition, at the edges of tiles and of what the kernel holds, for which the suite has
    /// no room.
    #[test]
    fn long_layers_are_the_definitions() {
        let mut random = SplitMix(40);
        let most = SINGLE_PLACE_INPUTS;
        let inputs = [1, 15, 16, 17, 127, 640, most - 1, most, most + 1];
        let outputs = [1, 2, 8, 16, 17, 31, 63, 64, MOST_ROWS - 1, MOST_ROWS, MOST_ROWS + 1, 5 * MOST_ROWS + 4];
        for round in 0..200 {
            let mut of = |limit: usize| random.below(limit as u32) as usize;
            let [inputs, outputs] = [inputs[of(inputs.len())], outputs[of(outputs.len())]];
            let (kind, zero) = [(element::U8, 0), (element::I8, -128), (element::U8, 3), (element::I8, 0)][of(4)];
            let geometry =
                Geometry { kernel: [1, 1], stride: [1, 1], dilation: [1, 1], before: [0, 0], transposed: false };
            let map = |channels, element, zero| Map { height: 1, width: 1, channels, element, zero };
            let (to, low) = [((element::U8, 128), 0), ((element::I8, -128), -128), ((element::I8, 5), 5)][of(3)];
            let high = if to.0 == element::U8 { 255 } else { 127 };
            let to = if round % 16 == 0 { (element::I16, 0) } else { to };
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
            // The near misses go to the kernel for maps.
            assert_eq!(layer.is_single_place(), inputs <= most && to.0 != element::I16, "{inputs} {outputs}");
            if !layer.is_single_place() {
                continue;
            }
            let mut expected = vec![0; outputs];
            plain::convolve(&layer, &x, None, &mut expected);
            for tier in tiers() {
                let mut found = vec![0; outputs];
                (tier.single_place)(&layer, &x, &mut found);
                assert!(found == expected, "{}: {inputs} {outputs} {kind}", tier.name);
            }
        }
    }
}
