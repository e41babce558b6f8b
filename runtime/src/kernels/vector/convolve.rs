//! A convolution whose outputs see all channels, as a matrix product without a matrix of patches.
//!
//! The rows that a window covers lie in a ring on the stack, padded to both sides and in the form in which the
//! instruction set multiplies: bytes with or without a sign, or i16 without their zero point. There the inputs of a
//! kernel's row are one run, and those of the next output a fixed distance away, so that an output is summed over a few
//! runs whose places are listed once a row. Runs that are no multiple of four, as of pictures with three channels,
//! would share a group of four weights. Those of a few outputs are laid anew, each run's from a group of its own on;
//! where there are many, and where modules are downloaded, the runs of every pixel are copied into one.
//!
//! What multiplies them is [`tile`](super::tile). Where bytes still hold their zero point, its product with the sum of
//! the weights is taken off the bias, which costs as much as one more pixel; padding holds it too.

use super::band::{Lane, Scratch, View};
use super::dense::fits;
use super::ends::{BLOCK, Ends, Room};
use super::tile::{Runs, Tile, pixels};
use super::{IS_COMPACT, Simd};
use crate::kernels::maps::{Layer, Map, plain};
use crate::workspace::rest;
use core::hint::black_box;

/// Elements of the ring.
const RING: usize = 16_384;
/// Elements of copied runs.
const COPIES: usize = 8_192;
/// Groups of four weights that are laid anew.
const LAID: usize = 2_048;
/// Runs that an output is summed over.
const RUNS: usize = 32;
/// Pixels of the widest tile.
const MOST_PIXELS: usize = 16;
/// Elements that are copied at once, and as many may be read and written behind the end.
const COPIED: usize = 16;

/// [`crate::kernels::Convolve`].
#[inline(always)]
pub(in crate::kernels) fn convolve<S: Simd, T: Tile>(
    s: S,
    t: T,
    layer: &Layer<'_>,
    x: &[u8],
    second: Option<(Map, &[u8])>,
    out: &mut [u8],
) {
    let Some(way) = Way::of::<T>(layer, x, out) else { return plain::convolve(layer, x, second, out) };
    let (mut ring, mut copies) = (Scratch::<T::Input, RING>::new(), Scratch::<T::Input, COPIES>::new());
    let mut laid = Scratch::<u32, LAID>::new();
    let layer = &if IS_COMPACT || way.laid == 0 {
        *layer
    } else {
        let laid = laid.filled(way.laid, 0);
        lay_weights(&way, layer, laid);
        Layer { weights: bytemuck::cast_slice(laid), ..*layer }
    };
    let padding = T::Input::zero(&layer.from);
    let mut first = 0;
    while first < layer.to.channels {
        let count = (layer.to.channels - first).min(BLOCK);
        let mut room = Room::new();
        let mut ends = Ends::new(s, layer, second, (first, count), &mut room);
        take_excess_off(t, layer, way.groups(), (first, count), &mut ends);
        // Tiles of sixteen pixels have a pointer for each. There the ten pointers and lengths of the ends stay in
        // memory, or they push some of those out of their registers.
        let ends = if T::SUMS >= 16 { black_box(&ends) } else { &ends };
        let mut column = 0;
        while column < way.view.to[1] {
            let places = (way.view.to[1] - column).min(way.places);
            let ring = ring.filled(way.view.span() * way.slot(places) + COPIED, padding);
            let copies = copies.filled(way.copied, padding);
            band(s, t, &way, layer, x, (column, places), (first, count), ring, copies, ends, out);
            column += places;
        }
        first += count;
    }
}

/// How a layer is walked.
struct Way {
    view: View,
    /// Columns of the output in a band.
    places: usize,
    /// Elements for runs that are copied into one; 0 where they are not.
    copied: usize,
    /// Groups of weights, where those of each run are laid apart; 0 where they are not.
    laid: usize,
    /// Taps of a run, and runs.
    taps: usize,
    runs: usize,
}

