//! Trees of decisions, in heap order: the children of node `n` are `2n + 1` and `2n + 2`.

use super::operands::Elements;
use super::{Banks, Kind, Places, Running, typed, typed_mut};
use crate::format::{Model, OpRecord, element};
use crate::kernels::Tier;
use crate::sure;
use crate::workspace::range;

/// TREES: each tensor (trees, nodes).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trees<'a> {
    features: Banks<'a, i32>,
    thresholds: Elements<'a>,
    leaves: Elements<'a>,
    trees: usize,
    nodes: usize,
    /// Of the value that is read.
    element: u32,
}

impl<'a> Kind<'a> for Trees<'a> {
    fn resolve(model: &Model<'a>, _: &Tier, record: &OpRecord) -> Option<Self> {
        Some(Self {
            features: Banks::new(model.tensor(record.multipliers)),
            thresholds: Elements::new(model.tensor(record.weights)),
            leaves: Elements::new(model.tensor(record.bias)),
            trees: record.params[0] as usize,
            nodes: record.params[1] as usize,
            element: model.values().get(record.input as usize)?.element(),
        })
    }

    /// The sum of the leaves that a value, or the list that is the network's input, reaches.
    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let list = at.list(on);
        let (x, out) = at.bytes(on, workspace);
        if let Some(list) = list {
            return sum(self, on.bucket, &|at| list.at(at), out);
        }
        match self.element {
            element::U8 => sum(self, on.bucket, &|index| sure::at(x, index).into(), out),
            element::I8 => sum(self, on.bucket, &|index| sure::at(typed::<i8>(x), index).into(), out),
            element::I16 => sum(self, on.bucket, &|index| sure::at(typed::<i16>(x), index).into(), out),
            element::I32 => sum(self, on.bucket, &|index| sure::at(typed::<i32>(x), index), out),
            _ => {
                let x = typed::<f32>(x);
                let thresholds = self.thresholds.f32s(on.bucket);
                leaves(self, on.bucket, thresholds, &|index| sure::at(x, index), out);
            }
        }
    }
}

fn sum(forest: &Trees<'_>, bucket: usize, x: &dyn Fn(usize) -> i32, out: &mut [u8]) {
    leaves(forest, bucket, forest.thresholds.i32s(bucket), x, out);
}

/// Every tree's leaf, added up in the order of the trees.
fn leaves<T: PartialOrd>(forest: &Trees<'_>, bucket: usize, thresholds: &[T], x: &dyn Fn(usize) -> T, out: &mut [u8]) {
    let features = forest.features.bank(bucket);
    let stride = forest.features.stride;
    // All three tensors have elements of four bytes and one shape, so one stride.
    let leaf = |tree: usize| {
        let start = tree * stride;
        let (features, thresholds) = (part(features, start, forest.nodes), part(thresholds, start, forest.nodes));
        start + walk(features, thresholds, x)
    };
    let reached = (0..forest.trees).map(leaf);
    match &forest.leaves {
        Elements::F32(all) => {
            let all = all.bank(bucket);
            let sum = reached.fold(0.0, |sum, leaf| sum + sure::at(all, leaf));
            typed_mut::<f32>(out).iter_mut().for_each(|out| *out = sum);
        }
        all => {
            let all = all.i32s(bucket);
            let sum = reached.fold(0, |sum: i32, leaf| sum.wrapping_add(sure::at(all, leaf)));
            typed_mut::<i32>(out).iter_mut().for_each(|out| *out = sum);
        }
    }
}

/// The node where a walk ends. A child's number is more than twice its parent's, so that a walk has at most 32 steps.
fn walk<T: PartialOrd>(features: &[i32], thresholds: &[T], x: &dyn Fn(usize) -> T) -> usize {
    let mut node = 0;
    while let (Some(feature), Some(threshold)) = (features.get(node), thresholds.get(node)) {
        let Ok(feature) = usize::try_from(*feature) else { break };
        let next = 2 * node + if x(feature) <= *threshold { 1 } else { 2 };
        if next >= features.len() {
            break;
        }
        node = next;
    }
    node
}

fn part<T>(all: &[T], start: usize, len: usize) -> &[T] {
    range(all, start..start.saturating_add(len))
}
