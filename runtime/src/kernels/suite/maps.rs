//! Convolutions and sums of maps.

use super::{Mismatch, PATTERNS, Random, same};
use crate::format::{Layout, element};
use crate::kernels::maps::{Geometry, Layer, Map, Rounding, Sum};
use crate::kernels::{Tier, scalar};

/// Most elements of a map that is read, and of one that is written.
const READ: usize = 4_096;
const WRITTEN: usize = 4_096;
/// Most weights.
const WEIGHTS: usize = 8_192;
const MOST_OUTPUTS: usize = 136;
/// Random layers of each pattern.
const LAYERS: usize = 40;
/// Channels that are read: around groups of four, and around vectors where each has its filter.
const READ_CHANNELS: [usize; 12] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33];
/// Channels that are written: around tiles of one, two, four and eight vectors of 4, 8 and 16 rows, and blocks of 64.
const WRITTEN_CHANNELS: [usize; 17] = [1, 3, 4, 5, 8, 9, 15, 16, 17, 24, 31, 32, 33, 63, 65, 127, MOST_OUTPUTS];
/// Pixels of a row: around tiles of 1, 2, 4 and 8, and of 5 and 6 at the end of a row.
const WIDTHS: [usize; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 13];
/// Pixels of a row of several tiles, and channels read and written there.
const LONG_ROW: usize = 23;
const LONG_ROWS: [[usize; 2]; 5] = [[1, 8], [3, 8], [3, 5], [4, 4], [16, 9]];
/// Elements of maps that are added: around vectors of 4, 8 and 16, and several of them.
const SUMMED: [usize; 16] = [1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, SUMMED_AT_MOST];
const SUMMED_AT_MOST: usize = 90;
/// Taps, steps, dilation and padding along an axis: single pixels, ordinary windows, and odd ones.
const AXES: [[u8; 4]; 8] =
    [[1, 1, 1, 0], [3, 1, 1, 1], [3, 2, 1, 0], [2, 2, 1, 1], [4, 1, 1, 2], [1, 2, 1, 0], [3, 1, 2, 2], [5, 3, 1, 4]];

pub(super) fn check(tier: &Tier, random: &mut Random) -> Result<(), Mismatch> {
    for pattern in 0..PATTERNS {
        // Single pixels at the edges of all tiles.
        for written in WRITTEN_CHANNELS {
            for width in WIDTHS {
                let read = READ_CHANNELS[random.below(READ_CHANNELS.len())];
                every(tier, [[1, 1, 1, 0]; 2], [1, width], [read, written], pattern, random)?;
            }
        }
        #[cfg(short_ways)]
        single_places(tier, pattern, random)?;
        // Rows of many neighbours whose taps all see pixels.
        for [read, written] in LONG_ROWS {
            let across = [[3, 1, 1, 1], [3, 2, 1, 0]][random.below(2)];
            every(tier, [[3, 1, 1, 1], across], [3, LONG_ROW], [read, written], pattern, random)?;
        }
        for _ in 0..LAYERS {
            let axes = [AXES[random.below(AXES.len())], AXES[random.below(AXES.len())]];
            let size = [1 + random.below(6), WIDTHS[random.below(WIDTHS.len())]];
            let read = READ_CHANNELS[random.below(READ_CHANNELS.len())];
            let written = WRITTEN_CHANNELS[random.below(WRITTEN_CHANNELS.len())];
            every(tier, axes, size, [read, written], pattern, random)?;
        }
        for elements in SUMMED {
            sum(tier, elements, pattern, random)?;
        }
    }
    Ok(())
}

