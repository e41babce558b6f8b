//! Whatever gives outputs for an example: a graph in double precision, or its container on the runtime.

use tamis_quant::graph::{Graph, Input, Sample};
use tamis_quant::integer::Data;
use tamis_quant::parallel;
use tamis_quant::program::{Element, Operation, Program};
use tamis_quant::run::Runner;
use tamis_quant::verify::{VerifyError, logits_of};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::Tier;

/// What one example gives.
pub struct Evaluation {
    /// As real numbers.
    pub outputs: Vec<f64>,
    /// Before the last sigmoid or softmax.
    pub scores: Vec<f64>,
    /// What a container has stored, where that was asked for.
    pub integers: Option<Vec<i32>>,
}

/// A network that takes examples.
pub trait Evaluator {
    /// What it takes.
    fn input(&self) -> Input;

    /// Evaluates some that are what [`Evaluator::input`] says, on all threads; of each what is wrong with it otherwise,
    /// as a text without a place.
    fn evaluate(&self, samples: &[Sample]) -> Vec<Result<Evaluation, String>>;
}

impl Evaluator for Graph {
    fn input(&self) -> Input {
        self.input
    }

    fn evaluate(&self, samples: &[Sample]) -> Vec<Result<Evaluation, String>> {
        parallel::map(samples.len(), |index| {
            let mut values = self.trace(&samples[index]).map_err(|error| error.to_string())?;
            let scores = values[self.scores()].clone();
            let outputs = values.pop().ok_or("a graph without values")?;
            Ok(Evaluation { outputs, scores, integers: None })
        })
    }
}

/// A container made of a graph.
pub struct GraphContainer<'m> {
    model: Model<'m>,
    tier: &'static Tier,
    graph: Program,
    /// The value before the last sigmoid or softmax.
    scored: usize,
    /// The value that is printed as it is stored, and its integers' type.
    raw: Option<(usize, Element)>,
}

impl<'m> GraphContainer<'m> {
    /// Of the graph's container, on a tier.
    ///
    /// # Errors
    /// [`VerifyError`] for a container whose description is no graph's, or describes another one.
    pub fn new(model: Model<'m>, tier: &'static Tier, graph: Program) -> Result<Self, VerifyError> {
        let scored = logits_of(&graph)?;
        Ok(Self { model, tier, graph, scored, raw: None })
    }

    /// The same, showing the integers that outputs, or scores, are as they are stored; none where they are real numbers
    /// that no integers stand for.
    pub fn with_integers(self, of_scores: bool) -> Option<Self> {
        let value = if of_scores { self.scored } else { self.graph.nodes.len() };
        let node = self.graph.nodes.get(value.checked_sub(1)?)?;
        let raw = match (&node.op, node.value.element) {
            (Operation::Dequantise { .. } | Operation::ToF32 { .. }, _) if node.reads[0].part.is_none() => {
                node.reads[0].value
            }
            (_, Element::F32) => return None,
            _ => value,
        };
        let element = self.graph.nodes.get(raw.checked_sub(1)?)?.value.element;
        Some(Self { raw: Some((raw, element)), ..self })
    }
}

impl Evaluator for GraphContainer<'_> {
    fn input(&self) -> Input {
        self.graph.input.to_float()
    }

    fn evaluate(&self, samples: &[Sample]) -> Vec<Result<Evaluation, String>> {
        let runner = || Runner::new(self.model, self.tier);
        parallel::map_with(samples.len(), runner, |runner, index| self.evaluate_one(runner, &samples[index]))
    }
}

impl GraphContainer<'_> {
    fn evaluate_one(&self, runner: &mut Runner<'_>, sample: &Sample) -> Result<Evaluation, String> {
        let input = self.graph.input.quantise(sample).map_err(|error| error.to_string())?;
        let (mut scores, mut integers, raw) = (Vec::new(), None, self.raw);
        let node = self.scored.checked_sub(1).and_then(|node| self.graph.nodes.get(node));
        let outputs = runner.evaluate_input(&input, |value, bytes| {
            if let Some(node) = node.filter(|_| value == self.scored) {
                scores = Data::of_bytes(node.value.element, bytes).to_reals(&node.value);
            }
            if let Some((_, element)) = raw.filter(|(raw, _)| *raw == value) {
                integers = Some(Data::of_bytes(element, bytes).integers().to_vec());
            }
        });
        let outputs = outputs.map_err(|error| error.to_string())?.to_reals(f64::from(self.graph.output_unit()));
        Ok(Evaluation { outputs, scores, integers })
    }
}
