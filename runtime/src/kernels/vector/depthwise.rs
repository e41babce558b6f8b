//! A convolution with a filter for every channel, a vector of channels at a time.
//!
//! Products of neighbouring i16 are what every instruction set adds in one step; here the neighbours are two rows of
//! the window, in the same column and channel. For each row of outputs the rows that it reads are laid down in such
//! pairs, without their zero point, padded to both sides, and their weights likewise once a layer. A vector of sums
//! then takes a load and a product for every two taps of a column, and vectors of several pixels share the weights.
//!
//! Where a vector is longer than a pixel and the window goes on by single pixels, several pixels are taken for one.

use super::Simd;
use super::band::{Scratch, View};
use super::ends::{BLOCK, Ends};
use crate::format::element;
use crate::kernels::maps::{Layer, Map, plain};
use crate::sure::at;
use crate::workspace::{rest, typed};

/// Pairs of a band.
const PAIRS: usize = 8_192;
/// Pairs of weights of a block of channels.
const WEIGHTS: usize = 4_096;
/// Pixels that share weights.
const PIXELS: usize = 4;
/// A vector may begin at the last pair.
const ROOM: usize = 32;

/// [`crate::kernels::Depthwise`].
#[inline(always)]
pub(in crate::kernels) fn depthwise<S: Simd>(
    s: S,
    layer: &Layer<'_>,
    x: &[u8],
    second: Option<(Map, &[u8])>,
    out: &mut [u8],
) {
    let lanes = S::LANES / 2;
    let Some(way) = Way::of(layer, x, out, lanes) else { return plain::depthwise(layer, x, second, out) };
    let (mut pairs, mut weights) = (Scratch::<i32, PAIRS>::new(), Scratch::<i32, WEIGHTS>::new());
    let mut first = 0;
    while first < layer.to.channels {
        let count = (layer.to.channels - first).min(way.block);
        let ends = Ends::new(s, layer, second, first, count * way.group);
        let weights = weights.filled(way.products() * way.padded(count), 0);
        lay_weights(&way, layer, (first, count), weights);
        let mut column = 0;
        while column < way.view.to[1] {
            let places = (way.view.to[1] - column).min(way.places);
            let pairs = pairs.filled(way.down * way.view.columns(places) * count + ROOM * PIXELS, 0);
            for y in 0..way.view.to[0] {
                let places = (column, places);
                lay_pairs(&way, layer, x, y, places, (first, count), pairs);
                row(s, &way, y, places, (first, count), pairs, weights, &ends, out);
            }
            column += places;
        }
        first += count;
    }
}

/// How a layer is walked.
struct Way {
    view: View,
    /// Pairs of rows.
    down: usize,
    /// Pixels that are taken for one.
    group: usize,
    /// Channels of a block.
    block: usize,
    /// Columns of the output in a band.
    places: usize,
    lanes: usize,
}

impl Way {
    /// `None` for what does not fit the stack and what breaks the contract.
    #[inline(always)]
    fn of(layer: &Layer<'_>, x: &[u8], out: &[u8], lanes: usize) -> Option<Self> {
        let mut view = View::of(layer, x, out)?;
        // Rows, where a view of single pixels has one.
        (view.from, view.to) = ([layer.from.height, layer.from.width], [layer.to.height, layer.to.width]);
        let (channels, down) = (view.channels, view.kernel[0].div_ceil(2));
        let most = WEIGHTS / (down * view.kernel[1]) / lanes * lanes;
        let block = channels.min(BLOCK - lanes).min(most);
        let group = if channels < lanes && view.stride[1] == 1 { lanes.div_ceil(channels) } else { 1 };
        // A last group may reach over the end of its row.
        let room = PAIRS - ROOM * PIXELS - group * channels;
        let places = if block == 0 { 0 } else { view.places(down, block, room) };
        let is_held = channels == layer.to.channels
            && layer.stride >= channels
            && layer.stride.checked_mul(layer.taps()).is_some_and(|len| len <= layer.weights.len());
        (is_held && places > 0 && most >= group * channels.min(block)).then_some(Self {
            view,
            down,
            group,
            block,
            places,
            lanes,
        })
    }

