//! From the float graph's operations to the runtime's.
//!
//! A float value has one primary [`Form`], what its node made, and others that readers asked for: integers of a width,
//! reals. Operations that nobody reads in the end are dropped.

mod activation;
mod affine;
mod encoding;
mod form;
mod interaction;
mod join;
mod maps;
mod moves;
mod prune;
mod read;
mod sparse;
mod trees;

pub(super) use form::Channels;

use super::error::GraphQuantError;
use super::options::{Activations, Options};
use crate::calibrate::Calibration;
use crate::graph::description::Description;
use crate::graph::{Activation, Axis, Fill, Graph, Input, Node, Op, Value};
use crate::program::{Element, Operation, Program, ProgramInput, ProgramNode, ProgramValue, Read};
use crate::proof::{Before, Check, Span, bound};
use crate::spatial::{Shape, Tap, taps};
use encoding::{Encoding, Wish};
use form::{Form, Sum, Whole};

/// The quantised graph before biases are corrected.
///
/// `channels`: the factors of elements that shall have units of their own.
pub(super) fn lower(
    graph: &Graph,
    calibration: &Calibration,
    options: &Options,
    channels: &Channels,
) -> Result<Program, GraphQuantError> {
    let mut lowering = Lowering {
        graph,
        calibration,
        options,
        channels,
        shapes: graph.shapes(),
        lengths: graph.lengths(),
        input: ProgramInput::Dense { shape: Shape::vector(0), element: Element::F32, unit: 1.0, zero: 0 },
        nodes: Vec::new(),
        spans: Vec::new(),
        forms: Vec::new(),
        wholes: Vec::new(),
        reals: Vec::new(),
    };
    lowering.set_input()?;
    for (index, node) in graph.nodes.iter().enumerate() {
        let form = lowering.node(index + 1, node)?;
        lowering.forms.push(form);
    }
    lowering.finish()?;
    let Lowering { input, nodes, .. } = lowering;
    let mut quantised = Program {
        name: graph.name.clone(),
        description: Description::of(graph)?.0.to_toml(),
        header: Vec::new(),
        input,
        transformer: None,
        nodes,
        notes: Vec::new(),
        keeps_units: true,
    };
    prune::unread(&mut quantised);
    Ok(quantised)
}

struct Lowering<'g> {
    graph: &'g Graph,
    calibration: &'g Calibration,
    options: &'g Options,
    channels: &'g Channels,
    /// Of the float graph's values.
    shapes: Vec<Shape>,
    lengths: Vec<usize>,
    input: ProgramInput,
    nodes: Vec<ProgramNode>,
    /// Of each quantised value.
    spans: Vec<Span>,
    /// Of each float value.
    forms: Vec<Form>,
    /// What readers asked for.
    wholes: Vec<(Value, Wish, Whole)>,
    reals: Vec<(Value, usize)>,
}

