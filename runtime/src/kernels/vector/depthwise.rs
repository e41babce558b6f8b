//! A convolution with a filter for every channel, a vector of channels at a time.
//!
//! What an instruction set multiplies and adds in one step are neighbours, four bytes or two i16 of a lane of 32 bits;
//! here the neighbours are rows of the window, in the same column and channel ([`filter`](super::filter)). For each row
//! of outputs the rows that it reads are laid down in such lanes, padded to both sides, and their weights likewise once
//! a layer ([`lanes`](super::lanes)). A vector of sums then takes a load and a product for every column of the window,
//! one for three taps or for two, and vectors of several pixels share the weights.
//!
//! Where a vector is longer than a pixel and the window goes on by single pixels, several pixels are taken for one.

use super::band::Scratch;
use super::ends::{BLOCK, Ends, Room};
use super::filter::{Filter, WordFilter};
use super::lanes::{LANES, PIXELS, ROOM, WEIGHTS, Way, lay_rows, lay_weights, two_rows};
use super::{IS_COMPACT, Simd};
use crate::kernels::maps::{Layer, Map, plain};
use crate::workspace::rest;

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
        let weights = weights.filled(way.rows * way.products() * way.padded(count), 0);
        lay_weights::<F>(&way, layer, (first, count), weights);
        take_excess_off::<F>(&way, layer, (first, count), &mut ends);
        let mut column = 0;
        while column < way.view.to[1] {
            let places = (way.view.to[1] - column).min(way.places);
            let lanes =
                lanes.filled(way.down * way.view.columns(places) * count + ROOM * PIXELS, F::padding(&layer.from));
            let columns = way.view.columns(places);
            let held = way.view.held(column, columns).unwrap_or((columns, 0, 0));
            let mut done = 0;
            while done < way.view.to[0] {
                // A last row that is alone goes with the one above once more.
                let y = done.min(way.view.to[0] - way.rows);
                lay_rows::<F>(&way, layer, x, y, columns, held, (first, count), lanes);
                row(f, &way, y, (column, places), (first, count), lanes, weights, &ends, out);
                done += way.rows;
            }
            column += places;
        }
        first += count;
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

