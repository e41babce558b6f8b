//! Filters of three by three taps, a filter for every channel: VMLADAV on sixteen bytes of a channel.
//!
//! Channels lie side by side in the map, and the nine inputs of an output far apart. So four channels of a band of four
//! rows are laid apart first, the four rows of a pixel in a word and the pixels of a channel one behind the other;
//! gathering words and scattering bytes does that for sixteen at a time, or gathering bytes where words do not lie at
//! multiples of four. A vector is then four columns by four rows,
//! which hold the windows of four outputs that are neighbours, two by two: four products of it, with the same weights
//! in four places, are their sums, 5 instructions for 36 products. At a stride of two there is a window in each of four
//! vectors. Padding is laid down as the zero point, so that no window is special, and the zero point stays in the
//! inputs: it is taken off the biases. The last column and row of odd maps are computed with the one before again.
//!
//! Other windows, strides and ends, and maps of less than two by two outputs, go to [`crate::kernels::dsp`].

use super::apart::{Apart, CHANNELS, COLUMNS, Lay, places};
use crate::format::element;
use crate::kernels::dsp;
use crate::kernels::maps::{Layer, Map};
use crate::kernels::micro::finish::{End, Part};
use crate::sure::{at, bias_at};
use core::arch::asm;
use core::mem::offset_of;

/// A channel's weights for each of four outputs, column by column, four rows each.
#[repr(C)]
struct Weights([[u32; 4]; 4]);

/// Outputs of a channel, two by two: a run along a row, for each of some bands.
#[repr(C)]
struct Outputs {
    weights: *const Weights,
    x: *const u8,
    out: *mut u8,
    /// Of a row, two outputs each; at least one.
    pairs: usize,
    bias: i32,
    multiplier: i32,
    /// 32 less the shift.
    by: i32,
    zero: i32,
    low: i32,
    high: i32,
    /// Bytes from output to output along a row, and from row to row.
    pixel: usize,
    row: usize,
    /// Bands, at least one, and bytes from a run's end to the next one's begin, of what is read and of what is written.
    bands: usize,
    skip: isize,
    skip_out: isize,
    /// Bytes from band to band of what is read.
    band_bytes: usize,
}

/// [`crate::kernels::Depthwise`].
pub(super) fn depthwise(layer: &Layer<'_>, x: &[u8], second: Option<(Map, &[u8])>, out: &mut [u8]) {
    let (from, to, geometry) = (&layer.from, &layer.to, &layer.geometry);
    let stride = geometry.stride[0];
    let channels = to.channels;
    let is_fit = geometry.kernel == [3, 3]
        && geometry.dilation == [1, 1]
        && geometry.stride == [stride, stride]
        && matches!(stride, 1 | 2)
        && matches!(from.element, element::U8 | element::I8)
        && from.channels == channels
        && channels >= CHANNELS
        && to.width >= 2
        && to.height >= 2
        && from.height * from.row() <= x.len()
        && layer.stride >= channels
        && 9 * layer.stride <= layer.weights.len();
    let whole = Part { first: 0, outputs: channels, start: 0, places: to.height * to.width, step: channels };
    let bytes = if is_fit { End::new(layer, second, out).bytes(whole) } else { None };
    let Some(bytes) = bytes else { return (dsp::KERNELS.depthwise.call)(layer, x, second, out) };
    // As many columns at once, an even number of them where there are several chunks.
    let most = if stride == 1 { COLUMNS - 3 } else { (COLUMNS - 1) / 2 };
    let chunks = to.width.div_ceil(most).max(1);
    let columns = if chunks == 1 { to.width } else { to.width.div_ceil(chunks).next_multiple_of(2) };
    let mut start = 0;
    while start < to.width {
        let first = start.min(to.width - columns);
        chunk(layer, x, bytes.out, [first, columns]);
        start = first + columns;
    }
}

