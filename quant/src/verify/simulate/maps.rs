//! One operation on maps in real numbers.

use super::Switch;
use super::exact::Fused;
use super::operands::Operands;
use crate::float::Matrix;
use crate::graph::spatial;
use crate::program::{Convolution, Operation, Pairing, PoolKind, Program, ProgramNode, Rounding};
use crate::spatial::{Shape, Window};

/// What is read.
struct Read<'v> {
    x: &'v [f64],
    shape: Shape,
    zero: f64,
    program: &'v Program,
    /// Which value it is.
    value: usize,
}

impl Read<'_> {
    /// Without the zero point.
    fn centred(&self) -> Vec<f64> {
        self.x.iter().map(|x| x - self.zero).collect()
    }

    /// What it stands for; channels may have units of their own.
    fn reals(&self) -> Vec<f64> {
        let unit = |element| self.program.unit_of(self.value, element);
        self.x.iter().enumerate().map(|(element, x)| (x - self.zero) * unit(element)).collect()
    }
}

/// Whether an operation on maps rounds.
pub(super) fn rounds(op: &Operation) -> bool {
    match op {
        Operation::Convolution(op) => op.rounding.is_some(),
        Operation::Pool { kind, .. } => *kind == PoolKind::Mean,
        Operation::Elementwise { pairing, .. } => matches!(pairing, Pairing::Sum | Pairing::Product),
        Operation::Resize { taps } => taps.iter().any(|[.., weight]| *weight != 0),
        _ => false,
    }
}

/// What node `index` makes of the values before it.
pub(super) fn apply(operands: &Operands<'_>, (index, node): (usize, &ProgramNode), values: &[Vec<f64>]) -> Vec<f64> {
    let read = |place: usize| {
        let value = node.read(place);
        let (program, x) = (operands.program, values[value].as_slice());
        Read { x, shape: program.shape(value), zero: f64::from(program.zero(value)), program, value }
    };
    let is_on = (operands.on)(Switch::Node(index));
    let (to, zero) = (node.value.shape, f64::from(node.value.zero));
    let fused = |reals: Vec<f64>| -> Vec<f64> {
        let exact = operands.exact.fused.get(&index).map_or_else(|| reals.clone(), |fused| fused.apply(&reals));
        exact.into_iter().map(|x| x + zero).collect()
    };
    match &node.op {
        Operation::Convolution(op) => {
            let sums = sums(operands, (index, op), &read(0), to);
            let Some(rounding) = &op.rounding else { return sums };
            let second = (node.reads.len() > 1).then(|| read(1));
            if is_on {
                return round_sums(rounding, &sums, second.as_ref(), node);
            }
            let unit = |element: usize| sum_unit(rounding, node, element % to.channels);
            let mut reals: Vec<f64> = sums.iter().enumerate().map(|(element, sum)| sum * unit(element)).collect();
            if let Some(second) = second {
                reals.iter_mut().zip(second.reals()).for_each(|(real, x)| *real += x);
            }
            fused(reals)
        }
        Operation::Pool { window, kind, low, high } => pool(window, *kind, (*low, *high), &read(0), (to, is_on)),
        Operation::Elementwise { pairing: pairing @ (Pairing::Max | Pairing::Min), low, high, .. } => {
            let (a, b) = (read(0), read(1));
            let which = if *pairing == Pairing::Max { f64::max } else { f64::min };
            pairs(&a, &b, a.x, b.x, to).map(|(a, b)| which(a, b).clamp(f64::from(*low), f64::from(*high))).collect()
        }
        Operation::Elementwise { pairing, multipliers, shift, low, high } => {
            let (a, b) = (read(0), read(1));
            let [first, second] = multipliers.map(f64::from);
            let product = *pairing == Pairing::Product;
            if is_on {
                let (x, y) = (a.centred(), b.centred());
                let sum = |(x, y): (f64, f64)| if product { x * y * first } else { x * first + y * second };
                let rounded = |sum: f64| round(sum, *shift, zero, (*low, *high));
                return pairs(&a, &b, &x, &y, to).map(|pair| rounded(sum(pair))).collect();
            }
            let sign = if second < 0.0 { -1.0 } else { f64::from(u8::from(second > 0.0)) };
            let real = |(x, y): (f64, f64)| if product { x * y } else { x + sign * y };
            fused(pairs(&a, &b, &a.reals(), &b.reals(), to).map(real).collect())
        }
        Operation::Move { start, steps } => {
            let at = |element: usize| {
                let place = [element / to.channels / to.width, element / to.channels % to.width, element % to.channels];
                let offset: i64 = place.iter().zip(steps).map(|(at, step)| *at as i64 * i64::from(*step)).sum();
                read(0).x[(*start as i64 + offset) as usize]
            };
            (0..to.len()).map(at).collect()
        }
        Operation::Pad { before } => {
            let (of, mut made) = (read(0), vec![zero; to.len()]);
            for (pixel, x) in of.x.chunks(of.shape.channels).enumerate() {
                let at = to.at(pixel / of.shape.width + before[0], pixel % of.shape.width + before[1], 0);
                made[at..at + x.len()].copy_from_slice(x);
            }
            made
        }
        Operation::Resize { taps } => {
            let of = read(0);
            let (rows, columns) = taps.split_at(to.height);
            let mut made = Vec::with_capacity(to.len());
            for [top, bottom, down] in rows {
                for [left, right, across] in columns {
                    for channel in 0..to.channels {
                        let at = |y: i32, x: i32| of.x[of.shape.at(y as usize, x as usize, channel)];
                        let mean = |a: f64, b: f64, weight: i32| a + (b - a) * f64::from(weight) / 1024.0;
                        let along = |y: i32| mean(at(y, *left), at(y, *right), *across);
                        let exact = mean(along(*top), along(*bottom), *down);
                        made.push(if is_on { exact.round() } else { exact });
                    }
                }
            }
            made
        }
        op => panic!("{} is no operation on maps", op.word()),
    }
}