/// Sums of two maps of so many elements.
fn sum(tier: &Tier, channels: usize, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    let mut map = || {
        let element = [element::U8, element::I8, element::I8, element::I16][random.below(4)];
        let zero = zero(element, random);
        Map { height: 1, width: 1, channels, element, zero }
    };
    let maps = [map(), map(), map()];
    let [from, other, to] = maps;
    let mut operands = [[0i32; SUMMED_AT_MOST / 2]; 2];
    operands.as_flattened_mut().iter_mut().for_each(|word| *word = random.i32(pattern));
    let [x, second] = &operands;
    // The multipliers of a quantiser have 31 bits; any others are as good.
    let multipliers = [0; 2].map(|_: i32| random.i32(pattern) >> random.below(12));
    let [low, high] = range(to.element);
    // On both sides of the shifts that have lanes of 32 bits.
    let shift = [1, 16, 17, 30, 45, 46, 47, 62][random.below(8)];
    let how = Sum { multipliers, shift, low: if random.below(2) == 0 { low } else { to.zero }, high };
    let mut outs = [[0i32; SUMMED_AT_MOST / 2]; 2];
    let [found, expected] = &mut outs;
    let used = |map: &Map| channels << element::shift(map.element);
    for (call, out) in [(tier.add_maps.call, &mut *found), (scalar::KERNELS.add_maps.call, &mut *expected)] {
        let x = &bytemuck::cast_slice(x)[..used(&from)];
        let second = &bytemuck::cast_slice(second)[..used(&other)];
        call(&how, (from, x), (other, second), (to, &mut bytemuck::cast_slice_mut(out)[..used(&to)]));
    }
    let (found, expected): (&[u8], &[u8]) = (bytemuck::cast_slice(found), bytemuck::cast_slice(expected));
    same("add_maps", channels, &found[..used(&to)], &expected[..used(&to)])
}

/// A zero point of an element.
fn zero(kind: u32, random: &mut Random) -> i32 {
    match kind {
        element::U8 => [0, 7, 255][random.below(3)],
        element::I8 => [0, -128, 12][random.below(3)],
        _ => 0,
    }
}

/// What an element can hold.
const fn range(kind: u32) -> [i32; 2] {
    match kind {
        element::U8 => [0, 255],
        element::I8 => [-128, 127],
        _ => [i16::MIN as i32, i16::MAX as i32],
    }
}