/// A row of outputs of a band, or the two that read the same lanes.
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
    if reach > lanes.len() || weights.len() < way.rows * way.products() * way.padded(count) {
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
            down: view.to[1] * view.channels,
        };
        // SAFETY: the furthest vector of a pixel, of the last product, ends at `reach`, which lies within the lanes;
        // weights are there for every product.
        unsafe {
            let (x, w) = (lanes.as_ptr().add(channel), weights.as_ptr().add(channel));
            if two_rows::<F>() && is_three && way.rows == 2 {
                along::<F, true, 2>(f, way, x, w, &at, ends, out);
            } else if is_three {
                along::<F, true, 1>(f, way, x, w, &at, ends, out);
            } else {
                along::<F, false, 1>(f, way, x, w, &at, ends, out);
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
    /// From a row of outputs to the next.
    down: usize,
}

/// A vector of channels of all pixels of `ROWS` rows, [`PIXELS`] of them at a time; `THREE`: of a window of 3 x 3.
///
/// # Safety
/// For every product of each row a vector can be read from `w`, and one for each of the pixels from `x`.
#[inline(always)]
unsafe fn along<F: Filter, const THREE: bool, const ROWS: usize>(
    f: F,
    way: &Way,
    x: *const i32,
    w: *const i32,
    at: &At,
    ends: &Ends<'_>,
    out: &mut [u8],
) {
    // Whole vectors of bytes, whose places are compared once.
    let end = at.to + (ROWS - 1) * at.down + (at.pixels - 1) * at.wide + way.lanes;
    let is_plain = !IS_COMPACT && ends.is_bytes && at.lens == [way.lanes; 2] && end <= out.len();
    let mut pixel = 0;
    while pixel < at.pixels {
        let left = at.pixels - pixel;
        // SAFETY: the caller's; bytes as whole vectors only where they are there.
        pixel += unsafe {
            // A row's last five or six pixels are one tile: what surrounds a tile takes as long as a pixel or two.
            if THREE && F::Simd::STORES_FOUR && left == PIXELS + 1 {
                tile::<F, { PIXELS + 1 }, THREE, ROWS>(f, way, x, w, at, pixel, is_plain, ends, out)
            } else if THREE && F::Simd::STORES_FOUR && left == PIXELS + 2 {
                tile::<F, { PIXELS + 2 }, THREE, ROWS>(f, way, x, w, at, pixel, is_plain, ends, out)
            } else if left >= PIXELS {
                tile::<F, PIXELS, THREE, ROWS>(f, way, x, w, at, pixel, is_plain, ends, out)
            } else if !IS_COMPACT && left >= 2 {
                tile::<F, 2, THREE, ROWS>(f, way, x, w, at, pixel, is_plain, ends, out)
            } else {
                tile::<F, 1, THREE, ROWS>(f, way, x, w, at, pixel, is_plain, ends, out)
            }
        };
    }
}

/// A vector of channels of `N` pixels of each row; returns their number.
///
/// # Safety
/// For every product of each row a vector can be read from `w`, and one for each of the pixels from `x`; if `is_plain`,
/// a vector of bytes can be written to `out` for each of the pixels of each row.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
#[cfg_attr(target_arch = "wasm32", inline(never))]
unsafe fn tile<F: Filter, const N: usize, const THREE: bool, const ROWS: usize>(
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
    let (mut sums, mut w) = ([[f.zero(); N]; ROWS], w);
    let mut x = x.wrapping_add(pixel * at.pitch);
    // From a row's weights to the next one's.
    let lower = down * across * at.padded;
    for _ in 0..down {
        let mut tap = x;
        for _ in 0..across {
            // SAFETY: the caller vouches for them.
            unsafe {
                let mut weights = [f.load(w); ROWS];
                for (row, weights) in weights.iter_mut().enumerate().skip(1) {
                    *weights = f.load(w.wrapping_add(row * lower));
                }
                for index in 0..N {
                    let x = f.load(tap.wrapping_add(index * at.pitch));
                    for (sums, weights) in sums.iter_mut().zip(weights) {
                        sums[index] = f.mac(sums[index], x, weights);
                    }
                }
            }
            (tap, w) = (tap.wrapping_add(at.step), w.wrapping_add(at.padded));
        }
        x = x.wrapping_add(at.line);
    }
    let mut to = at.to + pixel * at.wide;
    for sums in sums {
        // SAFETY: the caller vouches for a vector of bytes a pixel.
        unsafe { finish(f, way, sums, at, (pixel, to), is_plain, ends, out) };
        to += at.down;
    }
    N
}

/// Writes the sums of `N` pixels from `pixel` of a row on, the first of them from the element `to` of the output.
///
/// # Safety
/// If `is_plain`, a vector of bytes can be written to `out` for each of them.
#[inline(always)]
unsafe fn finish<F: Filter, const N: usize>(
    f: F,
    way: &Way,
    sums: [F::Sums; N],
    at: &At,
    (pixel, to): (usize, usize),
    is_plain: bool,
    ends: &Ends<'_>,
    out: &mut [u8],
) {
    let s = f.simd();
    if is_plain {
        let end = ends.end(s, at.channel);
        if F::Simd::STORES_FOUR {
            let mut lanes = [<F::Simd as Simd>::Chunk32::default(); N];
            for (lanes, sums) in lanes.iter_mut().zip(sums) {
                s.store32(lanes, f.sums(sums));
            }
            ends.pixels(s, &end, &lanes, way.lanes, out, (to, at.wide));
            return;
        }
        let out = out.as_mut_ptr().wrapping_add(to);
        for (index, sums) in sums.iter().enumerate() {
            let bytes = out.wrapping_add(index * at.wide).cast::<<F::Simd as Simd>::NarrowByteChunk>();
            // SAFETY: the caller vouches for a vector of bytes.
            s.store_low_bytes32(unsafe { &mut *bytes }, end.bytes(s, f.sums(*sums)));
        }
        return;
    }
    for (index, sums) in sums.into_iter().enumerate() {
        let n = at.lens[usize::from(pixel + index + 1 == at.pixels)];
        if n > 0 {
            ends.write(s, f.sums(sums), (at.channel, n), out, to + index * at.wide);
        }
    }
}
