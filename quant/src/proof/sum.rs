//! Sums over activations, and what the integer head makes of them.

use super::witness::{self, Head};
use super::{Check, Proof, Quantity};
use crate::arch::{Activation, DenseType, ElementType, InputKind};
use crate::quantise::{IntegerActivation, IntegerHead, QuantLayer, QuantNet, head};
use tamis_runtime::num;

/// Bounds every integer layer behind the first (sparse networks) or every layer (dense).
pub(super) fn check(net: &QuantNet, ranges: Option<&[(i64, i64)]>, proof: &mut Proof) {
    if net.arch.input.kind == InputKind::Dense {
        let mut input = dense_input(net);
        for (index, layer) in net.layers.iter().enumerate() {
            let limits: Vec<(i64, i64)> = vec![input; layer.weights.inputs];
            let checks = rows(net, index, layer, &limits, true);
            proof.add(checks, |check| Some(witness::activations(layer, check.row, &limits, true)));
            if let Some(scales) = &layer.dense {
                input = (i64::from(scales.low), i64::from(scales.high));
            }
        }
        return;
    }
    let (Some(layer), Some(ranges)) = (net.layers.get(1), ranges) else { return };
    if layer.weights.element == ElementType::F32 {
        return; // reals do not overflow
    }
    let limits = contributions(net, ranges);
    let with_bias = layer.weights.element == ElementType::I8 && layer.bias.element == ElementType::I32;
    let checks = rows(net, 1, layer, &limits, with_bias);
    let heads: Vec<Check> = match head(&net.arch) {
        Some(head) => checks.iter().map(|check| result(&head, layer, check)).collect(),
        None => Vec::new(),
    };
    let search = Head { net, ranges, limits: &limits };
    proof.add(checks, |check| Some(search.witness(check)));
    proof.add(heads, |_| None);
}

/// The range of a dense network's quantised input.
fn dense_input(net: &QuantNet) -> (i64, i64) {
    let (low, high) = net.arch.input.r#type.unwrap_or(DenseType::U7).range();
    (low.into(), high.into())
}

/// The extremes of every contribution to the second layer, in the order of its inputs: the activation, squared where the
/// network squares it. `ranges` are the accumulators'; a clip makes them irrelevant, its absence makes them the limit.
fn contributions(net: &QuantNet, ranges: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let Some(activation) = IntegerActivation::of(&net.arch) else { return Vec::new() };
    // Beyond i16 an accumulator wraps, so that its bound says nothing about what is activated.
    let reached = |&(low, high): &(i64, i64)| {
        let wraps = low < i64::from(i16::MIN) || high > i64::from(i16::MAX);
        if wraps || activation.activation != Activation::Sqrrelu { i64::from(i16::MAX) } else { high }
    };
    let reached: Vec<i64> = ranges.iter().map(reached).collect();
    let one: Vec<(i64, i64)> = activation.apply(&reached).into_iter().map(|greatest| (0, greatest)).collect();
    one.repeat(net.arch.perspectives())
}

/// The bound of every row: negative and positive contributions summed apart, with the bias at either end of the order.
fn rows(net: &QuantNet, index: usize, layer: &QuantLayer, limits: &[(i64, i64)], with_bias: bool) -> Vec<Check> {
    let outputs = layer.weights.outputs;
    let bounds = row_bounds(layer.weights.integers(), outputs, limits);
    let per_bucket = net.arch.layers.get(index).map_or(1, |layer| layer.outputs).max(1);
    let bucketed = net.arch.layers.get(index).is_some_and(|layer| layer.bucketed);
    bounds
        .into_iter()
        .enumerate()
        .map(|(row, (low, high))| {
            let bias = if with_bias { layer.bias.integers().get(row).copied().map_or(0, i64::from) } else { 0 };
            Check {
                tensor: layer.weights.name.clone(),
                quantity: Quantity::Sum,
                row,
                bucket: bucketed.then_some(row / per_bucket),
                low: low.saturating_add(bias.min(0)),
                high: high.saturating_add(bias.max(0)),
            }
        })
        .collect()
}

/// The least and the greatest partial sum of every row, without bias: negative and positive contributions summed apart.
/// weights: (outputs, limits.len()), a column an input.
pub(super) fn row_bounds(weights: &[i32], outputs: usize, limits: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut bounds = vec![(0i64, 0i64); outputs];
    for (column, (low, high)) in weights.chunks(outputs.max(1)).zip(limits) {
        for (bound, weight) in bounds.iter_mut().zip(column) {
            let ends = [i64::from(*weight) * low, i64::from(*weight) * high];
            // Saturating for weights of i32, which the runtime has no operation for: a bound beyond i64 is beyond i32 too.
            bound.0 = bound.0.saturating_add(ends[0].min(ends[1]).min(0));
            bound.1 = bound.1.saturating_add(ends[0].max(ends[1]).max(0));
        }
    }
    bounds
}

/// What the integer head makes of a sum's bounds. A sum that can leave i32 wraps, so that all of i32 comes in.
fn result(head: &IntegerHead, layer: &QuantLayer, check: &Check) -> Check {
    let bias = layer.bias.integers().get(check.row).copied().unwrap_or(0);
    let end = |sum: i32| num::rescale_exact(sum, head.pre_divisor, bias, head.factor, head.divisor);
    let (low, high) = match (i32::try_from(check.low), i32::try_from(check.high)) {
        (Ok(low), Ok(high)) => (low, high),
        _ => (i32::MIN, i32::MAX),
    };
    Check { quantity: Quantity::Result, low: end(low), high: end(high), ..check.clone() }
}
