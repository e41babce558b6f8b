//! What filters of single channels read, laid in lanes: how a layer is walked, its weights, and the rows of its input.
//!
//! Two i16 a lane leave a place free below the third row of a window. There lies the row that the next row of outputs
//! reads besides, so that both read the same lanes, the lower one by weights that lie a row lower: lanes are laid half
//! as often, and loaded once for both.

use super::Simd;
use super::band::View;
use super::ends::BLOCK;
use super::filter::{Filter, MOST_DOWN};
use crate::kernels::maps::Layer;
use crate::workspace::{range_mut, rest, rest_mut};

/// Lanes of a band.
pub(super) const LANES: usize = 8_192;
/// Lanes of weights of a block of channels.
pub(super) const WEIGHTS: usize = 4_096;
/// Pixels that share weights.
pub(super) const PIXELS: usize = 4;
/// A vector may begin at the last lane.
pub(super) const ROOM: usize = 32;

/// How a layer is walked.
pub(super) struct Way {
    pub view: View,
    /// Rows of lanes.
    pub down: usize,
    /// Rows of outputs that read the same lanes.
    pub rows: usize,
    /// Pixels that are taken for one.
    pub group: usize,
    /// Channels of a block.
    pub block: usize,
    /// Columns of the output in a band.
    pub places: usize,
    pub lanes: usize,
}

impl Way {
    /// `None` for what does not fit the stack and what breaks the contract.
    #[inline(always)]
    pub fn of<F: Filter>(layer: &Layer<'_>, x: &[u8], out: &[u8]) -> Option<Self> {
        let lanes = <F::Simd as Simd>::LANES / 2;
        let mut view = View::of(layer, x, out)?;
        // Rows, where a view of single pixels has one.
        (view.from, view.to) = ([layer.from.height, layer.from.width], [layer.to.height, layer.to.width]);
        let (channels, down) = (view.channels, view.kernel[0].div_ceil(F::DOWN));
        let has_three = view.kernel == [3; 2] && view.stride[0] == 1 && view.dilation[0] == 1;
        let rows = if two_rows::<F>() && has_three && view.to[0] > 1 { 2 } else { 1 };
        let most = WEIGHTS / (rows * down * view.kernel[1]) / lanes * lanes;
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
            rows,
            group,
            block,
            places,
            lanes,
        })
    }

    /// Products that an output is the sum of.
    #[inline(always)]
    pub const fn products(&self) -> usize {
        self.down * self.view.kernel[1]
    }

    /// Lanes of weights for a product of all channels of a block, of as many pixels as are taken for one.
    #[inline(always)]
    pub const fn padded(&self, count: usize) -> usize {
        (count * self.group).next_multiple_of(self.lanes)
    }
}

/// Whether two rows of outputs may read the same lanes.
pub(super) const fn two_rows<F: Filter>() -> bool {
    <F::Simd as Simd>::TWO_ROWS && F::DOWN == 2
}

/// (rows of outputs, products, channels of the block): the weights of a lane's rows of taps, 0 below the last and, of
/// the second row of outputs, above the first.
#[inline(always)]
pub(super) fn lay_weights<F: Filter>(
    way: &Way,
    layer: &Layer<'_>,
    (first, count): (usize, usize),
    weights: &mut [i32],
) {
    let [taps_down, across] = way.view.kernel;
    for (product, weights) in weights.chunks_exact_mut(way.padded(count)).enumerate() {
        let (above, product) = (product / way.products(), product % way.products());
        let (top, column) = (F::DOWN * (product / across), product % across);
        for down in 0..F::DOWN {
            let Some(tap) = (top + down).checked_sub(above).filter(|tap| *tap < taps_down) else { continue };
            let taps = rest(layer.weights, (tap * across + column) * layer.stride + first);
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

/// (rows of lanes, columns, channels of the block): the elements that a row of outputs, or two, reads; columns of
/// padding stay.
/// padding, from, len: columns of padding before the map's, the first of those, and how many there are.
#[inline(always)]
pub(super) fn lay_rows<F: Filter>(
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
            let is_there = tap < view.kernel[0] + way.rows - 1 && row < view.from[0];
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
