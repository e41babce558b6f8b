//! A network of bullet's in integers, in training order, before any layout.

use super::permutation::Permutation;
use crate::arch::{Activation, Architecture, ElementType};
use crate::float::{Affine, Matrix, Net};
use crate::program::{QuantTensor, Values};
use std::borrow::Cow;

/// A quantised network.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantNet {
    /// What the network is.
    pub arch: Architecture,
    /// A layer for each of the description's.
    pub layers: Vec<QuantLayer>,
    /// The piece-square values of a description that has them; without a tensor for it their bias is zeros.
    pub psqt: Option<QuantLayer>,
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

impl QuantLayer {
    /// The bias of piece-square values that have none: zeros, under a name that no description can give.
    #[must_use]
    pub fn without_bias(weights: &QuantTensor) -> QuantTensor {
        let (name, zeros) = (format!("{} without bias", weights.name), Values::Int(vec![0; weights.outputs]));
        let bias = QuantTensor::vector(name, weights.element, weights.outputs, zeros);
        QuantTensor { scale: weights.scale, ..bias }
    }

    /// The reals that the layer's integers stand for.
    pub fn to_reals(&self) -> Affine<f64> {
        let (outputs, inputs) = (self.weights.outputs, self.weights.inputs);
        Affine { weights: Matrix { outputs, inputs, values: self.weights.to_reals() }, bias: self.bias.to_reals() }
    }
}

impl QuantNet {
    /// The real network that the integers stand for: weights rounded, arithmetic exact.
    pub fn to_reals(&self) -> Net<f64> {
        let layers = self.layers.iter().map(QuantLayer::to_reals).collect();
        Net { arch: self.arch.clone(), layers, psqt: self.psqt.as_ref().map(QuantLayer::to_reals) }
    }

    /// A tensor by its name.
    pub fn tensor(&self, name: &str) -> Option<&QuantTensor> {
        let layers = self.layers.iter().chain(&self.psqt);
        layers.flat_map(|layer| [&layer.weights, &layer.bias]).find(|tensor| tensor.name == name)
    }

    /// A tensor by its name, to change it.
    pub fn tensor_mut(&mut self, name: &str) -> Option<&mut QuantTensor> {
        self.layers
            .iter_mut()
            .chain(&mut self.psqt)
            .flat_map(|layer| [&mut layer.weights, &mut layer.bias])
            .find(|tensor| tensor.name == name)
    }

    /// The same network with its tensors as a container has them.
    pub(crate) fn in_file_order(&self) -> Cow<'_, Self> {
        let Some(permutation) = &self.permutation else { return Cow::Borrowed(self) };
        let mut net = self.clone();
        reorder(permutation, &mut net.layers);
        Cow::Owned(net)
    }
}

/// Reorders the layers that touch the pairs.
pub(crate) fn reorder(permutation: &Permutation, layers: &mut [QuantLayer]) {
    let [first, second, ..] = layers else { return };
    let unit = second.weights.outputs;
    for (values, unit) in
        [(&mut first.weights.values, 1), (&mut first.bias.values, 1), (&mut second.weights.values, unit)]
    {
        match values {
            Values::Int(values) => permutation.apply(values, unit),
            Values::F32(values) => permutation.apply(values, unit),
        }
    }
}

/// The pairs of neurons that may be reordered; `None` where there are none, or where f32 sums would come out different.
#[must_use]
pub fn reorderable_pairs(arch: &Architecture) -> Option<usize> {
    let first = arch.layers.first()?;
    let second = arch.tensor(&arch.weights_name(1))?;
    let pairs = arch.input.is_sparse() && first.activation == Activation::PairwiseCrelu;
    (pairs && second.r#type == ElementType::I8).then_some(first.outputs / 2)
}

/// The name of the container's tensor that holds the permutation.
pub(crate) fn permutation_name(arch: &Architecture) -> String {
    format!("{}.permutation", arch.weights_name(0))
}
