//! The inputs of a place of the window, tap after tap from the top left to the bottom right, of each all channels.

use crate::kernels::maps::Layer;
use crate::workspace::{range, rest};
use core::ops::Range;

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

/// Places all of whose taps see pixels.
pub(in crate::kernels) struct Inner {
    rows: Range<usize>,
    columns: Range<usize>,
}

impl Inner {
    pub fn new(layer: &Layer<'_>) -> Self {
        let (from, to) = (&layer.from, &layer.to);
        let along = |axis: usize, size: usize, places: usize, taps: usize| {
            let is_whole = |place: usize| layer.geometry.seen(axis, place, size).count == taps;
            let start = (0..places).find(|place| is_whole(*place)).unwrap_or(places);
            start..(start..places).rev().find(|place| is_whole(*place)).map_or(start, |last| last + 1)
        };
        let [down, across] = layer.geometry.kernel;
        Self { rows: along(0, from.height, to.height, down), columns: along(1, from.width, to.width, across) }
    }

    /// Neighbours from a place on that are all of them, in its row.
    #[inline(always)]
    pub fn run(&self, [down, across]: [usize; 2]) -> usize {
        let is_there = self.rows.contains(&down) && self.columns.contains(&across);
        if is_there { self.columns.end - across } else { 0 }
    }

    /// The first input of a place that is one of them, in the map.
    #[inline(always)]
    pub fn corner(&self, layer: &Layer<'_>, [down, across]: [usize; 2]) -> Option<usize> {
        let (geometry, from) = (&layer.geometry, &layer.from);
        (self.rows.contains(&down) && self.columns.contains(&across)).then(|| {
            let row = (down * geometry.stride[0]).wrapping_sub(geometry.before[0]);
            let column = (across * geometry.stride[1]).wrapping_sub(geometry.before[1]);
            row.wrapping_mul(from.width).wrapping_add(column).wrapping_mul(from.channels)
        })
    }
}

impl Walk {
    /// At the first input of a place, down and across. inner: of its columns
    /// nothing is asked anew.
    #[inline(always)]
    pub fn new(layer: &Layer<'_>, [down, across]: [usize; 2], inner: &Inner) -> Self {
        let (geometry, from) = (&layer.geometry, &layer.from);
        let channels = from.channels;
        let len = geometry.kernel[1] * channels;
        let (mut left, mut right) = (0, len);
        let mut pixel = (across * geometry.stride[1]).wrapping_sub(geometry.before[1]);
        if !inner.columns.contains(&across) {
            let seen = geometry.seen(1, across, from.width);
            (left, pixel) = (seen.tap * channels, seen.pixel);
            right = left + seen.count * channels;
        }
        Self {
            rows: geometry.kernel[0],
            row: down * geometry.stride[0],
            left,
            right,
            len,
            first: pixel.wrapping_mul(channels),
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

    /// The inputs that are left into the front of `out`, if they are whole rows of taps, at most `most` inputs, whose
    /// pixels are neighbours; else nothing, and false. All is written by words: what these bring behind an end, what
    /// comes next writes over, or weights meet that are 0.
    #[inline(always)]
    pub fn gather_rows(&mut self, layer: &Layer<'_>, x: &[u8], padding: u8, most: usize, out: &mut [u8]) -> bool {
        const SPARE: usize = size_of::<u32>() - 1;
        let (from, down) = (&layer.from, layer.geometry.dilation[0]);
        let first = self.row as isize - layer.geometry.before[0] as isize;
        let last = (first + (self.rows * down) as isize - down as isize).min(from.height as isize - 1);
        let seen = self.right - self.left;
        let is_fit = self.done == 0
            && layer.geometry.dilation[1] == 1
            && seen > 0
            && self.rows * self.len <= most
            && most + SPARE <= out.len()
            && last >= 0
            && last as usize * from.row() + self.first + seen + SPARE <= x.len();
        // A processor that reads only words at multiples of four would take them apart.
        if cfg!(cortex_m = "thumb1") || !is_fit {
            return false;
        }
        let padding = u32::from(padding) * 0x0101_0101;
        let (mut row, mut to) = (first, out.as_mut_ptr());
        for _ in 0..self.rows {
            let (pixels, end) = (to.wrapping_add(self.left), to.wrapping_add(self.len));
            // SAFETY: what is written begins within a row of taps, so that it ends at most three bytes behind the last,
            // which `out` has. What is read begins within the pixels that are seen of a row of the map, up to row
            // `last`, and behind those the map was found to have three bytes.
            unsafe {
                if row >= 0 && row < from.height as isize {
                    fill(to, pixels, padding);
                    let mut from = x.as_ptr().wrapping_add(row as usize * from.row() + self.first);
                    let (mut to, behind) = (pixels, pixels.wrapping_add(seen));
                    while to < behind {
                        to.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned());
                        (from, to) = (from.wrapping_add(size_of::<u32>()), to.wrapping_add(size_of::<u32>()));
                    }
                    fill(behind, end, padding);
                } else {
                    fill(to, end, padding);
                }
            }
            (row, to) = (row + down as isize, end);
        }
        self.rows = 0;
        true
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

/// Words of padding, up to three bytes behind an end.
///
/// # Safety
/// As many can be written.
#[inline(always)]
unsafe fn fill(mut to: *mut u8, end: *mut u8, padding: u32) {
    while to < end {
        // SAFETY: the caller's.
        unsafe { to.cast::<u32>().write_unaligned(padding) };
        to = to.wrapping_add(size_of::<u32>());
    }
}
