//! Feature accumulators: bias plus the most extreme choice of distinct feature rows.

use super::{Check, Proof, Quantity, Witness};
use crate::quantise::QuantNet;

/// Bounds of every hidden unit: `(low, high)`, exact over all lists of at most `max_active` distinct features.
pub fn ranges(net: &QuantNet) -> Vec<(i64, i64)> {
    let Some(layer) = net.layers.first() else { return Vec::new() };
    let (outputs, inputs) = (layer.weights.outputs, layer.weights.inputs);
    let (weights, bias) = (layer.weights.integers(), layer.bias.integers());
    let active = net.arch.max_active();
    let mut column = Vec::with_capacity(inputs);
    (0..outputs)
        .map(|unit| {
            column.clear();
            column.extend(weights.iter().skip(unit).step_by(outputs.max(1)).copied());
            let start = i64::from(bias.get(unit).copied().unwrap_or(0));
            let (low, high) = extremes(&mut column, active);
            (start + low, start + high)
        })
        .collect()
}

/// The sums of the `active` most negative and of the `active` most positive weights.
fn extremes(weights: &mut [i32], active: usize) -> (i64, i64) {
    let active = active.min(weights.len());
    if active == 0 {
        return (0, 0);
    }
    if active < weights.len() {
        weights.select_nth_unstable(active - 1);
    }
    let low = weights.iter().take(active).filter(|weight| **weight < 0).map(|weight| i64::from(*weight)).sum();
    if active < weights.len() {
        let len = weights.len();
        weights.select_nth_unstable(len - active);
    }
    let high = weights.iter().rev().take(active).filter(|weight| **weight > 0).map(|weight| i64::from(*weight)).sum();
    (low, high)
}

pub(super) fn check(net: &QuantNet, proof: &mut Proof) -> Vec<(i64, i64)> {
    let ranges = ranges(net);
    let Some(layer) = net.layers.first() else { return ranges };
    let name = &layer.weights.name;
    let checks = ranges.iter().enumerate().map(|(row, (low, high))| Check {
        tensor: name.clone(),
        quantity: Quantity::Accumulator,
        row,
        bucket: None,
        low: *low,
        high: *high,
    });
    let mut worst = Proof::default();
    worst.add(checks.collect(), |check| Some(witness(net, check)));
    proof.violations.append(&mut worst.violations);
    // One line is enough for thousands of hidden units: the one with the least head-room.
    proof.checks.extend(worst.checks.into_iter().reduce(|a, b| if b.fraction() > a.fraction() { b } else { a }));
    ranges
}

/// The feature list that reaches the worse end of the row.
fn witness(net: &QuantNet, check: &Check) -> Witness {
    let Some(layer) = net.layers.first() else { return Witness::Features { lists: Default::default(), value: 0 } };
    let outputs = layer.weights.outputs.max(1);
    let upward = check.high > check.quantity.limits().1;
    let weights = layer.weights.integers();
    let mut features: Vec<(i32, u32)> = weights
        .iter()
        .skip(check.row)
        .step_by(outputs)
        .zip(0u32..)
        .map(|(weight, feature)| (*weight, feature))
        .collect();
    features.sort_by_key(|(weight, feature)| (if upward { -*weight } else { *weight }, *feature));
    features.retain(|(weight, _)| if upward { *weight > 0 } else { *weight < 0 });
    features.truncate(net.arch.max_active());
    let mut list: Vec<u32> = features.iter().map(|(_, feature)| *feature).collect();
    list.sort_unstable();
    let bias = layer.bias.integers().get(check.row).copied().unwrap_or(0);
    let value = i64::from(bias) + features.iter().map(|(weight, _)| i64::from(*weight)).sum::<i64>();
    Witness::Features { lists: [list, Vec::new()], value }
}
