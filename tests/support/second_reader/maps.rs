//! The operations on maps (sections 6.21 to 6.25).

use super::file::{NOTHING, Op, Value};
use super::operations::wrap32;
use super::{Container, Numbers};

/// A map and its integers.
struct Map<'n> {
    x: &'n [i64],
    sizes: [usize; 3],
    zero: i64,
}

impl Map<'_> {
    /// 0 behind the zero point outside of the map.
    fn inner(&self, y: i64, x: i64, c: usize) -> Option<i64> {
        let [height, width, channels] = self.sizes;
        let inside = (0..height as i64).contains(&y) && (0..width as i64).contains(&x);
        inside.then(|| self.x[(y as usize * width + x as usize) * channels + c])
    }
}

fn sizes(value: &Value) -> [usize; 3] {
    let [height, width] = value.pixels;
    [height, width, value.len / height / width]
}

impl Container {
    fn map<'n>(&self, values: &'n [Numbers], index: u32) -> Map<'n> {
        let value = &self.values[index as usize];
        Map { x: values[index as usize].integers(), sizes: sizes(value), zero: value.zero }
    }

    pub(super) fn maps(&self, op: &Op, values: &[Numbers]) -> Numbers {
        let to = &self.values[op.output];
        let [height, width, channels] = sizes(to);
        let read = self.map(values, op.input as u32);
        let second = (op.second != NOTHING).then(|| self.map(values, op.second));
        let [low, high] = [op.params[2], op.params[3]].map(|end| i64::from(end as i32));
        let mut made = Vec::new();
        for y in 0..height {
            for x in 0..width {
                for c in 0..channels {
                    let at = (y * width + x) * channels + c;
                    made.push(match op.kind {
                        27 | 28 => {
                            let sum = self.window_sum(op, &read, [y, x, c], channels);
                            if op.multipliers == NOTHING {
                                sum
                            } else {
                                let other = second.as_ref().map(|map| map.x[at] - map.zero);
                                self.rounded(op, c, channels, sum, other, to.zero).clamp(low, high)
                            }
                        }
                        29 => pooled(op, &read, [y, x, c], (low, high)),
                        30 => {
                            let other = second.as_ref().unwrap();
                            let (a, b) = (read.x[at % read.x.len()], other.x[at % other.x.len()]);
                            let (da, db) = (a - read.zero, b - other.zero);
                            let number = |tensor: u32, row| i128::from(self.tensor(tensor).unwrap().integer(0, row, 0));
                            match op.activation {
                                15 => a.max(b).clamp(low, high),
                                16 => a.min(b).clamp(low, high),
                                code => {
                                    let product = if code == 18 {
                                        i128::from(da) * number(op.multipliers, 0)
                                            + i128::from(db) * number(op.multipliers, 1)
                                    } else {
                                        i128::from(da * db) * number(op.multipliers, 0)
                                    };
                                    let shift = number(op.shifts, 0) as u32;
                                    (round_shift(product, shift) + to.zero).clamp(low, high)
                                }
                            }
                        }
                        31 => {
                            let steps = [1, 2, 3].map(|word| i64::from(op.params[word] as i32));
                            let place = i64::from(op.params[0])
                                + y as i64 * steps[0]
                                + x as i64 * steps[1]
                                + c as i64 * steps[2];
                            read.x[place as usize]
                        }
                        32 => {
                            let (row, column) =
                                (y as i64 - i64::from(op.params[0]), x as i64 - i64::from(op.params[1]));
                            read.inner(row, column, c).unwrap_or(to.zero)
                        }
                        33 => {
                            let tap = |row: usize| {
                                [0, 1, 2].map(|k| self.tensor(op.multipliers).unwrap().integer(0, 3 * row + k, 0))
                            };
                            let ([top, bottom, down], [left, right, across]) = (tap(y), tap(height + x));
                            let at = |row, column| read.inner(row, column, c).unwrap();
                            let sum = (at(top, left) * (1024 - across) + at(top, right) * across) * (1024 - down)
                                + (at(bottom, left) * (1024 - across) + at(bottom, right) * across) * down;
                            sum.signum() * ((sum.abs() + (1 << 19)) >> 20)
                        }
                        other => panic!("operation kind {other}"),
                    });
                }
            }
        }
        Numbers::Integers(made)
    }

    /// Bias and products of all taps, modulo 2^32.
    fn window_sum(&self, op: &Op, read: &Map<'_>, [y, x, c]: [usize; 3], outputs: usize) -> i64 {
        let window = Window::of(op);
        let weights = self.tensor(op.weights).unwrap();
        let (taps, inputs) = (window.kernel[0] * window.kernel[1], read.sizes[2]);
        let depthwise =
            op.kind == 27 && inputs == outputs && inputs > 1 && (weights.rows, weights.cols) == (taps, inputs);
        let in_group = if depthwise { 1 } else { weights.cols / taps };
        let groups = inputs / in_group;
        let first = c / (outputs / groups) * in_group;
        let mut sum = self.tensor(op.bias).map_or(0, |bias| bias.integer(0, c, 0));
        for tap in 0..taps {
            let at = [(0, y, tap / window.kernel[1]), (1, x, tap % window.kernel[1])];
            let Some([row, column]) = window.inputs(at, op.kind == 28) else { continue };
            for i in 0..in_group {
                let Some(value) = read.inner(row, column, first + i) else { continue };
                let weight =
                    if depthwise { weights.integer(0, tap, c) } else { weights.integer(0, c, tap * in_group + i) };
                sum = wrap32(sum + weight * (value - read.zero));
            }
        }
        sum
    }

    fn rounded(&self, op: &Op, c: usize, outputs: usize, sum: i64, other: Option<i64>, zero: i64) -> i64 {
        let multiplier = |row| i128::from(self.tensor(op.multipliers).unwrap().integer(0, row, 0));
        let beside = other.map_or(0, |other| i128::from(other) * multiplier(outputs + c));
        let shift = self.tensor(op.shifts).unwrap().integer(0, c, 0) as u32;
        round_shift(i128::from(sum) * multiplier(c) + beside, shift) + zero
    }
}

