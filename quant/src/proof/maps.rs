//! What the elements of maps can be, a span a channel.

use super::before::Before;
use super::report::{Check, Quantity};
use super::span::Span;
use super::sums::{checked, checked_sums, row_bounds, with_bias};
use crate::program::{Convolution, Element, Operation, Pairing, PoolKind, ProgramNode, Rounding};
use crate::spatial::Shape;

type Ends = (i64, i64);

/// As [`super::bound`], for operations on maps.
pub(super) fn bound(before: &Before<'_>, node: &ProgramNode) -> (Span, Vec<Check>) {
    let span = |place: usize| before.spans[node.read(place)];
    let zero = |place: usize| i64::from(before.zero(node.read(place)));
    // What is above or below the zero point, a channel each.
    let channels = |place: usize| -> Vec<Ends> {
        let zero = zero(place);
        let of = |(low, high): Ends| (low - zero, high - zero);
        span(place).each(before.shape(node.read(place)).channels).into_iter().map(of).collect()
    };
    let whole = |place: usize| -> Ends {
        let (low, high) = span(place).hull();
        (low - zero(place), high - zero(place))
    };
    match &node.op {
        Operation::Convolution(op) => {
            let second = op.rounding.as_ref().and_then(|_| node.reads.get(1)).map(|_| channels(1));
            convolution(op, node, &channels(0), second.as_deref())
        }
        Operation::Pool { kind: PoolKind::Sum, window, .. } => {
            let taps = window.taps() as i64;
            // Of padding nothing is added.
            let of = |(low, high): &Ends| (low.min(&0) * taps, high.max(&0) * taps);
            let bounds: Vec<Ends> = channels(0).iter().map(of).collect();
            let is_narrow = node.value.element == Element::I16;
            let quantity = if is_narrow { Quantity::NarrowSum } else { Quantity::Sum };
            let (least, greatest) = quantity.limits();
            let is_held = bounds.iter().all(|(low, high)| *low >= least && *high <= greatest);
            let (span, checks) = checked(node, &node.name, quantity, bounds);
            // A sum that wraps can be anything.
            (if is_held { span } else { Span::of_element(node.value.element) }, checks)
        }
        Operation::Pool { kind, window, low, high } => {
            let read = before.shape(node.read(0));
            let mut span = clamped(span(0), *low, *high);
            if window.misses([read.height, read.width], [node.value.shape.height, node.value.shape.width]) {
                // Of no pixel the maximum is the least there is, and the mean 0.
                let of_none = if *kind == PoolKind::Max { *low } else { 0.clamp(*low, *high) };
                span = mapped(&span, |(low, high)| (low.min(of_none.into()), high.max(of_none.into())));
            }
            (span, Vec::new())
        }
        Operation::Elementwise { pairing: Pairing::Max | Pairing::Min, low, high, .. } => {
            (Span::All(((*low).into(), (*high).into())), Vec::new())
        }
        Operation::Elementwise { pairing, multipliers, shift, low, high } => {
            let (a, b) = (whole(0), whole(1));
            let times = |(low, high): Ends, factor: i32| -> (i128, i128) {
                let ends = [low, high].map(|end| i128::from(end) * i128::from(factor));
                (ends[0].min(ends[1]), ends[0].max(ends[1]))
            };
            let (least, greatest) = if *pairing == Pairing::Product {
                let products = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
                let ends = products.iter().fold((i64::MAX, i64::MIN), |ends, p| (ends.0.min(*p), ends.1.max(*p)));
                times(ends, multipliers[0])
            } else {
                let (a, b) = (times(a, multipliers[0]), times(b, multipliers[1]));
                (a.0 + b.0, a.1 + b.1)
            };
            let of = |product| rounded(product, *shift, node.value.zero, *low, *high);
            (Span::All((of(least), of(greatest))), Vec::new())
        }
        Operation::Move { .. } | Operation::Resize { .. } => (Span::All(span(0).hull()), Vec::new()),
        Operation::Pad { .. } => {
            let with_zero = |(low, high): Ends| (low.min(zero(0)), high.max(zero(0)));
            let ends = span(0).each(node.value.shape.channels).into_iter().map(with_zero);
            (Span::Each(ends.collect()), Vec::new())
        }
        _ => unreachable!("an operation on maps"),
    }
}

fn convolution(op: &Convolution, node: &ProgramNode, read: &[Ends], second: Option<&[Ends]>) -> (Span, Vec<Check>) {
    let (inputs, outputs) = (read.len() / op.groups, op.weights.outputs / op.groups);
    let mut bounds = Vec::with_capacity(op.weights.outputs);
    for group in 0..op.groups {
        let limits: Vec<Ends> =
            (0..op.weights.inputs).map(|column| read[group * inputs + column % inputs.max(1)]).collect();
        bounds.extend(row_bounds(&op.weights, group * outputs..(group + 1) * outputs, &limits));
    }
    let bounds = with_bias(bounds, op.bias.as_ref(), 0);
    let (sums, checks) = checked_sums(node, &op.weights.name, bounds);
    let Some(rounding) = &op.rounding else { return (sums, checks) };
    let made = |output: usize| rounded_sum(rounding, output, sums.at(output), second, node.value.zero);
    (Span::Each((0..op.weights.outputs).map(made).collect()), checks)
}

/// The ends of a sum, rounded; second: what is above or below the zero point of a second value, a channel each.
pub(crate) fn rounded_sum(rounding: &Rounding, output: usize, sum: Ends, second: Option<&[Ends]>, zero: i32) -> Ends {
    let times = |(low, high): Ends, factor: i32| {
        let ends = [low, high].map(|end| i128::from(end) * i128::from(factor));
        (ends[0].min(ends[1]), ends[0].max(ends[1]))
    };
    let own = times(sum, rounding.multipliers[output]);
    let beside = second.map_or((0, 0), |second| {
        times(second[output % second.len()], rounding.multipliers[rounding.shifts.len() + output])
    });
    let of = |product| rounded(product, rounding.shifts[output].into(), zero, rounding.low, rounding.high);
    (of(own.0 + beside.0), of(own.1 + beside.1))
}

/// `clamp(zero + ((product + 2^(shift−1)) >> shift), low, high)`
pub(crate) fn rounded(product: i128, shift: u32, zero: i32, low: i32, high: i32) -> i64 {
    let rounded = (product + (1i128 << (shift - 1))) >> shift;
    (rounded + i128::from(zero)).clamp(low.into(), high.into()) as i64
}

fn clamped(span: &Span, low: i32, high: i32) -> Span {
    mapped(span, |ends| (ends.0.clamp(low.into(), high.into()), ends.1.clamp(low.into(), high.into())))
}

fn mapped(span: &Span, of: impl Fn(Ends) -> Ends) -> Span {
    match span {
        Span::All(ends) => Span::All(of(*ends)),
        Span::Each(each) => Span::Each(each.iter().copied().map(of).collect()),
    }
}

/// The spans of two values one behind the other: a span a channel where they are joined within pixels.
pub(super) fn concat(before: &Before<'_>, node: &ProgramNode) -> Span {
    let shapes: Vec<Shape> = (0..2).map(|place| before.shape(node.read(place))).collect();
    let of = |place: usize| before.spans[node.read(place)].each(shapes[place].channels);
    if node.value.shape.channels == shapes[0].channels + shapes[1].channels {
        return Span::Each([of(0), of(1)].concat());
    }
    let pairs = of(0).into_iter().zip(of(1));
    Span::Each(pairs.map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect())
}
