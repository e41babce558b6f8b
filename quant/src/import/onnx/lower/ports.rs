//! Inputs and outputs of the model as the one input and the one output of a graph.
//!
//! Several inputs are laid end to end in one vector, in the model's order, and taken apart with Slice; several outputs
//! are laid end to end likewise. Each lies in memory as its [`Port`] says.

use super::super::error::OnnxError;
use super::super::tensor::{Element, MAX_LEN, MAX_RANK};
use super::super::types::{Dimension, ValueInfo};
use super::Lowering;
use super::call::Entry;
use super::layout::Tensor;
use crate::graph::{Axis, GraphError, Op, Shape};

/// An input or an output of the model, as a part of the graph's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// Its name in the model.
    pub name: String,
    /// Its shape in the model; where the graph is that of one example of a batch, that of the batch.
    pub dims: Vec<usize>,
    /// Its axes from the outermost to the innermost as the graph has them: 0, 2, 3, 1 of N, C, H, W is channels last.
    pub order: Vec<usize>,
    /// Elements of the graph's input or output before it.
    pub offset: usize,
    /// Elements of one example.
    pub len: usize,
}

/// Where ports end that lie one behind the other.
fn end_of(ports: &[Port]) -> usize {
    ports.iter().map(|port| port.len).sum()
}

impl Port {
    /// For each of its elements in the graph the place in the model's order, within one example.
    ///
    /// ```
    /// # use tamis_quant::import::onnx::Port;
    /// // Two channels of three pixels.
    /// let port = Port { name: "x".to_owned(), dims: vec![1, 2, 1, 3], order: vec![0, 2, 3, 1], offset: 0, len: 6 };
    /// assert_eq!(port.places(), [0, 3, 1, 4, 2, 5]);
    /// ```
    #[must_use]
    pub fn places(&self) -> Vec<usize> {
        let mut fine = self.dims.clone();
        if let (true, Some(batch)) = (self.len != self.dims.iter().product::<usize>(), fine.first_mut()) {
            *batch = 1;
        }
        let order = self.order.clone();
        Tensor { dims: self.dims.clone(), element: Element::F32, value: 0, fine, order }.places()
    }
}

/// The sizes of an input; an open first axis is a batch of 1.
pub(in crate::import::onnx) fn input_dims(input: &ValueInfo<'_>) -> Result<Vec<usize>, OnnxError> {
    let open = |axis, dimension: &str| OnnxError::Dynamic {
        input: input.name.to_owned(),
        axis,
        dimension: if dimension.is_empty() { "?".to_owned() } else { dimension.escape_debug().to_string() },
    };
    let dims = input.dims.as_ref().ok_or_else(|| open(0, ""))?;
    if dims.len() > MAX_RANK {
        let (found, expected) = (format!("{} axes", dims.len()), format!("at most {MAX_RANK}"));
        return Err(OnnxError::Tensor { tensor: input.name.to_owned(), found, expected });
    }
    let size = |(axis, dim): (usize, &Dimension<'_>)| match dim {
        Dimension::Fixed(size) => usize::try_from(*size).ok().filter(|size| *size > 0).ok_or_else(|| {
            let (found, expected) = (format!("the size {size} of axis {axis}"), "1 or more".to_owned());
            OnnxError::Tensor { tensor: input.name.to_owned(), found, expected }
        }),
        Dimension::Open(_) if axis == 0 && dims.len() > 1 => Ok(1),
        Dimension::Open(name) => Err(open(axis, name)),
    };
    dims.iter().enumerate().map(size).collect()
}

