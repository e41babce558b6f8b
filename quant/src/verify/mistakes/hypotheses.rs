//! Networks that differ from a given one by one fact.

use super::MistakeKind;
use crate::arch::{Activation, Buckets, InputKind};
use crate::float::Net;

/// One changed fact and the network that has it.
pub struct Hypothesis {
    /// What would have been wrong.
    pub kind: MistakeKind,
    /// The change, in words.
    pub text: String,
    /// The network after it.
    pub net: Net<f64>,
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

fn push(list: &mut Vec<Hypothesis>, kind: MistakeKind, text: impl Into<String>, net: Net<f64>) {
    list.push(Hypothesis { kind, text: text.into(), net });
}

fn transposed(net: &Net<f64>, list: &mut Vec<Hypothesis>) {
    for index in 1..net.layers.len() {
        let mut changed = net.clone();
        let Some(layer) = changed.layers.get_mut(index) else { continue };
        let (outputs, inputs) = (layer.weights.outputs, layer.weights.inputs);
        if outputs < 2 || inputs < 2 {
            continue;
        }
        let old = layer.weights.values.clone();
        let name = net.arch.weights_name(index);
        let at = |index: usize| old[index];
        let other = (0..old.len()).map(|index| at(index / outputs + inputs * (index % outputs))).collect();
        let inverse = (0..old.len()).map(|index| at(index / inputs + outputs * (index % inputs))).collect();
        for values in [other, inverse] {
            let mut changed = changed.clone();
            if let Some(layer) = changed.layers.get_mut(index) {
                layer.weights.values = values;
            }
            push(
                list,
                MistakeKind::TransposedWeights,
                format!("`{name}` read in the other order (`transposed`)"),
                changed,
            );
        }
    }
}

fn perspectives(net: &Net<f64>, list: &mut Vec<Hypothesis>) {
    if net.arch.input.kind != InputKind::Chess || net.arch.perspectives() != 2 {
        return;
    }
    let mut changed = net.clone();
    changed.arch.input.other_first = !changed.arch.input.other_first;
    let text = if changed.arch.input.other_first {
        "the other side's accumulator first"
    } else {
        "the side to move's accumulator first"
    };
    push(list, MistakeKind::PerspectivesSwapped, format!("{text} (`other_first`)"), changed);
}

fn activations(net: &Net<f64>, list: &mut Vec<Hypothesis>) {
    let keep_width = [Activation::Relu, Activation::Crelu, Activation::Screlu, Activation::Sqrrelu];
    for index in 0..net.arch.layers.len().saturating_sub(1) {
        let Some(layer) = net.arch.layers.get(index) else { continue };
        if !keep_width.contains(&layer.activation) {
            continue;
        }
        for activation in keep_width.into_iter().filter(|other| *other != layer.activation) {
            let mut changed = net.clone();
            if let Some(layer) = changed.arch.layers.get_mut(index) {
                layer.activation = activation;
            }
            let text =
                format!("activation {} behind `{}`, not {}", activation.word(), layer.name, layer.activation.word());
            push(list, MistakeKind::Activation, text, changed);
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
        let mut changed = net.clone();
        changed.arch.buckets = Some(Buckets { by_piece_count: Some(table), ..Buckets::of(count) });
        push(list, MistakeKind::BucketOrder, format!("output buckets {text}"), changed);
    }
}

fn kings(net: &Net<f64>, list: &mut Vec<Hypothesis>) {
    if net.arch.input.kind != InputKind::Chess {
        return;
    }
    let table = net.arch.king_table();
    let mut changed = net.clone();
    changed.arch.input.mirrored = !net.arch.input.mirrored;
    changed.arch.input.king_buckets = Some(table.to_vec());
    let text =
        if changed.arch.input.mirrored { "mirroring (`mirrored = true`)" } else { "no mirroring (`mirrored = false`)" };
    push(list, MistakeKind::KingBuckets, text, changed);
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
        let mut changed = net.clone();
        changed.arch.input.king_buckets = Some(other);
        push(list, MistakeKind::KingBuckets, format!("king buckets {text}"), changed);
    }
}

/// Outputs several times as large or as small, as a wrong QA, QB or output scale makes them. Small factors are left
/// alone: scores have units of their own.
fn scales(net: &Net<f64>, list: &mut Vec<Hypothesis>) {
    for (factor, text) in [(0.25, "a quarter of"), (0.5, "half"), (2.0, "twice"), (4.0, "four times")] {
        let mut changed = net.clone();
        let Some(last) = changed.layers.last_mut() else { return };
        last.weights.values.iter_mut().chain(&mut last.bias).for_each(|value| *value *= factor);
        push(
            list,
            MistakeKind::Scale,
            format!("{text} the value: check every `scale`, QA, QB and the output's"),
            changed,
        );
    }
}
