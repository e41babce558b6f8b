//! Inputs that take a sum out of its type: a feature list where one can be found, else activations.

use super::{Check, Witness};
use crate::arch::InputKind;
use crate::quantise::{IntegerActivation, QuantLayer, QuantNet};
use tamis_runtime::format::feature_set::KING_TABLE_LEN;

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
    WeightRow::of(net, row, start).map_or(0, |row| row.contribution(acc))
}

/// The part of a row of the second layer that one perspective meets.
struct WeightRow {
    activation: IntegerActivation,
    /// (activations of one perspective,)
    weights: Vec<i64>,
}

impl WeightRow {
    fn of(net: &QuantNet, row: usize, start: usize) -> Option<Self> {
        let layer = net.layers.get(1)?;
        let outputs = layer.weights.outputs;
        let weights = layer.weights.integers().iter().skip(row + outputs * start).step_by(outputs.max(1));
        let width = net.arch.layer_inputs(1) / net.arch.perspectives().max(1);
        let weights = weights.take(width).map(|weight| i64::from(*weight)).collect();
        Some(Self { activation: IntegerActivation::of(&net.arch)?, weights })
    }

    fn contribution(&self, acc: &[i64]) -> i64 {
        let products = self.activation.apply(acc).into_iter().zip(&self.weights).map(|(value, weight)| value * weight);
        products.fold(0, i64::saturating_add)
    }
}

/// The search for feature lists behind a sum's bound.
pub(super) struct Head<'a> {
    pub net: &'a QuantNet,
    pub ranges: &'a [(i64, i64)],
    /// Of every contribution, as the bound took them.
    pub limits: &'a [(i64, i64)],
}

/// Hidden units that a search looks at before it stops with what it has: seconds, for networks whose number of features times
/// `max_active` would take days.
const MAX_SEARCH_WORK: u64 = 1 << 33;

impl Head<'_> {
    /// A feature list for each perspective if the greedy search finds lists that leave i32; else activations.
    ///
    /// The perspectives contribute independently, so each is searched alone. Every step adds the feature that moves the row
    /// furthest; in a chess network the features come from one king bucket and no square is used twice, so that the list
    /// could stand on a board as far as squares go.
    pub(super) fn witness(&self, check: &Check) -> Witness {
        let (least, greatest) = check.quantity.limits();
        let upward = check.high > greatest;
        let within_i16 =
            self.ranges.iter().all(|(low, high)| *low >= i64::from(i16::MIN) && *high <= i64::from(i16::MAX));
        if within_i16 {
            let mut lists: [Vec<u32>; 2] = Default::default();
            let mut value = 0;
            let width = self.net.arch.layer_inputs(1) / self.net.arch.perspectives().max(1);
            for (perspective, list) in lists.iter_mut().enumerate().take(self.net.arch.perspectives()) {
                let Some(row) = WeightRow::of(self.net, check.row, perspective * width) else { continue };
                let (found, reached) = self.search(&row, upward);
                *list = found;
                value += reached;
            }
            if value > greatest || value < least {
                return Witness::Features { lists, value };
            }
        }
        match self.net.layers.get(1) {
            Some(layer) => activations(layer, check.row, self.limits, false),
            None => Witness::Activations { values: Vec::new(), value: 0 },
        }
    }

    /// The best list over all king buckets, and what it reaches.
    fn search(&self, weights: &WeightRow, upward: bool) -> (Vec<u32>, i64) {
        let features = self.net.arch.feature_count() as u32;
        let chess = self.net.arch.input.kind == InputKind::Chess;
        let block = if chess { self.net.arch.features_per_king_bucket() as u32 } else { features.max(1) };
        let mut best: (Vec<u32>, i64) = (Vec::new(), weights.contribution(&accumulate(self.net, &[])));
        let mut work = 0;
        for first in (0..features).step_by(block as usize) {
            let found = self.climb(weights, upward, first..(first + block).min(features), &mut work);
            if (upward && found.1 > best.1) || (!upward && found.1 < best.1) {
                best = found;
            }
        }
        best
    }

    /// Adds the feature that moves the row furthest until none does or the list is full.
    fn climb(
        &self,
        weights: &WeightRow,
        upward: bool,
        candidates: std::ops::Range<u32>,
        work: &mut u64,
    ) -> (Vec<u32>, i64) {
        let Some(layer) = self.net.layers.first() else { return (Vec::new(), 0) };
        let chess = self.net.arch.input.kind == InputKind::Chess;
        let mut acc = accumulate(self.net, &[]);
        let mut list: Vec<u32> = Vec::new();
        let mut value = weights.contribution(&acc);
        let mut free: Vec<u32> = candidates.collect();
        while list.len() < self.net.arch.max_active() {
            let mut step: Option<(u32, i64)> = None;
            for feature in &free {
                *work += acc.len() as u64;
                if *work > MAX_SEARCH_WORK {
                    break;
                }
                add(&mut acc, row(layer, *feature), 1);
                let reached = weights.contribution(&acc);
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
            let square = |feature: u32| feature as usize % KING_TABLE_LEN;
            free.retain(|other| if chess { square(*other) != square(feature) } else { *other != feature });
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
            value = value.saturating_add(i64::from(*weight) * end);
            values.push(i32::try_from(end).unwrap_or(i32::MAX));
        }
        (values, value)
    };
    let (up, down) = (drive(true), drive(false));
    let (values, value) = if up.1 >= down.1.saturating_neg() { up } else { down };
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
