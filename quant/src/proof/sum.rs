//! Sums over activations, and what the integer head makes of them.

use super::witness::{self, Head};
use super::{Check, Proof, Quantity};
use crate::arch::{Activation, ElementType, InputKind};
use crate::pack::head;
use crate::quantise::{QuantLayer, QuantNet};

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
    let heads: Vec<Check> = match head(net) {
        Some(head) => checks.iter().map(|check| result(&head, layer, check)).collect(),
        None => Vec::new(),
    };
    let search = Head { net, ranges, limits: &limits };
    proof.add(checks, |check| Some(search.witness(check)));
    proof.add(heads, |_| None);
}

/// The range of a dense network's quantised input.
fn dense_input(net: &QuantNet) -> (i64, i64) {
    match net.arch.input.r#type {
        Some(crate::arch::DenseType::I8) => (-127, 127),
        _ => (0, 127),
    }
}

/// The extremes of every contribution to the second layer, in the order of its inputs: the activation, squared where the
/// network squares it. `ranges` are the accumulators'; a clip makes them irrelevant, its absence makes them the limit.
fn contributions(net: &QuantNet, ranges: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let clip = net.layers.first().and_then(|layer| layer.weights.scale).map_or(i64::from(i16::MAX), i64::from);
    let activation = net.arch.layers.first().map_or(Activation::Identity, |layer| layer.activation);
    let shift = net.arch.layers.first().and_then(|layer| layer.product_shift).unwrap_or(head::DEFAULT_PRODUCT_SHIFT);
    let one: Vec<(i64, i64)> = match activation {
        Activation::PairwiseCrelu => vec![(0, (clip * clip) >> shift); ranges.len() / 2],
        Activation::Crelu => vec![(0, clip); ranges.len()],
        Activation::Screlu => vec![(0, clip * clip); ranges.len()],
        _ => ranges.iter().map(|(_, high)| (0, (*high).clamp(0, i64::from(i16::MAX)).pow(2))).collect(),
    };
    one.repeat(net.arch.perspectives())
}

/// The bound of every row: negative and positive contributions summed apart, with the bias at either end of the order.
fn rows(net: &QuantNet, index: usize, layer: &QuantLayer, limits: &[(i64, i64)], with_bias: bool) -> Vec<Check> {
    let outputs = layer.weights.outputs;
    let mut bounds = vec![(0i64, 0i64); outputs];
    for (column, (low, high)) in layer.weights.integers().chunks(outputs.max(1)).zip(limits) {
        for (bound, weight) in bounds.iter_mut().zip(column) {
            let ends = [i64::from(*weight) * low, i64::from(*weight) * high];
            bound.0 += ends[0].min(ends[1]).min(0);
            bound.1 += ends[0].max(ends[1]).max(0);
        }
    }
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
                low: low + bias.min(0),
                high: high + bias.max(0),
            }
        })
        .collect()
}

/// What the integer head makes of a sum's bounds; a sum beyond i32 wraps first, so its own check says more.
fn result(head: &head::IntegerHead, layer: &QuantLayer, check: &Check) -> Check {
    let bias = layer.bias.integers().get(check.row).copied().map_or(0, i64::from);
    let (least, greatest) = Quantity::Sum.limits();
    let end = |sum: i64| {
        let with_bias = sum.clamp(least, greatest) / i64::from(head.pre_divisor) + bias;
        with_bias * i64::from(head.factor) / i64::from(head.divisor)
    };
    Check { quantity: Quantity::Result, low: end(check.low), high: end(check.high), ..check.clone() }
}