    /// Products that an output is the sum of.
    #[inline(always)]
    const fn products(&self) -> usize {
        self.down * self.view.kernel[1]
    }

    /// Pairs of weights for a product of all channels of a block, of as many pixels as are taken for one.
    #[inline(always)]
    const fn padded(&self, count: usize) -> usize {
        (count * self.group).next_multiple_of(self.lanes)
    }
}

/// (products, channels of the block): the weights of two rows of taps, 0 below the last.
#[inline(always)]
fn lay_weights(way: &Way, layer: &Layer<'_>, (first, count): (usize, usize), weights: &mut [i32]) {
    let [taps_down, across] = way.view.kernel;
    for (product, weights) in weights.chunks_exact_mut(way.padded(count)).enumerate() {
        let (row, column) = (2 * (product / across), product % across);
        let tap = |row: usize| rest(layer.weights, (row * across + column) * layer.stride + first);
        let (upper, lower) = (tap(row), if row + 1 < taps_down { tap(row + 1) } else { &[] });
        for (index, pair) in weights.iter_mut().take(count * way.group).enumerate() {
            let low = if lower.is_empty() { 0 } else { at(lower, index % count).into() };
            *pair = paired(at(upper, index % count).into(), low);
        }
    }
}

/// Two i16 in an i32.
#[inline(always)]
const fn paired(low: i32, high: i32) -> i32 {
    (low & 0xFFFF) | high << 16
}

/// (pairs of rows, columns, channels of the block): the elements that a row of outputs reads; padding stays 0.
#[inline(always)]
fn lay_pairs(
    way: &Way,
    layer: &Layer<'_>,
    x: &[u8],
    y: usize,
    places: (usize, usize),
    channels: (usize, usize),
    pairs: &mut [i32],
) {
    match layer.from.element {
        element::U8 => lay(way, layer, x, y, places, channels, pairs),
        element::I8 => lay(way, layer, typed::<i8>(x), y, places, channels, pairs),
        _ => lay(way, layer, typed::<i16>(x), y, places, channels, pairs),
    }
}

#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
#[cfg_attr(target_arch = "wasm32", inline(never))]
fn lay<T: Copy + Into<i32>>(
    way: &Way,
    layer: &Layer<'_>,
    x: &[T],
    y: usize,
    (column, places): (usize, usize),
    (first, count): (usize, usize),
    pairs: &mut [i32],
) {
    let (view, zero) = (&way.view, layer.from.zero);
    let columns = view.columns(places);
    for (pair, line) in pairs.chunks_exact_mut(columns * count).take(way.down).enumerate() {
        let row = y * view.stride[0] + 2 * pair * view.dilation[0];
        let upper = view.row(row, column, columns);
        let is_row = 2 * pair + 1 < view.kernel[0];
        let lower = if is_row { view.row(row + view.dilation[0], column, columns) } else { None };
        let Some((padding, _, len)) = upper.or(lower) else {
            line.fill(0);
            continue;
        };
        // All channels of all pixels lie in one run, or a block of channels of each pixel does.
        let (runs, run) = if count == view.channels { (1, len * count) } else { (len, count) };
        for index in 0..runs {
            let start = (padding + index) * count;
            let Some(line) = line.get_mut(start..start + run) else { return };
            match (upper, lower) {
                (Some((_, a, _)), Some((_, b, _))) => {
                    let (a, b) =
                        (rest(x, (a + index) * view.channels + first), rest(x, (b + index) * view.channels + first));
                    for ((pair, a), b) in line.iter_mut().zip(a).zip(b) {
                        *pair = paired((*a).into() - zero, (*b).into() - zero);
                    }
                }
                (Some((_, a, _)), None) => {
                    for (pair, a) in line.iter_mut().zip(rest(x, (a + index) * view.channels + first)) {
                        *pair = paired((*a).into() - zero, 0);
                    }
                }
                (None, Some((_, b, _))) => {
                    for (pair, b) in line.iter_mut().zip(rest(x, (b + index) * view.channels + first)) {
                        *pair = paired(0, (*b).into() - zero);
                    }
                }
                (None, None) => {}
            }
        }
    }
}

