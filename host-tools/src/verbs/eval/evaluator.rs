//! Whatever gives outputs for an example: a graph in double precision, or its container on the runtime.

use super::Value;
use tamis_quant::graph::{Graph, Input, Sample};
use tamis_quant::integer::Data;
use tamis_quant::program::{Operation, Program, ProgramNode, RealActivation};
use tamis_quant::run::Runner;

/// Outputs, and raw scores before the last sigmoid or softmax.
pub struct Evaluation {
    pub outputs: Vec<Value>,
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
        Ok(Evaluation { outputs, scores })
    }
}

/// A container made of a graph.
pub struct GraphContainer<'m> {
    runner: Runner<'m>,
    graph: Program,
}

impl<'m> GraphContainer<'m> {
    /// Of a runner of the graph's container.
    pub const fn new(runner: Runner<'m>, graph: Program) -> Self {
        Self { runner, graph }
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
        let (mut scores, (scored, node)) = (Vec::new(), self.scored());
        let node = node.cloned();
        let outputs = self.runner.evaluate_input(&input, |value, bytes| {
            if let Some(node) = node.as_ref().filter(|_| value == scored) {
                scores = Data::of_bytes(node.value.element, bytes).to_reals(&node.value);
            }
        });
        let outputs = outputs.map_err(|error| error.to_string())?.to_reals(f64::from(self.graph.output_unit()));
        Ok(Evaluation { outputs: outputs.into_iter().map(Value::Exact).collect(), scores })
    }
}