/// A convolution's sums, in units of their own.
fn sums(operands: &Operands<'_>, (index, op): (usize, &Convolution), read: &Read<'_>, to: Shape) -> Vec<f64> {
    let values = operands.of_node(index, 0).to_vec();
    let weights = Matrix { outputs: op.weights.outputs, inputs: op.weights.inputs, values };
    let bias = if op.bias.is_some() { operands.of_node(index, 1).to_vec() } else { vec![0.0; op.weights.outputs] };
    let (x, shapes) = (read.centred(), (read.shape, to));
    if op.transposed {
        return spatial::transposed(&x, shapes, &op.window, op.groups, (&weights, &bias));
    }
    spatial::convolution(&x, shapes, &op.window, op.groups, (&weights, &bias))
}

/// The real value of a 1 in a channel's sums.
pub(super) fn sum_unit(rounding: &Rounding, node: &ProgramNode, channel: usize) -> f64 {
    let factor = f64::from(rounding.multipliers[channel]) / (1u64 << rounding.shifts[channel]) as f64;
    factor * node.value.unit(channel)
}

fn round_sums(rounding: &Rounding, sums: &[f64], second: Option<&Read<'_>>, node: &ProgramNode) -> Vec<f64> {
    let channels = node.value.shape.channels;
    let one = |(element, sum): (usize, &f64)| {
        let channel = element % channels;
        let mut product = sum * f64::from(rounding.multipliers[channel]);
        if let Some(second) = second {
            let other = second.x[element] - second.zero;
            product += other * f64::from(rounding.multipliers[rounding.shifts.len() + channel]);
        }
        round(product, rounding.shifts[channel].into(), f64::from(node.value.zero), (rounding.low, rounding.high))
    };
    sums.iter().enumerate().map(one).collect()
}

/// To nearest, halves up, with the zero point, clipped.
fn round(product: f64, shift: u32, zero: f64, (low, high): (i32, i32)) -> f64 {
    ((product / (1u64 << shift) as f64 + 0.5).floor() + zero).clamp(f64::from(low), f64::from(high))
}

fn pool(
    window: &Window,
    kind: PoolKind,
    (low, high): (i32, i32),
    read: &Read<'_>,
    (to, is_on): (Shape, bool),
) -> Vec<f64> {
    let (low, high) = (f64::from(low), f64::from(high));
    let mut made = Vec::with_capacity(to.len());
    for place in 0..to.pixels() {
        let tap = |tap: usize| {
            let (down, across) = (tap / window.kernel[1], tap % window.kernel[1]);
            let row = window.input(0, place / to.width, down, read.shape.height)?;
            let column = window.input(1, place % to.width, across, read.shape.width)?;
            Some(read.shape.at(row, column, 0))
        };
        let places: Vec<usize> = (0..window.taps()).filter_map(tap).collect();
        for channel in 0..to.channels {
            let found = places.iter().map(|place| read.x[place + channel]);
            made.push(match kind {
                PoolKind::Max => found.fold(f64::NEG_INFINITY, f64::max).clamp(low, high),
                PoolKind::Sum => found.map(|x| x - read.zero).sum(),
                PoolKind::Mean => {
                    let mean = found.sum::<f64>() / places.len().max(1) as f64;
                    (if is_on { mean.round() } else { mean }).clamp(low, high)
                }
            });
        }
    }
    made
}

/// Elements that meet: a pixel meets all pixels of the other.
fn pairs<'x>(
    a: &Read<'_>,
    b: &Read<'_>,
    x: &'x [f64],
    y: &'x [f64],
    to: Shape,
) -> impl Iterator<Item = (f64, f64)> + 'x {
    let (first, second) = (a.x.len(), b.x.len());
    (0..to.len()).map(move |element| (x[element % first], y[element % second]))
}

impl Fused {
    /// What stands between the reals of a sum and the units of what is made of it.
    pub(super) fn of_reals(functions: Vec<super::exact::Function>, made: Vec<f64>) -> Self {
        Self { units: vec![1.0], zero: 0, functions, made }
    }
}
