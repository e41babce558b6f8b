//! Operations on maps, as FORMAT.md words them: every output by itself, straight from its definition.

use crate::program::{Convolution, Pairing, PoolKind, ProgramValue, Rounding};
use crate::spatial::{Shape, Window};

/// A value that is read.
#[derive(Clone, Copy)]
pub(super) struct Read<'x> {
    pub x: &'x [i32],
    pub shape: Shape,
    pub zero: i32,
}

impl Read<'_> {
    fn pixel(&self, y: usize, x: usize) -> &[i32] {
        &self.x[self.shape.at(y, x, 0)..][..self.shape.channels]
    }
}

/// The input pixel along an axis that a tap of an output reads; none in the padding.
fn input(window: &Window, transposed: bool, axis: usize, output: usize, tap: usize, size: usize) -> Option<usize> {
    if !transposed {
        return window.input(axis, output, tap, size);
    }
    // The input from which a place of the window lies here.
    (0..size).find(|from| window.input(axis, *from, tap, usize::MAX) == Some(output))
}

pub(super) fn convolution(op: &Convolution, read: Read<'_>, second: Option<Read<'_>>, made: &ProgramValue) -> Vec<i32> {
    let (to, weights) = (made.shape, &op.weights);
    let (inputs, outputs) = (read.shape.channels / op.groups, to.channels / op.groups);
    let mut values = Vec::with_capacity(to.len());
    for place in 0..to.pixels() {
        let (y, x) = (place / to.width, place % to.width);
        let mut sums = match &op.bias {
            Some(bias) => bias.integers().to_vec(),
            None => vec![0; to.channels],
        };
        for tap in 0..op.window.taps() {
            let (down, across) = (tap / op.window.kernel[1], tap % op.window.kernel[1]);
            let Some(row) = input(&op.window, op.transposed, 0, y, down, read.shape.height) else { continue };
            let Some(column) = input(&op.window, op.transposed, 1, x, across, read.shape.width) else { continue };
            let pixel = read.pixel(row, column);
            for channel in 0..inputs {
                let start = weights.outputs * (tap * inputs + channel);
                let column = &weights.integers()[start..start + weights.outputs];
                // A group's outputs all read this channel of the group's.
                let own = pixel.iter().skip(channel).step_by(inputs);
                for ((sums, column), x) in sums.chunks_mut(outputs).zip(column.chunks(outputs)).zip(own) {
                    let x = x - read.zero;
                    let sums = sums.iter_mut().zip(column);
                    sums.for_each(|(sum, weight)| *sum = sum.wrapping_add(weight.wrapping_mul(x)));
                }
            }
        }
        let Some(rounding) = &op.rounding else {
            values.extend(sums);
            continue;
        };
        for (output, sum) in sums.into_iter().enumerate() {
            let other = second.map(|second| second.x[to.at(y, x, output)] - second.zero);
            values.push(round(rounding, output, sum, other, made.zero));
        }
    }
    values
}

/// One sum; other: the second value's element without its zero point.
fn round(rounding: &Rounding, channel: usize, sum: i32, other: Option<i32>, zero: i32) -> i32 {
    let own = i128::from(sum) * i128::from(rounding.multipliers[channel]);
    // Without a second value nothing is added.
    let product = match other {
        Some(other) => own + i128::from(other) * i128::from(rounding.multipliers[rounding.shifts.len() + channel]),
        None => own,
    };
    shifted(product, rounding.shifts[channel].into(), zero, rounding.low, rounding.high)
}

/// `clamp(zero + ((product + 2^(shift−1)) >> shift), low, high)`.
fn shifted(product: i128, shift: u32, zero: i32, low: i32, high: i32) -> i32 {
    let rounded = (product + (1i128 << (shift - 1))) >> shift;
    (rounded + i128::from(zero)).clamp(low.into(), high.into()) as i32
}

