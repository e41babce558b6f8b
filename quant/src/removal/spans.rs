//! What every channel can be, as close as one interval a channel tells it.
//!
//! The proof's bounds hold for every partial sum, in whatever order; here whole sums alone count, so that a constant
//! stays a constant through a sum of products.

use crate::program::{Convolution, Element, Operation, Pairing, PoolKind, Program, ProgramNode};
use crate::proof::{Before, Span, bound, rounded, rounded_sum};
use crate::spatial::{Shape, Window};

/// The least and the greatest.
pub(super) type Ends = (i64, i64);

/// Where a tap of a window lies over all places of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Within the map.
    Inside,
    /// In the padding.
    Outside,
    /// The one or the other.
    Either,
}

/// The ends of every channel of every value, by the value's number; of reals nothing is known.
pub(super) struct Channels {
    ends: Vec<Vec<Ends>>,
}

impl Channels {
    pub(super) fn of(program: &Program) -> Self {
        let mut spans = vec![Span::of_input(&program.input)];
        for (index, node) in program.nodes.iter().enumerate() {
            let refs: Vec<&Span> = spans.iter().collect();
            let nodes = &program.nodes[..index];
            let before = Before { input: &program.input, nodes, spans: &refs, bucket: 0, buckets: 1 };
            let span = closer(program, node, &refs).map_or_else(|| bound(&before, node).0, Span::Each);
            spans.push(span);
        }
        let each = |(value, span): (usize, &Span)| span.each(program.shape(value).channels);
        Self { ends: spans.iter().enumerate().map(each).collect() }
    }

    /// The number that a channel always is, if it is one.
    pub(super) fn constant(&self, value: usize, channel: usize) -> Option<i64> {
        let (low, high) = self.ends[value][channel];
        (low == high).then_some(low)
    }
}

/// A span a channel, of operations of which the proof says less.
fn closer(program: &Program, node: &ProgramNode, spans: &[&Span]) -> Option<Vec<Ends>> {
    if node.value.element == Element::F32 {
        return None;
    }
    let shape = |place: usize| program.shape(node.read(place));
    let ends = |place: usize| spans[node.read(place)].each(shape(place).channels);
    let less_zero = |place: usize| -> Vec<Ends> {
        let zero = i64::from(program.zero(node.read(place)));
        ends(place).into_iter().map(|(low, high)| (low - zero, high - zero)).collect()
    };
    Some(match &node.op {
        Operation::Convolution(op) => {
            let second = op.rounding.as_ref().and_then(|_| node.reads.get(1)).map(|_| less_zero(1));
            let sums = sums(op, shape(0), node.value.shape, &less_zero(0));
            match &op.rounding {
                None => sums,
                Some(rounding) => {
                    let of = |(output, sum): (usize, Ends)| {
                        rounded_sum(rounding, output, sum, second.as_deref(), node.value.zero)
                    };
                    sums.into_iter().enumerate().map(of).collect()
                }
            }
        }
        Operation::Affine { weights, bias } => {
            let (read, outputs) = (ends(0), weights.outputs);
            let mut sums = vec![(0, 0); outputs];
            for (element, column) in weights.integers().chunks(outputs).enumerate() {
                sums.iter_mut().zip(column).for_each(|(sum, weight)| {
                    *sum = plus(*sum, times(read[element % read.len()], (*weight).into()));
                });
            }
            let bias = |row: usize| match bias {
                Some(bias) => i64::from(bias.integers()[row]),
                None => 0,
            };
            sums.into_iter().enumerate().map(|(row, sum)| held(plus(sum, (bias(row), bias(row))))).collect()
        }
        Operation::Pool { kind: PoolKind::Sum, window, .. } => {
            let all = window.taps() as i64;
            let inside = taps(window, shape(0), node.value.shape).all(|reach| reach == Reach::Inside);
            let of = |(low, high): Ends| {
                if inside { (low * all, high * all) } else { (low.min(0) * all, high.max(0) * all) }
            };
            let (least, greatest) = node.value.element.range();
            let fits = |ends: &Ends| ends.0 >= least.into() && ends.1 <= greatest.into();
            let wrapped = (i64::from(least), i64::from(greatest));
            less_zero(0).into_iter().map(of).map(|ends| if fits(&ends) { ends } else { wrapped }).collect()
        }
        Operation::Elementwise { pairing, multipliers, shift, low, high } => {
            let (a, b) = (less_zero(0), less_zero(1));
            let (stored_a, stored_b) = (ends(0), ends(1));
            let clamp = |x: i64| x.clamp((*low).into(), (*high).into());
            let round = |x: i128| rounded(x, *shift, node.value.zero, *low, *high);
            let wide = |ends: Ends, factor: i32| times_wide((ends.0.into(), ends.1.into()), factor.into());
            let of = |channel: usize| {
                let (own, other) = (stored_a[channel], stored_b[channel]);
                match pairing {
                    Pairing::Max => (clamp(own.0.max(other.0)), clamp(own.1.max(other.1))),
                    Pairing::Min => (clamp(own.0.min(other.0)), clamp(own.1.min(other.1))),
                    Pairing::Sum => {
                        let (a, b) = (wide(a[channel], multipliers[0]), wide(b[channel], multipliers[1]));
                        (round(a.0 + b.0), round(a.1 + b.1))
                    }
                    Pairing::Product => {
                        let (a, b) = (a[channel], b[channel]);
                        let ends = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
                        let least = ends.into_iter().fold(ends[0], i64::min);
                        let greatest = ends.into_iter().fold(ends[0], i64::max);
                        let product = wide((least, greatest), multipliers[0]);
                        (round(product.0), round(product.1))
                    }
                }
            };
            (0..node.value.shape.channels).map(of).collect()
        }
        Operation::Move { start, steps } if keeps_channels(*start, *steps, shape(0), node.value.shape) => ends(0),
        // A mean of neighbours lies between them.
        Operation::Resize { .. } => ends(0),
        Operation::Lookup { table } => {
            let of = |(low, high): Ends| {
                let reached = (low..=high).map(|x| i64::from(table[(x & 255) as usize]));
                reached.fold((i64::MAX, i64::MIN), |ends, y| (ends.0.min(y), ends.1.max(y)))
            };
            ends(0).into_iter().map(of).collect()
        }
        _ => return None,
    })
}

