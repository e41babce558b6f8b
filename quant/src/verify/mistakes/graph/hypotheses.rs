//! Checkpoints that differ from a given one by one fact.

use super::{MistakeKind, Suspects};
use crate::float::Matrix;
use crate::graph::{Graph, Input, Op, Sample, Shape, Value};
use crate::verify::kinship::{Layer, biases_of};
use std::borrow::Cow;

/// A lost bias is less than this share of what is there on the other side.
const LOST: f64 = 0.3;
/// Single layers that are tried by themselves.
const MOST_SINGLE: usize = 24;

/// One changed fact, and the network that has it.
pub(super) struct Hypothesis<'g> {
    /// What would have been wrong.
    pub kind: MistakeKind,
    /// The change, in words that follow "the outputs come close".
    pub text: String,
    /// The network.
    pub graph: Cow<'g, Graph>,
    /// What it takes in place of an example.
    pub input: Change,
}

/// What becomes of an example.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Change {
    /// Nothing.
    None,
    /// So many channels of every pixel in the opposite order.
    Reversed(usize),
    /// `factor · x + offset`
    Unit { factor: f64, offset: f64 },
}

impl Change {
    /// The example that is made of one.
    pub fn of(self, sample: &Sample) -> Sample {
        let Sample::Dense(x) = sample else { return sample.clone() };
        Sample::Dense(match self {
            Self::None => x.clone(),
            Self::Reversed(channels) => x.chunks(channels).flat_map(|pixel| pixel.iter().rev().copied()).collect(),
            Self::Unit { factor, offset } => x.iter().map(|x| factor * x + offset).collect(),
        })
    }
}

impl Hypothesis<'_> {
    /// The logits of these examples; none where one cannot be evaluated.
    pub fn outputs<'s>(&self, samples: impl Iterator<Item = &'s Sample>) -> Option<Vec<f64>> {
        let logits = |sample| self.graph.evaluate_logits(&self.input.of(sample)).ok();
        let rows: Option<Vec<Vec<f64>>> = samples.map(logits).collect();
        rows.map(|rows| rows.concat()).filter(|values| values.iter().all(|value| value.is_finite()))
    }
}

/// Every single change by which a checkpoint may differ from a container, the usual ones first.
pub(super) fn all<'g>(suspects: &Suspects<'g>) -> Vec<Hypothesis<'g>> {
    let graph = suspects.graph;
    let mut list: Vec<Hypothesis<'g>> = windows(suspects).into_iter().collect();
    list.extend(channels(graph));
    list.extend(units(suspects.samples).into_iter().map(|(input, from, to)| {
        let text = format!(
            "if the checkpoint is given the examples as {to}, not as {from}: a factor before its first \
                            layer is on one side only"
        );
        Hypothesis { kind: MistakeKind::InputUnit, text, graph: Cow::Borrowed(graph), input }
    }));
    list.extend(flatten_orders(graph));
    list.extend(suspects.readings.iter().map(|reading| Hypothesis {
        kind: reading.kind,
        text: format!("if the checkpoint is read {}", reading.text),
        graph: Cow::Owned(reading.graph.clone()),
        input: Change::None,
    }));
    list
}

