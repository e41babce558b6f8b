//! Feature accumulators: bias plus the most extreme choice of distinct feature rows.

use super::extremes::extremes;
use super::{Check, Proof, Quantity, Witness};
use crate::quantise::QuantNet;
use std::iter;

/// Bounds of every hidden unit: `(low, high)`, exact over all lists of at most `max_active` distinct features.
pub fn ranges(net: &QuantNet) -> Vec<(i64, i64)> {
    let Some(layer) = net.layers.first() else { return Vec::new() };
    let units = layer.weights.outputs;
    let starts = layer.bias.integers().iter().copied().map(i64::from).chain(iter::repeat(0));
    let extremes = extremes(layer.weights.integers(), units, net.arch.max_active());
    extremes.into_iter().zip(starts).map(|((low, high), start)| (start + low, start + high)).collect()
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
