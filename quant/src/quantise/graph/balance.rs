//! Maps whose channels have units of their own.
//!
//! A filter of a depthwise convolution reads one channel, so that a unit of that channel's own costs its weights
//! nothing; and a row of weights before it has a unit of its own anyway. So a channel of small values loses none of its
//! bits to the loud ones. What mixes channels pays with coarser weights where units differ. With M the largest value of
//! all channels and m that of one, the channel's unit is
//!
//! ```text
//! unit(M) · min(1, reach · (m / M)^power)
//! ```

use super::lower::Channels;
use super::options::Options;
use crate::calibrate::Calibration;
use crate::graph::{Activation, Graph, Node, Op, Value};
use crate::spatial::Shape;

/// A channel that calibration saw only small values of still counts so much of the loudest.
const QUIETEST: f64 = 1.0 / 64.0;

/// How far the units of channels may differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Balance {
    /// Of maps that filters of one channel read.
    pub apart: f64,
    /// Of maps that are mixed.
    pub mixed: f64,
    /// Room for values that calibration did not see.
    pub reach: f64,
}

/// The factors of every map that can have units a channel.
pub(super) fn channels(graph: &Graph, calibration: &Calibration, options: &Options, balance: Balance) -> Channels {
    let shapes = graph.shapes();
    let mut found = Channels::default();
    for (index, node) in graph.nodes.iter().enumerate() {
        let value = index + 1;
        if !is_rectified(graph, &shapes, options, value) || !takes_units(graph, value) {
            continue;
        }
        let power = if is_apart(graph, &shapes, value) { balance.apart } else { balance.mixed };
        let Some(seen) = calibration.values.get(value).filter(|seen| power > 0.0 && !seen.is_empty()) else { continue };
        let mut largest = vec![0f64; shapes[value].channels];
        for pixel in seen.magnitudes.chunks(largest.len()) {
            largest.iter_mut().zip(pixel).for_each(|(largest, x)| *largest = largest.max(*x));
        }
        let loudest = largest.iter().copied().fold(0.0, f64::max);
        let is_given = options.ranges.contains_key(&node.name) || options.sixteen.contains(&node.name);
        if loudest > 0.0 && !is_given {
            let factor = |m: &f64| (balance.reach * libm::pow((m / loudest).max(QUIETEST), power)).min(1.0);
            found.of.insert(value, largest.iter().map(factor).collect());
        }
    }
    found
}

/// Whether it is a map that a convolution makes and a ReLU alone reads: its units are free as long as 0 stays 0.
fn is_rectified(graph: &Graph, shapes: &[Shape], options: &Options, value: Value) -> bool {
    let node = &graph.nodes[value - 1];
    let relu = match node.op {
        Op::Activation(Activation::Relu) => true,
        Op::Activation(Activation::Clip { low, .. }) => low == 0.0,
        _ => false,
    };
    let Some(source) = node.reads.first().and_then(|read| graph.nodes.get(read.checked_sub(1)?)) else { return false };
    let is_sum = matches!(&source.op, Op::Convolution { .. } | Op::PerChannel { .. })
        || matches!(&source.op, Op::Linear { weights, .. } if weights.inputs != shapes[source.reads[0]].len());
    relu && is_sum && !options.sixteen.contains(&source.name) && readers(graph, node.reads[0]).count() == 1
}

/// Whether everything that reads a value multiplies its channels by weights of their own.
fn takes_units(graph: &Graph, value: Value) -> bool {
    let mut count = 0;
    let all = readers(graph, value).all(|(made, node)| {
        count += 1;
        match node.op {
            Op::Convolution { .. } | Op::TransposedConvolution { .. } | Op::PerChannel { .. } | Op::Linear { .. } => {
                true
            }
            Op::Pool { .. } | Op::Flatten => takes_units(graph, made),
            _ => false,
        }
    });
    all && count > 0
}

/// Whether filters of one channel each read a value.
fn is_apart(graph: &Graph, shapes: &[Shape], value: Value) -> bool {
    readers(graph, value).all(|(_, node)| match &node.op {
        Op::Convolution { groups, .. } => *groups == shapes[value].channels,
        Op::PerChannel { .. } => true,
        _ => false,
    })
}

/// The nodes that read a value, each with the value that it makes.
fn readers(graph: &Graph, value: Value) -> impl Iterator<Item = (Value, &Node)> {
    let nodes = graph.nodes.iter().enumerate().map(|(index, node)| (index + 1, node));
    nodes.filter(move |(_, node)| node.reads.contains(&value))
}