impl Way {
    /// `None` for what does not fit the stack and what breaks the contract.
    #[inline(always)]
    fn of<T: Tile>(layer: &Layer<'_>, x: &[u8], out: &[u8]) -> Option<Self> {
        let view = View::of(layer, x, out)?;
        let [down, across] = view.kernel;
        let taps = if view.dilation[1] == 1 { across } else { 1 };
        let runs = down * across / taps;
        let inputs = down * across * view.channels;
        let is_apart = runs == 1 || (taps * view.channels).is_multiple_of(4);
        let apart = runs * (taps * view.channels).div_ceil(4) * layer.stride;
        let laid = if IS_COMPACT || is_apart || runs > RUNS || apart > LAID { 0 } else { apart };
        let is_copied = laid == 0 && (!is_apart || runs > RUNS);
        let places = view.places(view.span(), view.channels.next_multiple_of(4), RING - COPIED - 4 * view.span());
        let copied = if is_copied { MOST_PIXELS * inputs.next_multiple_of(4) + COPIED } else { 0 };
        let is_held = fits(inputs.div_ceil(4), layer.stride, layer.weights.len(), layer.to.channels);
        (is_held && places > 0 && copied <= COPIES).then_some(Self { view, places, copied, laid, taps, runs })
    }

    /// Groups of weights of an output.
    #[inline(always)]
    const fn groups(&self) -> usize {
        let run = self.taps * self.view.channels;
        if self.laid > 0 { self.runs * run.div_ceil(4) } else { (self.runs * run).div_ceil(4) }
    }

    /// Elements of a row of the ring.
    #[inline(always)]
    const fn slot(&self, places: usize) -> usize {
        (self.view.columns(places) * self.view.channels).next_multiple_of(4)
    }
}

/// (groups, outputs): the weights of every run from a group of its own on, its last group filled up with zeros.
#[inline(always)]
fn lay_weights(way: &Way, layer: &Layer<'_>, laid: &mut [u32]) {
    let (run_len, stride) = (way.taps * way.view.channels, layer.stride);
    let groups_of_a_run = run_len.div_ceil(4);
    let groups: &[u8] = bytemuck::cast_slice(layer.weights);
    let groups = groups.as_chunks::<4>().0;
    for (group, laid) in laid.chunks_exact_mut(stride).enumerate() {
        let done = 4 * (group % groups_of_a_run);
        // Where in an output's weights the group begins, and how many of them are the run's.
        let (first, count) = (group / groups_of_a_run * run_len + done, (run_len - done).min(4));
        let shift = 8 * (first % 4) as u32;
        let kept = u32::MAX >> (32 - 8 * count);
        let upper = rest(groups, first / 4 * stride);
        // Behind the last group there are no weights that count.
        let lower = rest(groups, (first / 4 + 1) * stride);
        for (laid, group) in laid.iter_mut().zip(upper) {
            *laid = (u32::from_le_bytes(*group) >> shift & kept).to_le();
        }
        if shift > 0 {
            for (laid, group) in laid.iter_mut().zip(lower) {
                *laid |= (u32::from_le_bytes(*group) << (32 - shift) & kept).to_le();
            }
        }
    }
}

/// What bytes count too much is the same for all pixels: as much as weights sum up to, times the excess.
#[inline(always)]
fn take_excess_off<T: Tile>(
    t: T,
    layer: &Layer<'_>,
    groups: usize,
    (first, count): (usize, usize),
    ends: &mut Ends<'_>,
) {
    let excess = T::Input::zero(&layer.from);
    if excess == T::Input::default() {
        return;
    }
    let mut x = Scratch::<T::Input, 4>::new();
    let x = x.filled(4, excess);
    let mut row = first;
    while row < first + count {
        // Each addition waits for the one before it, so that groups take turns.
        let (left, mut sums) = (layer.stride - row, [t.zero(); if IS_COMPACT { 1 } else { 4 }]);
        let mut place = layer.weights.as_ptr().wrapping_add(4 * row);
        let mut done = 0;
        while done < groups {
            for sums in sums.iter_mut().take(groups - done) {
                // SAFETY: `Way::of` has found the weights of all groups, of as many rows as the stride; `x` has four
                // inputs.
                unsafe {
                    let w = if T::ROWS == 4 || left >= T::ROWS { t.load(place) } else { t.load_part(place, left) };
                    *sums = t.mac(*sums, x.as_ptr(), w);
                }
                place = place.wrapping_add(4 * layer.stride);
            }
            done += sums.len();
        }
        let (mut sum, rest) = (sums[0], &sums[1..]);
        for other in rest {
            sum = t.merge(sum, *other);
        }
        ends.take_off(row - first, t.rows(sum).as_ref());
        row += T::ROWS;
    }
}