/// A row of outputs of a band.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "a kernel")]
fn row<S: Simd>(
    s: S,
    way: &Way,
    y: usize,
    (column, places): (usize, usize),
    (first, count): (usize, usize),
    pairs: &[i32],
    weights: &[i32],
    ends: &Ends<'_>,
    out: &mut [u8],
) {
    let view = &way.view;
    let line = view.columns(places) * count;
    // From a pixel, or from those that are taken for one, to the next, and their channels.
    let (pitch, wide) = (view.stride[1] * way.group * count, way.group * count);
    let pixels = places.div_ceil(way.group);
    let reach = (way.down - 1) * line
        + (pixels - 1) * pitch
        + (view.kernel[1] - 1) * view.dilation[1] * count
        + wide.next_multiple_of(way.lanes);
    if reach > pairs.len() || weights.len() < way.products() * way.padded(count) {
        debug_assert!(false, "a band that does not hold its rows");
        return;
    }
    let to = (y * view.to[1] + column) * view.channels + first;
    let mut channel = 0;
    while channel < wide {
        let mut pixel = 0;
        while pixel < pixels {
            // SAFETY: the furthest vector of a pixel, of the last product, ends at `reach`, which lies within the
            // pairs; weights are there for every product.
            pixel += unsafe {
                let (x, w) = (pairs.as_ptr().add(channel), weights.as_ptr().add(channel));
                let at = At { pixel, pitch, line, count, places, channel, to, channels: view.channels };
                if pixels - pixel >= PIXELS {
                    tile::<S, PIXELS>(s, way, x, w, &at, ends, out)
                } else {
                    tile::<S, 1>(s, way, x, w, &at, ends, out)
                }
            };
        }
        channel += way.lanes;
    }
}

/// Which outputs.
struct At {
    pixel: usize,
    pitch: usize,
    line: usize,
    count: usize,
    places: usize,
    channel: usize,
    to: usize,
    channels: usize,
}

/// A vector of channels of `N` pixels; returns their number.
///
/// # Safety
/// For every product a vector can be read from `w`, and one for each of the pixels from `x`.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
#[cfg_attr(target_arch = "wasm32", inline(never))]
unsafe fn tile<S: Simd, const N: usize>(
    s: S,
    way: &Way,
    x: *const i32,
    w: *const i32,
    at: &At,
    ends: &Ends<'_>,
    out: &mut [u8],
) -> usize {
    let (mut sums, mut w) = ([s.zero32(); N], w);
    let padded = way.padded(at.count);
    for down in 0..way.down {
        for across in 0..way.view.kernel[1] {
            let x = x.wrapping_add(down * at.line + at.pixel * at.pitch + across * way.view.dilation[1] * at.count);
            // SAFETY: the caller vouches for them; two i16 of a pair lie as a vector of i16 wants them.
            unsafe {
                let weights = s.load(&*w.cast::<S::Chunk>());
                for (index, sums) in sums.iter_mut().enumerate() {
                    let x = s.load(&*x.wrapping_add(index * at.pitch).cast::<S::Chunk>());
                    *sums = s.add_pairs(*sums, x, weights);
                }
            }
            w = w.wrapping_add(padded);
        }
    }
    for (index, sums) in sums.into_iter().enumerate() {
        // Elements of this pixel from the channel on, and of the row.
        let (wide, start) = (way.group * at.count, (at.pixel + index) * way.group);
        let left = (at.places - start) * at.count;
        let n = (wide.min(left)).saturating_sub(at.channel).min(way.lanes);
        if n > 0 {
            ends.write(s, sums, (at.channel, n), out, at.to + start * at.channels + at.channel);
        }
    }
    N
}
