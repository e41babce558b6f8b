//! The search for feature lists behind a sum's bound.
//!
//! The perspectives contribute independently, so each is searched alone. Every step adds the feature that moves the row
//! furthest; in a chess network the features come from one king bucket, no square is used twice and no side has more
//! than sixteen pieces.

use super::accumulators::board;
use super::board::Board;
use super::sums::{pair, rounded_term};
use super::{Check, Witness};
use crate::program::{Clip, Operation, Program, ProgramInput, ProgramNode, QuantTensor, Transformer};
use std::ops::Range;

/// Hidden units that a search looks at before it stops with what it has: seconds, for networks whose number of features
/// times `max_active` would take days.
const MAX_SEARCH_WORK: u64 = 1 << 33;

/// A row of sums over what accumulators become.
pub(super) struct Search<'p> {
    transformer: &'p Transformer,
    weights: &'p QuantTensor,
    activation: Activation,
    perspectives: usize,
    features: usize,
    max_active: usize,
    /// None of inputs that are no board.
    board: Option<Board>,
}

/// What accumulators become before their weights.
#[derive(Clone, Copy)]
enum Activation {
    Clip { clip: Clip, max: i64 },
    Rounded { max: i64 },
    Pairwise { max: i64, shift: u32, is_rounded: bool },
}

impl<'p> Search<'p> {
    /// Of a node that reads accumulators, or all products of their halves; `None` of any other.
    pub fn of(program: &'p Program, node: &ProgramNode, weights: &'p QuantTensor) -> Option<Self> {
        let transformer = program.transformer.as_ref()?;
        let ProgramInput::Features { features, perspectives, max_active, .. } = program.input else { return None };
        let [read] = node.reads.as_slice() else { return None };
        let activation = match (&node.op, read.value.checked_sub(1).map(|before| &program.nodes[before].op)) {
            (Operation::ActivateDot { clip, max, .. }, None) => Activation::Clip { clip: *clip, max: (*max).into() },
            (Operation::RoundedDot { max, .. }, None) => Activation::Rounded { max: (*max).into() },
            (Operation::Affine { .. }, Some(Operation::PairwiseU8 { max, shift, is_rounded, left_out: 0 })) => {
                Activation::Pairwise { max: (*max).into(), shift: *shift, is_rounded: *is_rounded }
            }
            _ => return None,
        };
        let board = board(transformer, max_active);
        Some(Self { transformer, weights, activation, perspectives, features, max_active, board })
    }

    /// A list for each perspective, if the search finds lists that leave the type.
    pub fn lists(&self, check: &Check) -> Option<Witness> {
        let (least, greatest) = check.quantity.limits();
        let upward = check.high > greatest;
        let mut lists: [Vec<u32>; 2] = Default::default();
        let mut value = 0;
        let width = self.weights.inputs / self.perspectives;
        for (perspective, list) in lists.iter_mut().enumerate().take(self.perspectives) {
            let start = check.row + self.weights.outputs * width * perspective;
            let row = self.weights.integers().iter().skip(start).step_by(self.weights.outputs);
            let row: Vec<i64> = row.take(width).map(|weight| i64::from(*weight)).collect();
            let (found, reached) = self.best(&row, upward);
            *list = found;
            value += reached;
        }
        (value > greatest || value < least).then_some(Witness::Features { lists, value })
    }

    /// The best list over all king buckets, and what it reaches.
    fn best(&self, weights: &[i64], upward: bool) -> (Vec<u32>, i64) {
        let features = self.features as u32;
        let block = self.board.map_or(self.features, |board| board.per_bucket) as u32;
        let mut best: (Vec<u32>, i64) = (Vec::new(), self.contribution(&self.start(), weights));
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
    fn climb(&self, weights: &[i64], upward: bool, candidates: Range<u32>, work: &mut u64) -> (Vec<u32>, i64) {
        let mut acc = self.start();
        let mut list: Vec<u32> = Vec::new();
        let mut value = self.contribution(&acc, weights);
        let mut free: Vec<u32> = candidates.collect();
        while list.len() < self.max_active {
            let mut step: Option<(u32, i64)> = None;
            for feature in &free {
                *work += acc.len() as u64;
                if *work > MAX_SEARCH_WORK {
                    break;
                }
                self.add(&mut acc, *feature, 1);
                let reached = self.contribution(&acc, weights);
                self.add(&mut acc, *feature, -1);
                let best = step.map_or(value, |(_, best)| best);
                if (upward && reached > best) || (!upward && reached < best) {
                    step = Some((*feature, reached));
                }
            }
            let Some((feature, reached)) = step else { break };
            self.add(&mut acc, feature, 1);
            list.push(feature);
            value = reached;
            free.retain(|other| match &self.board {
                Some(board) => board.admits(&list, *other),
                None => *other != feature,
            });
        }
        list.sort_unstable();
        (list, value)
    }

    fn start(&self) -> Vec<i64> {
        self.transformer.bias.integers().iter().map(|bias| i64::from(*bias)).collect()
    }

    fn add(&self, acc: &mut [i64], feature: u32, sign: i64) {
        let start = feature as usize * acc.len();
        let row = &self.transformer.rows.integers()[start..start + acc.len()];
        acc.iter_mut().zip(row).for_each(|(sum, weight)| *sum += sign * i64::from(*weight));
    }

    /// What one perspective's accumulators contribute to a row, in 64 bits.
    fn contribution(&self, acc: &[i64], weights: &[i64]) -> i64 {
        let sum = |sum: i64, (value, weight): (i64, &i64)| sum.saturating_add(value * weight);
        match self.activation {
            Activation::Clip { clip, max } => {
                let one = |value: &i64| {
                    let clipped = (*value).clamp(0, max);
                    if clip == Clip::Crelu { clipped } else { clipped * clipped }
                };
                acc.iter().map(one).zip(weights).fold(0, sum)
            }
            Activation::Rounded { max } => {
                let one = |(value, weight): (&i64, &i64)| rounded_term((*value).clamp(0, max), *weight as i32);
                acc.iter().zip(weights).map(one).sum()
            }
            Activation::Pairwise { max, shift, is_rounded } => {
                let (first, second) = acc.split_at(acc.len() / 2);
                let product = |(a, b): (&i64, &i64)| pair((*a).clamp(0, max), (*b).clamp(0, max), shift, is_rounded);
                first.iter().zip(second).map(product).zip(weights).fold(0, sum)
            }
        }
    }
}