impl Lowering<'_> {
    fn node(&mut self, value: Value, node: &Node) -> Result<Form, GraphQuantError> {
        let keep = self.options.keep_f32.contains(&node.name);
        // What reads nothing is a constant.
        let first = node.reads.first().copied().unwrap_or(value);
        match &node.op {
            Op::Linear { .. } if self.is_by_pixel(node) => self.convolution(value, node),
            Op::Linear { weights, bias } if keep => self.linear_f32(value, node, weights, bias),
            Op::Linear { weights, bias } => self.linear(value, node, weights, bias),
            Op::SparseLinear { weights, bias } => self.sparse_linear(value, node, (weights, bias), keep),
            Op::Embed { table } => self.embed(value, node, table, keep),
            Op::FmTerm { width } | Op::BiInteraction { width } | Op::InnerProducts { width } => {
                self.interaction(value, node, *width, keep)
            }
            Op::Concat { axis } if *axis != Axis::Channels || self.is_on_maps(node) => {
                self.joined_maps(value, &node.reads, *axis)
            }
            Op::Concat { .. } if keep => Ok(Form::Real(self.joined_real(value, &node.reads)?)),
            Op::Concat { .. } => Ok(Form::Joined(node.reads.clone())),
            Op::Add if self.is_on_maps(node) => self.sum_of_maps(value, &node.reads, 1.0),
            Op::Add => self.add(value, node, keep),
            Op::Scale(factor) => self.scale(value, node, *factor, keep),
            Op::Activation(activation) => self.activation(value, node, *activation, keep),
            Op::Flatten => self.flattened(value, first),
            Op::Reshape(shape) if shape.is_vector() => self.flattened(value, first),
            Op::Reshape(shape) => {
                let steps = [shape.width * shape.channels, shape.channels, 1].map(|step| step as i32);
                self.moved(value, first, Operation::Move { start: 0, steps })
            }
            Op::Transpose(order) => {
                let read = self.shapes[first];
                let strides = [read.width * read.channels, read.channels, 1].map(|step| step as i32);
                self.moved(value, first, Operation::Move { start: 0, steps: order.map(|axis| strides[axis]) })
            }
            Op::Slice { start, step, .. } => {
                let read = self.shapes[first];
                let strides = [read.width * read.channels, read.channels, 1];
                let steps = [0, 1, 2].map(|axis| (step[axis] * strides[axis]) as i32);
                let start = start.iter().zip(strides).map(|(start, stride)| start * stride).sum();
                self.moved(value, first, Operation::Move { start, steps })
            }
            Op::Pad { before: [above, left, 0], after: [_, _, 0], fill: Fill::Value(0.0) } => {
                self.moved(value, first, Operation::Pad { before: [*above, *left] })
            }
            Op::Resize { size, sampling, coordinates } => {
                let read = self.shapes[first];
                let integer = |tap: Tap| [tap.first as i32, tap.second as i32, (tap.weight * 1024.0).round() as i32];
                let along = |from, to| taps(from, to, *sampling, *coordinates).into_iter().map(integer);
                let taps = along(read.height, size[0]).chain(along(read.width, size[1])).collect();
                self.moved(value, first, Operation::Resize { taps })
            }
            Op::Convolution { .. } | Op::TransposedConvolution { .. } | Op::PerChannel { .. } => {
                self.convolution(value, node)
            }
            Op::Pool { window, kind } => self.pool(value, node, *window, *kind),
            Op::Binary(binary) => self.binary(value, node, *binary),
            Op::Trees(forest) => self.trees(value, node, forest),
            Op::Constant { .. } => Err(self.unsupported(value, "a constant beside a value", "fold it into a layer")),
            Op::Quantise { .. } => {
                Err(self.unsupported(value, "a rounding that the file asks for", "pack the float network"))
            }
            Op::PRelu { .. } => Err(self.unsupported(value, "a slope a channel", "use one slope, a leaky ReLU")),
            Op::Pad { .. } => Err(self.unsupported(value, "padding with anything but zeros", "pad with zeros")),
        }
    }

    /// Whether a node reads or makes more than one pixel, or what is not rounded yet.
    fn is_on_maps(&self, node: &Node) -> bool {
        let is_map = |read: &Value| !self.shapes[*read].is_vector() || matches!(self.form(*read), Form::Pending(_));
        node.reads.iter().any(is_map)
    }

    /// The same elements; what is pending is rounded, since its value has another shape.
    fn flattened(&mut self, value: Value, read: Value) -> Result<Form, GraphQuantError> {
        let is_dense = |node: &&Node| matches!(&node.op, Op::Linear { .. }) && !self.is_by_pixel(node);
        let is_map = !self.shapes[read].is_vector();
        if is_map && !self.readers(value).iter().all(is_dense) {
            // Others read it by its shape.
            let len = self.lengths[read] as i32;
            return self.moved(value, read, Operation::Move { start: 0, steps: [len, len, 1] });
        }
        match self.form(read) {
            Form::Pending(_) => Ok(Form::Whole(self.whole(read, Wish::Any)?)),
            form => Ok(form.clone()),
        }
    }

    fn form(&self, value: Value) -> &Form {
        const NOTHING: &Form = &Form::List;
        self.forms.get(value).unwrap_or(NOTHING)
    }

    /// The nodes that read a value, through those that leave its integers as they are.
    fn readers(&self, value: Value) -> Vec<&Node> {
        let mut found = Vec::new();
        for (index, node) in self.graph.nodes.iter().enumerate().filter(|(_, node)| node.reads.contains(&value)) {
            match node.op {
                Op::Flatten | Op::Scale(_) => found.extend(self.readers(index + 1)),
                _ => found.push(node),
            }
        }
        found
    }

    /// Whether a value is the network's output, perhaps in another unit.
    fn is_output(&self, value: Value) -> bool {
        value == self.graph.output()
            || self.graph.nodes.iter().enumerate().any(|(index, node)| {
                matches!(node.op, Op::Flatten | Op::Scale(_))
                    && node.reads.contains(&value)
                    && self.is_output(index + 1)
            })
    }

    /// What reports call a float value.
    fn name(&self, value: Value) -> &str {
        value.checked_sub(1).and_then(|node| self.graph.nodes.get(node)).map_or("input", |node| &node.name)
    }

    /// A node as it would be appended: its name is that of its layer with a step.
    fn draft(&self, value: Value, step: &str, reads: &[usize], op: Operation, made: ProgramValue) -> ProgramNode {
        let name = format!("{}.{step}", self.name(value));
        ProgramNode { name, reads: reads.iter().copied().map(Read::whole).collect(), op, value: made }
    }

    /// What a draft's elements can be, and the sums to check.
    fn checks(&self, node: &ProgramNode) -> (Span, Vec<Check>) {
        let spans: Vec<&Span> = self.spans.iter().collect();
        let before = Before { input: &self.input, nodes: &self.nodes, spans: &spans, bucket: 0, buckets: 1 };
        bound(&before, node)
    }

    /// Appends a node; its value's number.
    fn push(&mut self, mut node: ProgramNode) -> usize {
        let taken = |name: &str| self.nodes.iter().any(|other| other.name == name);
        if taken(&node.name) {
            let free = (2u32..).map(|count| format!("{}{count}", node.name)).find(|name| !taken(name));
            node.name = free.unwrap_or_else(|| unreachable!("a file has fewer nodes than there are numbers"));
        }
        let (span, _) = self.checks(&node);
        self.spans.push(span);
        self.nodes.push(node);
        self.nodes.len()
    }

    fn element(&self, at: usize) -> Element {
        match (at.checked_sub(1), self.input) {
            (Some(node), _) => self.nodes.get(node).map_or(Element::F32, |node| node.value.element),
            (None, ProgramInput::Dense { element, .. }) => element,
            (None, ProgramInput::Sparse { .. } | ProgramInput::Features { .. }) => Element::I16,
        }
    }

    fn unsupported(&self, value: Value, what: impl Into<String>, instead: &'static str) -> GraphQuantError {
        GraphQuantError::Unsupported { layer: self.name(value).to_owned(), what: what.into(), instead }
    }

    /// The input: reals where trees, or nothing but layers that stay f32, read it.
    fn set_input(&mut self) -> Result<(), GraphQuantError> {
        let seen = self.calibration.values.first();
        let form = match self.graph.input {
            Input::Sparse { features, max_active, exact } => {
                let unit = seen.filter(|seen| !seen.binary).map(|seen| {
                    let unit = (seen.high.max(-seen.low) / f64::from(i16::MAX)) as f32;
                    if unit.is_normal() { unit } else { 1.0 }
                });
                self.input = ProgramInput::Sparse { features, max_active, exact, unit };
                Form::List
            }
            Input::Dense { shape } => {
                let readers = self.readers(0);
                let stays = |node: &&Node| self.options.keep_f32.contains(&node.name);
                let trees = readers.iter().any(|node| matches!(node.op, Op::Trees(_)));
                let wide = self.options.activations == Activations::I16;
                if trees || wide || readers.iter().all(stays) {
                    self.input = ProgramInput::Dense { shape, element: Element::F32, unit: 1.0, zero: 0 };
                    Form::Real(0)
                } else {
                    let encoding = self.input_encoding()?;
                    let Encoding { element, unit, zero, .. } = encoding;
                    self.input = ProgramInput::Dense { shape, element, unit, zero };
                    Form::Whole(Whole { at: 0, units: vec![f64::from(unit)], zero })
                }
            }
        };
        self.spans.push(Span::of_input(&self.input));
        self.forms.push(form);
        Ok(())
    }

    fn add(&mut self, value: Value, node: &Node, keep: bool) -> Result<Form, GraphQuantError> {
        let sums: Option<Vec<Sum>> = node.reads.iter().map(|read| self.form(*read).sum().cloned()).collect();
        let Some(sums) = sums.filter(|_| !keep) else {
            let mut total = None;
            for read in &node.reads {
                let at = self.real(*read)?;
                total = Some(match total {
                    Some(before) => self.push_real(value, "sum", &[before, at], Operation::Add),
                    None => at,
                });
            }
            return Ok(Form::Real(total.unwrap_or_else(|| unreachable!("a sum has parts"))));
        };
        // One unit for all, fine enough that 30 bits hold the sum of all bounds.
        let magnitude: f64 = sums.iter().map(|sum| sum.magnitude).sum();
        let finest = sums.iter().flat_map(|sum| sum.units.iter().copied()).fold(0.0, f64::max);
        let unit = form::power_of_two_unit(magnitude, finest);
        let mut total: Option<usize> = None;
        for read in &node.reads {
            let at = self.sum_in_unit(*read, unit)?;
            total = Some(match total {
                Some(before) => {
                    let made = self.made(value, Element::I32, &[unit], 0);
                    let draft = self.draft(value, "sum", &[before, at], Operation::Add, made);
                    self.push(draft)
                }
                None => at,
            });
        }
        let at = total.unwrap_or_else(|| unreachable!("a sum has parts"));
        Ok(Form::Sum(Sum { at, units: vec![unit], relu: false, cap: None, magnitude }))
    }

    fn scale(&mut self, value: Value, node: &Node, factor: f64, keep: bool) -> Result<Form, GraphQuantError> {
        let first = node.reads[0];
        let scaled =
            |units: &[f64]| -> Vec<f64> { units.iter().map(|unit| f64::from((unit * factor) as f32)).collect() };
        let holds = |units: &[f64]| factor > 0.0 && scaled(units).iter().all(|unit| (*unit as f32).is_normal());
        Ok(match self.form(first).clone() {
            Form::Sum(sum) if !keep && holds(&sum.units) => {
                Form::Sum(Sum { units: scaled(&sum.units), magnitude: sum.magnitude * factor, ..sum })
            }
            Form::Whole(whole) if !keep && holds(&whole.units) => {
                Form::Whole(Whole { units: scaled(&whole.units), ..whole })
            }
            _ => {
                let at = self.real(first)?;
                Form::Real(self.push_real(value, "scaled", &[at], Operation::Scale(factor as f32)))
            }
        })
    }

    /// The output: i32 of one unit, or f32.
    fn finish(&mut self) -> Result<(), GraphQuantError> {
        let output = self.graph.output();
        let at = match self.form(output).clone() {
            Form::Sum(sum) => self.output_sum(output, &sum)?,
            Form::Whole(_) | Form::Pending(_) if !self.shapes[output].is_vector() => self.real(output)?,
            _ => self.real(output)?,
        };
        // The last operation makes the output: what was asked for behind it is not read by anything.
        self.nodes.truncate(at);
        self.spans.truncate(at + 1);
        if at == 0 {
            // An input that is the output.
            self.push_real(output, "out", &[0], Operation::Scale(1.0));
        }
        Ok(())
    }

    /// What a node makes for a float value.
    fn made(&self, value: Value, element: Element, units: &[f64], zero: i32) -> ProgramValue {
        let shape = self.shapes[value];
        ProgramValue {
            element,
            shape,
            units: units.iter().map(|unit| *unit as f32).collect(),
            zero,
            layer: Some(value),
            kept: None,
        }
    }

    fn push_real(&mut self, value: Value, step: &str, reads: &[usize], op: Operation) -> usize {
        let made = self.made(value, Element::F32, &[1.0], 0);
        let draft = self.draft(value, step, reads, op, made);
        self.push(draft)
    }

    /// Whether an activation is worked out between integers.
    fn is_tabled(&self, value: Value, activation: Activation) -> bool {
        self.options.activations != Activations::I16 && activation != Activation::Softmax && !self.is_output(value)
    }
}