/// Columns `column..column + places` of all rows, channels `first..first + count`.
#[inline(always)]
fn band<S: Simd, T: Tile>(
    s: S,
    t: T,
    way: &Way,
    layer: &Layer<'_>,
    x: &[u8],
    (column, places): (usize, usize),
    channels: (usize, usize),
    ring: &mut [T::Input],
    copies: &mut [T::Input],
    ends: &Ends<'_>,
    out: &mut [u8],
) {
    let view = &way.view;
    let (span, slot, columns) = (view.span(), way.slot(places), view.columns(places));
    let mut next = 0;
    for y in 0..view.to[0] {
        let top = y * view.stride[0];
        // What the row before has not read.
        for row in next.max(top)..top + span {
            let start = (row % span) * slot;
            let Some(line) = ring.get_mut(start..start + slot) else { return };
            match view.row(row, column, columns) {
                None => line.fill(T::Input::zero(&layer.from)),
                Some((padding, pixel, count)) => {
                    let count = count * view.channels;
                    let Some(line) = line.get_mut(padding * view.channels..).and_then(|line| line.get_mut(..count))
                    else {
                        return;
                    };
                    T::Input::read(&layer.from, x, pixel * view.channels, line);
                }
            }
        }
        next = top + span;
        let mut starts = [0; RUNS];
        let to = (y * view.to[1] + column) * layer.to.channels;
        let pitch = view.stride[1] * view.channels;
        let groups = (way.taps * view.channels).div_ceil(4);
        way.runs(top, slot, &mut starts);
        // One call for both ways: all tiles are inlined here, and twice as many take four times as long to compile.
        let mut place = 0;
        while place < places {
            let (runs, x, some);
            if way.copied > 0 {
                some = (places - place).min(MOST_PIXELS);
                let len = copy(way, ring, (top, slot), (place, some), copies);
                (runs, x) = (Runs { starts: &[0], groups: len / 4, pitch: len }, &*copies);
            } else {
                some = places;
                (runs, x) = (Runs { starts: &starts[..way.runs], groups, pitch }, &*ring);
            }
            pixels(s, t, layer, &runs, x, channels, ends, out, (to + place * layer.to.channels, some));
            place += some;
        }
    }
}

impl Way {
    /// Where the runs of a row of outputs begin in the ring, at most [`RUNS`]; without a division for each.
    #[inline(always)]
    fn runs(&self, top: usize, slot: usize, starts: &mut [usize; RUNS]) {
        if IS_COMPACT {
            for (run, start) in starts.iter_mut().enumerate().take(self.runs) {
                *start = self.run(run, top, slot);
            }
            return;
        }
        let ([down, across], span) = (self.view.kernel, self.view.span());
        let step = self.view.dilation[1] * self.view.channels;
        let (mut starts, mut row) = (starts.iter_mut(), top % span);
        for _ in 0..down {
            let mut place = row * slot;
            let mut tap = 0;
            while tap < across {
                let Some(start) = starts.next() else { return };
                *start = place;
                place += step;
                tap += self.taps;
            }
            row += self.view.dilation[0];
            if row >= span {
                row -= span;
            }
        }
    }

    /// Where a run of a row of outputs begins in the ring.
    #[inline(always)]
    const fn run(&self, run: usize, top: usize, slot: usize) -> usize {
        let [_, across] = self.view.kernel;
        let a_row = across / self.taps;
        let row = (top + run / a_row * self.view.dilation[0]) % self.view.span();
        row * slot + run % a_row * self.view.dilation[1] * self.view.channels
    }
}

/// Copies the runs of some pixels one behind the other; returns the elements of a pixel, a multiple of four.
#[inline(always)]
fn copy<L: Lane>(
    way: &Way,
    ring: &[L],
    (top, slot): (usize, usize),
    (place, some): (usize, usize),
    copies: &mut [L],
) -> usize {
    let (run_len, view) = (way.taps * way.view.channels, &way.view);
    let len = (way.runs * run_len).next_multiple_of(4);
    for index in 0..some {
        let at = (place + index) * view.stride[1] * view.channels;
        for run in 0..way.runs {
            let (from, to) = (way.run(run, top, slot) + at, index * len + run * run_len);
            let mut done = 0;
            while done < run_len {
                // What is copied behind a run's end is written again by the next, or met by weights that are 0.
                let from = ring.get(from + done..).and_then(|from| from.first_chunk::<COPIED>());
                let to = copies.get_mut(to + done..).and_then(|to| to.first_chunk_mut::<COPIED>());
                let (Some(from), Some(to)) = (from, to) else { return len };
                *to = *from;
                done += COPIED;
            }
        }
    }
    len
}