pub(super) fn pool(window: &Window, kind: PoolKind, (low, high): (i32, i32), read: Read<'_>, to: Shape) -> Vec<i32> {
    let mut values = Vec::with_capacity(to.len());
    for index in 0..to.len() {
        let (place, channel) = (index / to.channels, index % to.channels);
        let mut found = Vec::new();
        for tap in 0..window.taps() {
            let (down, across) = (tap / window.kernel[1], tap % window.kernel[1]);
            let row = window.input(0, place / to.width, down, read.shape.height);
            let column = window.input(1, place % to.width, across, read.shape.width);
            if let (Some(row), Some(column)) = (row, column) {
                found.push(read.pixel(row, column)[channel]);
            }
        }
        let sum: i32 = found.iter().fold(0, |sum, x| sum.wrapping_add(*x));
        let count = found.len().max(1) as i32;
        values.push(match kind {
            PoolKind::Max => found.iter().copied().fold(i32::MIN, i32::max).clamp(low, high),
            PoolKind::Mean => (sum.wrapping_add(count / 2 * if sum > 0 { 1 } else { -1 }) / count).clamp(low, high),
            PoolKind::Sum => found.iter().fold(0i32, |sum, x| sum.wrapping_add(x - read.zero)),
        });
    }
    values
}

/// How two elements become one.
pub(super) struct How {
    pub pairing: Pairing,
    pub multipliers: [i32; 2],
    pub shift: u32,
    pub low: i32,
    pub high: i32,
}

pub(super) fn pairs(how: &How, a: Read<'_>, b: Read<'_>, made: &ProgramValue) -> Vec<i32> {
    let How { pairing, multipliers, shift, low, high } = *how;
    let one = |index: usize| {
        // A pixel meets all pixels of the other.
        let (a_at, b_at) = (a.x[index % a.x.len()], b.x[index % b.x.len()]);
        let (real_a, real_b) = (i128::from(a_at - a.zero), i128::from(b_at - b.zero));
        let [first, second] = multipliers.map(i128::from);
        match pairing {
            Pairing::Max => a_at.max(b_at).clamp(low, high),
            Pairing::Min => a_at.min(b_at).clamp(low, high),
            Pairing::Sum => shifted(real_a * first + real_b * second, shift, made.zero, low, high),
            Pairing::Product => shifted(real_a * real_b * first, shift, made.zero, low, high),
        }
    };
    (0..made.len()).map(one).collect()
}

pub(super) fn moved(start: usize, steps: [i32; 3], x: &[i32], to: Shape) -> Vec<i32> {
    let at = |index: usize| {
        let place = [index / to.channels / to.width, index / to.channels % to.width, index % to.channels];
        let offset: i64 = place.iter().zip(steps).map(|(at, step)| *at as i64 * i64::from(step)).sum();
        x[(start as i64 + offset) as usize]
    };
    (0..to.len()).map(at).collect()
}

pub(super) fn pad(before: [usize; 2], read: Read<'_>, made: &ProgramValue) -> Vec<i32> {
    let mut values = vec![made.zero; made.len()];
    for y in 0..read.shape.height {
        for x in 0..read.shape.width {
            let at = made.shape.at(y + before[0], x + before[1], 0);
            values[at..at + read.shape.channels].copy_from_slice(read.pixel(y, x));
        }
    }
    values
}

/// taps: of the rows, then of the columns: two neighbours and the second one's weight in 1/1024.
pub(super) fn resize(taps: &[[i32; 3]], read: Read<'_>, to: Shape) -> Vec<i32> {
    let (rows, columns) = taps.split_at(to.height);
    let mut values = Vec::with_capacity(to.len());
    for [top, bottom, down] in rows {
        for [left, right, across] in columns {
            for channel in 0..to.channels {
                let at = |y: i32, x: i32| i64::from(read.pixel(y as usize, x as usize)[channel]);
                let along = |y: i32| at(y, *left) * i64::from(1024 - across) + at(y, *right) * i64::from(*across);
                let sum = along(*top) * i64::from(1024 - down) + along(*bottom) * i64::from(*down);
                values.push(((sum.abs() + (1 << 19)) / (1 << 20) * sum.signum()) as i32);
            }
        }
    }
    values
}

/// Runs of one value, each followed by a run of the other.
pub(super) fn concat<T: Copy>(a: &[T], b: &[T], runs: usize) -> Vec<T> {
    let (first, second) = (a.len() / runs, b.len() / runs);
    (0..runs).flat_map(|run| [&a[run * first..][..first], &b[run * second..][..second]].concat()).collect()
}