/// Some columns of outputs: the first and how many. Of `out` the layer's maps say how long it is.
#[inline(never)]
fn chunk(layer: &Layer<'_>, x: &[u8], out: *mut u8, [first, columns]: [usize; 2]) {
    let (from, to, geometry) = (&layer.from, &layer.to, &layer.geometry);
    let stride = geometry.stride[0];
    // The flip makes a byte one with a sign.
    let flip: u8 = if from.element == element::I8 { 0 } else { 0x80 };
    let padding = (from.zero as u8).wrapping_add(flip);
    let mut apart = Apart::new(padding);
    // Columns of pixels that the windows see, those before the map left out.
    let seen = (columns - 1) * stride + 3;
    let (channel_bytes, band_bytes) = (4 * seen, 4 * seen * CHANNELS);
    let places = places(channel_bytes);
    let most_pairs = Apart::bands(seen) / stride.max(1);
    let left = (first * stride) as isize - geometry.before[1] as isize;
    let skipped = (-left).max(0) as usize;
    let from_column = left.max(0) as usize;
    let width = seen.saturating_sub(skipped).min(from.width.saturating_sub(from_column));
    let has_words = from.channels.is_multiple_of(CHANNELS) && x.as_ptr().addr().is_multiple_of(CHANNELS);
    let mut begun = 0;
    while begun < to.channels {
        // The last four begin among those before, where channels are no multiple of four, and write the same again.
        let channel = begun.min(to.channels - CHANNELS);
        begun = channel + CHANNELS;
        let mut filters = [const { Weights([[0; 4]; 4]) }; CHANNELS];
        let mut biases = [0; CHANNELS];
        for (index, (filter, bias)) in filters.iter_mut().zip(&mut biases).enumerate() {
            let sum;
            (*filter, sum) = weights(layer, channel + index);
            // Inputs less the zero point: `Σ w·x − zero·Σ w`.
            *bias = bias_at(layer.bias, channel + index).wrapping_sub(i32::from(padding as i8) * sum);
        }
        let mut y = 0;
        while y < to.height {
            // Pairs of rows, whose bands are one at a stride of 1, two at one of 2; the last may be begun before.
            let (row, pairs) =
                if to.height - y >= 2 { (y, ((to.height - y) / 2).min(most_pairs)) } else { (to.height - 2, 1) };
            for band in 0..pairs * stride {
                let top = (row * stride + 2 * band) as isize - geometry.before[0] as isize;
                let above = (-top).clamp(0, 4);
                let below = (top + 4 - from.height as isize).clamp(0, 4);
                let mask = (0xFFFF << (4 * above)) & (0xFFFF >> (4 * below));
                let pixel = (top * from.width as isize + from_column as isize) * from.channels as isize;
                let lay = Lay {
                    x: x.as_ptr().wrapping_offset(pixel + channel as isize),
                    to: apart.bytes_mut().wrapping_add(band * band_bytes + 4 * skipped),
                    columns: width,
                    pixel: from.channels,
                    row: from.row(),
                    mask,
                    padding: u32::from(from.zero as u8) * 0x0101_0101,
                    flip: flip.into(),
                    channel_bytes,
                    places,
                };
                // SAFETY: lanes of rows that the mask leaves out are not read, and `width` columns from `from_column`
                // on lie in the map, which `x` was found to hold, where `has_words` says so at multiples of four; as
                // many columns of the band behind `skipped` lie in `apart`.
                unsafe { if has_words { lay.by_words() } else { lay.by_bytes() } };
            }
            for (index, (filter, bias)) in filters.iter().zip(biases).enumerate() {
                let output = channel + index;
                let rounding = &layer.rounding;
                let mut outputs = Outputs {
                    weights: filter,
                    x: apart.bytes().wrapping_add(index * channel_bytes),
                    out: out.wrapping_add((row * to.width + first) * to.channels + output),
                    pairs: columns / 2,
                    bias,
                    multiplier: at(rounding.multipliers, output),
                    by: 32 - i32::from(at(rounding.shifts, output)),
                    zero: to.zero,
                    low: rounding.low,
                    high: rounding.high,
                    pixel: to.channels,
                    row: to.row(),
                    bands: pairs,
                    skip: 0,
                    skip_out: 0,
                    band_bytes,
                };
                // SAFETY: there are two by two outputs for every pair of columns and of rows, the windows of which lie
                // in `apart`, and a vector's reach behind the last; of the last column of an odd number the one before
                // is there.
                unsafe {
                    outputs.run(stride);
                    if !columns.is_multiple_of(2) {
                        outputs.x = outputs.x.wrapping_add(4 * stride * (columns - 2));
                        outputs.out = outputs.out.wrapping_add((columns - 2) * to.channels);
                        outputs.pairs = 1;
                        outputs.run(stride);
                    }
                }
            }
            y = row + 2 * pairs;
        }
    }
}