/// A window along both axes over a map of a size, with channels read and written, and the same as filters a channel.
fn every(
    tier: &Tier,
    axes: [[u8; 4]; 2],
    size: [usize; 2],
    [read, written]: [usize; 2],
    pattern: u32,
    random: &mut Random,
) -> Result<(), Mismatch> {
    let of = |index: usize| axes.map(|axis| usize::from(axis[index]));
    let [kernel, stride, dilation, before] = [of(0), of(1), of(2), of(3)];
    // Behind the map there is as much padding as before it, and more where a window wants it.
    let places = |axis: usize| {
        let padded = size[axis] + 2 * before[axis];
        padded.saturating_sub((kernel[axis] - 1) * dilation[axis] + 1) / stride[axis] + 1
    };
    let geometry = Geometry { kernel, stride, dilation, before, transposed: false };
    let elements = [element::U8, element::I8, element::I16];
    let mut map = |of: &[u32], height, width, channels| {
        let kind = of[random.below(of.len())];
        Map { height, width, channels, element: kind, zero: zero(kind, random) }
    };
    let from = map(&elements[..2], size[0], size[1], read);
    let filtered = map(&elements, size[0], size[1], read);
    let to = map(&[element::U8, element::I8, element::I16, element::I32], places(0), places(1), written);
    let depth = Map { channels: read, ..to };
    let beside = map(&elements, to.height, to.width, written);
    let taps = kernel[0] * kernel[1];
    let wide = written.next_multiple_of(4);
    let rows = (taps * read).div_ceil(4) * 4;
    let is_small = |map: &Map, most: usize| map.height * map.row() <= most;
    if !is_small(&from, READ) || !is_small(&to, WRITTEN / 4) || !is_small(&depth, WRITTEN / 4) || rows * wide > WEIGHTS
    {
        return Ok(());
    }

    // Numbers of 32 bits, so that their bytes are aligned for all elements.
    let (mut x, mut second) = ([0i32; READ / 2], [0i32; WRITTEN / 2]);
    x.iter_mut().chain(&mut second).for_each(|word| *word = random.i32(0));
    let (mut weights, mut bias) = ([0i8; WEIGHTS], [0i32; MOST_OUTPUTS]);
    bias.iter_mut().for_each(|value| *value = random.i32(pattern) >> 8);
    let (mut multipliers, mut shifts) = ([0i32; 2 * MOST_OUTPUTS], [0u8; MOST_OUTPUTS]);
    multipliers.iter_mut().for_each(|value| *value = random.i32(0));
    // All of them such that the high word of a product is enough, or not.
    let least = [33, 1, 28][random.below(3)];
    shifts.iter_mut().for_each(|value| *value = (least + random.below(63 - least)) as u8);
    for is_depthwise in [false, true] {
        let (from, to) = if is_depthwise { (filtered, depth) } else { (from, to) };
        weights.fill(0);
        for row in 0..if is_depthwise { taps } else { written } {
            for col in 0..if is_depthwise { read } else { taps * read } {
                // Random weights behind a layer's columns would be against the format.
                let stride = if is_depthwise { read } else { wide };
                let layout = if is_depthwise { Layout::Rows } else { Layout::K4 };
                weights[layout.offset(stride, row, col)] = random.i16(pattern) as i8;
            }
        }
        let [low, high] = range(to.element);
        // Some of a rounding's ends are those of a ReLU, or of one that is clipped.
        let rounding = Rounding {
            multipliers: &multipliers[..2 * to.channels],
            shifts: &shifts[..to.channels],
            low: if random.below(2) == 0 { low } else { to.zero },
            high: if random.below(2) == 0 { high } else { high - (high - to.zero) / 3 },
        };
        let layer = Layer {
            geometry,
            from,
            to,
            weights: if is_depthwise { &weights[..taps * read] } else { &weights[..rows * wide] },
            stride: if is_depthwise { read } else { wide },
            bias: if random.below(4) == 0 { &[] } else { &bias[..to.channels] },
            rounding,
        };
        let other = Map { channels: to.channels, ..beside };
        let with = random.below(2) == 0 && to.element != element::I32;
        let second = with.then_some((other, bytemuck::cast_slice(&second)));
        let mut outs = [[0i32; WRITTEN / 4]; 2];
        let [found, expected] = &mut outs;
        let (ours, truth, name) = if is_depthwise {
            (tier.depthwise.call, scalar::KERNELS.depthwise.call, "depthwise")
        } else {
            (tier.convolve.call, scalar::KERNELS.convolve.call, "convolve")
        };
        // What lies behind the map is not written.
        let used = (to.height * to.row()) << element::shift(to.element);
        let x = &bytemuck::cast_slice(&x)[..(from.height * from.row()) << element::shift(from.element)];
        ours(&layer, x, second, &mut bytemuck::cast_slice_mut(found)[..used]);
        truth(&layer, x, second, &mut bytemuck::cast_slice_mut(expected)[..used]);
        let (found, expected): (&[u8], &[u8]) = (bytemuck::cast_slice(found), bytemuck::cast_slice(expected));
        same(name, read, &found[..used], &expected[..used])?;
        #[cfg(short_ways)]
        if !is_depthwise {
            let rounding = Rounding { multipliers: &multipliers[..to.channels], ..rounding };
            single_place(tier, &Layer { rounding, ..layer }, x)?;
        }
    }
    Ok(())
}

/// Layers of one place. About half are between bytes, and are run by the kernel that these have of their own, too.
#[cfg(short_ways)]
fn single_places(tier: &Tier, pattern: u32, random: &mut Random) -> Result<(), Mismatch> {
    /// Of every number of outputs.
    const LAYERS: usize = 12;
    for written in WRITTEN_CHANNELS {
        for _ in 0..LAYERS {
            let read = READ_CHANNELS[random.below(READ_CHANNELS.len())];
            every(tier, [[1, 1, 1, 0]; 2], [1, 1], [read, written], pattern, random)?;
        }
    }
    Ok(())
}

/// The same layer with nothing added, where that kernel takes it.
#[cfg(short_ways)]
fn single_place(tier: &Tier, layer: &Layer<'_>, x: &[u8]) -> Result<(), Mismatch> {
    if !layer.is_single_place() {
        return Ok(());
    }
    let (mut found, mut expected) = ([0; MOST_OUTPUTS], [0; MOST_OUTPUTS]);
    let (found, expected) = (&mut found[..layer.to.channels], &mut expected[..layer.to.channels]);
    (tier.single_place)(layer, x, found);
    (scalar::KERNELS.single_place)(layer, x, expected);
    same("single_place", layer.from.channels, found, expected)
}
