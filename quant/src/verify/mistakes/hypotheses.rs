//! Networks that differ from a given one by one fact.

use super::MistakeKind;
use crate::arch::{Activation, Buckets, InputKind};
use crate::float::Net;

/// What turns a network into the one that has the changed fact.
type Change = dyn Fn(&mut Net<f64>) + Send + Sync;

/// One changed fact.
pub struct Hypothesis {
    /// What would have been wrong.
    pub kind: MistakeKind,
    /// The change, in words.
    pub text: String,
    change: Box<Change>,
}

impl Hypothesis {
    /// A fact that `change` changes.
    pub fn new(
        kind: MistakeKind,
        text: impl Into<String>,
        change: impl Fn(&mut Net<f64>) + Send + Sync + 'static,
    ) -> Self {
        Self { kind, text: text.into(), change: Box::new(change) }
    }

    /// The network after the change.
    pub fn applied(&self, net: &Net<f64>) -> Net<f64> {
        let mut changed = net.clone();
        (self.change)(&mut changed);
        changed
    }
}

/// Every single change that can be tried without knowing more than the network.
pub fn all(net: &Net<f64>) -> Vec<Hypothesis> {
    let mut list = Vec::new();
    transposed(net, &mut list);
    perspectives(net, &mut list);
    activations(net, &mut list);
    buckets(net, &mut list);
    kings(net, &mut list);
    scales(net, &mut list);
    list
}

fn transposed(net: &Net<f64>, list: &mut Vec<Hypothesis>) {
    for (index, layer) in net.layers.iter().enumerate().skip(1) {
        let (outputs, inputs) = (layer.weights.outputs, layer.weights.inputs);
        if outputs < 2 || inputs < 2 {
            continue;
        }
        let text = format!("`{}` read in the other order (`transposed`)", net.arch.weights_name(index));
        let read = |from: fn(usize, usize, usize) -> usize| {
            move |changed: &mut Net<f64>| {
                let weights = &mut changed.layers[index].weights.values;
                *weights = (0..weights.len()).map(|index| weights[from(index, outputs, inputs)]).collect();
            }
        };
        let orders = [
            read(|index, outputs, inputs| index / outputs + inputs * (index % outputs)),
            read(|index, outputs, inputs| index / inputs + outputs * (index % inputs)),
        ];
        list.extend(orders.map(|order| Hypothesis::new(MistakeKind::TransposedWeights, &text, order)));
    }
}

fn perspectives(net: &Net<f64>, list: &mut Vec<Hypothesis>) {
    if net.arch.input.kind != InputKind::Chess || net.arch.perspectives() != 2 {
        return;
    }
    let other_first = !net.arch.input.other_first;
    let text = if other_first { "the other side's accumulator first" } else { "the side to move's accumulator first" };
    let change = move |changed: &mut Net<f64>| changed.arch.input.other_first = other_first;
    list.push(Hypothesis::new(MistakeKind::PerspectivesSwapped, format!("{text} (`other_first`)"), change));
}

fn activations(net: &Net<f64>, list: &mut Vec<Hypothesis>) {
    let keep_width = [Activation::Relu, Activation::Crelu, Activation::Screlu, Activation::Sqrrelu];
    for index in 0..net.arch.layers.len().saturating_sub(1) {
        let Some(layer) = net.arch.layers.get(index) else { continue };
        if !keep_width.contains(&layer.activation) {
            continue;
        }
        for activation in keep_width.into_iter().filter(|other| *other != layer.activation) {
            let text =
                format!("activation {} behind `{}`, not {}", activation.word(), layer.name, layer.activation.word());
            let change = move |changed: &mut Net<f64>| changed.arch.layers[index].activation = activation;
            list.push(Hypothesis::new(MistakeKind::Activation, text, change));
        }
    }
}

fn buckets(net: &Net<f64>, list: &mut Vec<Hypothesis>) {
    let count = net.arch.bucket_count();
    // The rules below are of the number of all pieces.
    if count < 2 || net.arch.input.kind != InputKind::Chess || net.arch.counted() != 0 {
        return;
    }
    let current = net.arch.piece_count_table();
    let divisor = 32usize.div_ceil(count);
    let rules: [(&str, &dyn Fn(usize) -> usize); 5] = [
        ("by (pieces − 2) / ceil(32 / count)", &|pieces| pieces.saturating_sub(2) / divisor),
        ("by (pieces − 1) / ceil(32 / count)", &|pieces| pieces.saturating_sub(1) / divisor),
        ("by pieces · count / 33", &|pieces| pieces * count / 33),
        ("by min((63 − pieces)(32 − pieces) / 225, count − 1)", &|pieces| (63 - pieces) * (32 - pieces) / 225),
        ("in reverse order", &|pieces| count - 1 - usize::from(current[pieces])),
    ];
    for (text, rule) in rules {
        let table: Vec<u8> = (0..=32).map(|pieces| rule(pieces).min(count - 1) as u8).collect();
        if table == current {
            continue;
        }
        let buckets = Buckets { by_piece_count: Some(table), ..Buckets::of(count) };
        let change = move |changed: &mut Net<f64>| changed.arch.buckets = Some(buckets.clone());
        list.push(Hypothesis::new(MistakeKind::BucketOrder, format!("output buckets {text}"), change));
    }
}

fn kings(net: &Net<f64>, list: &mut Vec<Hypothesis>) {
    if net.arch.input.kind != InputKind::Chess {
        return;
    }
    let table = net.arch.king_table();
    let mirrored = !net.arch.input.mirrored;
    let text = if mirrored { "mirroring (`mirrored = true`)" } else { "no mirroring (`mirrored = false`)" };
    let change = move |changed: &mut Net<f64>| {
        changed.arch.input.mirrored = mirrored;
        changed.arch.input.king_buckets = Some(table.to_vec());
    };
    list.push(Hypothesis::new(MistakeKind::KingBuckets, text, change));
    let rearranged: [(&str, &dyn Fn(usize) -> usize); 3] = [
        ("with ranks from 8 to 1", &|square| square ^ 56),
        ("with files from h to a", &|square| square ^ 7),
        ("with squares counted file by file", &|square| (square % 8) * 8 + square / 8),
    ];
    for (text, from) in rearranged {
        let other: Vec<u8> = (0..64).map(|square| table[from(square)]).collect();
        if other == table {
            continue;
        }
        let change = move |changed: &mut Net<f64>| changed.arch.input.king_buckets = Some(other.clone());
        list.push(Hypothesis::new(MistakeKind::KingBuckets, format!("king buckets {text}"), change));
    }
}

/// Outputs several times as large or as small, as a wrong QA, QB or output scale makes them. Small factors are left
/// alone: scores have units of their own.
fn scales(net: &Net<f64>, list: &mut Vec<Hypothesis>) {
    if net.layers.is_empty() {
        return;
    }
    for (factor, text) in [(0.25, "a quarter of"), (0.5, "half"), (2.0, "twice"), (4.0, "four times")] {
        let change = move |changed: &mut Net<f64>| {
            let last = changed.layers.last_mut().into_iter();
            last.flat_map(|last| last.weights.values.iter_mut().chain(&mut last.bias))
                .for_each(|value| *value *= factor);
        };
        let text = format!("{text} the value: check every `scale`, QA, QB and the output's");
        list.push(Hypothesis::new(MistakeKind::Scale, text, change));
    }
}
