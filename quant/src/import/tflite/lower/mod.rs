//! From the operators of a float file to a graph.
//!
//! The batch is left out. Several inputs lie one behind the other in the graph's one input, in the file's order, and
//! are taken apart by a slice and a reshape each. Padding of zeros before a convolution becomes its window's. What the
//! output does not need, shapes that are worked out as tensors for instance, is no part of the graph.

mod elementwise;
mod layers;
mod reduce;

use super::error::TfliteError;
use super::moves::Movement;
use super::names::Names;
use super::operators::{Builtin, Known};
use super::types::{Element, Fused, Model, Operator, Options, Tensor};
use crate::graph::{Activation, Fill, Graph, Input, Node, Op, Value};
use crate::import::tensors::half;
use crate::spatial::{Move, Shape};
use std::collections::HashMap;

/// How many numbers of weights operators may have for each four bytes of the file: files share weights seldom.
const MOST_COPIES: usize = 4;

/// What becomes of integers that stand for reals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Integers {
    /// A file with such is refused.
    Refused,
    /// They are the reals that they stand for.
    Reals,
}

/// The graph of a checked file, and by the file's tensor its value, if it has one.
pub(super) fn lower(
    model: &Model<'_>,
    name: &str,
    integers: Integers,
) -> Result<(Graph, Vec<Option<Value>>), TfliteError> {
    if integers == Integers::Refused {
        model.operators.iter().try_for_each(|operator| is_float(model, operator))?;
    }
    let [output] = model.outputs[..] else {
        let what = format!("a network of {} outputs", model.outputs.len());
        return Err(TfliteError::unsupported("SubGraph 0", what, "convert it once for each output"));
    };
    let mut lowering = Lowering::new(model, integers)?;
    for operator in &model.operators {
        lowering.operator(operator)?;
    }
    let output = lowering.value(&format!("output `{}`", model.tensors[output].name), output)?;
    let (graph, values) = lowering.finish(name, output);
    graph.check()?;
    Ok((graph, values))
}

fn is_real(element: Element, integers: Integers) -> bool {
    let is_integer = matches!(element, Element::I8 | Element::U8 | Element::I16);
    matches!(element, Element::F32 | Element::F16) || (integers == Integers::Reals && is_integer)
}

/// Sums of products are int32, with a scale; shapes are, without.
fn is_bias(tensor: &Tensor<'_>) -> bool {
    tensor.element == Element::I32 && tensor.quantisation.is_some()
}

/// Files of integers, and of integers and reals, are told by what their operators read and make.
fn is_float(model: &Model<'_>, operator: &Operator) -> Result<(), TfliteError> {
    let place = || operator.place.clone();
    let weights = match operator.builtin {
        Builtin::Known(Known::Conv | Known::DepthwiseConv | Known::FullyConnected | Known::TransposeConv) => {
            operator.inputs.get(1).copied().flatten()
        }
        Builtin::Known(Known::Dequantize) => operator.inputs.first().copied().flatten(),
        _ => None,
    };
    for tensor in operator.inputs.iter().flatten().chain(&operator.outputs) {
        let (found, name) = (&model.tensors[*tensor], || model.tensors[*tensor].name.clone());
        match found.element {
            Element::U8 if found.data.is_none() => return Err(TfliteError::Uint8 { place: place(), tensor: name() }),
            Element::I8 | Element::I16 if found.data.is_none() => {
                let element = found.element.word();
                return Err(TfliteError::Quantised { place: place(), tensor: name(), element });
            }
            _ => {}
        }
    }
    let Some(weights) = weights.map(|weights| &model.tensors[weights]) else { return Ok(()) };
    match weights.element {
        Element::F32 | Element::F16 => Ok(()),
        other => Err(TfliteError::Hybrid { place: place(), tensor: weights.name.clone(), element: other.word() }),
    }
}

