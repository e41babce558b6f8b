//! One node: what its elements can be, and whether they fit.

use super::pairs::Embeddings;
use super::span::Span;
use crate::proof::extremes::extremes;
use crate::proof::sum::row_bounds;
use crate::proof::{Check, Quantity};
use crate::quantise::QuantTensor;
use crate::program::{Element, Operation, ProgramInput, ProgramNode};
use tamis_runtime::num;

/// The largest magnitude of a feature's value.
const VALUE_MAX: i64 = 1 << 15;

/// What `node` makes of values within `spans`, and the sums to check. `nodes`: those before it.
pub(crate) fn bound(input: &ProgramInput, nodes: &[ProgramNode], spans: &[Span], node: &ProgramNode) -> (Span, Vec<Check>) {
    let everything = Span::of_element(node.value.element);
    if node.value.element == Element::F32 {
        return (everything, Vec::new());
    }
    let read = |place: usize| node.reads.get(place).and_then(|value| spans.get(*value)).unwrap_or(&Span::All((0, 0)));
    let len = |place: usize| match node.reads.get(place).map(|value| value.checked_sub(1)) {
        Some(Some(before)) => nodes.get(before).map_or(0, |node| node.value.len),
        _ => input_len(input),
    };
    match &node.op {
        Operation::Affine { weights, bias } => {
            let limits = read(0).each(weights.inputs);
            sums(node, &weights.name, with_bias(row_bounds(weights.integers(), weights.outputs, &limits), bias))
        }
        Operation::SparseAffine { weights, bias } => {
            sums(node, &weights.name, with_bias(sparse_sums(input, weights), bias))
        }
        Operation::SparseRows { .. } => {
            let greatest = rows(input, node).magnitudes.into_iter().max().unwrap_or(0);
            (Span::All((-greatest, greatest)), Vec::new())
        }
        Operation::FmTerm { width } => {
            let bound = embeddings(input, nodes, spans, node, *width, len(0)).all_pairs();
            sums(node, &node.name, vec![(-bound, bound)])
        }
        Operation::BiInteraction { width } => {
            let embeddings = embeddings(input, nodes, spans, node, *width, len(0));
            let of = |element| {
                let bound = embeddings.all_pairs_of(element);
                (-bound, bound)
            };
            sums(node, &node.name, (0..*width).map(of).collect())
        }
        Operation::InnerProducts { width } => {
            let bound = embeddings(input, nodes, spans, node, *width, len(0)).product();
            let (_, checks) = sums(node, &node.name, vec![(-bound, bound)]);
            (clamped(&[(-bound, bound)], node.value.len == 1), checks)
        }
        Operation::Concat => {
            let mut each = read(0).each(len(0));
            each.extend(read(1).each(node.value.len.saturating_sub(len(0))));
            (Span::Each(each), Vec::new())
        }
        Operation::Add => {
            let of = |element| {
                let (a, b) = (read(0).at(element), read(1).at(element));
                (a.0 + b.0, a.1 + b.1)
            };
            sums(node, &node.name, (0..node.value.len).map(of).collect())
        }
        Operation::Requantise { multipliers, shifts, low, high } => {
            let of = |(element, (multiplier, shift)): (usize, (&i32, &u8))| {
                let zero = node.value.zero;
                let end = |sum: i64| {
                    let shift = u32::from(*shift).clamp(1, 62);
                    let (low, high) = (low.saturating_sub(zero), high.saturating_sub(zero));
                    i64::from(num::requantise(to_i32(sum), *multiplier, shift, low, high)) + i64::from(zero)
                };
                let (low, high) = read(0).at(element);
                (end(low), end(high))
            };
            (Span::Each(multipliers.iter().zip(shifts).enumerate().map(of).collect()), Vec::new())
        }
        Operation::Lookup { table } => {
            let (low, high) = read(0).hull();
            let reached = (low..=high).filter_map(|x| table.get((x & 255) as usize)).map(|y| i64::from(*y));
            let ends = reached.fold((i64::MAX, i64::MIN), |ends, y| (ends.0.min(y), ends.1.max(y)));
            (if ends.0 <= ends.1 { Span::All(ends) } else { everything }, Vec::new())
        }
        Operation::Trees { leaves, .. } => {
            let mut bound = (0i64, 0i64);
            for tree in 0..leaves.outputs {
                let leaf = |value: &i32| i64::from(*value);
                let of_tree = leaves.integers().iter().skip(tree).step_by(leaves.outputs.max(1)).map(leaf);
                bound.0 += of_tree.clone().min().unwrap_or(0).min(0);
                bound.1 += of_tree.max().unwrap_or(0).max(0);
            }
            sums(node, &leaves.name, vec![bound])
        }
        Operation::Quantise { low, high, .. } => (Span::All((i64::from(*low), i64::from(*high))), Vec::new()),
        Operation::AffineF32 { .. }
        | Operation::ToF32 { .. }
        | Operation::Dequantise { .. }
        | Operation::Activation(_)
        | Operation::Scale(_) => (everything, Vec::new()),
    }
}

