//! Whatever gives outputs for an example: a graph in double precision, or its container on the runtime.

use super::Value;
use tamis_quant::graph::{Graph, Input, Sample};
use tamis_quant::integer::Data;
use tamis_quant::program::{Operation, Program, ProgramNode, RealActivation};
use tamis_quant::run::{Outputs, Runner};

/// Outputs, and scores before the last sigmoid or softmax.
pub struct Evaluation {
    /// As they are printed.
    pub outputs: Vec<Value>,
    /// As they are printed.
    pub shown_scores: Vec<Value>,
    /// As real numbers.
    pub scores: Vec<f64>,
}

/// A network that takes examples.
pub trait Evaluator {
    /// What it takes.
    fn input(&self) -> Input;

    /// Evaluates one that is what [`Evaluator::input`] says; what is wrong with it otherwise, as a text.
    ///
    /// # Errors
    /// What does not fit, without a place.
    fn evaluate(&mut self, sample: &Sample) -> Result<Evaluation, String>;
}

impl Evaluator for Graph {
    fn input(&self) -> Input {
        self.input
    }

    fn evaluate(&mut self, sample: &Sample) -> Result<Evaluation, String> {
        let mut values = self.trace(sample).map_err(|error| error.to_string())?;
        let scores = values.get(self.logits()).cloned().unwrap_or_default();
        let outputs = values.pop().unwrap_or_default().into_iter().map(Value::Exact).collect();
        let shown_scores = scores.iter().copied().map(Value::Exact).collect();
        Ok(Evaluation { outputs, shown_scores, scores })
    }
}

/// A container made of a graph.
pub struct GraphContainer<'m> {
    runner: Runner<'m>,
    graph: Program,
    /// Whether integers are printed as they are stored.
    raw: bool,
}

impl<'m> GraphContainer<'m> {
    /// Of a runner of the graph's container.
    pub const fn new(runner: Runner<'m>, graph: Program, raw: bool) -> Self {
        Self { runner, graph, raw }
    }

    /// The value before the last sigmoid or softmax, and what it is.
    fn scored(&self) -> (usize, Option<&ProgramNode>) {
        let last = self.graph.nodes.len();
        let scored = match self.graph.nodes.last() {
            Some(ProgramNode {
                op: Operation::Activation(RealActivation::Sigmoid | RealActivation::Softmax),
                reads,
                ..
            }) => reads[0].value,
            _ => last,
        };
        (scored, scored.checked_sub(1).and_then(|node| self.graph.nodes.get(node)))
    }
}

impl Evaluator for GraphContainer<'_> {
    fn input(&self) -> Input {
        self.graph.input.to_float()
    }

    fn evaluate(&mut self, sample: &Sample) -> Result<Evaluation, String> {
        let input = self.graph.input.quantise(sample).map_err(|error| error.to_string())?;
        let (mut scores, mut stored, (scored, node)) = (Vec::new(), None, self.scored());
        let node = node.cloned();
        let outputs = self.runner.evaluate_input(&input, |value, bytes| {
            if let Some(node) = node.as_ref().filter(|_| value == scored) {
                let data = Data::of_bytes(node.value.element, bytes);
                scores = data.to_reals(&node.value);
                stored = Some(data);
            }
        });
        let outputs = outputs.map_err(|error| error.to_string())?;
        let exact = |reals: &[f64]| reals.iter().copied().map(Value::Exact).collect();
        let integers = |values: &[i32]| values.iter().copied().map(Value::Int).collect();
        let shown_scores = match &stored {
            Some(Data::Int(values)) if self.raw => integers(values),
            _ => exact(&scores),
        };
        let outputs = match &outputs {
            Outputs::I32(values) if self.raw => integers(values),
            outputs => exact(&outputs.to_reals(f64::from(self.graph.output_unit()))),
        };
        Ok(Evaluation { outputs, shown_scores, scores })
    }
}
