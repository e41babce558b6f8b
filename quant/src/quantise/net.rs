//! The quantised network: integers in training order, before any layout.

use crate::arch::{Architecture, ElementType};
use crate::float::{Affine, Matrix, Net};
use crate::quantise::Permutation;

/// A quantised network.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantNet {
    /// What the network is.
    pub arch: Architecture,
    /// A layer for each of the description's.
    pub layers: Vec<QuantLayer>,
    /// The bare file's own header, kept from the file that was packed; empty if there is none.
    pub bare_header: Vec<u8>,
    /// The order of the neurons in a container; the layers here are in training order whatever it is.
    pub permutation: Option<Permutation>,
}

/// One affine layer.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantLayer {
    /// (outputs, inputs)
    pub weights: QuantTensor,
    /// (outputs, 1)
    pub bias: QuantTensor,
}

/// A tensor in training order: element (output, input) is `values[output + outputs·input]`.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantTensor {
    /// Name, as in `weights.bin`.
    pub name: String,
    /// Stored type.
    pub element: ElementType,
    /// Multiplier; none for f32 and where units are a channel each.
    pub scale: Option<i32>,
    /// Output buckets that have rows of their own: bucket `b`'s start at `b · outputs / banks`. 1 where all share them.
    pub banks: usize,
    /// Rows, of all banks together.
    pub outputs: usize,
    /// Columns.
    pub inputs: usize,
    /// The elements.
    pub values: Values,
}

/// Elements of a tensor.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Integers of any width, within the stored type.
    Int(Vec<i32>),
    /// Reals, stored as they are.
    F32(Vec<f32>),
}

impl QuantTensor {
    /// A column that all output buckets share.
    #[must_use]
    pub const fn vector(name: String, element: ElementType, outputs: usize, values: Values) -> Self {
        Self { name, element, scale: None, banks: 1, outputs, inputs: 1, values }
    }

    /// The integers; empty for f32.
    pub fn integers(&self) -> &[i32] {
        match &self.values {
            Values::Int(values) => values,
            Values::F32(_) => &[],
        }
    }

    /// The reals as they are stored; none of integers.
    pub fn reals(&self) -> &[f32] {
        match &self.values {
            Values::F32(values) => values,
            Values::Int(_) => &[],
        }
    }

    /// The rows of an output bucket.
    #[must_use]
    pub const fn bank(&self, bucket: usize) -> std::ops::Range<usize> {
        let len = self.outputs / self.banks;
        let first = if self.banks == 1 { 0 } else { bucket * len };
        first..first + len
    }

    /// The reals that the elements stand for, by the tensor's multiplier (1 if it has none).
    pub fn to_reals(&self) -> Vec<f64> {
        let scale = f64::from(self.scale.unwrap_or(1));
        match &self.values {
            Values::Int(values) => values.iter().map(|value| f64::from(*value) / scale).collect(),
            Values::F32(values) => values.iter().map(|value| f64::from(*value)).collect(),
        }
    }
}

impl QuantLayer {
    /// The reals that the layer's integers stand for.
    pub fn to_reals(&self) -> Affine<f64> {
        let (outputs, inputs) = (self.weights.outputs, self.weights.inputs);
        Affine { weights: Matrix { outputs, inputs, values: self.weights.to_reals() }, bias: self.bias.to_reals() }
    }
}

impl QuantNet {
    /// The real network that the integers stand for: weights rounded, arithmetic exact.
    pub fn to_reals(&self) -> Net<f64> {
        Net { arch: self.arch.clone(), layers: self.layers.iter().map(QuantLayer::to_reals).collect() }
    }

    /// A tensor by its name.
    pub fn tensor(&self, name: &str) -> Option<&QuantTensor> {
        self.layers.iter().flat_map(|layer| [&layer.weights, &layer.bias]).find(|tensor| tensor.name == name)
    }

    /// A tensor by its name, to change it.
    pub fn tensor_mut(&mut self, name: &str) -> Option<&mut QuantTensor> {
        self.layers
            .iter_mut()
            .flat_map(|layer| [&mut layer.weights, &mut layer.bias])
            .find(|tensor| tensor.name == name)
    }
}