fn input_len(input: &ProgramInput) -> usize {
    match input {
        ProgramInput::Dense { len, .. } => *len,
        ProgramInput::Sparse { max_active, .. } => *max_active,
    }
}

fn to_i32(value: i64) -> i32 {
    value.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// A wrapped sum can be anything; a sum that fits is what it is.
fn clamped(bounds: &[(i64, i64)], each: bool) -> Span {
    let fits = |&(low, high): &(i64, i64)| low >= i64::from(i32::MIN) && high <= i64::from(i32::MAX);
    let of = |ends: &(i64, i64)| if fits(ends) { *ends } else { (i32::MIN.into(), i32::MAX.into()) };
    match bounds {
        [ends] if !each => Span::All(of(ends)),
        bounds => Span::Each(bounds.iter().map(of).collect()),
    }
}

/// The span of sums with a check a row.
fn sums(node: &ProgramNode, tensor: &str, bounds: Vec<(i64, i64)>) -> (Span, Vec<Check>) {
    let check = |(row, (low, high)): (usize, &(i64, i64))| Check {
        tensor: tensor.to_owned(),
        quantity: Quantity::Sum,
        row,
        bucket: None,
        low: *low,
        high: *high,
    };
    let checks = bounds.iter().enumerate().map(check).collect();
    (clamped(&bounds, bounds.len() == node.value.len), checks)
}

/// A sum starts at its bias or ends with it: partial sums at either end of the order.
fn with_bias(bounds: Vec<(i64, i64)>, bias: &QuantTensor) -> Vec<(i64, i64)> {
    let biases = bias.integers().iter().copied().map(i64::from).chain(std::iter::repeat(0));
    let add =
        |((low, high), bias): ((i64, i64), i64)| (low.saturating_add(bias.min(0)), high.saturating_add(bias.max(0)));
    bounds.into_iter().zip(biases).map(add).collect()
}

/// Sums over at most `max_active` distinct features.
fn sparse_sums(input: &ProgramInput, weights: &QuantTensor) -> Vec<(i64, i64)> {
    let ProgramInput::Sparse { max_active, unit, .. } = input else { return Vec::new() };
    if unit.is_none() {
        return extremes(weights.integers(), weights.outputs, *max_active);
    }
    let magnitudes: Vec<i32> = weights.integers().iter().map(|weight| weight.saturating_abs()).collect();
    let sums = extremes(&magnitudes, weights.outputs, *max_active);
    sums.into_iter().map(|(_, sum)| (sum.saturating_mul(-VALUE_MAX), sum.saturating_mul(VALUE_MAX))).collect()
}

/// The rows that SPARSE_ROWS may write, by their magnitudes.
fn rows(input: &ProgramInput, node: &ProgramNode) -> Embeddings {
    let (ProgramInput::Sparse { max_active, .. }, Operation::SparseRows { table, requantisation }) = (input, &node.op)
    else {
        return Embeddings { magnitudes: Vec::new(), width: 1, count: 0 };
    };
    let limit = if node.value.element == Element::I8 { i64::from(i8::MAX) } else { i64::from(i16::MAX) };
    let magnitude = |weight: &i32| {
        let weight = i64::from(weight.unsigned_abs());
        match requantisation {
            // The largest value's product, rounded away from 0 by one at most.
            Some((multiplier, shift)) => {
                let product = i128::from(weight * VALUE_MAX) * i128::from(*multiplier);
                limit.min(((product >> shift) + 1).min(limit.into()) as i64)
            }
            None => weight,
        }
    };
    Embeddings {
        magnitudes: table.integers().iter().map(magnitude).collect(),
        width: table.outputs,
        count: *max_active,
    }
}

/// The embeddings that a node reads: rows of a table, or slots of a value of another kind.
fn embeddings(
    input: &ProgramInput,
    nodes: &[ProgramNode],
    spans: &[Span],
    node: &ProgramNode,
    width: usize,
    len: usize,
) -> Embeddings {
    let value = node.reads.first().copied().unwrap_or(0);
    if let Some(source) = value.checked_sub(1).and_then(|before| nodes.get(before))
        && let Operation::SparseRows { table, .. } = &source.op
        && table.outputs == width
    {
        return rows(input, source);
    }
    let span = spans.get(value).cloned().unwrap_or(Span::All((0, 0)));
    let magnitude = |(low, high): (i64, i64)| low.abs().max(high.abs());
    let magnitudes = span.each(len).into_iter().map(magnitude).collect();
    Embeddings { magnitudes, width, count: len / width.max(1) }
}
