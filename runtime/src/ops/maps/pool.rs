//! POOL: the maximum, the mean or the sum of the pixels in a window, channel by channel. Padding does not count.

use super::moved::put;
use super::{Bytes, OnMaps, Running};
use crate::format::{OpRecord, WindowRecord, activation};
use crate::kernels::maps::{Geometry, Map};

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
        run(&geometry, record.activation, [low as i32, high as i32], from, to);
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
                put(&to, out, index, value);
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
