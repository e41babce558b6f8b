//! A convolution with a filter for every channel, a vector of channels at a time.
//!
//! What an instruction set multiplies and adds in one step are neighbours, four bytes or two i16 of a lane of 32 bits;
//! here the neighbours are rows of the window, in the same column and channel ([`filter`](super::filter)). For each row
//! of outputs the rows that it reads are laid down in such lanes, padded to both sides, and their weights likewise once
//! a layer. A vector of sums then takes a load and a product for every column of the window, one for three taps or for
//! two, and vectors of several pixels share the weights.
//!
//! Where a vector is longer than a pixel and the window goes on by single pixels, several pixels are taken for one.

use super::band::{Scratch, View};
use super::ends::{BLOCK, Ends, Room};
use super::filter::{Filter, MOST_DOWN, WordFilter};
use super::{IS_COMPACT, Simd};
use crate::kernels::maps::{Layer, Map, plain};
use crate::workspace::{range_mut, rest, rest_mut};

/// Lanes of a band.
const LANES: usize = 8_192;
/// Lanes of weights of a block of channels.
const WEIGHTS: usize = 4_096;
/// Pixels that share weights.
const PIXELS: usize = 4;
/// A vector may begin at the last lane.
const ROOM: usize = 32;

/// [`crate::kernels::Depthwise`]; f: multiplies bytes, or all that there is.
#[inline(always)]
pub(in crate::kernels) fn depthwise<F: Filter>(
    f: F,
    layer: &Layer<'_>,
    x: &[u8],
    second: Option<(Map, &[u8])>,
    out: &mut [u8],
) {
    if F::takes(&layer.from) {
        filtered(f, layer, x, second, out);
    } else {
        filtered(WordFilter::new(f.simd()), layer, x, second, out);
    }
}

#[inline(always)]
fn filtered<F: Filter>(f: F, layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    let Some(way) = Way::of::<F>(layer, x, out) else { return plain::depthwise(layer, x, second, out) };
    let (mut lanes, mut weights) = (Scratch::<i32, LANES>::new(), Scratch::<i32, WEIGHTS>::new());
    let mut first = 0;
    while first < layer.to.channels {
        let count = (layer.to.channels - first).min(way.block);
        let mut room = Room::new();
        let mut ends = Ends::new(f.simd(), layer, second, (first, count * way.group), &mut room);
        let weights = weights.filled(way.products() * way.padded(count), 0);
        lay_weights::<F>(&way, layer, (first, count), weights);
        take_excess_off::<F>(&way, layer, (first, count), &mut ends);
        let mut column = 0;
        while column < way.view.to[1] {
            let places = (way.view.to[1] - column).min(way.places);
            let lanes =
                lanes.filled(way.down * way.view.columns(places) * count + ROOM * PIXELS, F::padding(&layer.from));
            let columns = way.view.columns(places);
            let held = way.view.held(column, columns).unwrap_or((columns, 0, 0));
            for y in 0..way.view.to[0] {
                lay_rows::<F>(&way, layer, x, y, columns, held, (first, count), lanes);
                row(f, &way, y, (column, places), (first, count), lanes, weights, &ends, out);
            }
            column += places;
        }
        first += count;
    }
}