/// A channel's weights for four outputs, and their sum.
#[inline(never)]
fn weights(layer: &Layer<'_>, channel: usize) -> (Weights, i32) {
    let (mut columns, mut sum) = ([0; 3], 0);
    for down in 0..3 {
        for (across, column) in columns.iter_mut().enumerate() {
            let weight = at(layer.weights, (3 * down + across) * layer.stride + channel);
            sum += i32::from(weight);
            *column |= u32::from(weight as u8) << (8 * down);
        }
    }
    let [a, b, c] = columns;
    let [d, e, f] = columns.map(|column| column << 8);
    (Weights([[a, b, c, 0], [0, a, b, c], [d, e, f, 0], [0, d, e, f]]), sum)
}

/// Where the assembly finds them.
const _: () = {
    assert!(offset_of!(Outputs, weights) == 0 && offset_of!(Outputs, x) == 4 && offset_of!(Outputs, out) == 8);
    assert!(offset_of!(Outputs, pairs) == 12 && offset_of!(Outputs, bias) == 16 && offset_of!(Outputs, by) == 24);
    assert!(offset_of!(Outputs, multiplier) == 20 && offset_of!(Outputs, zero) == 28);
    assert!(offset_of!(Outputs, low) == 32 && offset_of!(Outputs, high) == 36 && offset_of!(Outputs, pixel) == 40);
    assert!(offset_of!(Outputs, row) == 44 && offset_of!(Outputs, bands) == 48 && offset_of!(Outputs, skip) == 52);
    assert!(offset_of!(Outputs, skip_out) == 56);
    assert!(offset_of!(Outputs, band_bytes) == 60);
};

/// The sums of four outputs in r0, r2, r4 and r6, from r1 on, weights in q4 to q7; r1 at the next ones.
macro_rules! of_one_vector {
    () => {
        "vldrb.u8 q0, [r1], #8\n vmladav.s8 r0, q0, q4\n vmladav.s8 r2, q0, q5\n vmladav.s8 r4, q0, q6\n\
         vmladav.s8 r6, q0, q7"
    };
}
/// The same at a stride of two: the second row's windows lie in the next band.
macro_rules! of_four_vectors {
    () => {
        "add r10, r1, r11\n vldrb.u8 q0, [r1]\n vmladav.s8 r0, q0, q4\n vldrb.u8 q0, [r1, #8]\n vmladav.s8 r2, q0, q4\n\
         vldrb.u8 q0, [r10]\n vmladav.s8 r4, q0, q4\n vldrb.u8 q0, [r10, #8]\n vmladav.s8 r6, q0, q4\n adds r1, #16"
    };
}