/// Biases that one side has and the other has not: of each layer, and of all together; and whether it is the container
/// that has them.
pub(super) fn lost_biases<'g>(suspects: &Suspects<'g>) -> Vec<(Hypothesis<'g>, bool)> {
    let (graph, mut list) = (suspects.graph, Vec::new());
    let rms = |values: &[f64]| (values.iter().map(|x| x * x).sum::<f64>() / values.len().max(1) as f64).sqrt();
    let mut lost: Vec<(&Layer, bool)> = Vec::new();
    for layer in &suspects.kinship.layers {
        let (Some(given), Some(own)) = (biases_of(&graph.nodes[layer.node].op), &layer.bias) else { continue };
        let (given, own) = (rms(given), rms(own));
        if given == 0.0 && own > 0.0 {
            // A mere factor never had one: what its integers add is what the quantiser saw to.
            if !matches!(graph.nodes[layer.node].op, Op::PerChannel { .. }) {
                lost.push((layer, true));
            }
        } else if own < LOST * given {
            lost.push((layer, false));
        }
    }
    let mut push = |changed: &[(&Layer, bool)]| {
        let mut with = graph.clone();
        for (layer, _) in changed {
            if let Some(bias) = &layer.bias {
                set_bias(&mut with.nodes[layer.node].op, bias);
            }
        }
        let names: Vec<String> =
            changed.iter().map(|(layer, _)| format!("`{}`", graph.nodes[layer.node].name)).collect();
        let (has, lacks) = if changed[0].1 { ("container", "checkpoint") } else { ("checkpoint", "container") };
        let text = format!(
            "with the {has}'s biases of {}, which the {lacks} has not: the tool that wrote it dropped them",
            names.join(", ")
        );
        let hypothesis = Hypothesis { kind: MistakeKind::LostBias, text, graph: Cow::Owned(with), input: Change::None };
        list.push((hypothesis, changed[0].1));
    };
    lost.iter().take(MOST_SINGLE).for_each(|one| push(&[*one]));
    for side in [true, false] {
        let all: Vec<(&Layer, bool)> = lost.iter().copied().filter(|(_, of)| *of == side).collect();
        if all.len() > 1 {
            push(&all);
        }
    }
    list
}

fn set_bias(op: &mut Op, values: &[f64]) {
    if let Op::Linear { bias, .. }
    | Op::SparseLinear { bias, .. }
    | Op::Convolution { bias, .. }
    | Op::TransposedConvolution { bias, .. }
    | Op::PerChannel { offsets: bias, .. } = op
        && bias.len() == values.len()
    {
        bias.copy_from_slice(values);
    }
}

/// The container's windows in place of the checkpoint's.
fn windows<'g>(suspects: &Suspects<'g>) -> Option<Hypothesis<'g>> {
    if suspects.kinship.windows.is_empty() {
        return None;
    }
    let mut graph = suspects.graph.clone();
    for (node, own) in &suspects.kinship.windows {
        if let Op::Convolution { window, .. } | Op::Pool { window, .. } = &mut graph.nodes[*node].op {
            (window.before, window.after) = (own.before, own.after);
        }
    }
    graph.check().ok()?;
    let text = format!("with the container's padding: {}", windows_in_words(suspects));
    Some(Hypothesis { kind: MistakeKind::Padding, text, graph: Cow::Owned(graph), input: Change::None })
}

/// Which layer pads how on which side.
pub(super) fn windows_in_words(suspects: &Suspects<'_>) -> String {
    let Some((node, own)) = suspects.kinship.windows.first() else { return String::new() };
    let node = &suspects.graph.nodes[*node];
    let more = match suspects.kinship.windows.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (Op::Convolution { window, .. } | Op::Pool { window, .. }) = &node.op else { return String::new() };
    format!(
        "`{}`{more} pads {:?} before and {:?} behind in the container, {:?} and {:?} in the checkpoint (\"same\" of \
         TensorFlow puts the odd pixel behind, PyTorch's `padding=1` one on either side)",
        node.name, own.before, own.after, window.before, window.after
    )
}

/// Red and blue exchanged.
pub(super) fn channels(graph: &Graph) -> Option<Hypothesis<'_>> {
    let Input::Dense { shape } = graph.input else { return None };
    (!shape.is_vector() && (2..=4).contains(&shape.channels)).then(|| Hypothesis {
        kind: MistakeKind::ChannelOrder,
        text: format!("with the {} channels of the input in the opposite order (RGB against BGR)", shape.channels),
        graph: Cow::Borrowed(graph),
        input: Change::Reversed(shape.channels),
    })
}

