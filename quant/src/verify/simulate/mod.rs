//! A program in real numbers, with every rounding behind a switch.
//!
//! All switches off, it is the float network; all on, it is the integer model (but for arithmetic in f32). With one on,
//! the difference from the float network is that rounding's share of the error.
//!
//! Values are kept in the program's own units (a weight of 1 at scale 255 is 255.0), where products and sums of
//! integers are exact in f64: a truncation then cuts exactly where the integers are cut.
#![allow(clippy::panic, reason = "as the integer model, beside which it stands: what does not fit stops it")]

mod apply;
mod exact;
mod graph;
mod layers;
mod maps;
mod operands;
mod part;

pub use part::{Part, error_by_part};

use crate::arch::ElementType;
use crate::float::Example;
use crate::graph::Sample;
use crate::program::{Element, Operation, Program, ProgramInput, ProgramNode, QuantTensor};
use exact::{Exact, Pair, Place};
use operands::Operands;

/// One kind of rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// The input is rounded and clamped.
    Input,
    /// A tensor's elements are rounded; its number in [`Program::tensors`].
    Tensor(usize),
    /// A node rounds, truncates, shifts or clamps.
    Node(usize),
}

/// Which switches are on.
pub type Setting<'a> = &'a dyn Fn(Switch) -> bool;

/// An example in full precision.
#[derive(Debug, Clone, Copy)]
pub enum RealInput<'e> {
    /// (len,)
    Dense(&'e [f64]),
    /// Active features with their values.
    Sparse(&'e [(u32, f64)]),
    /// A list a perspective, and the output bucket.
    Features(&'e [Vec<u32>; 2], usize),
}

impl<'e> From<&'e Example> for RealInput<'e> {
    fn from(example: &'e Example) -> Self {
        match example {
            Example::Features { lists, bucket } => Self::Features(lists, *bucket),
            Example::Dense(x) => Self::Dense(x),
        }
    }
}

impl<'e> From<&'e Sample> for RealInput<'e> {
    fn from(sample: &'e Sample) -> Self {
        match sample {
            Sample::Dense(x) => Self::Dense(x),
            Sample::Sparse(active) => Self::Sparse(active),
        }
    }
}

/// What a simulation computes, in real units.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SimulatedTrace {
    /// Of each layer that is known by its sums, those before the activation.
    pub sums: Vec<Vec<f64>>,
    /// What is compared: the outputs, of a graph those before its last sigmoid or softmax.
    pub outputs: Vec<f64>,
}

/// A program beside the float network that it came from.
#[derive(Debug)]
pub struct Simulation {
    program: Program,
    exact: Exact,
    /// The value that is compared.
    value: usize,
    switches: Vec<(String, Switch)>,
}

impl Simulation {
    fn new(program: Program, exact: Exact, value: usize) -> Self {
        let switches = switches(&program, &exact, value);
        Self { program, exact, value, switches }
    }

    /// Every rounding there is, with its name.
    #[must_use]
    pub fn switches(&self) -> &[(String, Switch)] {
        &self.switches
    }

    /// The layers whose sums a trace has: name, and what they are.
    pub fn layers(&self) -> impl Iterator<Item = (&str, Element)> {
        self.exact.layers.iter().map(|layer| (layer.name.as_str(), layer.element))
    }

