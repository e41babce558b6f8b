//! Graphs: tensors in units of what they read and make, and the functions that a clamp or a table stands for.

use super::Simulation;
use super::exact::{Exact, Function, Fused, Pair};
use super::maps;
use crate::float::Matrix;
use crate::graph::{Binary, Forest, Graph, Op, Tree, Value};
use crate::program::{Convolution, Element, Operation, Program, ProgramInput, ProgramNode, QuantTensor};
use crate::verify::error::VerifyError;
use std::borrow::Cow;

impl Simulation {
    /// A graph beside the program that it was lowered to. value: which one is compared.
    ///
    /// # Errors
    /// [`VerifyError::OtherNetwork`] if the program's operations are not those of the graph, as it says of itself.
    pub fn of_graph(graph: &Graph, program: &Program, value: usize) -> Result<Self, VerifyError> {
        let exact = Source { graph, program }.exact();
        let exact = exact.ok_or(VerifyError::OtherNetwork { what: "their operations" })?;
        Ok(Self::new(program.clone(), exact, value))
    }
}

/// The weights and the biases of a layer.
type Sums<'s> = (Cow<'s, Matrix<f64>>, Cow<'s, [f64]>);

struct Source<'g> {
    graph: &'g Graph,
    program: &'g Program,
}

/// What a file says of itself may be anything: what does not fit the graph is none.
impl Source<'_> {
    fn exact(&self) -> Option<Exact> {
        let nodes = &self.program.nodes;
        let mut pairs = Vec::new();
        for node in nodes {
            pairs.extend(self.pairs(node)?);
        }
        let mut exact = Exact::new(self.program, pairs);
        let is_fused = |node: &ProgramNode| matches!(node.op, Operation::Requantise { .. } | Operation::Lookup { .. });
        let rounds = |node: &ProgramNode| {
            is_fused(node) || matches!(node.op, Operation::Quantise { .. }) || maps::rounds(&node.op)
        };
        for (index, node) in nodes.iter().enumerate().filter(|(_, node)| rounds(node)) {
            if is_fused(node) {
                exact.fused.insert(index, self.fused(node)?);
            } else if matches!(node.op, Operation::Convolution(_) | Operation::Elementwise { .. }) {
                let made = node.value.units.iter().copied().map(f64::from).collect();
                exact.fused.insert(index, Fused::of_reals(self.functions_before(node.value.layer?)?, made));
            }
            // A layer that is read as integers of two kinds is rounded twice.
            let layer = node.value.layer;
            let count = nodes.iter().filter(|node| rounds(node) && node.value.layer == layer).count();
            if let (1, Some(place)) = (count, layer?.checked_sub(1)) {
                exact.labels.insert(index, self.graph.nodes.get(place)?.name.clone());
            }
        }
        Some(exact)
    }

    /// The tensors of one node.
    fn pairs(&self, node: &ProgramNode) -> Option<Vec<Pair>> {
        Some(match &node.op {
            Operation::Affine { weights, bias } => {
                let (real, own) = self.linear(node)?;
                let (read, zero) = (node.read(0), f64::from(self.program.zero(node.read(0))));
                let scale = self.scale(node)?;
                let unit = |row: usize, input: usize| scale * self.program.unit_of(read, input) / node.value.unit(row);
                let weights = with_units(weights, real, unit)?;
                let mut bias = vector(bias.as_ref(), own, |row| 1.0 / node.value.unit(row))?;
                // What the zero point takes off belongs to the weights that are used, not to the bias.
                if let Some(bias) = &mut bias {
                    for column in weights.stored.chunks(real.outputs) {
                        bias.stored.iter_mut().zip(column).for_each(|(bias, weight)| *bias += zero * weight);
                    }
                }
                std::iter::once(weights).chain(bias).collect()
            }
            Operation::AffineF32 { weights, bias } => {
                let (real, own) = self.linear(node)?;
                let bias = vector(bias.as_ref(), own, |_| 1.0)?;
                std::iter::once(with_units(weights, real, |_, _| 1.0)?).chain(bias).collect()
            }
            Operation::SparseAffine { weights, bias } => {
                let (real, own) = self.linear(node)?;
                let is_real = node.value.element == Element::F32;
                let unit = |row: usize| if is_real { 1.0 } else { self.value_unit() / node.value.unit(row) };
                let bias = vector(bias.as_ref(), own, |row| 1.0 / node.value.unit(row))?;
                std::iter::once(with_units(weights, real, |row, _| unit(row))?).chain(bias).collect()
            }
            Operation::SparseRows { table, requantisation } => {
                let Op::Embed { table: real } = self.op(node)? else { return None };
                let factor = match requantisation {
                    _ if node.value.element == Element::F32 => 1.0,
                    Some((multiplier, shift)) => {
                        node.value.unit(0) * f64::from(*multiplier) / (1u64 << shift) as f64 / self.value_unit()
                    }
                    None => node.value.unit(0),
                };
                vec![with_units(table, real, |_, _| 1.0 / factor)?]
            }
            Operation::Trees { features, thresholds, leaves } => {
                let Op::Trees(forest) = self.op(node)? else { return None };
                self.trees(forest, node, [features, thresholds, leaves])?
            }
            Operation::Convolution(op) => self.convolution(node, op)?,
            op => op.tensors().map(Pair::as_stored).collect(),
        })
    }

    fn trees(
        &self,
        forest: &Forest,
        node: &ProgramNode,
        [features, thresholds, leaves]: [&QuantTensor; 3],
    ) -> Option<Vec<Pair>> {
        let is_of_size = |tree: &Tree| tree.thresholds.len() == features.inputs && tree.leaves.len() == features.inputs;
        if forest.trees.len() != features.outputs || !forest.trees.iter().all(is_of_size) {
            return None;
        }
        let input_unit = match self.program.input {
            ProgramInput::Sparse { .. } => self.value_unit(),
            ProgramInput::Dense { unit, .. } => f64::from(unit),
            ProgramInput::Features { .. } => return None,
        };
        // (trees, nodes): node after node, of each the trees.
        let each = || (0..features.inputs).flat_map(|node| forest.trees.iter().map(move |tree| (tree, node)));
        let threshold = each().map(|(tree, node)| tree.thresholds[node] / input_unit).collect();
        let leaf = each().map(|(tree, place)| forest.rate * tree.leaves[place] / node.value.unit(0)).collect();
        Some(vec![Pair::as_stored(features), Pair::new(thresholds, threshold), Pair::new(leaves, leaf)])
    }

    /// A convolution's weights and bias: of the layer that its sums are of, which what it makes may stand behind.
    fn convolution(&self, node: &ProgramNode, op: &Convolution) -> Option<Vec<Pair>> {
        let sizes = (op.weights.outputs, op.weights.inputs);
        let read = self.layer_of(node.read(0));
        let (real, own) = self.sums_behind(node.value.layer?, sizes, read)?;
        let unit = |row: usize| match &op.rounding {
            Some(rounding) => maps::sum_unit(rounding, node, row),
            None => node.value.unit(row),
        };
        // A channel of which a multiplier leaves nothing has no unit.
        let inverse = |row: usize| if unit(row) == 0.0 { 0.0 } else { 1.0 / unit(row) };
        let weights =
            with_units(&op.weights, &real, |row, column| self.program.unit_read(node, op, row, column) * inverse(row))?;
        let bias = vector(op.bias.as_ref(), &own, inverse)?;
        Some(std::iter::once(weights).chain(bias).collect())
    }

    /// The weights and biases of these sizes whose sums a value is made of, through functions and one sum of maps.
    fn sums_behind(&self, value: Value, sizes: (usize, usize), read: Option<Value>) -> Option<Sums<'_>> {
        let node = self.graph.nodes.get(value.checked_sub(1)?)?;
        let of = |weights: &Matrix<f64>| (weights.outputs, weights.inputs) == sizes;
        let reads_it = || read.is_none_or(|read| self.path(Some(read), node.reads[0]).is_some());
        match &node.op {
            Op::Linear { weights, bias }
            | Op::Convolution { weights, bias, .. }
            | Op::TransposedConvolution { weights, bias, .. } => {
                (of(weights) && reads_it()).then_some((Cow::Borrowed(weights), Cow::Borrowed(bias.as_slice())))
            }
            Op::PerChannel { factors, offsets } => {
                let weights = Matrix::new(factors.len(), 1, factors.clone())?;
                let is_it = of(&weights) && reads_it();
                is_it.then_some((Cow::Owned(weights), Cow::Borrowed(offsets.as_slice())))
            }
            Op::Activation(_) | Op::Flatten | Op::Reshape(_) | Op::Add | Op::Binary(Binary::Add) => {
                node.reads.iter().find_map(|value| self.sums_behind(*value, sizes, read))
            }
            _ => None,
        }
    }

    /// The functions of a value behind the last sum, product or layer, one behind the other.
    fn functions_before(&self, value: Value) -> Option<Vec<Function>> {
        let (mut at, mut functions) = (value, Vec::new());
        while let Some(node) = at.checked_sub(1).and_then(|node| self.graph.nodes.get(node)) {
            match node.op {
                Op::Activation(activation) => functions.push(Function::Activation(activation)),
                Op::Scale(factor) => functions.push(Function::Scale(factor)),
                Op::Flatten | Op::Reshape(_) => {}
                _ => {
                    functions.reverse();
                    return Some(functions);
                }
            }
            at = *node.reads.first()?;
        }
        None
    }

    /// What a change of units does besides.
    fn fused(&self, node: &ProgramNode) -> Option<Fused> {
        let read = node.read(0);
        let functions = self.path(self.layer_of(read), node.value.layer?)?;
        let units = (0..self.program.len(read)).map(|element| self.program.unit_of(read, element)).collect();
        let made = node.value.units.iter().copied().map(f64::from).collect();
        Some(Fused { units, zero: self.program.zero(read), functions, made })
    }

    /// The functions between two values of the graph, one behind the other; nothing is between a value that stands for
    /// none and what is made of it.
    fn path(&self, from: Option<Value>, to: Value) -> Option<Vec<Function>> {
        let (mut at, mut functions) = (to, Vec::new());
        while from.is_some_and(|from| at != from) {
            let node = self.graph.nodes.get(at.checked_sub(1)?)?;
            match node.op {
                Op::Activation(activation) => functions.push(Function::Activation(activation)),
                Op::Scale(factor) => functions.push(Function::Scale(factor)),
                Op::Flatten | Op::Reshape(_) => {}
                _ => return None,
            }
            at = node.reads[0];
        }
        functions.reverse();
        Some(functions)
    }

    /// What was multiplied between the value that an operation reads and the one that its node of the graph reads.
    fn scale(&self, node: &ProgramNode) -> Option<f64> {
        let wanted = self.graph.nodes.get(node.value.layer?.checked_sub(1)?)?.reads[0];
        let factor = |function: Function| match function {
            Function::Scale(factor) => Some(factor),
            Function::Activation(_) => None,
        };
        self.path(self.layer_of(node.read(0)), wanted)?.into_iter().map(factor).product()
    }

    /// The value of the graph that one of the program stands for; the input for the input.
    fn layer_of(&self, value: usize) -> Option<Value> {
        match value.checked_sub(1) {
            Some(node) => self.program.nodes[node].value.layer,
            None => Some(0),
        }
    }

    fn op(&self, node: &ProgramNode) -> Option<&Op> {
        Some(&self.graph.nodes.get(node.value.layer?.checked_sub(1)?)?.op)
    }

    fn linear(&self, node: &ProgramNode) -> Option<(&Matrix<f64>, &[f64])> {
        match self.op(node)? {
            Op::Linear { weights, bias }
            | Op::SparseLinear { weights, bias }
            | Op::Convolution { weights, bias, .. } => Some((weights, bias)),
            _ => None,
        }
    }

    /// The real value of a 1 in the values of sparse features.
    fn value_unit(&self) -> f64 {
        match self.program.input {
            ProgramInput::Sparse { unit: Some(unit), .. } => f64::from(unit),
            _ => 1.0,
        }
    }
}

/// A tensor beside a matrix of the graph, times a factor by row and column; none where their shapes differ.
fn with_units(tensor: &QuantTensor, real: &Matrix<f64>, unit: impl Fn(usize, usize) -> f64) -> Option<Pair> {
    if (tensor.outputs, tensor.inputs) != (real.outputs, real.inputs) {
        return None;
    }
    let one = |(at, x): (usize, &f64)| x * unit(at % real.outputs, at / real.outputs);
    Some(Pair::new(tensor, real.values.iter().enumerate().map(one).collect()))
}

/// A bias, if there is one, beside that of the graph, times a factor by row; none where their lengths differ.
fn vector(tensor: Option<&QuantTensor>, real: &[f64], unit: impl Fn(usize) -> f64) -> Option<Option<Pair>> {
    let Some(tensor) = tensor else { return Some(None) };
    let exact = || real.iter().enumerate().map(|(row, x)| x * unit(row)).collect();
    (tensor.outputs == real.len()).then(|| Some(Pair::new(tensor, exact())))
}