/// A graph in the making.
struct Lowering<'m, 'a> {
    model: &'m Model<'a>,
    nodes: Vec<Node>,
    /// Of every value, by its number.
    shapes: Vec<Shape>,
    input: Shape,
    /// The value of every tensor that has one.
    values: Vec<Option<Value>>,
    /// Constants that are widened where they are read, by the tensor that is made.
    widened: HashMap<usize, usize>,
    names: Names,
    copies: usize,
    integers: Integers,
}

impl<'m, 'a> Lowering<'m, 'a> {
    fn new(model: &'m Model<'a>, integers: Integers) -> Result<Self, TfliteError> {
        let mut shapes = Vec::new();
        for input in &model.inputs {
            let element = model.tensors[*input].element;
            if !is_real(element, integers) {
                let what = format!("an input of {}", element.word());
                return Err(TfliteError::unsupported(model.place(*input), what, "convert with inputs of float32"));
            }
            shapes.push(model.shape(*input)?);
        }
        let len = shapes.iter().fold(0usize, |len, shape| len.saturating_add(shape.len()));
        let input = if let [shape] = shapes[..] { shape } else { Shape::vector(len) };
        let values = vec![None; model.tensors.len()];
        let (names, widened) = (Names::default(), HashMap::new());
        let mut lowering =
            Self { model, nodes: Vec::new(), shapes: vec![input], input, values, widened, names, copies: 0, integers };
        let mut start = 0;
        for (tensor, shape) in model.inputs.iter().zip(&shapes) {
            let mut value = 0;
            if shapes.len() > 1 {
                let (place, name) = (model.place(*tensor), &model.tensors[*tensor].name);
                let part = Op::Slice { start: [0, 0, start], size: [1, 1, shape.len()], step: [1; 3] };
                value = lowering.push(&place, name, &[0], part)?;
                value = lowering.push(&place, name, &[value], Op::Reshape(*shape))?;
                start += shape.len();
            }
            lowering.values[*tensor] = Some(value);
        }
        Ok(lowering)
    }

    fn operator(&mut self, operator: &Operator) -> Result<(), TfliteError> {
        let model = self.model;
        let makes =
            |element: fn(Element) -> bool| operator.outputs.iter().all(|made| element(model.tensors[*made].element));
        if makes(|element| matches!(element, Element::I32 | Element::I64)) {
            // Shapes, which are all known.
            return Ok(());
        }
        if !operator.outputs.iter().all(|made| is_real(model.tensors[*made].element, self.integers)) {
            let what = "an operator that makes anything but float32";
            return Err(TfliteError::unsupported(&*operator.place, what, ""));
        }
        let Builtin::Known(known) = operator.builtin else {
            let what = format!("the operator {}", operator.builtin.name());
            return Err(TfliteError::unsupported(&*operator.place, what, ""));
        };
        if let Some(movement) = model.movement(operator, known)? {
            return self.movement(operator, known, &movement);
        }
        let value = match known {
            Known::Conv | Known::DepthwiseConv => self.convolution(operator, known == Known::DepthwiseConv)?,
            Known::TransposeConv => self.transposed(operator)?,
            Known::FullyConnected => self.dense(operator)?,
            Known::AveragePool | Known::MaxPool => self.pool(operator, known)?,
            Known::Mean | Known::Sum | Known::ReduceMax => self.reduce(operator, known)?,
            Known::ResizeBilinear | Known::ResizeNearest => self.resize(operator, known)?,
            Known::Dequantize | Known::Quantize if self.integers == Integers::Reals => {
                let read = model.operand(operator, 0)?;
                self.value(&operator.place, read)?
            }
            Known::Dequantize => {
                self.widened.insert(operator.outputs[0], model.operand(operator, 0)?);
                return Ok(());
            }
            _ => self.elementwise(operator, known)?,
        };
        let fused = match operator.options {
            Options::Window { fused, .. }
            | Options::Dense { fused, .. }
            | Options::Fused(fused)
            | Options::Axis { fused, .. } => fused,
            _ => Fused::None,
        };
        let value = self.fused(operator, fused, value)?;
        self.define(operator, operator.outputs[0], value)
    }

