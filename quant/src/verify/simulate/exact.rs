//! The float network in a program's units: tensors before they were rounded, and what is fused into a rounding.

use crate::graph;
use crate::program::{Element, Program, ProgramNode, QuantTensor, Values};
use std::collections::BTreeMap;

/// A tensor in the program's units.
#[derive(Debug)]
pub(super) struct Pair {
    pub name: String,
    /// Element (output, input) is `exact[output + outputs·input]`.
    pub exact: Vec<f64>,
    /// What is stored; nothing where that is no rounding.
    pub stored: Vec<f64>,
    /// Whether they differ by a rounding that has a switch.
    pub is_rounded: bool,
}

impl Pair {
    /// A tensor that nothing rounds, or whose own elements are all that there is.
    pub fn as_stored(tensor: &QuantTensor) -> Self {
        Self { name: tensor.name.clone(), exact: tensor.elements(), stored: Vec::new(), is_rounded: false }
    }

    /// A tensor of integers or reals beside what it was before it was rounded, or fitted.
    pub fn fitted(tensor: &QuantTensor, exact: Vec<f64>) -> Self {
        let stored = tensor.elements();
        let is_rounded = matches!(tensor.values, Values::Int(_)) || stored != exact;
        Self { name: tensor.name.clone(), exact, stored, is_rounded }
    }

    /// A tensor beside what it was before; of reals the difference has no switch.
    pub fn new(tensor: &QuantTensor, exact: Vec<f64>) -> Self {
        let is_rounded = matches!(tensor.values, Values::Int(_));
        let stored = if is_rounded { tensor.elements() } else { Vec::new() };
        Self { name: tensor.name.clone(), exact, stored, is_rounded }
    }
}

/// A function of reals that integers do as a clamp, a table or a change of units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Function {
    /// Of a graph.
    Activation(graph::Activation),
    /// Times a constant.
    Scale(f64),
}

/// A node that turns values into others of other units, and perhaps does more.
#[derive(Debug)]
pub(super) struct Fused {
    /// (1,) or one an element: the real value of a 1 that it reads.
    pub units: Vec<f64>,
    /// The integer that stands for 0 in what it reads.
    pub zero: i32,
    /// What it does in between, in order.
    pub functions: Vec<Function>,
    /// (1,) or one an element: the real value of a 1 that it makes.
    pub made: Vec<f64>,
}

impl Fused {
    /// What is made of values in units, before the zero point is added and anything rounded.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        // Of a map they are a channel's.
        let unit = |units: &[f64], element: usize| units[element % units.len()];
        let zero = f64::from(self.zero);
        let mut reals: Vec<f64> =
            x.iter().enumerate().map(|(element, x)| (x - zero) * unit(&self.units, element)).collect();
        for function in &self.functions {
            reals = match *function {
                Function::Activation(activation) => activation.apply(&reals),
                Function::Scale(factor) => reals.iter().map(|x| factor * x).collect(),
            };
        }
        reals.iter().enumerate().map(|(element, x)| x / unit(&self.made, element)).collect()
    }
}

/// Where a layer's sums are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// In a value, of which `scale` stands for 1.
    Value { value: usize, scale: f64 },
    /// In the first elements of each accumulator, of which `scale` stands for 1.
    Accumulators { own: usize, scale: f64 },
    /// Within an integer head, behind its first division.
    Head { node: usize },
}

/// A layer that is known by its sums.
#[derive(Debug)]
pub(super) struct LayerSums {
    pub name: String,
    pub element: Element,
    pub place: Place,
}

/// What a program does not say of its float network.
#[derive(Debug)]
pub(super) struct Exact {
    /// Of every tensor in [`Program::tensors`].
    pub pairs: Vec<Pair>,
    /// The number of each node's first tensor.
    pub first: Vec<usize>,
    /// By node: every requantisation and every table.
    pub fused: BTreeMap<usize, Fused>,
    /// By node: what its rounding is called after, where that is not the node.
    pub labels: BTreeMap<usize, String>,
    /// By node: factors that the file holds as f32.
    pub factors: BTreeMap<usize, f64>,
    /// By node: the clip above of the float network, where the integers' is another.
    pub ceilings: BTreeMap<usize, f64>,
    /// By how much finer than their layer neurons in front of pairs are stored, where any are.
    pub neurons: Option<Vec<f64>>,
    /// Layers by their sums.
    pub layers: Vec<LayerSums>,
}

impl Exact {
    /// Of tensors alone.
    pub fn new(program: &Program, pairs: Vec<Pair>) -> Self {
        let mut next = program.transformer.iter().count() * 2;
        let first = program.nodes.iter().map(|node| {
            let first = next;
            next += node.op.tensors().count();
            first
        });
        Self {
            first: first.collect(),
            pairs,
            fused: BTreeMap::new(),
            labels: BTreeMap::new(),
            factors: BTreeMap::new(),
            ceilings: BTreeMap::new(),
            neurons: None,
            layers: Vec::new(),
        }
    }

    /// By how much finer than its layer a neuron in front of pairs is stored.
    pub fn finer(&self, neuron: usize) -> f64 {
        match &self.neurons {
            Some(scales) => scales[neuron],
            None => 1.0,
        }
    }

    /// What a node's rounding is called after.
    pub fn label<'n>(&'n self, index: usize, node: &'n ProgramNode) -> &'n str {
        self.labels.get(&index).unwrap_or(&node.name)
    }
}
