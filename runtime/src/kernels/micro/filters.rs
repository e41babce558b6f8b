//! A convolution with a filter for every channel, four channels at a time.
//!
//!     for each four channels:
//!         spread their weights of every tap
//!         for each rectangle of places that see pixels by the same taps, for each place: sums ← biases
//!             for each tap that sees a pixel: sums += its weights · the pixel
//!             round
//!
//! What the weights become when they are spread, and the loop over the taps, are the target's own ([`Filter`]). The
//! taps that see a pixel are a rectangle of the window, so nothing is asked of a tap. Maps of i16, of less than four
//! channels, and windows of more than `TAPS` taps go the plain way ([`super::depthwise`]).

use super::depthwise;
use super::finish::{Bytes, End, Part};
use crate::format::element;
use crate::kernels::maps::{Layer, Map, Seen};
use crate::num::HIGH_WORD_ONLY;
use crate::sure::bias_at;
use crate::workspace::rest;
use core::ptr;

/// Channels of a block.
const CHANNELS: usize = 4;
/// Most taps of a window whose weights are spread.
const TAPS: usize = 25;
/// Most words of four weights that are spread.
const SPREAD: usize = 4;
/// Places whose sums are kept, where the target does not round them.
const PLACES: usize = 8;

/// Neighbouring places that see pixels by the same taps, for a block of channels.
#[repr(C)]
pub(in crate::kernels) struct Taps {
    /// The bytes that the first place's first tap meets.
    pub x: *const u8,
    /// Its weights.
    pub w: *const u32,
    /// Rows of taps, and taps of a row; at least one of each.
    pub down: usize,
    pub across: usize,
    /// Bytes from tap to tap, and from the end of a row to the next one's begin.
    pub step: usize,
    pub skip: isize,
    /// Words from the end of a row of weights to the next one's begin.
    pub skip_weights: usize,
    /// What is added to an input.
    pub minus_zero: i16,
    /// Four sums to begin with.
    pub bias: *const i32,
    /// Four sums a place, if they end as sums.
    pub sums: *mut i32,
    /// Places, at least one, and bytes from one to the next.
    pub places: usize,
    pub next: usize,
    /// How the sums end, with the shifts of four channels, less 33, as words; null: as sums.
    pub bytes: *const Bytes,
    pub less: [u32; CHANNELS],
}

/// Four filters of three by three taps, and how their sums become bytes.
#[repr(C)]
pub(in crate::kernels) struct Nine {
    bias: [i32; CHANNELS],
    weights: [[u32; 2]; 9],
    multipliers: [i32; CHANNELS],
    less: [u32; CHANNELS],
    half: i32,
    is_all: u32,
    low: i32,
    high: i32,
}

/// Places of a row or a column, all of whose nine taps see pixels.
#[repr(C)]
pub(in crate::kernels) struct Run {
    /// The bytes that the first place's first tap meets.
    pub x: *const u8,
    pub filters: *const Nine,
    /// Bytes from tap to tap.
    pub step: usize,
    /// What is added to an input.
    pub minus_zero: i32,
    /// Bytes from place to place, of what is read.
    pub next: usize,
    /// At least one.
    pub places: usize,
    /// The first place's first byte.
    pub out: *mut u8,
    /// Bytes from row to row of taps.
    pub row: usize,
    /// Bytes from place to place, of what is written.
    pub next_out: usize,
}

/// A target's way through the taps of a place.
pub(in crate::kernels) trait Filter {
    /// Whether [`Filter::nine`] is there.
    const HAS_NINE: bool;

    /// Words of four weights.
    const WORDS: usize;

    /// Four weights of neighbouring channels.
    fn spread(weights: [i8; 4], out: &mut [u32]);

    /// `sums[place, c] = bias[c] + Σ w[tap, c]·x[place, tap, c]` over the taps, modulo 2³²; bytes with a sign or
    /// without.
    ///
    /// # Safety
    /// All that `taps` points to can be read, and the sums or the bytes written.
    unsafe fn sum(taps: &Taps, is_signed: bool);