/// `(product + 2^(shift−1)) >> shift`
fn round_shift(product: i128, shift: u32) -> i64 {
    ((product + (1 << (shift - 1))) >> shift) as i64
}

fn pooled(op: &Op, read: &Map<'_>, [y, x, c]: [usize; 3], (low, high): (i64, i64)) -> i64 {
    let window = Window::of(op);
    let taps = (0..window.kernel[0]).flat_map(|down| (0..window.kernel[1]).map(move |across| (down, across)));
    let seen: Vec<i64> = taps
        .filter_map(|(down, across)| {
            let [row, column] = window.inputs([(0, y, down), (1, x, across)], false)?;
            read.inner(row, column, c)
        })
        .collect();
    let sum: i64 = wrap32(seen.iter().sum());
    let count = seen.len().max(1) as i64;
    match op.activation {
        15 => seen.iter().copied().max().unwrap_or(i32::MIN.into()).clamp(low, high),
        17 => ((sum.abs() + count / 2) / count * sum.signum()).clamp(low, high),
        18 => wrap32(seen.iter().map(|value| value - read.zero).sum()),
        other => panic!("activation {other} of a pool"),
    }
}

/// Bytes 0 to 7 of the parameters.
struct Window {
    kernel: [usize; 2],
    stride: [i64; 2],
    dilation: [i64; 2],
    before: [i64; 2],
}

impl Window {
    fn of(op: &Op) -> Self {
        let byte = |index: usize| (op.params[index / 4] >> (8 * (index % 4)) & 0xFF) as i64;
        Self {
            kernel: [byte(0) as usize, byte(1) as usize],
            stride: [byte(2), byte(3)],
            dilation: [byte(4), byte(5)],
            before: [byte(6), byte(7)],
        }
    }

    /// The row and the column that a tap reads, perhaps outside; none where a transposed window has no pixel.
    fn inputs(&self, at: [(usize, usize, usize); 2], transposed: bool) -> Option<[i64; 2]> {
        let mut found = [0; 2];
        for (axis, output, tap) in at {
            let (output, reach) = (output as i64, tap as i64 * self.dilation[axis]);
            found[axis] = if transposed {
                let from = output + self.before[axis] - reach;
                if from.rem_euclid(self.stride[axis]) != 0 {
                    return None;
                }
                from.div_euclid(self.stride[axis])
            } else {
                output * self.stride[axis] + reach - self.before[axis]
            };
        }
        Some(found)
    }
}