    /// A tensor is this value, which has to have the shape that the file says.
    fn define(&mut self, operator: &Operator, tensor: usize, value: Value) -> Result<(), TfliteError> {
        let (found, expected) = (self.model.shape(tensor)?, self.shapes[value]);
        if found != expected {
            let place = self.model.place(tensor);
            return Err(TfliteError::malformed(
                place,
                "the shape",
                found,
                format!("{expected}, from {}", operator.place),
            ));
        }
        self.values[tensor] = Some(value);
        Ok(())
    }

    fn movement(&mut self, operator: &Operator, known: Known, movement: &Movement) -> Result<(), TfliteError> {
        let (place, model) = (operator.place.as_str(), self.model);
        let name = |made: usize| model.tensors[made].name.as_str();
        let mut inputs = Vec::new();
        for input in &movement.inputs {
            let mut value = self.value(place, *input)?;
            if let Some(shape) = movement.each.filter(|shape| *shape != self.shapes[value]) {
                value = self.push(place, name(operator.outputs[0]), &[value], Op::Reshape(shape))?;
            }
            inputs.push(value);
        }
        let mut joined = inputs[0];
        if let (Some(axis), true) = (movement.join, inputs.len() > 1) {
            joined = self.push(place, name(operator.outputs[0]), &inputs, Op::Concat { axis })?;
        }
        let fill = match known {
            Known::MirrorPad => Fill::Reflect,
            Known::PadV2 => Fill::Value(self.single(operator, 2)?),
            _ => Fill::Value(0.0),
        };
        let fused = if let Options::Axis { fused, .. } = operator.options { fused } else { Fused::None };
        for (made, steps) in operator.outputs.iter().zip(&movement.outputs) {
            let mut value = joined;
            for step in steps {
                let op = match *step {
                    Move::Reshape(shape) if shape == self.shapes[value] => continue,
                    Move::Reshape(shape) => Op::Reshape(shape),
                    Move::Transpose(order) => Op::Transpose(order),
                    Move::Slice { start, size, step } => Op::Slice { start, size, step },
                    Move::Pad { before, after } => Op::Pad { before, after, fill },
                };
                value = self.push(place, name(*made), &[value], op)?;
            }
            let value = self.fused(operator, fused, value)?;
            self.define(operator, *made, value)?;
        }
        Ok(())
    }

    /// What is done with every output, as a node of its own.
    fn fused(&mut self, operator: &Operator, fused: Fused, value: Value) -> Result<Value, TfliteError> {
        let activation = match fused {
            Fused::None => return Ok(value),
            Fused::Relu => Activation::Relu,
            Fused::ReluN1To1 => Activation::Clip { low: -1.0, high: 1.0 },
            Fused::Relu6 => Activation::Clip { low: 0.0, high: 6.0 },
            Fused::Tanh => Activation::Tanh,
            Fused::SignBit => {
                return Err(TfliteError::unsupported(&*operator.place, "the fused activation SIGN_BIT", ""));
            }
        };
        self.add(operator, activation.word(), &[value], Op::Activation(activation))
    }

    /// A node called like the operator's output and `part`.
    fn add(&mut self, operator: &Operator, part: &str, reads: &[Value], op: Op) -> Result<Value, TfliteError> {
        let model = self.model;
        let name = model.tensors[operator.outputs[0]].name.as_str();
        let first = name.split_once(';').map_or(name, |(first, _)| first);
        let name = if part.is_empty() { first.to_owned() } else { format!("{first}.{part}") };
        self.push(&operator.place, &name, reads, op)
    }

    fn push(&mut self, place: &str, name: &str, reads: &[Value], op: Op) -> Result<Value, TfliteError> {
        let read: Vec<Shape> = reads.iter().map(|read| self.shapes[*read]).collect();
        let shape = op.shape(&read, 0).ok_or_else(|| {
            let found: Vec<String> = read.iter().map(Shape::to_string).collect();
            TfliteError::malformed(place, "what it reads", found.join(" and "), "shapes that fit it")
        })?;
        let name = self.names.take(name);
        self.nodes.push(Node { name, reads: reads.to_vec(), op });
        self.shapes.push(shape);
        Ok(self.nodes.len())
    }

