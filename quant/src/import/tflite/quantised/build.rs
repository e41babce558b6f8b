//! From the operators of an int8 file to the nodes of a network of integers.

use crate::import::tflite::error::TfliteError;
use crate::import::tflite::lower::{Integers, lower};
use crate::import::tflite::moves::Movement;
use crate::import::tflite::names::Names;
use crate::import::tflite::operators::{Builtin, Known};
use crate::import::tflite::types::{Element, Fused, Model, Operator, Options};
use crate::program::Element as Stored;
use crate::quantised::{Clamp, Multiplier, QuantisedGraph, QuantisedNode, QuantisedOp, Quantity};
use crate::spatial::{Move, Shape};

/// How many numbers of weights operators may have for each byte of the file: files share weights seldom.
const MOST_COPIES: usize = 4;

/// The network of a checked file.
pub(super) fn build(model: &Model<'_>, name: &str) -> Result<QuantisedGraph, TfliteError> {
    let [output] = model.outputs[..] else {
        let what = format!("a network of {} outputs", model.outputs.len());
        return Err(TfliteError::unsupported("SubGraph 0", what, "convert it once for each output"));
    };
    let mut build = Build {
        model,
        inputs: Vec::new(),
        nodes: Vec::new(),
        values: vec![None; model.tensors.len()],
        names: Names::default(),
        copies: 0,
    };
    for input in &model.inputs {
        build.values[*input] = Some(build.inputs.len());
        build.inputs.push((build.names.take(&model.tensors[*input].name), build.quantity(*input)?));
    }
    for operator in &model.operators {
        build.operator(operator)?;
    }
    let output = build.value("SubGraph 0", output)?;
    let Build { inputs, mut nodes, values, .. } = build;
    // Without the reals of a network it can still be packed.
    if let Ok((_, layers)) = lower(model, name, Integers::Reals) {
        for (value, layer) in values.iter().zip(layers) {
            let node = value.and_then(|value| nodes.get_mut(value.checked_sub(inputs.len())?));
            node.into_iter().for_each(|node| node.layer = layer);
        }
    }
    Ok(QuantisedGraph { name: name.to_owned(), inputs, nodes, output, remarks: model.remarks.clone() })
}

/// A network in the making.
pub(super) struct Build<'m, 'a> {
    pub(super) model: &'m Model<'a>,
    inputs: Vec<(String, Quantity)>,
    nodes: Vec<QuantisedNode>,
    values: Vec<Option<usize>>,
    names: Names,
    copies: usize,
}

impl Build<'_, '_> {
    fn operator(&mut self, operator: &Operator) -> Result<(), TfliteError> {
        let model = self.model;
        if operator.outputs.iter().all(|made| matches!(model.tensors[*made].element, Element::I32 | Element::I64)) {
            // Shapes, which are all known.
            return Ok(());
        }
        let Builtin::Known(known) = operator.builtin else { return Err(self.unknown(operator)) };
        if let Some(movement) = model.movement(operator, known)? {
            return self.movement(operator, known, &movement);
        }
        let to = self.quantity(operator.outputs[0])?;
        let op = match known {
            Known::Conv | Known::DepthwiseConv => self.convolution(operator, known == Known::DepthwiseConv)?,
            Known::TransposeConv => {
                let op = self.transposed(operator)?;
                let read = self.read(operator, 2)?.0;
                return self.define(operator.outputs[0], vec![read], to, op);
            }
            Known::FullyConnected => self.dense(operator)?,
            Known::AveragePool | Known::MaxPool => self.pool(operator, known)?,
            Known::Add | Known::Sub | Known::Mul | Known::Maximum | Known::Minimum => {
                let (a, b) = (self.read(operator, 0)?, self.read(operator, 1)?);
                let op = self.pair(operator, known, [a.1, b.1], to)?;
                return self.define(operator.outputs[0], vec![a.0, b.0], to, op);
            }
            Known::Mean => self.mean(operator)?,
            Known::ResizeBilinear | Known::ResizeNearest => self.resize(operator, known)?,
            Known::Quantize | Known::Dequantize => self.conversion(operator)?,
            _ => self.function(operator, known)?,
        };
        let read = self.read(operator, 0)?.0;
        self.define(operator.outputs[0], vec![read], to, op)
    }

    pub(super) fn unknown(&self, operator: &Operator) -> TfliteError {
        let what = format!("the operator {} on integers", operator.builtin.name());
        TfliteError::unsupported(&*operator.place, what, "give the float32 file")
    }

    pub(super) fn shapes(&self, operator: &Operator) -> TfliteError {
        TfliteError::malformed(&*operator.place, "the shape of what it reads or makes", "another", "that of its kind")
    }