/// Units that examples may be in, by their ends, and others that they may be meant in: what becomes of them, and both
/// in words.
pub(super) fn units(samples: &[Sample]) -> Vec<(Change, &'static str, &'static str)> {
    const UNITS: [(&str, f64, f64); 3] = [("0 to 1", 0.0, 1.0), ("0 to 255", 0.0, 255.0), ("-1 to 1", -1.0, 1.0)];
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for sample in samples {
        let Sample::Dense(x) = sample else { return Vec::new() };
        low = x.iter().copied().fold(low, f64::min);
        high = x.iter().copied().fold(high, f64::max);
    }
    // The narrowest that holds them.
    let slack = 1e-3;
    let holds = |(_, from, to): &(&str, f64, f64)| *from - slack <= low && high <= to + slack;
    let is_narrow = |(_, from, to): &(&str, f64, f64)| high - low > 0.25 * (to - from);
    let Some((from, start, end)) = UNITS.into_iter().find(|unit| holds(unit) && is_narrow(unit)) else {
        return Vec::new();
    };
    let others = UNITS.into_iter().filter(|(to, ..)| *to != from);
    let change = |(to, other_start, other_end): (&'static str, f64, f64)| {
        let factor = (other_end - other_start) / (end - start);
        (Change::Unit { factor, offset: other_start - factor * start }, from, to)
    };
    others.map(change).collect()
}

/// The columns of dense layers that read a map as a whole, counted in the other order, both ways.
pub(super) fn flatten_orders(graph: &Graph) -> Vec<Hypothesis<'_>> {
    let shapes = graph.shapes();
    let mut list = Vec::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        let Op::Linear { weights, .. } = &node.op else { continue };
        let Some(shape) = map_behind(graph, &shapes, node.reads[0]).filter(|shape| shape.len() == weights.inputs)
        else {
            continue;
        };
        let (pixels, channels) = (shape.pixels(), shape.channels);
        // Of a column here, where it lies if channels come first, and where what lies there then comes from.
        let ways: [&dyn Fn(usize) -> usize; 2] =
            [&|column| column % channels * pixels + column / channels, &|column| {
                column % pixels * channels + column / pixels
            }];
        for way in ways {
            let values = (0..weights.inputs).flat_map(|column| weights.column(way(column))).copied().collect();
            let mut with = graph.clone();
            if let Op::Linear { weights, .. } = &mut with.nodes[index].op {
                *weights = Matrix { values, ..weights.clone() };
            }
            let text = format!(
                "with the columns of `{}` in the other order: the map before it, {shape}, is flattened channels first \
                 on one side and channels last on the other (`order = \"channels-first\"` of `flatten`)",
                node.name
            );
            let kind = MistakeKind::FlattenOrder;
            list.push(Hypothesis { kind, text, graph: Cow::Owned(with), input: Change::None });
        }
    }
    list
}

/// The map whose elements a value has, if it has several pixels of several channels.
fn map_behind(graph: &Graph, shapes: &[Shape], value: Value) -> Option<Shape> {
    let mut value = value;
    loop {
        let shape = shapes[value];
        if shape.pixels() > 1 && shape.channels > 1 {
            return Some(shape);
        }
        let node = &graph.nodes[value.checked_sub(1)?];
        if !matches!(node.op, Op::Flatten | Op::Reshape(_)) {
            return None;
        }
        value = node.reads[0];
    }
}

/// Windows of several strides: TensorFlow's SAME and padding alike on both sides exchanged, in all layers at once.
pub(super) fn other_padding(graph: &Graph) -> Option<Hypothesis<'_>> {
    let shapes = graph.shapes();
    let mut with = graph.clone();
    let mut changed = 0;
    for (index, node) in graph.nodes.iter().enumerate() {
        let (Op::Convolution { window, .. } | Op::Pool { window, .. }) = &node.op else { continue };
        let size = shapes[node.reads[0]];
        let size = [size.height, size.width];
        let same = window.same(size);
        let half = [0, 1].map(|axis| window.reach(axis) / 2);
        let symmetric = crate::graph::Window { before: half, after: half, ..*window };
        let other = if *window == same { symmetric } else { same };
        if *window != same && *window != symmetric || other == *window || other.outputs(size) != window.outputs(size) {
            continue;
        }
        if let Op::Convolution { window, .. } | Op::Pool { window, .. } = &mut with.nodes[index].op {
            *window = other;
            changed += 1;
        }
    }
    (changed > 0 && with.check().is_ok()).then(|| Hypothesis {
        kind: MistakeKind::Padding,
        text: format!("with the padding of {changed} layers on other sides (\"same\" against symmetric)"),
        graph: Cow::Owned(with),
        input: Change::None,
    })
}