    /// The value of a tensor, a node for a constant.
    fn value(&mut self, place: &str, tensor: usize) -> Result<Value, TfliteError> {
        if let Some(value) = self.values[tensor] {
            return Ok(value);
        }
        let shape = self.model.shape(tensor)?;
        let values = self.constant(place, tensor)?.ok_or_else(|| {
            let what = format!("{} as a value of float32", self.model.place(tensor));
            TfliteError::unsupported(place, what, "")
        })?;
        let value = self.push(place, &self.model.tensors[tensor].name, &[], Op::Constant { shape, values })?;
        self.values[tensor] = Some(value);
        Ok(value)
    }

    /// The numbers of a constant of reals; none of any other tensor.
    fn constant(&mut self, place: &str, tensor: usize) -> Result<Option<Vec<f64>>, TfliteError> {
        let source = self.widened.get(&tensor).copied().unwrap_or(tensor);
        let tensor = &self.model.tensors[source];
        let Some(data) = tensor.data.filter(|_| is_real(tensor.element, self.integers) || is_bias(tensor)) else {
            return Ok(None);
        };
        self.copies = self.copies.saturating_add(tensor.len());
        let limit = (self.model.len_bytes / 4).saturating_mul(MOST_COPIES);
        if self.copies > limit {
            return Err(TfliteError::Copies { place: place.to_owned(), found: self.copies, limit });
        }
        Ok(Some(match tensor.element {
            Element::F16 => data.as_chunks().0.iter().map(|bytes| half(u16::from_le_bytes(*bytes))).collect(),
            Element::F32 => data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes).into()).collect(),
            _ => return Ok(tensor.reals()),
        }))
    }

    /// A constant that is one number.
    fn single(&mut self, operator: &Operator, index: usize) -> Result<f64, TfliteError> {
        let tensor = self.model.operand(operator, index)?;
        match self.constant(&operator.place, tensor)?.as_deref() {
            Some([number]) => Ok(*number),
            _ => {
                let what = format!("{} as anything but one constant number", self.model.place(tensor));
                Err(TfliteError::unsupported(&*operator.place, what, ""))
            }
        }
    }

    /// Weights, which have to be constants.
    fn weights(&mut self, operator: &Operator, index: usize) -> Result<Vec<f64>, TfliteError> {
        let tensor = self.model.operand(operator, index)?;
        let found = self.constant(&operator.place, tensor)?;
        found.ok_or_else(|| {
            let what = format!("{} as weights that are no constants of float32", self.model.place(tensor));
            TfliteError::unsupported(&*operator.place, what, "")
        })
    }

    /// The nodes that the output needs, the output's last, and the values of tensors.
    fn finish(self, name: &str, output: Value) -> (Graph, Vec<Option<Value>>) {
        let mut is_needed = vec![false; self.nodes.len() + 1];
        is_needed[output] = true;
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if is_needed[index + 1] {
                node.reads.iter().for_each(|read| is_needed[*read] = true);
            }
        }
        let mut numbers = vec![0; is_needed.len()];
        let mut nodes: Vec<Node> = Vec::new();
        for (index, mut node) in self.nodes.into_iter().enumerate() {
            if is_needed[index + 1] {
                node.reads.iter_mut().for_each(|read| *read = numbers[*read]);
                nodes.push(node);
                numbers[index + 1] = nodes.len();
            }
        }
        if nodes.is_empty() && self.integers == Integers::Reals {
            // Integers of another scale are the same reals.
            nodes.push(Node { name: "output".to_owned(), reads: vec![0], op: Op::Reshape(self.input) });
        }
        let values =
            self.values.iter().map(|value| value.filter(|value| is_needed[*value]).map(|value| numbers[value]));
        (Graph { name: name.to_owned(), input: Input::Dense { shape: self.input }, nodes }, values.collect())
    }
}
