//! A quantised graph's parameters as reals again: what the integers stand for.

use super::element::Element;
use super::maps::Convolution;
use super::operation::Operation;
use super::tensor::QuantTensor;
use super::{Program, ProgramInput, ProgramNode};
use crate::graph::description::{Tensor, Tensors};

impl Program {
    /// Every weight (a row an output), bias and table (a row a feature) by its name; biases without what zero points
    /// took off them. Trees have none: their thresholds and leaves mean something beside their features only.
    #[must_use]
    pub fn to_tensors(&self) -> Tensors {
        let mut tensors = Tensors::new();
        for node in &self.nodes {
            match &node.op {
                Operation::Affine { weights, bias } => {
                    let read = node.read(0);
                    self.affine(
                        &mut tensors,
                        node,
                        (weights, bias.as_ref()),
                        |input| self.unit_of(read, input),
                        self.zero(read),
                    );
                }
                Operation::Convolution(convolution) => self.convolution(&mut tensors, node, convolution),
                Operation::SparseAffine { weights, bias } if node.value.element != Element::F32 => {
                    self.affine(&mut tensors, node, (weights, bias.as_ref()), |_| self.value_unit(), 0);
                }
                Operation::AffineF32 { weights, bias } | Operation::SparseAffine { weights, bias } => {
                    put(&mut tensors, weights, |_, _, x| x);
                    if let Some(bias) = bias {
                        put_vector(&mut tensors, bias, |_, x| x);
                    }
                }
                Operation::SparseRows { table, requantisation } => {
                    // A row's value 1 is so many integers of the file.
                    let factor = match requantisation {
                        Some((multiplier, shift)) => {
                            node.value.unit(0) * f64::from(*multiplier) / (1u64 << shift) as f64 / self.value_unit()
                        }
                        None => node.value.unit(0),
                    };
                    let values = table.elements().into_iter().map(|x| x * factor).collect();
                    tensors.insert(table.name.clone(), Tensor { shape: vec![table.inputs, table.outputs], values });
                }
                _ => {}
            }
        }
        tensors
    }

    /// Weights as (outputs, inputs of a group, down, across), and the bias.
    fn convolution(&self, tensors: &mut Tensors, node: &ProgramNode, convolution: &Convolution) {
        let Convolution { window, weights, bias, rounding, .. } = convolution;
        // What a 1 in the sums of a channel stands for.
        let unit = |row: usize| match rounding {
            Some(rounding) => {
                let factor = f64::from(rounding.multipliers[row]) / (1u64 << rounding.shifts[row]) as f64;
                factor * node.value.unit(row)
            }
            None => node.value.unit(row),
        };
        let taps = window.taps();
        let inputs = weights.inputs / taps;
        let stored = weights.elements();
        let places = (0..weights.outputs)
            .flat_map(|row| (0..inputs).flat_map(move |input| (0..taps).map(move |tap| (row, tap * inputs + input))));
        let real = |(row, column)| {
            stored[row + weights.outputs * column] * unit(row) / self.unit_read(node, convolution, row, column)
        };
        let values = places.map(real).collect();
        let shape = vec![weights.outputs, inputs, window.kernel[0], window.kernel[1]];
        tensors.insert(weights.name.clone(), Tensor { shape, values });
        if let Some(bias) = bias {
            put_vector(tensors, bias, |row, x| x * unit(row));
        }
    }

    fn affine(
        &self,
        tensors: &mut Tensors,
        node: &ProgramNode,
        (weights, bias): (&QuantTensor, Option<&QuantTensor>),
        input_unit: impl Fn(usize) -> f64,
        zero: i32,
    ) {
        put(tensors, weights, |row, input, x| x * node.value.unit(row) / input_unit(input));
        let rows = weights.outputs.max(1);
        let mut sums = vec![0f64; rows];
        for column in weights.integers().chunks(rows) {
            sums.iter_mut().zip(column).for_each(|(sum, weight)| *sum += f64::from(*weight));
        }
        if let Some(bias) = bias {
            put_vector(tensors, bias, |row, x| (x + f64::from(zero) * sums[row]) * node.value.unit(row));
        }
    }

    /// The real value of a 1 in an element of a value.
    pub(crate) fn unit_of(&self, value: usize, element: usize) -> f64 {
        match (value.checked_sub(1).and_then(|node| self.nodes.get(node)), self.input) {
            (Some(node), _) => node.value.unit(element),
            (None, ProgramInput::Dense { unit, .. }) => f64::from(unit),
            (None, ProgramInput::Sparse { .. } | ProgramInput::Features { .. }) => 1.0,
        }
    }

    /// The real value of a 1 of what a convolution's weight meets: of the channel that a column of its row reads.
    pub(crate) fn unit_read(&self, node: &ProgramNode, op: &Convolution, row: usize, column: usize) -> f64 {
        let of_group = op.weights.inputs / op.window.taps();
        let group = row / (op.weights.outputs / op.groups);
        self.unit_of(node.read(0), group * of_group + column % of_group)
    }

    fn value_unit(&self) -> f64 {
        match self.input {
            ProgramInput::Sparse { unit: Some(unit), .. } => f64::from(unit),
            _ => 1.0,
        }
    }
}

/// A matrix, row after row.
fn put(tensors: &mut Tensors, tensor: &QuantTensor, real: impl Fn(usize, usize, f64) -> f64) {
    let (outputs, inputs) = (tensor.outputs, tensor.inputs);
    let values = tensor.elements();
    let at = |row: usize, input: usize| values[row + outputs * input];
    let rows = (0..outputs).flat_map(|row| (0..inputs).map(move |input| (row, input)));
    let values = rows.map(|(row, input)| real(row, input, at(row, input))).collect();
    tensors.insert(tensor.name.clone(), Tensor { shape: vec![outputs, inputs], values });
}

fn put_vector(tensors: &mut Tensors, tensor: &QuantTensor, real: impl Fn(usize, f64) -> f64) {
    let values = tensor.elements().into_iter().enumerate().map(|(row, x)| real(row, x)).collect();
    tensors.insert(tensor.name.clone(), Tensor { shape: vec![tensor.outputs], values });
}
