//! Which tensors a node needs, and what is said where one does not fit.

use super::order::{KernelOrder, KernelSizes, Order};
use super::tensor::{Tensor, Tensors};
use super::types::{Described, DescribedOp, Kernel};
use crate::arch::suggest::advice;
use crate::graph::Shape;
use tamis_batches::printable;

/// A tensor that a node needs.
pub(super) struct Need {
    name: String,
    shape: Vec<usize>,
    /// Shapes that would fit with another `order`, each with its word.
    others: Vec<(&'static str, Vec<usize>)>,
    /// Whether one number does for all.
    may_be_one: bool,
}

impl Need {
    fn of(name: &str, shape: Vec<usize>) -> Self {
        Self { name: name.to_owned(), shape, others: Vec::new(), may_be_one: false }
    }

    /// A line about a tensor that is missing, and perhaps one of the superfluous ones, or of another shape.
    pub(super) fn problem(&self, tensors: &Tensors, superfluous: &[&String], node: &str) -> Option<String> {
        let (shown, node, expected) = (printable(&self.name), printable(node), Tensor::shape_text(&self.shape));
        let Some(tensor) = tensors.get(&self.name) else {
            let near = advice(&self.name, superfluous);
            let near = if near.starts_with("did you mean") { format!("; {near}") } else { String::new() };
            return Some(format!("  `{shown}` {expected} of node `{node}` is missing{near}"));
        };
        if tensor.has_shape(&self.shape) || self.may_be_one && tensor.has_shape(&[]) {
            return None;
        }
        let other = self.others.iter().find(|(_, shape)| tensor.has_shape(shape));
        let hint = other.map_or_else(String::new, |(word, _)| format!("; `order = \"{word}\"` would fit"));
        let found = Tensor::shape_text(&tensor.shape);
        Some(format!("  `{shown}` of node `{node}` has the shape {found}, expected {expected}{hint}"))
    }
}

impl Described {
    /// Every tensor that it needs where it reads a value of this shape.
    pub(super) fn needs(&self, read: Shape) -> Vec<Need> {
        let matrix = |name: &str, outputs: usize, inputs: usize, order: Order| {
            let shape = |order| match order {
                Order::OutIn => vec![outputs, inputs],
                Order::InOut => vec![inputs, outputs],
            };
            Need { others: vec![(order.other().word(), shape(order.other()))], ..Need::of(name, shape(order)) }
        };
        let vector = |name: &String, len: usize| Need::of(name, vec![len]);
        let kernel = |kernel: &Kernel, orders: &[KernelOrder]| {
            let sizes = KernelSizes::of(kernel, read);
            let others = orders.iter().map(|order| (order.word(), sizes.shape(*order))).collect();
            let weights = Need { others, ..Need::of(&kernel.weights, sizes.shape(kernel.order)) };
            std::iter::once(weights).chain(kernel.bias.iter().map(|bias| vector(bias, kernel.outputs))).collect()
        };
        match &self.op {
            DescribedOp::Linear { outputs, weights, bias, order, each_pixel, .. } => {
                let inputs = if *each_pixel { read.channels } else { read.len() };
                let weights = matrix(weights, *outputs, inputs, *order);
                std::iter::once(weights).chain(bias.iter().map(|bias| vector(bias, *outputs))).collect()
            }
            DescribedOp::Embed { width, table, order } => vec![matrix(table, *width, read.len(), *order)],
            DescribedOp::Convolution(described) => kernel(described, KernelOrder::OF_CONVOLUTIONS),
            DescribedOp::TransposedConvolution { kernel: described, .. } => {
                kernel(described, KernelOrder::OF_TRANSPOSED)
            }
            DescribedOp::PerChannel { .. } | DescribedOp::BatchNormalization { .. } => {
                self.tensors().iter().map(|name| vector(name, read.channels)).collect()
            }
            DescribedOp::PRelu { weights } => vec![Need { may_be_one: true, ..vector(weights, read.channels) }],
            DescribedOp::Constant { shape, values } => vec![Need::of(values, shape.axes().to_vec())],
            DescribedOp::Trees { trees, slots, .. } => {
                self.tensors().iter().map(|name| Need::of(name, vec![*trees, *slots])).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl KernelSizes {
    /// Those of a kernel over a map of this shape.
    pub(super) const fn of(kernel: &Kernel, read: Shape) -> Self {
        let Kernel { window, groups, outputs, .. } = kernel;
        Self { outputs: *outputs, inputs: read.channels, groups: *groups, kernel: window.kernel }
    }
}
