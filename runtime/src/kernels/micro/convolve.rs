//! A convolution whose outputs see all channels, a pixel at a time.
//!
//! The inputs of a pixel stay bytes, with their zero point, so that the dense layers' own blocks multiply them:
//! straight from the map where the window is a single pixel, else gathered, a run of neighbouring taps at once. Padding
//! is the zero point too, and what that counts too much, its product with the sum of the weights, is taken off the
//! biases before the first pixel. Weights lie in K4, in which rows and groups behind the last are zeros.

use super::dense::Blocks;
use crate::format::element;
use crate::kernels::maps::{Beside, Layer, Map};
use crate::kernels::vector::dense::fits;
use crate::sure::bias_at;
use crate::workspace::{range, range_mut, rest};

/// Outputs that are summed at once.
const ROWS: usize = 64;
/// Sums behind them that a block may write.
const ROOM: usize = 8;
/// Inputs that are gathered at once, a multiple of four.
const INPUTS: usize = 256;

/// Adds the products of whole groups to sums of `rows` rows, and of none behind `left`; whole blocks may write more.
///
/// # Safety
/// As [`Blocks::block`] for every block of rows; `left` rows of weights can be read, and `rows + ROOM` sums written.
type Add =
    unsafe fn(x: *const u8, w: *const i8, stride: usize, groups: usize, sums: *mut i32, rows: usize, left: usize);

/// [`crate::kernels::Convolve`]; `U` and `I` multiply bytes without and with a sign.
#[inline(always)]
pub(in crate::kernels) fn convolve<U: Blocks<u8>, I: Blocks<i8>>(
    layer: &Layer<'_>,
    x: &[u8],
    second: Option<(Map, &[u8])>,
    out: &mut [u8],
) {
    let add: Add = if layer.from.element == element::I8 { add::<I, i8> } else { add::<U, u8> };
    let groups = (layer.taps() * layer.from.channels).div_ceil(4);
    if !fits(groups, layer.stride, layer.weights.len(), layer.to.channels)
        || !layer.weights.as_ptr().addr().is_multiple_of(4)
    {
        debug_assert!(false, "weights that are not those of the layer");
        return;
    }
    let mut first = 0;
    while first < layer.to.channels {
        block(add, layer, x, second, out, first);
        first += ROWS;
    }
}

/// Outputs `first..`, at most `ROWS` of them, of all pixels.
#[inline(never)]
fn block(add: Add, layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8], first: usize) {
    let (from, to) = (&layer.from, &layer.to);
    let rows = (to.channels - first).min(ROWS);
    let (mut biases, mut sums, mut gathered) = ([0; ROWS], [0; ROWS + ROOM], [0; INPUTS]);
    let padding = from.zero as u8;
    let groups = (layer.taps() * from.channels).div_ceil(4);
    let products = |x: &[u8], start: usize, groups: usize, sums: &mut [i32; ROWS + ROOM]| {
        let weights = layer.weights.as_ptr().wrapping_add(4 * (start * layer.stride + first));
        debug_assert!(4 * groups <= x.len(), "groups that are not there");
        if 4 * groups <= x.len() {
            // SAFETY: `x` was measured; `convolve` has measured the weights, whose rows lie within the stride, a
            // multiple of four, as `first` is; there is room behind the sums.
            unsafe {
                add(x.as_ptr(), weights, 4 * layer.stride, groups, sums.as_mut_ptr(), rows, layer.stride - first);
            }
        }
    };
    // Sums of the weights, if all inputs are the zero point.
    if padding != 0 {
        gathered.fill(padding);
        let mut done = 0;
        while done < groups {
            let some = (groups - done).min(INPUTS / 4);
            products(&gathered, done, some, &mut sums);
            done += some;
        }
    }
    for (index, (bias, sum)) in biases.iter_mut().zip(&sums).enumerate().take(rows) {
        *bias = bias_at(layer.bias, first + index).wrapping_sub(*sum);
    }
    // A window of single pixels, of whole groups, reads them where they are.
    let is_direct = layer.taps() == 1 && layer.geometry.before == [0, 0] && from.channels.is_multiple_of(4);
    let mut start = first;
    for y in 0..to.height {
        for column in 0..to.width {
            for (sum, bias) in sums.iter_mut().zip(&biases) {
                *sum = *bias;
            }
            let mut walk = Walk { place: [y, column], down: 0, across: 0, channel: 0 };
            if is_direct && let Some(pixel) = layer.pixel(walk.place, [0, 0]) {
                products(rest(x, pixel), 0, groups, &mut sums);
            } else {
                let mut done = 0;
                while done < groups {
                    let some = (groups - done).min(INPUTS / 4);
                    walk.gather(layer, x, padding, range_mut(&mut gathered, 0..4 * some));
                    products(&gathered, done, some, &mut sums);
                    done += some;
                }
            }
            let beside = second.map(|(map, bytes)| Beside { map, bytes, start });
            layer.rounding.block(range(&sums, 0..rows), first, beside, (*to, out, start));
            start += to.channels;
        }
    }
}

/// A place of the window, and how far its inputs are gathered.
struct Walk {
    place: [usize; 2],
    down: usize,
    across: usize,
    channel: usize,
}

impl Walk {
    /// The next inputs: tap after tap from the top left to the bottom right, of each all channels. Behind the last
    /// `out` stays as it is, which meets weights that are 0.
    fn gather(&mut self, layer: &Layer<'_>, x: &[u8], padding: u8, out: &mut [u8]) {
        let (geometry, from) = (&layer.geometry, &layer.from);
        let [taps_down, taps_across] = geometry.kernel;
        let row = |down: usize| geometry.input(0, self.place[0], down, from.height);
        let (mut out, mut pixels) = (out, row(self.down));
        while !out.is_empty() && self.down < taps_down {
            let column = geometry.input(1, self.place[1], self.across, from.width);
            let pixel = pixels.zip(column).map(|(row, column)| row * from.width + column);
            // Taps from this one on that see neighbours.
            let run = match column {
                Some(column) if geometry.dilation[1] == 1 => (taps_across - self.across).min(from.width - column),
                _ => 1,
            };
            let len = (run * from.channels - self.channel).min(out.len());
            let (now, later) = out.split_at_mut(len);
            match pixel {
                Some(pixel) => copy(rest(x, pixel * from.channels + self.channel), now),
                None => now.fill(padding),
            }
            out = later;
            self.channel += len;
            // By steps: a division is dearer where the processor has none.
            while self.channel >= from.channels && self.across < taps_across {
                self.channel -= from.channels;
                self.across += 1;
            }
            if self.across == taps_across {
                (self.across, self.down) = (0, self.down + 1);
                pixels = row(self.down);
            }
        }
    }
}

/// As many bytes as both have.
#[inline(always)]
fn copy(from: &[u8], to: &mut [u8]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}

/// [`Add`].
unsafe fn add<B: Blocks<T>, T>(
    x: *const u8,
    w: *const i8,
    stride: usize,
    groups: usize,
    sums: *mut i32,
    rows: usize,
    left: usize,
) {
    let x = x.cast::<T>();
    let mut row = 0;
    while row < rows {
        let (weights, sums) = (w.wrapping_add(4 * row), sums.wrapping_add(row));
        // A block of which more than half is wanted costs less than its rows one by one.
        let is_block = rows - row > B::ROWS / 2 && left - row >= B::ROWS;
        // SAFETY: the caller's.
        unsafe {
            if is_block {
                B::block(x, weights, stride, groups, sums);
            } else {
                *sums = B::one(*sums, x, weights, stride, groups);
            }
        }
        row += if is_block { B::ROWS } else { 1 };
    }
}