macro_rules! function {
    ($name:ident, $sums:ident) => {
        /// r1: inputs · r3: bytes · r5: bias · r7: 32 less the shift · r8: zero point · r9: from pair to pair of
        /// bytes · r11: from band to band · r12: pairs · q2: where four outputs lie · q3: multiplier. On the stack
        /// both ends as vectors, bands that are left, and what is skipped behind each.
        ///
        /// # Safety
        /// All that `outputs` speaks of can be read and written.
        #[inline(never)]
        unsafe fn $name(outputs: *const Outputs) {
            // SAFETY: what the record points to is there, as the caller vouches; every register but the operands is put
            // back, and so is the stack.
            unsafe {
                asm!(
                    "push {{r4-r11, lr}}",
                    "vpush {{d8-d15}}",
                    "sub sp, sp, #44",
                    "ldrd r3, r2, [r0, #40]",
                    "lsl r9, r3, #1",
                    "adds r5, r2, r3",
                    "movs r4, #0",
                    "vmov d4, r4, r3",
                    "vmov d5, r2, r5",
                    "ldrd r5, r2, [r0, #16]",
                    "vdup.32 q3, r2",
                    "ldrd r2, r3, [r0, #32]",
                    "vdup.32 q0, r2",
                    "vdup.32 q1, r3",
                    "vstrw.32 q0, [sp]",
                    "vstrw.32 q1, [sp, #16]",
                    "ldrd r2, r3, [r0, #48]",
                    "ldr r4, [r0, #56]",
                    "strd r2, r3, [sp, #32]",
                    "str r4, [sp, #40]",
                    "ldrd r7, r8, [r0, #24]",
                    "ldr r12, [r0, #12]",
                    "ldr r11, [r0, #60]",
                    "ldm r0, {{r0, r1, r3}}",
                    "vldrw.u32 q4, [r0]",
                    "vldrw.u32 q5, [r0, #16]",
                    "vldrw.u32 q6, [r0, #32]",
                    "vldrw.u32 q7, [r0, #48]",
                    "1:",
                    "dls lr, r12",
                    "2:",
                    $sums!(),
                    "vmov d2, r0, r2",
                    "vmov d3, r4, r6",
                    "vadd.i32 q1, q1, r5",
                    "vmulh.s32 q1, q1, q3",
                    "vrshl.s32 q1, r7",
                    "vadd.i32 q1, q1, r8",
                    "vldrw.u32 q0, [sp]",
                    "vmax.s32 q1, q1, q0",
                    "vldrw.u32 q0, [sp, #16]",
                    "vmin.s32 q1, q1, q0",
                    "vstrb.32 q1, [r3, q2]",
                    "add r3, r3, r9",
                    "le lr, 2b",
                    "ldrd r0, r2, [sp, #36]",
                    "add r1, r1, r0",
                    "add r3, r3, r2",
                    "ldr r4, [sp, #32]",
                    "subs r4, r4, #1",
                    "str r4, [sp, #32]",
                    "bne 1b",
                    "add sp, sp, #44",
                    "vpop {{d8-d15}}",
                    "pop {{r4-r11, lr}}",
                    inout("r0") outputs => _, out("r1") _, out("r2") _, out("r3") _, out("r12") _,
                    out("d0") _, out("d1") _, out("d2") _, out("d3") _,
                    out("d4") _, out("d5") _, out("d6") _, out("d7") _,
                );
            }
        }
    };
}
function!(at_one, of_one_vector);
function!(at_two, of_four_vectors);

impl Outputs {
    /// Works them out, at a stride of 1 or 2.
    ///
    /// # Safety
    /// All that they speak of can be read and written.
    #[inline(always)]
    unsafe fn run(&mut self, stride: usize) {
        // A pair of rows has as many bands as the stride says, and a pair of columns as many times eight bytes.
        self.skip = (stride * self.band_bytes) as isize - (self.pairs * stride * 8) as isize;
        self.skip_out = (2 * self.row) as isize - (self.pairs * 2 * self.pixel) as isize;
        // SAFETY: the caller's.
        unsafe { if stride == 1 { at_one(self) } else { at_two(self) } }
    }
}
