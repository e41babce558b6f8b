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
    let across = geometry.kernel[1].max(1);
    let is_sum = code == activation::SUM;
    for index in 0..to.height * to.row() {
        let (place, channel) = (index / to.channels.max(1), index % to.channels.max(1));
        let (y, column) = (place / to.width.max(1), place % to.width.max(1));
        let (mut sum, mut greatest, mut count) = (0i32, i32::MIN, 0i32);
        for tap in 0..geometry.kernel[0] * across {
            let Some(row) = geometry.input(0, y, tap / across, from.height) else { continue };
            let Some(pixel) = geometry.input(1, column, tap % across, from.width) else { continue };
            let value = from.at(x, (row * from.width + pixel) * from.channels + channel);
            greatest = greatest.max(value);
            sum = sum.wrapping_add(if is_sum { value - from.zero } else { value });
            count += 1;
        }
        let value = match code {
            activation::MAX => greatest.max(low).min(high),
            activation::MEAN => mean(sum, count).max(low).min(high),
            _ => sum,
        };
        put(&to, out, index, value);
    }
}

/// To nearest, halves away from 0.
fn mean(sum: i32, count: i32) -> i32 {
    let count = count.max(1);
    let half = count / 2;
    if sum > 0 { sum.wrapping_add(half) / count } else { sum.wrapping_sub(half) / count }
}