    /// The same for windows of nine taps that all see pixels, to bytes.
    ///
    /// # Safety
    /// All that `run` points to can be read, and the bytes of its places written.
    unsafe fn nine(run: &Run, is_signed: bool);
}

/// [`crate::kernels::Depthwise`].
#[inline(always)]
pub(in crate::kernels) fn depthwise<F: Filter>(
    layer: &Layer<'_>,
    x: &[u8],
    second: Option<(Map, &[u8])>,
    out: &mut [u8],
) {
    let is_byte = matches!(layer.from.element, element::U8 | element::I8);
    let len = layer.from.height * layer.from.row();
    let is_there = layer.taps() * layer.stride <= layer.weights.len() && len <= x.len();
    let channels = layer.to.channels;
    if !is_byte || !is_there || layer.taps() > TAPS || channels < CHANNELS {
        return depthwise::depthwise(layer, x, second, out);
    }
    let mut first = 0;
    while first < channels {
        // The last four begin among those before, where channels are no multiple of four, and write the same again.
        block::<F>(layer, x, End::new(layer, second, out), first.min(channels - CHANNELS));
        first += CHANNELS;
    }
}

/// Four channels of all places.
#[inline(never)]
fn block<F: Filter>(layer: &Layer<'_>, x: &[u8], mut end: End<'_, '_>, first: usize) {
    let (from, to, geometry) = (&layer.from, &layer.to, &layer.geometry);
    let [_, across] = geometry.kernel;
    let mut weights = [0; SPREAD * TAPS];
    for (tap, out) in weights.chunks_exact_mut(F::WORDS).enumerate().take(layer.taps()) {
        let from = rest(layer.weights, tap * layer.stride + first);
        if let Some(from) = from.first_chunk::<CHANNELS>() {
            F::spread(*from, out);
        }
    }
    let bias: [i32; CHANNELS] = core::array::from_fn(|index| bias_at(layer.bias, first + index));
    let mut sums = [[0; CHANNELS]; PLACES];
    let is_signed = from.element == element::I8;
    let mut taps = Taps {
        x: x.as_ptr(),
        w: weights.as_ptr(),
        down: 0,
        across: 0,
        step: geometry.dilation[1] * from.channels,
        skip: 0,
        skip_weights: 0,
        minus_zero: -from.zero as i16,
        bias: bias.as_ptr(),
        sums: sums.as_mut_ptr().cast(),
        places: 0,
        next: 0,
        bytes: ptr::null(),
        less: core::array::from_fn(|index| {
            let shift = layer.rounding.shifts.get(first + index).map_or(HIGH_WORD_ONLY, |shift| u32::from(*shift));
            shift.wrapping_sub(HIGH_WORD_ONLY)
        }),
    };
    let nine = if F::HAS_NINE && geometry.kernel == [3, 3] { nine(layer, &end, first, bias, &weights) } else { None };
    let mut rows = Alike::default();
    while rows.next(layer, 0) {
        let mut columns = Alike::default();
        while columns.next(layer, 1) {
            let (down, right) = (rows.seen, columns.seen);
            // Down the columns, or along the rows where those are longer: a line's places, and from place to place and
            // from line to line of what is read and of what is written.
            let down_the_map = [geometry.stride[0] * from.row(), to.row()];
            let along_a_row = [geometry.stride[1] * from.channels, to.channels];
            let (lines, in_line, [next, step], [next_line, step_line]) = if columns.count > rows.count {
                (rows.count, columns.count, along_a_row, down_the_map)
            } else {
                (columns.count, rows.count, down_the_map, along_a_row)
            };
            taps.next = next;
            taps.w = weights.as_ptr().wrapping_add((down.tap * across + right.tap) * F::WORDS);
            (taps.down, taps.across) = (down.count, right.count);
            taps.skip = (geometry.dilation[0] * from.row()) as isize - (right.count * taps.step) as isize;
            taps.skip_weights = (across - right.count) * F::WORDS;
            let is_inner = down.count == 3 && right.count == 3;
            let is_blank = down.count == 0 || right.count == 0;
            let mut x = x.as_ptr().wrapping_add((down.pixel * from.width + right.pixel) * from.channels + first);
            let mut start = rows.first * to.row() + columns.first * to.channels;
            for _ in 0..lines {
                let part = Part { first, outputs: CHANNELS, start, places: in_line, step };
                let bytes = end.bytes(part);
                taps.bytes = bytes.as_ref().map_or(ptr::null(), ptr::from_ref);
                if is_inner
                    && let Some(filters) = &nine
                    && let Some(bytes) = &bytes
                {
                    let run = Run {
                        x,
                        filters,
                        step: taps.step,
                        minus_zero: -from.zero,
                        next,
                        places: in_line,
                        out: bytes.out,
                        row: geometry.dilation[0] * from.row(),
                        next_out: bytes.step,
                    };
                    // SAFETY: as below.
                    unsafe { F::nine(&run, is_signed) };
                } else {
                    let at_once = if is_blank {
                        1
                    } else if bytes.is_some() {
                        in_line
                    } else {
                        PLACES
                    };
                    let mut done = 0;
                    while done < in_line {
                        taps.places = (in_line - done).min(at_once);
                        taps.x = x.wrapping_add(done * next);
                        let start = start + done * step;
                        let part = Part { start, places: taps.places, ..part };
                        done += taps.places;
                        if is_blank {
                            // Biases only.
                            end.part(&bias, part, [1, CHANNELS]);
                            continue;
                        }
                        // SAFETY: the taps that see a pixel read four channels of it, from `first` on, which the map
                        // has, and `x` was found to hold the map; `weights` has those of all taps; there are sums of
                        // `PLACES` places, and `bytes` says what is there.
                        unsafe { F::sum(&taps, is_signed) };
                        if bytes.is_none() {
                            end.part(sums.as_flattened(), part, [1, CHANNELS]);
                        }
                    }
                }
                (x, start) = (x.wrapping_add(next_line), start + step_line);
            }
        }
    }
}