    /// What multiplying weights of reals in f32 is called, which no switch turns off, where there are any.
    #[must_use]
    pub fn f32_cause(&self) -> Option<&'static str> {
        let is_real = |tensor: &QuantTensor| tensor.element == ElementType::F32 && tensor.inputs > 1;
        let has_weights = self.program.nodes[..self.value].iter().any(|node| node.op.tensors().any(is_real));
        // Behind accumulators reals end in reals.
        let name = if self.program.transformer.is_some() { "f32 arithmetic of the tail" } else { "f32 arithmetic" };
        has_weights.then_some(name)
    }

    /// Products of one evaluation, of maps; 0 of other networks, which are evaluated fast.
    #[must_use]
    pub(super) fn products(&self) -> usize {
        let of = |node: &ProgramNode| match &node.op {
            Operation::Convolution(op) => {
                node.value.shape.pixels().saturating_mul(op.weights.inputs * op.weights.outputs)
            }
            _ => 0,
        };
        self.program.nodes[..self.value].iter().map(of).fold(0, usize::saturating_add)
    }

    /// Evaluates an example that fits the network (the float evaluator has accepted it).
    #[must_use]
    pub fn evaluate(&self, example: RealInput<'_>, on: Setting<'_>) -> SimulatedTrace {
        self.traced(example, on, &[]).0
    }

    /// The same, and every value. known: those before which no switch differs from when they were computed.
    pub(super) fn traced(
        &self,
        example: RealInput<'_>,
        on: Setting<'_>,
        known: &[Vec<f64>],
    ) -> (SimulatedTrace, Vec<Vec<f64>>) {
        let operands = Operands { program: &self.program, exact: &self.exact, on };
        let (active, bucket, first) = self.input(&operands, example);
        let mut values = if known.is_empty() { vec![first] } else { known.to_vec() };
        for (index, node) in self.program.nodes[..self.value].iter().enumerate().skip(values.len() - 1) {
            let value = apply::apply(&operands, (index, node), &values, &active, bucket);
            values.push(value);
        }
        let made = &self.program.nodes[self.value - 1].value;
        let real = |(element, x): (usize, &f64)| (x - f64::from(made.zero)) * made.unit(element);
        let outputs = values[self.value].iter().enumerate().map(real).collect();
        let sums = self.exact.layers.iter().map(|layer| self.layer_sums(&layer.place, &values, &operands, bucket));
        let trace = SimulatedTrace { sums: sums.collect(), outputs };
        (trace, values)
    }

    /// How many values, the input first, no setting of a switch changes.
    pub(super) fn values_before(&self, switch: Switch) -> usize {
        match switch {
            Switch::Input => 0,
            Switch::Node(node) => node + 1,
            // The node that reads it is the last that begins at or before it.
            Switch::Tensor(number) if number < self.program.transformer.iter().count() * 2 => 0,
            Switch::Tensor(number) => self.exact.first.partition_point(|first| *first <= number),
        }
    }

    /// Active features with their values in integer units, the output bucket, and value 0.
    fn input(&self, operands: &Operands<'_>, example: RealInput<'_>) -> (Vec<(u32, f64)>, usize, Vec<f64>) {
        let is_rounded = (operands.on)(Switch::Input);
        match (self.program.input, example) {
            (ProgramInput::Dense { element: Element::F32, .. }, RealInput::Dense(x)) => (Vec::new(), 0, x.to_vec()),
            (ProgramInput::Dense { element, unit, zero, .. }, RealInput::Dense(x)) => {
                let (low, high) = if element == Element::I8 { (-128.0, 127.0) } else { (0.0, 255.0) };
                let zero = f64::from(zero);
                let cut = |x: f64| if is_rounded { (x.round() + zero).clamp(low, high) } else { x + zero };
                (Vec::new(), 0, x.iter().map(|x| cut(x / f64::from(unit))).collect())
            }
            (ProgramInput::Sparse { unit, .. }, RealInput::Sparse(active)) => {
                let integer = |(feature, x): &(u32, f64)| match unit {
                    Some(unit) if is_rounded => (*feature, (x / f64::from(unit)).round().clamp(-32_767.0, 32_767.0)),
                    Some(unit) => (*feature, x / f64::from(unit)),
                    None => (*feature, *x),
                };
                let is_there = |(_, x): &(u32, f64)| unit.is_some() || *x != 0.0;
                (active.iter().map(integer).filter(is_there).collect(), 0, Vec::new())
            }
            (ProgramInput::Features { perspectives, .. }, RealInput::Features(lists, bucket)) => {
                let accumulators = lists.iter().take(perspectives).flat_map(|list| operands.accumulator(list));
                (Vec::new(), bucket, accumulators.collect())
            }
            (input, example) => panic!("{example:?} for {input:?}"),
        }
    }

    /// A layer's sums in real units.
    fn layer_sums(&self, place: &Place, values: &[Vec<f64>], operands: &Operands<'_>, bucket: usize) -> Vec<f64> {
        match *place {
            Place::Value { value, scale } => values[value].iter().map(|sum| sum / scale).collect(),
            Place::Accumulators { own, scale } => {
                let sides = values[0].chunks(self.program.width());
                let real = |(neuron, sum): (usize, &f64)| sum / (scale * self.exact.finer(neuron));
                sides.flat_map(|side| side[..own].iter().enumerate()).map(real).collect()
            }
            Place::Head { node } => {
                let made = &self.program.nodes[node];
                let head = operands.head((node, made), &values[made.read(0)], bucket);
                let unit = self.exact.factors.get(&node);
                head.sums.iter().map(|sum| unit.map_or_else(|| sum / head.divisor, |unit| sum * unit)).collect()
            }
        }
    }
}

/// Every rounding up to a value: the input's, then node after node a tensor's and the node's own; cuts that are of the
/// whole network at the end.
fn switches(program: &Program, exact: &Exact, value: usize) -> Vec<(String, Switch)> {
    let (mut switches, mut whole) = (Vec::new(), Vec::new());
    let is_rounded = match program.input {
        ProgramInput::Dense { element, .. } => element != Element::F32,
        ProgramInput::Sparse { unit, .. } => unit.is_some(),
        ProgramInput::Features { .. } => false,
    };
    if is_rounded {
        switches.push(("rounding of the input".to_owned(), Switch::Input));
    }
    let tensor = |number: usize, pair: &Pair| {
        pair.is_rounded.then(|| (format!("rounding of {}", pair.name), Switch::Tensor(number)))
    };
    let count = program.transformer.iter().count() * 2;
    switches.extend(exact.pairs[..count].iter().enumerate().filter_map(|(number, pair)| tensor(number, pair)));
    for (index, node) in program.nodes[..value].iter().enumerate() {
        let (first, tensors) = (exact.first[index], node.op.tensors().count());
        let own = exact.pairs[first..first + tensors].iter().enumerate();
        switches.extend(own.filter_map(|(number, pair)| tensor(first + number, pair)));
        let switch = Switch::Node(index);
        match &node.op {
            Operation::Rescale { .. } | Operation::WideHead { .. } => {
                whole.push(("truncating divisions".to_owned(), switch))
            }
            Operation::RoundedDot { .. } => whole.push(("rounding of products".to_owned(), switch)),
            Operation::PairwiseU8 { is_rounded: false, .. } => {
                whole.push(("shift of pairwise products".to_owned(), switch));
            }
            Operation::PairwiseU8 { is_rounded: true, .. } => {
                whole.push(("rounding of pairwise products".to_owned(), switch));
            }
            Operation::AffineI32 { .. } => whole.push(("shifts of sums".to_owned(), switch)),
            Operation::ClipU8 { .. } => whole.push(("shift of activations".to_owned(), switch)),
            Operation::Requantise { .. } | Operation::Lookup { .. } | Operation::Quantise { .. } => {
                switches.push((format!("rounding behind {}", exact.label(index, node)), switch));
            }
            Operation::SparseRows { requantisation: Some(_), .. } => {
                switches.push((format!("rounding behind {}", node.name), switch));
            }
            op if maps::rounds(op) => {
                switches.push((format!("rounding behind {}", exact.label(index, node)), switch));
            }
            _ => {}
        }
    }
    switches.extend(whole);
    switches
}