impl<'a> Lowering<'_, 'a> {
    /// Makes value 0 and gives every input of the model its part of it.
    pub(super) fn open_inputs(&mut self) -> Result<Vec<Port>, OnnxError> {
        let model = self.model;
        let inputs: Vec<&ValueInfo<'a>> =
            model.graph.inputs.iter().filter(|input| !self.initializers.contains_key(input.name)).collect();
        if inputs.is_empty() {
            return Err(OnnxError::Missing { what: "every input".to_owned() });
        }
        let mut ports: Vec<Port> = Vec::new();
        for input in &inputs {
            let dims = input_dims(input)?;
            let example = self.of_example(&dims);
            let len = example.iter().try_fold(1usize, |len, size| len.checked_mul(*size)).unwrap_or(usize::MAX);
            let order = self.input_order(input.name, dims.len());
            let offset = end_of(&ports);
            if len > MAX_LEN || offset + len > MAX_LEN {
                return Err(GraphError::Len { value: format!("the input `{}`", input.name), found: len }.into());
            }
            ports.push(Port { name: input.name.to_owned(), dims, order, offset, len });
        }
        let total = end_of(&ports);
        let natural = |port: &Port, sizes: &[usize]| {
            let sizes: Vec<usize> = port.order.iter().map(|axis| sizes[*axis]).collect();
            natural_shape(&sizes)
        };
        let single = ports.len() == 1;
        let first = natural(&ports[0], &self.of_example(&ports[0].dims));
        self.shapes.push(if single { first } else { Shape::vector(total) });
        for (input, port) in inputs.iter().zip(&ports) {
            self.place = format!("the input `{}`", input.name);
            input.name.clone_into(&mut self.name);
            let Some(element) = Element::of_code(input.data_type).filter(|element| *element != Element::Bool) else {
                let what = format!("the type of elements with the code {}", input.data_type);
                return Err(OnnxError::Feature { place: self.place.clone(), what });
            };
            let mut value = 0;
            if !single {
                let (start, size) = ([0, 0, port.offset], [1, 1, port.len]);
                value = self.push("slice", &[0], Op::Slice { start, size, step: [1; 3] })?;
                value = self.shaped(value, natural(port, &self.of_example(&port.dims)))?;
            }
            let tensor = self.tensor(value, port.dims.clone(), port.order.clone(), element);
            self.entries.insert(input.name, Entry::Made(tensor));
        }
        Ok(ports)
    }

    /// Lays the outputs of the model end to end.
    pub(super) fn close_outputs(&mut self) -> Result<Vec<Port>, OnnxError> {
        let (mut ports, mut values): (Vec<Port>, Vec<usize>) = (Vec::new(), Vec::new());
        let outputs = &self.model.graph.outputs;
        for output in outputs {
            self.place = format!("the output `{}`", output.name);
            output.name.clone_into(&mut self.name);
            let Some(Entry::Made(tensor)) = self.entry(output.name)? else {
                return Err(OnnxError::Feature { place: self.place.clone(), what: "a constant".to_owned() });
            };
            self.check_declared(output, &tensor)?;
            let tensor = self.aligned(&tensor)?;
            let offset = end_of(&ports);
            let len = self.shapes[tensor.value].len();
            ports.push(Port { name: output.name.to_owned(), dims: tensor.dims, order: tensor.order, offset, len });
            values.push(tensor.value);
        }
        let mut last = values[0];
        if values.len() > 1 {
            for value in &mut values {
                *value = self.shaped(*value, Shape::vector(self.shapes[*value].len()))?;
            }
            last = self.push("outputs", &values, Op::Concat { axis: Axis::Channels })?;
        }
        // The output is what the last node makes, and there is one.
        if last == 0 || last != self.nodes.len() {
            self.push("output", &[last], Op::Reshape(self.shapes[last]))?;
        }
        Ok(ports)
    }

    /// Whether the model says another shape than it makes; sizes that it leaves open fit.
    fn check_declared(&self, output: &ValueInfo<'_>, tensor: &Tensor) -> Result<(), OnnxError> {
        let Some(declared) = &output.dims else { return Ok(()) };
        let fits = |(declared, found): (&Dimension<'_>, &usize)| match declared {
            Dimension::Fixed(size) => usize::try_from(*size) == Ok(*found),
            Dimension::Open(_) => true,
        };
        if declared.len() == tensor.dims.len() && declared.iter().zip(&tensor.dims).all(fits) {
            return Ok(());
        }
        let expected = declared.iter().map(|dim| match dim {
            Dimension::Fixed(size) => size.to_string(),
            Dimension::Open(name) => (*name).to_owned(),
        });
        let expected = format!("[{}], as it is declared", expected.collect::<Vec<_>>().join(", "));
        Err(OnnxError::Shapes { node: self.place.clone(), found: format!("{:?}", tensor.dims), expected })
    }

    /// Channels last where operators of maps read the input, first or behind others that work element by element; as
    /// the model has it where it is transposed or reshaped first, and where it has no axes of height and width.
    fn input_order(&self, name: &str, rank: usize) -> Vec<usize> {
        let as_it_is: Vec<usize> = (0..rank).collect();
        let channels_last = || [&as_it_is[..1], &as_it_is[2..], &as_it_is[1..2]].concat();
        let mut names = vec![name];
        for node in &self.model.graph.nodes {
            if !node.inputs.first().is_some_and(|input| names.contains(input)) {
                continue;
            }
            match node.operator {
                "Conv" | "ConvTranspose" | "ConvInteger" | "QLinearConv" | "MaxPool" | "AveragePool"
                | "GlobalAveragePool" | "GlobalMaxPool" | "BatchNormalization" | "Resize" | "PRelu"
                    if rank >= 3 =>
                {
                    return channels_last();
                }
                "Transpose" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "MatMul" | "Gemm" => return as_it_is,
                _ => names.extend(node.outputs.first()),
            }
        }
        if rank == 4 { channels_last() } else { as_it_is }
    }
}

/// Height, width and channels of sizes as they follow one another in memory: the last three that are there, what lies
/// outside of them rows.
fn natural_shape(sizes: &[usize]) -> Shape {
    let (lead, last) = sizes.split_at(sizes.len().saturating_sub(3));
    let mut axes = [1; 3];
    axes[3 - last.len()..].copy_from_slice(last);
    axes[0] *= lead.iter().product::<usize>();
    Shape::of_axes(axes)
}