    /// A node that makes a tensor.
    fn define(&mut self, tensor: usize, reads: Vec<usize>, to: Quantity, op: QuantisedOp) -> Result<(), TfliteError> {
        let value = self.push(&self.model.tensors[tensor].name, reads, to, op);
        self.values[tensor] = Some(value);
        Ok(())
    }

    fn push(&mut self, name: &str, reads: Vec<usize>, makes: Quantity, op: QuantisedOp) -> usize {
        let name = self.names.take(name);
        self.nodes.push(QuantisedNode { name, reads, makes, op, layer: None });
        self.inputs.len() + self.nodes.len() - 1
    }

    /// What the file says of a tensor.
    pub(super) fn quantity(&self, tensor: usize) -> Result<Quantity, TfliteError> {
        let found = &self.model.tensors[tensor];
        let element = stored(found.element).ok_or_else(|| {
            let what = format!("a value of {}", found.element.word());
            TfliteError::unsupported(self.model.place(tensor), what, "give the float32 file")
        })?;
        let (scale, zero_point) = match element {
            Stored::F32 => (1.0, 0),
            _ => found.single().ok_or_else(|| {
                TfliteError::malformed(self.model.place(tensor), "the number of its scales", "another", "1")
            })?,
        };
        let zero_point = i32::try_from(zero_point).map_err(|_| {
            TfliteError::malformed(self.model.place(tensor), "its zero point", zero_point, "a number of 32 bits")
        })?;
        Ok(Quantity { shape: self.model.shape(tensor)?, element, scale, zero_point })
    }

    /// The value that an operator reads there, and what it is.
    pub(super) fn read(&mut self, operator: &Operator, index: usize) -> Result<(usize, Quantity), TfliteError> {
        let tensor = self.model.operand(operator, index)?;
        Ok((self.value(&operator.place, tensor)?, self.quantity(tensor)?))
    }

    /// The value of a tensor, a node for a constant.
    fn value(&mut self, place: &str, tensor: usize) -> Result<usize, TfliteError> {
        if let Some(value) = self.values[tensor] {
            return Ok(value);
        }
        let found = &self.model.tensors[tensor];
        let is_byte = matches!(found.element, Element::I8);
        let stored = found.stored().filter(|_| is_byte).ok_or_else(|| {
            let what = format!("{} as a value of int8", self.model.place(tensor));
            TfliteError::unsupported(place, what, "")
        })?;
        self.copies = self.copies.saturating_add(stored.len());
        let stored = stored.iter().map(|stored| i32::try_from(*stored)).collect::<Result<_, _>>().map_err(|_| {
            TfliteError::unsupported(place, format!("{} in 64 bits", self.model.place(tensor)), "use 32 bits")
        })?;
        let quantity = self.quantity(tensor)?;
        let value = self.push(&found.name, Vec::new(), quantity, QuantisedOp::Constant(stored));
        self.values[tensor] = Some(value);
        Ok(value)
    }

    /// Bounds what weights are copied.
    pub(super) fn count(&mut self, operator: &Operator, len: usize) -> Result<(), TfliteError> {
        self.copies = self.copies.saturating_add(len);
        let limit = self.model.len_bytes.saturating_mul(MOST_COPIES);
        if self.copies <= limit {
            return Ok(());
        }
        Err(TfliteError::Copies { place: operator.place.clone(), found: self.copies, limit })
    }

    /// Refuses what is not int8, the older quantisation and values of reals in between by their names.
    pub(super) fn is_int8(&self, operator: &Operator, values: &[Quantity]) -> Result<(), TfliteError> {
        let Some(other) = values.iter().find(|value| value.element != Stored::I8) else { return Ok(()) };
        let is = |tensor: &&usize| stored(self.model.tensors[**tensor].element) == Some(other.element);
        let Some(tensor) = operator.inputs.iter().flatten().chain(&operator.outputs).find(is).copied() else {
            let what = format!("values of {} in between", other.element.word());
            return Err(TfliteError::unsupported(&*operator.place, what, "convert to int8 throughout"));
        };
        let name = self.model.tensors[tensor].name.clone();
        Err(match self.model.tensors[tensor].element {
            Element::U8 => TfliteError::Uint8 { place: operator.place.clone(), tensor: name },
            element => {
                let what = format!("a value of {} (`{name}`) in a network of int8", element.word());
                TfliteError::unsupported(&*operator.place, what, "")
            }
        })
    }

    pub(super) fn multiplier(&self, operator: &Operator, real: f64) -> Result<Multiplier, TfliteError> {
        Multiplier::of(real).ok_or_else(|| {
            let expected = "a quotient of scales below 2^30";
            TfliteError::malformed(&*operator.place, "its multiplier", format!("{real:e}"), expected)
        })
    }

