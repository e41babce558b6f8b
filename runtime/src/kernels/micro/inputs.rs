//! The inputs of a place of the window, tap after tap from the top left to the bottom right, of each all channels.

use crate::kernels::maps::Layer;
use crate::workspace::{range, rest};

/// A place, and how far its inputs were read: a row of taps is inputs in the padding, inputs that lie side by side in
/// the map, and padding again.
#[derive(Clone, Copy, Default)]
pub(in crate::kernels) struct Walk {
    /// Rows of taps that are left, and the row of pixels of the first of them, padding included.
    rows: usize,
    row: usize,
    /// Inputs of a row before those in the map, up to their end, and in all.
    left: usize,
    right: usize,
    len: usize,
    /// The first of those in the map, in its row of pixels.
    first: usize,
    /// Inputs of the row that were read.
    done: usize,
}

/// Neighbouring inputs.
pub(in crate::kernels) enum Run<'x> {
    Pixels(&'x [u8]),
    /// So many in the padding.
    Padding(usize),
}

impl Walk {
    /// At the first input of a place, down and across.
    #[inline(always)]
    pub fn new(layer: &Layer<'_>, [down, across]: [usize; 2]) -> Self {
        let (geometry, from) = (&layer.geometry, &layer.from);
        let seen = geometry.seen(1, across, from.width);
        let channels = from.channels;
        let left = seen.tap * channels;
        Self {
            rows: geometry.kernel[0],
            row: down * geometry.stride[0],
            left,
            right: left + seen.count * channels,
            len: geometry.kernel[1] * channels,
            first: seen.pixel.wrapping_mul(channels),
            done: 0,
        }
    }

    /// The next inputs, at most `most`. None behind the last.
    #[inline(always)]
    pub fn run<'x>(&mut self, layer: &Layer<'_>, x: &'x [u8], most: usize) -> Option<Run<'x>> {
        let (geometry, from) = (&layer.geometry, &layer.from);
        if self.rows == 0 {
            return None;
        }
        // Before the map it wraps to a large number.
        let row = self.row.wrapping_sub(geometry.before[0]);
        let (mut start, mut end) = (None, self.len);
        if row < from.height {
            if self.done < self.left {
                end = self.left;
            } else if self.done < self.right {
                let mut at = self.done - self.left;
                end = self.right;
                if geometry.dilation[1] != 1 {
                    // Taps that do not see neighbours, one by one.
                    let tap = at / from.channels.max(1);
                    end = self.left + (tap + 1) * from.channels;
                    at += tap * (geometry.dilation[1] - 1) * from.channels;
                }
                start = Some(row * from.row() + self.first + at);
            }
        }
        let len = (end - self.done).min(most);
        self.done += len;
        if self.done == self.len {
            (self.done, self.rows, self.row) = (0, self.rows - 1, self.row + geometry.dilation[0]);
        }
        Some(match start {
            Some(start) => Run::Pixels(range(rest(x, start), 0..len)),
            None => Run::Padding(len),
        })
    }

    /// The next inputs into `out`, `padding` where there are none. Behind the last, `out` stays as it is, which meets
    /// weights that are 0.
    pub fn gather(&mut self, layer: &Layer<'_>, x: &[u8], padding: u8, out: &mut [u8]) {
        let mut out = out;
        while !out.is_empty()
            && let Some(run) = self.run(layer, x, out.len())
        {
            let len = match run {
                Run::Pixels(pixels) => {
                    out.iter_mut().zip(pixels).for_each(|(to, from)| *to = *from);
                    pixels.len()
                }
                Run::Padding(len) => {
                    out.iter_mut().take(len).for_each(|to| *to = padding);
                    len
                }
            };
            let Some(later) = out.get_mut(len..) else { return };
            out = later;
        }
    }
}
