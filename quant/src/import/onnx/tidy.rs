//! A lowered graph without what it can do without: factors and offsets of channels go into the layer before, zeros
//! around a map into the convolution behind, and what nothing reads is left out. A last sigmoid becomes the last node.

use crate::graph::{Activation, Fill, Graph, Node, Op, Value};

/// Folds until nothing is left to fold.
pub(super) fn tidy(graph: &mut Graph) {
    let mut index = 0;
    while index < graph.nodes.len() {
        // What is folded away leaves its place to the node behind it.
        if !fold_into_layer(graph, index) && !fold_padding(graph, index) {
            index += 1;
        }
    }
    drop_unread(graph);
    put_sigmoid_last(graph);
}

/// A sigmoid takes elements one by one. Behind what only orders them otherwise it is the last node, so that what it
/// reads are the scores of the outputs, each in its output's place.
fn put_sigmoid_last(graph: &mut Graph) {
    let orders = |op: &Op| matches!(op, Op::Flatten | Op::Reshape(_) | Op::Transpose(_));
    let mut value = graph.output();
    while let Some(node) = value.checked_sub(1).map(|index| &graph.nodes[index])
        && orders(&node.op)
        && readers(graph, node.reads[0]) == 1
    {
        value = node.reads[0];
    }
    if value == 0 || value == graph.output() {
        return;
    }
    let sigmoid = graph.nodes[value - 1].clone();
    if matches!(sigmoid.op, Op::Activation(Activation::Sigmoid)) {
        remove(graph, value - 1);
        graph.nodes.push(Node { reads: vec![graph.output()], ..sigmoid });
    }
}

/// How many nodes read a value; the output has a reader more.
fn readers(graph: &Graph, value: Value) -> usize {
    let reads = graph.nodes.iter().flat_map(|node| &node.reads).filter(|read| **read == value).count();
    reads + usize::from(graph.output() == value)
}

/// `factor · (W x + b) + offset = (factor · W) x + (factor · b + offset)`, in double precision, where nothing else
/// reads what the layer makes.
fn fold_into_layer(graph: &mut Graph, index: usize) -> bool {
    let Op::PerChannel { factors, offsets } = &graph.nodes[index].op else { return false };
    let before = graph.nodes[index].reads[0];
    if before == 0 || readers(graph, before) != 1 {
        return false;
    }
    let (factors, offsets) = (factors.clone(), offsets.clone());
    let layer = &mut graph.nodes[before - 1].op;
    let (Op::Linear { weights, bias }
    | Op::Convolution { weights, bias, .. }
    | Op::TransposedConvolution { weights, bias, .. }) = layer
    else {
        return false;
    };
    if factors.len() != weights.outputs {
        return false;
    }
    for (at, weight) in weights.values.iter_mut().enumerate() {
        *weight *= factors[at % factors.len()];
    }
    bias.iter_mut()
        .zip(factors.iter().zip(&offsets))
        .for_each(|(bias, (factor, offset))| *bias = *bias * factor + offset);
    remove(graph, index);
    true
}

/// Zeros around a map that a convolution alone reads are its padding.
fn fold_padding(graph: &mut Graph, index: usize) -> bool {
    let Op::Pad { before, after, fill: Fill::Value(0.0) } = graph.nodes[index].op else { return false };
    let value = index + 1;
    if before[2] + after[2] != 0 || readers(graph, value) != 1 {
        return false;
    }
    let reader = graph.nodes.iter_mut().find(|node| node.reads.first() == Some(&value));
    let Some(Node { op: Op::Convolution { window, .. }, .. }) = reader else { return false };
    for axis in 0..2 {
        window.before[axis] += before[axis];
        window.after[axis] += after[axis];
    }
    remove(graph, index);
    true
}

/// Takes a node out; what read it reads what it read.
fn remove(graph: &mut Graph, index: usize) {
    let (value, instead) = (index + 1, graph.nodes[index].reads[0]);
    let removed = graph.nodes.remove(index);
    // The last node's name is that of the output.
    if index == graph.nodes.len()
        && let Some(last) = graph.nodes.last_mut()
        && instead == index
    {
        last.name = removed.name;
    }
    for read in graph.nodes.iter_mut().flat_map(|node| &mut node.reads) {
        *read = match *read {
            read if read == value => instead,
            read if read > value => read - 1,
            read => read,
        };
    }
}

/// Leaves out nodes that the output does not depend on.
fn drop_unread(graph: &mut Graph) {
    let mut is_read = vec![false; graph.nodes.len() + 1];
    is_read[graph.output()] = true;
    for index in (0..graph.nodes.len()).rev() {
        if is_read[index + 1] {
            graph.nodes[index].reads.iter().for_each(|read| is_read[*read] = true);
        }
    }
    let mut renumbered = vec![0; is_read.len()];
    let mut next = 0;
    for value in 1..is_read.len() {
        next += usize::from(is_read[value]);
        renumbered[value] = next;
    }
    let mut value = 0;
    graph.nodes.retain(|_| {
        value += 1;
        is_read[value]
    });
    graph.nodes.iter_mut().flat_map(|node| &mut node.reads).for_each(|read| *read = renumbered[*read]);
}