/// Neighbouring places along an axis that see pixels by the same taps.
#[derive(Default)]
struct Alike {
    first: usize,
    count: usize,
    seen: Seen,
}

impl Alike {
    /// The next ones. False behind the last.
    fn next(&mut self, layer: &Layer<'_>, axis: usize) -> bool {
        let (geometry, from, to) = (&layer.geometry, &layer.from, &layer.to);
        // No place of the pairs that the compiler would have to look at.
        let (size, places, stride, dilation, before, taps) = if axis == 0 {
            (from.height, to.height, geometry.stride[0], geometry.dilation[0], geometry.before[0], geometry.kernel[0])
        } else {
            (from.width, to.width, geometry.stride[1], geometry.dilation[1], geometry.before[1], geometry.kernel[1])
        };
        self.first += self.count;
        if self.first >= places {
            return false;
        }
        self.seen = geometry.seen(axis, self.first, size);
        self.count = 1;
        let reach = (taps - 1) * dilation;
        // Of places all of whose taps see pixels, those up to the last whose last tap does.
        if self.seen.count == taps {
            let mut end = (self.first + 1) * stride + reach;
            while self.first + self.count < places && end < size + before {
                (self.count, end) = (self.count + 1, end + stride);
            }
        }
        true
    }
}

/// The filters of four channels as [`Filter::nine`] takes them, if the layer ends in bytes by high words.
fn nine(
    layer: &Layer<'_>,
    end: &End<'_, '_>,
    first: usize,
    bias: [i32; CHANNELS],
    weights: &[u32; SPREAD * TAPS],
) -> Option<Nine> {
    let rounding = &layer.rounding;
    let (multipliers, shifts) =
        (rest(rounding.multipliers, first).first_chunk()?, rest(rounding.shifts, first).first_chunk::<CHANNELS>()?);
    let (weights, _) = weights.as_chunks::<2>();
    end.is_high().then_some(Nine {
        bias,
        weights: *weights.first_chunk()?,
        multipliers: *multipliers,
        less: shifts.map(|shift| u32::from(shift) - HIGH_WORD_ONLY),
        half: end.half(),
        is_all: end.is_all(),
        low: rounding.low,
        high: rounding.high,
    })
}
