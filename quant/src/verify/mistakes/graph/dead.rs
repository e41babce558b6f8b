//! Channels that are the same for every input: nothing of what such a channel was trained for reaches an output.

use super::{Evidence, Mistake, MistakeKind};
use crate::graph::Graph;
use crate::program::{Operation, Program};
use crate::removal::constant_channels;

/// Layers that are named.
const NAMED: usize = 3;

/// What is said of them, if there are any: those that the container has, by their bounds, and those that were left out
/// of it.
pub(super) fn find(graph: &Graph, program: &Program) -> Option<Mistake> {
    let shapes = graph.shapes();
    let constant = constant_channels(program);
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    for (node, constant) in program.nodes.iter().zip(constant) {
        let rounds = matches!(&node.op, Operation::Requantise { .. })
            || matches!(&node.op, Operation::Convolution(op) if op.rounding.is_some());
        let Some(layer) = node.value.layer.filter(|layer| rounds && *layer > 0 && *layer < shapes.len()) else {
            continue;
        };
        let all = shapes[layer].channels;
        let left_out = all.saturating_sub(node.value.kept.as_ref().map_or(all, Vec::len));
        let dead = constant + left_out;
        // A layer all of which is constant is refused elsewhere.
        if dead > 0 && dead < all && !found.iter().any(|(known, ..)| *known == layer) {
            found.push((layer, dead, all));
        }
    }
    if found.is_empty() {
        return None;
    }
    let (dead, all) = found.iter().fold((0, 0), |(dead, all), (_, some, of)| (dead + some, all + of));
    let name =
        |(layer, dead, all): &(usize, usize, usize)| format!("{dead} of {all} in `{}`", graph.nodes[*layer - 1].name);
    let names: Vec<String> = found.iter().take(NAMED).map(name).collect();
    let more = if found.len() > NAMED { ", …" } else { "" };
    let text = format!(
        "{dead} of {all} channels are the same for every input ({}{more}): their layers were trained so, or their \
         weights were lost",
        names.join(", ")
    );
    Some(Mistake { kind: MistakeKind::DeadChannels, evidence: Evidence::Tensors, text })
}
