//! Inputs that take a sum out of its type: a feature list where one can be found, else activations.

use super::{Check, Witness};
use crate::arch::{Activation, InputKind};
use crate::quantise::{QuantLayer, QuantNet};

/// A hidden unit's accumulators on a feature list, in 64 bits.
pub fn accumulate(net: &QuantNet, features: &[u32]) -> Vec<i64> {
    let Some(layer) = net.layers.first() else { return Vec::new() };
    let mut acc: Vec<i64> = layer.bias.integers().iter().map(|bias| i64::from(*bias)).collect();
    for feature in features {
        add(&mut acc, row(layer, *feature), 1);
    }
    acc
}

/// What accumulators contribute to a row of the second layer, in 64 bits. `start`: the row's first column for this perspective.
pub fn contribution(net: &QuantNet, acc: &[i64], row: usize, start: usize) -> i64 {
    let Some(layer) = net.layers.get(1) else { return 0 };
    let outputs = layer.weights.outputs;
    let weights = layer.weights.integers().iter().skip(row + outputs * start).step_by(outputs.max(1));
    activated(net, acc).into_iter().zip(weights).map(|(value, weight)| value * i64::from(*weight)).sum()
}

/// The integer activations of one perspective, squared where the network squares them.
fn activated(net: &QuantNet, acc: &[i64]) -> Vec<i64> {
    let clip = net.layers.first().and_then(|layer| layer.weights.scale).map_or(i64::from(i16::MAX), i64::from);
    let description = net.arch.layers.first();
    let clipped = |value: &i64| (*value).clamp(0, clip);
    match description.map_or(Activation::Identity, |layer| layer.activation) {
        Activation::PairwiseCrelu => {
            let shift =
                description.and_then(|layer| layer.product_shift).unwrap_or(crate::pack::head::DEFAULT_PRODUCT_SHIFT);
            let (first, second) = acc.split_at(acc.len() / 2);
            first.iter().zip(second).map(|(a, b)| (clipped(a) * clipped(b)) >> shift).collect()
        }
        Activation::Crelu => acc.iter().map(clipped).collect(),
        Activation::Screlu => acc.iter().map(|value| clipped(value).pow(2)).collect(),
        _ => acc.iter().map(|value| (*value).max(0).pow(2)).collect(),
    }
}

/// The search for feature lists behind a sum's bound.
pub(super) struct Head<'a> {
    pub net: &'a QuantNet,
    pub ranges: &'a [(i64, i64)],
    /// Of every contribution, as the bound took them.
    pub limits: &'a [(i64, i64)],
}

impl Head<'_> {
    /// A feature list for each perspective if the greedy search finds lists that leave i32; else activations.
    ///
    /// The perspectives contribute independently, so each is searched alone. Every step adds the feature that moves the row
    /// furthest; in a chess network the features come from one king bucket and no square is used twice, so that the list
    /// could stand on a board as far as squares go.
    pub(super) fn witness(&self, check: &Check) -> Witness {
        let (_, greatest) = check.quantity.limits();
        let upward = check.high > greatest;
        let within_i16 =
            self.ranges.iter().all(|(low, high)| *low >= i64::from(i16::MIN) && *high <= i64::from(i16::MAX));
        if within_i16 {
            let mut lists: [Vec<u32>; 2] = Default::default();
            let mut value = 0;
            let width = self.net.arch.layer_inputs(1) / self.net.arch.perspectives().max(1);
            for (perspective, list) in lists.iter_mut().enumerate().take(self.net.arch.perspectives()) {
                let (found, reached) = self.search(check.row, perspective * width, upward);
                *list = found;
                value += reached;
            }
            let (least, greatest) = check.quantity.limits();
            if value > greatest || value < least {
                return Witness::Features { lists, value };
            }
        }
        match self.net.layers.get(1) {
            Some(layer) => activations(layer, check.row, self.limits, false),
            None => Witness::Activations { values: Vec::new(), value: 0 },
        }
    }

    fn search(&self, row: usize, start: usize, upward: bool) -> (Vec<u32>, i64) {
        let features = self.net.arch.feature_count() as u32;
        let chess = self.net.arch.input.kind == InputKind::Chess;
        let block = if chess { 768 } else { features.max(1) };
        let mut best: (Vec<u32>, i64) = (Vec::new(), contribution(self.net, &accumulate(self.net, &[]), row, start));
        for first in (0..features).step_by(block as usize) {
            let found = self.climb(row, start, upward, first..(first + block).min(features), chess);
            if (upward && found.1 > best.1) || (!upward && found.1 < best.1) {
                best = found;
            }
        }
        best
    }

    fn climb(
        &self,
        unit_row: usize,
        start: usize,
        upward: bool,
        candidates: std::ops::Range<u32>,
        chess: bool,
    ) -> (Vec<u32>, i64) {
        let Some(layer) = self.net.layers.first() else { return (Vec::new(), 0) };
        let mut acc = accumulate(self.net, &[]);
        let mut list: Vec<u32> = Vec::new();
        let mut value = contribution(self.net, &acc, unit_row, start);
        let mut free: Vec<u32> = candidates.collect();
        while list.len() < self.net.arch.max_active() {
            let mut step: Option<(u32, i64)> = None;
            for feature in &free {
                add(&mut acc, row(layer, *feature), 1);
                let reached = contribution(self.net, &acc, unit_row, start);
                add(&mut acc, row(layer, *feature), -1);
                let best = step.map_or(value, |(_, best)| best);
                if (upward && reached > best) || (!upward && reached < best) {
                    step = Some((*feature, reached));
                }
            }
            let Some((feature, reached)) = step else { break };
            add(&mut acc, row(layer, feature), 1);
            list.push(feature);
            value = reached;
            free.retain(|other| if chess { other % 64 != feature % 64 } else { *other != feature });
        }
        list.sort_unstable();
        (list, value)
    }
}

/// Every activation at the end of its range that drives the row outward.
pub(super) fn activations(layer: &QuantLayer, row: usize, limits: &[(i64, i64)], with_bias: bool) -> Witness {
    let outputs = layer.weights.outputs;
    let weights = layer.weights.integers().iter().skip(row).step_by(outputs.max(1));
    let bias = if with_bias { layer.bias.integers().get(row).copied().map_or(0, i64::from) } else { 0 };
    let drive = |upward: bool| -> (Vec<i32>, i64) {
        let mut value = bias;
        let mut values = Vec::with_capacity(limits.len());
        for (weight, (low, high)) in weights.clone().zip(limits) {
            let end = if (*weight > 0) == upward { *high } else { *low };
            value += i64::from(*weight) * end;
            values.push(i32::try_from(end).unwrap_or(i32::MAX));
        }
        (values, value)
    };
    let (up, down) = (drive(true), drive(false));
    let (values, value) = if up.1 >= -down.1 { up } else { down };
    Witness::Activations { values, value }
}

fn row(layer: &QuantLayer, feature: u32) -> &[i32] {
    let outputs = layer.weights.outputs;
    let start = feature as usize * outputs;
    layer.weights.integers().get(start..start + outputs).unwrap_or(&[])
}

fn add(acc: &mut [i64], row: &[i32], sign: i64) {
    for (sum, weight) in acc.iter_mut().zip(row) {
        *sum += sign * i64::from(*weight);
    }
}