/// How a layer is walked.
struct Way {
    view: View,
    /// Rows of lanes.
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
    fn of<F: Filter>(layer: &Layer<'_>, x: &[u8], out: &[u8]) -> Option<Self> {
        let lanes = <F::Simd as Simd>::LANES / 2;
        let mut view = View::of(layer, x, out)?;
        // Rows, where a view of single pixels has one.
        (view.from, view.to) = ([layer.from.height, layer.from.width], [layer.to.height, layer.to.width]);
        let (channels, down) = (view.channels, view.kernel[0].div_ceil(F::DOWN));
        let most = WEIGHTS / (down * view.kernel[1]) / lanes * lanes;
        let block = channels.min(BLOCK).min(most);
        let group = if channels < lanes && view.stride[1] == 1 { lanes.div_ceil(channels) } else { 1 };
        // A last group may reach over the end of its row.
        let room = LANES - ROOM * PIXELS - group * channels;
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

    /// Lanes of weights for a product of all channels of a block, of as many pixels as are taken for one.
    #[inline(always)]
    const fn padded(&self, count: usize) -> usize {
        (count * self.group).next_multiple_of(self.lanes)
    }
}

/// (products, channels of the block): the weights of a lane's rows of taps, 0 below the last.
#[inline(always)]
fn lay_weights<F: Filter>(way: &Way, layer: &Layer<'_>, (first, count): (usize, usize), weights: &mut [i32]) {
    let [taps_down, across] = way.view.kernel;
    for (product, weights) in weights.chunks_exact_mut(way.padded(count)).enumerate() {
        let (top, column) = (F::DOWN * (product / across), product % across);
        for down in 0..F::DOWN.min(taps_down - top) {
            let taps = rest(layer.weights, ((top + down) * across + column) * layer.stride + first);
            F::put_weights(down, taps, range_mut(weights, 0..count));
        }
        // The pixels that are taken for one have the same.
        let mut done = count;
        while done < count * way.group {
            let Some((laid, weights)) = weights.split_at_mut_checked(done) else { break };
            weights.iter_mut().zip(laid.iter().take(count)).for_each(|(weight, laid)| *weight = *laid);
            done += count;
        }
    }
}

/// What elements count too much is the same for all pixels: as much as weights sum up to, times the excess.
#[inline(always)]
fn take_excess_off<F: Filter>(way: &Way, layer: &Layer<'_>, (first, count): (usize, usize), ends: &mut Ends<'_>) {
    let excess = F::excess(&layer.from);
    if excess == 0 {
        return;
    }
    let mut sums = Scratch::<i32, BLOCK>::new();
    let sums = sums.filled(count, 0);
    for tap in 0..layer.taps() {
        for (sum, weight) in sums.iter_mut().zip(rest(layer.weights, tap * layer.stride + first)) {
            *sum = sum.wrapping_add(excess * i32::from(*weight));
        }
    }
    for pixel in 0..way.group {
        ends.take_off(pixel * count, sums);
    }
}

/// (rows of lanes, columns, channels of the block): the elements that a row of outputs reads; columns of padding stay.
/// padding, from, len: columns of padding before the map's, the first of those, and how many there are.
#[inline(always)]
fn lay_rows<F: Filter>(
    way: &Way,
    layer: &Layer<'_>,
    x: &[u8],
    y: usize,
    columns: usize,
    (padding, from, len): (usize, usize, usize),
    (first, count): (usize, usize),
    lanes: &mut [i32],
) {
    let view = &way.view;
    // All channels of all pixels lie in one run, or a block of channels of each pixel does.
    let (runs, run) = if count == view.channels { (1, len * count) } else { (len, count) };
    // Rows above the map wrap to far below it.
    let top = (y * view.stride[0]).wrapping_sub(view.before[0]);
    for (index, line) in lanes.chunks_exact_mut(columns * count).take(way.down).enumerate() {
        let mut pixels = [None; MOST_DOWN];
        for (down, pixel) in pixels.iter_mut().enumerate().take(F::DOWN) {
            let tap = index * F::DOWN + down;
            let row = top.wrapping_add(tap * view.dilation[0]);
            let is_there = tap < view.kernel[0] && row < view.from[0];
            let start = row.wrapping_mul(view.from[1]).wrapping_add(from).wrapping_mul(view.channels);
            *pixel = is_there.then_some(start.wrapping_add(first));
        }
        let line = rest_mut(line, padding * count);
        for line in line.chunks_exact_mut(run.max(1)).take(runs) {
            F::lay(&layer.from, x, &pixels, line);
            for pixel in pixels.iter_mut().flatten() {
                *pixel += view.channels;
            }
        }
    }
}

/// A row of outputs of a band.
#[inline(always)]
fn row<F: Filter>(
    f: F,
    way: &Way,
    y: usize,
    (column, places): (usize, usize),
    (first, count): (usize, usize),
    lanes: &[i32],
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
    if reach > lanes.len() || weights.len() < way.products() * way.padded(count) {
        debug_assert!(false, "a band that does not hold its rows");
        return;
    }
    // Windows of 3 x 3 have loops of their own, in which all products are known.
    let is_three = !IS_COMPACT && view.kernel == [3, 3];
    let to = (y * view.to[1] + column) * view.channels + first;
    // Elements of the last pixels that are taken for one.
    let last = (places - (pixels - 1) * way.group) * count;
    let mut channel = 0;
    while channel < wide {
        let left = |wide: usize| wide.saturating_sub(channel).min(way.lanes);
        let at = At {
            pixels,
            pitch,
            line,
            step: view.dilation[1] * count,
            padded: way.padded(count),
            channel,
            lens: [left(wide), left(last)],
            to: to + channel,
            wide: way.group * view.channels,
        };
        // SAFETY: the furthest vector of a pixel, of the last product, ends at `reach`, which lies within the lanes;
        // weights are there for every product.
        unsafe {
            let (x, w) = (lanes.as_ptr().add(channel), weights.as_ptr().add(channel));
            if is_three {
                along::<F, true>(f, way, x, w, &at, ends, out);
            } else {
                along::<F, false>(f, way, x, w, &at, ends, out);
            }
        }
        channel += way.lanes;
    }
}

/// Where the pixels of a row lie, and a vector of their channels.
struct At {
    /// How many there are.
    pixels: usize,
    /// Lanes from one to the next, from a row of lanes to the next, and from a tap to the next.
    pitch: usize,
    line: usize,
    step: usize,
    /// Lanes of weights from a product to the next.
    padded: usize,
    /// The first of the vector, in the block.
    channel: usize,
    /// Elements of the vector that are written, and those of the last pixel.
    lens: [usize; 2],
    /// The element that the first pixel writes first, and from there to the next pixel's.
    to: usize,
    wide: usize,
}

/// A vector of channels of all pixels of a row, [`PIXELS`] of them at a time; `THREE`: of a window of 3 x 3.
///
/// # Safety
/// For every product a vector can be read from `w`, and one for each of the pixels from `x`.
#[inline(always)]
unsafe fn along<F: Filter, const THREE: bool>(
    f: F,
    way: &Way,
    x: *const i32,
    w: *const i32,
    at: &At,
    ends: &Ends<'_>,
    out: &mut [u8],
) {
    // Whole vectors of bytes, whose places are compared once.
    let end = at.to + (at.pixels - 1) * at.wide + way.lanes;
    let is_plain = !IS_COMPACT && ends.is_bytes && at.lens == [way.lanes; 2] && end <= out.len();
    let mut pixel = 0;
    while pixel < at.pixels {
        let left = at.pixels - pixel;
        // SAFETY: the caller's; bytes as whole vectors only where they are there.
        pixel += unsafe {
            // A row's last five or six pixels are one tile: what surrounds a tile takes as long as a pixel or two.
            if THREE && F::Simd::STORES_FOUR && left == PIXELS + 1 {
                tile::<F, { PIXELS + 1 }, THREE>(f, way, x, w, at, pixel, is_plain, ends, out)
            } else if THREE && F::Simd::STORES_FOUR && left == PIXELS + 2 {
                tile::<F, { PIXELS + 2 }, THREE>(f, way, x, w, at, pixel, is_plain, ends, out)
            } else if left >= PIXELS {
                tile::<F, PIXELS, THREE>(f, way, x, w, at, pixel, is_plain, ends, out)
            } else if !IS_COMPACT && left >= 2 {
                tile::<F, 2, THREE>(f, way, x, w, at, pixel, is_plain, ends, out)
            } else {
                tile::<F, 1, THREE>(f, way, x, w, at, pixel, is_plain, ends, out)
            }
        };
    }
}

/// A vector of channels of `N` pixels; returns their number.
///
/// # Safety
/// For every product a vector can be read from `w`, and one for each of the pixels from `x`; if `is_plain`, a vector of
/// bytes can be written to `out` for each of the pixels.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
#[cfg_attr(target_arch = "wasm32", inline(never))]
unsafe fn tile<F: Filter, const N: usize, const THREE: bool>(
    f: F,
    way: &Way,
    x: *const i32,
    w: *const i32,
    at: &At,
    pixel: usize,
    is_plain: bool,
    ends: &Ends<'_>,
    out: &mut [u8],
) -> usize {
    let [down, across] = if THREE { [3_usize.div_ceil(F::DOWN), 3] } else { [way.down, way.view.kernel[1]] };
    let (s, mut sums, mut w) = (f.simd(), [f.zero(); N], w);
    let mut x = x.wrapping_add(pixel * at.pitch);
    for _ in 0..down {
        let mut tap = x;
        for _ in 0..across {
            // SAFETY: the caller vouches for them.
            unsafe {
                let weights = f.load(w);
                for (index, sums) in sums.iter_mut().enumerate() {
                    *sums = f.mac(*sums, f.load(tap.wrapping_add(index * at.pitch)), weights);
                }
            }
            (tap, w) = (tap.wrapping_add(at.step), w.wrapping_add(at.padded));
        }
        x = x.wrapping_add(at.line);
    }
    let to = at.to + pixel * at.wide;
    if is_plain {
        let end = ends.end(s, at.channel);
        if F::Simd::STORES_FOUR {
            let mut lanes = [<F::Simd as Simd>::Chunk32::default(); N];
            for (lanes, sums) in lanes.iter_mut().zip(sums) {
                s.store32(lanes, f.sums(sums));
            }
            ends.pixels(s, &end, &lanes, way.lanes, out, (to, at.wide));
            return N;
        }
        let out = out.as_mut_ptr().wrapping_add(to);
        for (index, sums) in sums.iter().enumerate() {
            let bytes = out.wrapping_add(index * at.wide).cast::<<F::Simd as Simd>::NarrowByteChunk>();
            // SAFETY: the caller vouches for a vector of bytes.
            s.store_low_bytes32(unsafe { &mut *bytes }, end.bytes(s, f.sums(*sums)));
        }
        return N;
    }
    for (index, sums) in sums.into_iter().enumerate() {
        let n = at.lens[usize::from(pixel + index + 1 == at.pixels)];
        if n > 0 {
            ends.write(s, f.sums(sums), (at.channel, n), out, to + index * at.wide);
        }
    }
    N
}