    /// The range of int8, less what the fused activation cuts off.
    pub(super) fn clamp(&self, operator: &Operator, to: Quantity) -> Result<Clamp, TfliteError> {
        let fused = match operator.options {
            Options::Window { fused, .. } | Options::Dense { fused, .. } | Options::Fused(fused) => fused,
            _ => Fused::None,
        };
        let (low, high) = match fused {
            Fused::None => (-128, 127),
            Fused::Relu => (at(0.0, to), 127),
            Fused::Relu6 => (at(0.0, to), at(6.0, to)),
            Fused::ReluN1To1 => (at(-1.0, to), at(1.0, to)),
            Fused::Tanh | Fused::SignBit => {
                return Err(TfliteError::unsupported(&*operator.place, "this fused activation on integers", ""));
            }
        };
        Ok(Clamp { low, high })
    }

    pub(super) fn same_scale(&self, operator: &Operator, from: Quantity, to: Quantity) -> Result<(), TfliteError> {
        if (from.scale, from.zero_point, from.element) == (to.scale, to.zero_point, to.element) {
            return Ok(());
        }
        let word = |quantity: Quantity| {
            format!("{} with scale {} and zero point {}", quantity.element.word(), quantity.scale, quantity.zero_point)
        };
        Err(TfliteError::malformed(&*operator.place, "what it makes", word(to), format!("{}, as it reads", word(from))))
    }

    fn movement(&mut self, operator: &Operator, known: Known, movement: &Movement) -> Result<(), TfliteError> {
        let mut inputs = Vec::new();
        let first = self.quantity(movement.inputs[0])?;
        for input in &movement.inputs {
            let quantity = self.quantity(*input)?;
            let mut value = self.value(&operator.place, *input)?;
            self.same_scale(operator, quantity, Quantity { shape: quantity.shape, ..first })?;
            if let Some(shape) = movement.each.filter(|shape| *shape != quantity.shape) {
                let by = QuantisedOp::Moved { by: Move::Reshape(shape), fill: 0 };
                value = self.push("part", vec![value], Quantity { shape, ..quantity }, by);
            }
            inputs.push(value);
        }
        let fused = matches!(operator.options, Options::Axis { fused, .. } if fused != Fused::None);
        if fused || known == Known::MirrorPad {
            return Err(self.unknown(operator));
        }
        let fill = match known {
            Known::PadV2 => {
                let stored = self.model.tensors[self.model.operand(operator, 2)?].stored();
                let only = stored.filter(|stored| stored.len() == 1).and_then(|stored| i32::try_from(stored[0]).ok());
                only.ok_or_else(|| self.unknown(operator))?
            }
            _ => first.zero_point,
        };
        for (made, steps) in operator.outputs.iter().zip(&movement.outputs) {
            let to = self.quantity(*made)?;
            self.same_scale(operator, first, to)?;
            let mut value = inputs[0];
            let mut shape = self.shape_of(value);
            if let (Some(axis), true) = (movement.join, inputs.len() > 1) {
                value = self.push("joined", inputs.clone(), to, QuantisedOp::Concat(axis));
                shape = to.shape;
            }
            for step in steps {
                shape = match *step {
                    Move::Reshape(to) => to,
                    Move::Transpose(order) => Shape::of_axes(order.map(|axis| shape.axes()[axis])),
                    Move::Slice { size, .. } => Shape::of_axes(size),
                    Move::Pad { before, after } => {
                        let axes = shape.axes();
                        Shape::of_axes([0, 1, 2].map(|axis| axes[axis] + before[axis] + after[axis]))
                    }
                };
                let op = QuantisedOp::Moved { by: step.clone(), fill };
                value = self.push(&self.model.tensors[*made].name, vec![value], Quantity { shape, ..to }, op);
            }
            if shape != to.shape {
                return Err(self.shapes(operator));
            }
            self.values[*made] = Some(value);
        }
        Ok(())
    }

    fn shape_of(&self, value: usize) -> Shape {
        match value.checked_sub(self.inputs.len()) {
            Some(node) => self.nodes[node].makes.shape,
            None => self.inputs[value].1.shape,
        }
    }
}

/// What a program calls the elements of a tensor; none of those that it has none for.
const fn stored(element: Element) -> Option<Stored> {
    match element {
        Element::F32 => Some(Stored::F32),
        Element::I32 => Some(Stored::I32),
        Element::U8 => Some(Stored::U8),
        Element::I16 => Some(Stored::I16),
        Element::I8 => Some(Stored::I8),
        _ => None,
    }
}

/// The stored value nearest to a real, in f32 as engines find it.
pub(super) fn at(real: f32, to: Quantity) -> i32 {
    to.zero_point.saturating_add((real / to.scale).round() as i32).clamp(-128, 127)
}
