//! POOL: the maximum, the mean or the sum of the pixels in a window, channel by channel. Padding does not count.

use super::{Bytes, OnMaps, Running};
use crate::features::IS_SMALL;
use crate::format::{OpRecord, WindowRecord, activation, element};
use crate::kernels::maps::{Geometry, Map};
use crate::workspace::{rest, typed};

/// Whether sums of bytes are taken for a block of channels at once; where code is counted and there are no vectors, one
/// loop is enough.
const HAS_BLOCKS: bool = (!IS_SMALL || cfg!(cortex_m = "mve")) && cfg!(not(target_arch = "wasm32"));
/// Channels of a block.
const BLOCK: usize = 32;
/// Pixels whose bytes may be added in i16: 128 · 255 < 2¹⁵.
const IN_I16: usize = 128;

/// POOL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pool;

impl OnMaps for Pool {
    fn run(
        _: &Running<'_, '_>,
        record: &OpRecord,
        from: Bytes<'_>,
        _: Option<Bytes<'_>>,
        to: (Map, &mut [u8]),
    ) -> Option<()> {
        let [.., low, high] = record.params;
        let geometry = Geometry::of(WindowRecord::of(record), false);
        let ends = [low as i32, high as i32];
        if !HAS_BLOCKS || !blocks(&geometry, record.activation, ends, from, (to.0, &mut *to.1)) {
            run(&geometry, record.activation, ends, from, to);
        }
        Some(())
    }
}

/// ends: what maxima and means are clamped to.
fn run(geometry: &Geometry, code: u32, [low, high]: [i32; 2], (from, x): Bytes<'_>, (to, out): (Map, &mut [u8])) {
    // Sums are of numbers, the others of integers as they are stored.
    let zero = if code == activation::SUM { from.zero } else { 0 };
    let step = geometry.dilation[1] * from.channels;
    let mut index = 0;
    for y in 0..to.height {
        let down = geometry.seen(0, y, from.height);
        for column in 0..to.width {
            let across = geometry.seen(1, column, from.width);
            let count = (down.count * across.count) as i32;
            for channel in 0..to.channels {
                let (mut sum, mut greatest) = (0i32, i32::MIN);
                for row in 0..down.count {
                    let row = (down.pixel + row * geometry.dilation[0]) * from.width + across.pixel;
                    for pixel in 0..across.count {
                        let value = from.at(x, row * from.channels + channel + pixel * step) - zero;
                        greatest = greatest.max(value);
                        sum = sum.wrapping_add(value);
                    }
                }
                let value = match code {
                    activation::MAX => greatest.max(low).min(high),
                    activation::MEAN => mean(sum, count).max(low).min(high),
                    _ => sum,
                };
                to.put(out, index, value);
                index += 1;
            }
        }
    }
}

/// To nearest, halves away from 0.
fn mean(sum: i32, count: i32) -> i32 {
    let count = count.max(1);
    let half = count / 2;
    if sum > 0 { sum.wrapping_add(half) / count } else { sum.wrapping_sub(half) / count }
}

/// Sums and means of bytes, pixel after pixel for a block of channels, which compilers make vectors of. Says whether it
/// did them: no maxima, no window with gaps.
fn blocks(geometry: &Geometry, code: u32, ends: [i32; 2], (from, x): Bytes<'_>, (to, out): (Map, &mut [u8])) -> bool {
    let is_sum = matches!(code, activation::SUM | activation::MEAN) && geometry.dilation == [1, 1];
    match from.element {
        element::U8 if is_sum => block(geometry, code, ends, (from, x), (to, out)),
        element::I8 if is_sum => block(geometry, code, ends, (from, typed::<i8>(x)), (to, out)),
        _ => return false,
    }
    true
}

fn block<T: Copy + Into<i16>>(
    geometry: &Geometry,
    code: u32,
    [low, high]: [i32; 2],
    (from, x): (Map, &[T]),
    (to, out): (Map, &mut [u8]),
) {
    // The pixels along an axis that the window of a place covers.
    let covered = |axis: usize, place: usize, size: usize| {
        let (start, before) = (place * geometry.stride[axis], geometry.before[axis]);
        start.saturating_sub(before)..(start + geometry.kernel[axis]).saturating_sub(before).min(size)
    };
    let mut index = 0;
    for y in 0..to.height {
        for column in 0..to.width {
            let (rows, columns) = (covered(0, y, from.height), covered(1, column, from.width));
            let count = (rows.len() * columns.len()) as i32;
            let mut first = 0;
            while first < to.channels {
                let wide = (to.channels - first).min(BLOCK);
                let mut sums = [0i32; BLOCK];
                // Rows that are covered from end to end follow each other.
                let is_whole = columns.len() == from.width;
                let (runs, pixels) = if is_whole { (1, rows.len() * from.width) } else { (rows.len(), columns.len()) };
                for run in 0..runs {
                    let start = ((rows.start + run) * from.width + columns.start) * from.channels + first;
                    let mut done = 0;
                    while done < pixels {
                        let some = (pixels - done).min(IN_I16);
                        let x = rest(x, start + done * from.channels);
                        let mut short = [0; BLOCK];
                        if wide == BLOCK {
                            add_whole(x, from.channels, some, &mut short);
                        } else {
                            for pixel in x.chunks(from.channels.max(1)).take(some) {
                                short.iter_mut().zip(pixel).take(wide).for_each(|(sum, x)| *sum += (*x).into());
                            }
                        }
                        for (sum, short) in sums.iter_mut().zip(short) {
                            *sum = sum.wrapping_add(i32::from(short));
                        }
                        done += some;
                    }
                }
                for sum in sums.iter().take(wide) {
                    let value = match code {
                        activation::MEAN => mean(*sum, count).max(low).min(high),
                        _ => sum.wrapping_sub(count.wrapping_mul(from.zero)),
                    };
                    to.put(out, index, value);
                    index += 1;
                }
                first += wide;
            }
        }
    }
}

/// The first of every `step` elements, for so many pixels. Sums stay in registers, as a variable of this function.
#[inline(always)]
fn add_whole<T: Copy + Into<i16>>(x: &[T], step: usize, pixels: usize, short: &mut [i16; BLOCK]) {
    let mut sums = *short;
    for pixel in x.chunks(step.max(1)).take(pixels) {
        let Some(pixel) = pixel.first_chunk::<BLOCK>() else { return };
        for (sum, x) in sums.iter_mut().zip(pixel) {
            *sum += (*x).into();
        }
    }
    *short = sums;
}