/// The sums of a convolution, bias included. read: what is above or below the zero point, a channel each.
fn sums(op: &Convolution, from: Shape, to: Shape, read: &[Ends]) -> Vec<Ends> {
    let weights = &op.weights;
    let (inputs, outputs) = (read.len() / op.groups, weights.outputs / op.groups);
    let mut sums: Vec<Ends> = match &op.bias {
        Some(bias) => bias.integers().iter().map(|bias| (i64::from(*bias), i64::from(*bias))).collect(),
        None => vec![(0, 0); weights.outputs],
    };
    for (tap, reach) in reaches(op, from, to).into_iter().enumerate() {
        for channel in 0..inputs {
            let start = weights.outputs * (tap * inputs + channel);
            let column = &weights.integers()[start..start + weights.outputs];
            for (output, (sum, weight)) in sums.iter_mut().zip(column).enumerate() {
                let product = times(read[output / outputs * inputs + channel], (*weight).into());
                *sum = plus(
                    *sum,
                    match reach {
                        Reach::Inside => product,
                        Reach::Outside => (0, 0),
                        Reach::Either => (product.0.min(0), product.1.max(0)),
                    },
                );
            }
        }
    }
    sums.into_iter().map(held).collect()
}

/// Where the taps of a convolution lie; those of a transposed one are not followed.
pub(super) fn reaches(op: &Convolution, from: Shape, to: Shape) -> Vec<Reach> {
    if op.transposed { vec![Reach::Either; op.window.taps()] } else { taps(&op.window, from, to).collect() }
}

fn taps(window: &Window, from: Shape, to: Shape) -> impl Iterator<Item = Reach> + '_ {
    let along = move |axis: usize, tap: usize, size: usize, places: usize| {
        let inside = (0..places).filter(|place| window.input(axis, *place, tap, size).is_some()).count();
        (inside == places, inside == 0)
    };
    (0..window.taps()).map(move |tap| {
        let (down, across) = (tap / window.kernel[1], tap % window.kernel[1]);
        let rows = along(0, down, from.height, to.height);
        let columns = along(1, across, from.width, to.width);
        match (rows.0 && columns.0, rows.1 || columns.1) {
            (true, _) => Reach::Inside,
            (_, true) => Reach::Outside,
            _ => Reach::Either,
        }
    })
}

/// Whether element c of a pixel comes from element c of another one.
pub(super) fn keeps_channels(start: usize, steps: [i32; 3], from: Shape, to: Shape) -> bool {
    let channels = from.channels;
    let whole = |step: i32, count: usize| count == 1 || (step.unsigned_abs() as usize).is_multiple_of(channels);
    let pixels = whole(steps[0], to.height) && whole(steps[1], to.width);
    start.is_multiple_of(channels) && to.channels == channels && pixels && (steps[2] == 1 || channels == 1)
}

/// A sum that wraps can be anything.
fn held((low, high): Ends) -> Ends {
    let (least, greatest) = (i64::from(i32::MIN), i64::from(i32::MAX));
    if low >= least && high <= greatest { (low, high) } else { (least, greatest) }
}

fn plus(a: Ends, b: Ends) -> Ends {
    (a.0.saturating_add(b.0), a.1.saturating_add(b.1))
}

fn times((low, high): Ends, factor: i64) -> Ends {
    let ends = [low.saturating_mul(factor), high.saturating_mul(factor)];
    (ends[0].min(ends[1]), ends[0].max(ends[1]))
}

fn times_wide((low, high): (i128, i128), factor: i128) -> (i128, i128) {
    let ends = [low * factor, high * factor];
    (ends[0].min(ends[1]), ends[0].max(ends[1]))
}
