//! POOL: the maximum, the mean or the sum of the pixels in a window, channel by channel. Padding does not count.

use super::{Bytes, OnMaps, Running};
use crate::features::IS_SMALL;
use crate::format::{OpRecord, WindowRecord, activation, element};
use crate::kernels::maps::{Geometry, Map};
use crate::workspace::{range, typed};

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
                let (mut sums, mut short, mut pixels) = ([0i32; BLOCK], [0i16; BLOCK], 0);
                for row in rows.clone() {
                    for pixel in columns.clone() {
                        let start = (row * from.width + pixel) * from.channels + first;
                        let x = range(x, start..start + wide);
                        if let Some(x) = x.first_chunk::<BLOCK>() {
                            short.iter_mut().zip(x).for_each(|(sum, x)| *sum += (*x).into());
                        } else {
                            short.iter_mut().zip(x).for_each(|(sum, x)| *sum += (*x).into());
                        }
                        pixels += 1;
                        if pixels == IN_I16 {
                            flush(&mut sums, &mut short);
                            pixels = 0;
                        }
                    }
                }
                flush(&mut sums, &mut short);
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

/// Adds short sums to long ones, and begins anew.
fn flush(sums: &mut [i32; BLOCK], short: &mut [i16; BLOCK]) {
    sums.iter_mut().zip(short.iter()).for_each(|(sum, short)| *sum = sum.wrapping_add(i32::from(*short)));
    *short = [0; BLOCK];
}
