//! A container beside what it is held against: what every kind of network is brought to before it is measured.

mod graph;
mod layers;
mod nnue;
mod particulars;

pub use graph::{check_layers, check_origin};
pub use layers::Truth;

use super::accuracy::{Accuracy, Outputs};
use super::claims::claims;
use super::comparison::{Beside, BesideExample, Comparison, Full};
use super::error::VerifyError;
use super::gates::Gates;
use super::mistakes::Found;
use super::mistakes::graph::Measured;
use super::progress::Progress;
use super::report::{Report, SCHEMA, TruthInfo, proof_summary, tensor_summaries};
use super::runtime::check_runtime;
use super::split::Split;
use crate::constant::{are_constant, constant_tensors};
use crate::graph::SampleError;
use crate::integer::Data;
use crate::program::{GraphInput, Program};
use crate::proof::prove;
use particulars::Particulars;
use tamis_runtime::format::Model;

/// A container, examples, and what is known of them in full precision. [`Case::of_layers`], [`Case::of_graph`],
/// [`Case::of_outputs`] and [`Case::of_nnue`] make one; [`Case::verify`] is the same for all.
pub struct Case<'a> {
    /// What it is held against, in words; a caller that has files adds their names.
    pub truth: TruthInfo,
    network: String,
    unit: &'static str,
    model: Model<'a>,
    program: Program,
    /// Every example, those with a truth first.
    inputs: Vec<GraphInput>,
    /// The value of the program that is compared.
    value: usize,
    full: Full<'a>,
    outputs: Outputs,
    /// Of the examples with a truth.
    labels: Option<Vec<usize>>,
    /// Where full precision can be evaluated here.
    split: Option<Split<'a>>,
    particulars: Box<dyn Particulars + 'a>,
    /// Whether what is the same everywhere is meant.
    allows_constants: bool,
}

impl Case<'_> {
    /// The same without an alarm where weights, the truth or outputs are the same everywhere.
    #[must_use]
    pub fn allowing_constants(self, allows_constants: bool) -> Self {
        Self { allows_constants, ..self }
    }

    /// What is the same everywhere.
    fn constants(&self, integer: &[f64], truth: &[f64]) -> Vec<String> {
        let mut found = constant_tensors(&self.program);
        let outputs = self.program.len(self.value);
        let of_all =
            |what: &str| format!("{what} the same for all {} examples, which shows nothing", self.truth.examples);
        if are_constant(truth, outputs) {
            found.push(of_all("the outputs in full precision are"));
        } else if are_constant(integer, outputs) {
            found.push(of_all("the container's outputs are"));
        }
        found
    }

    /// Answers all questions. `step` is called after every share of the work with (done, total).
    ///
    /// # Errors
    /// [`VerifyError`] if there is nothing to compare, or an example does not fit; findings are in the report.
    pub fn verify(&self, gates: &Gates, step: &mut dyn FnMut(u64, u64)) -> Result<Report, VerifyError> {
        let compared = self.truth.examples;
        if compared == 0 {
            return Err(VerifyError::NoExamples);
        }
        let work = match &self.split {
            Some(split) => split.work(compared),
            None => 0,
        };
        let mut progress = Progress::new(self.inputs.len() as u64 + work, step);
        let beside = Beside::new(&self.program, self.value, &self.full);
        let mut comparison = Comparison::new(beside);
        let mut refused = None;
        let measure = |index: usize, values: &[Data]| (index < compared).then(|| beside.example(index, values));
        let seen = |index: usize, example: Option<Result<BesideExample, SampleError>>| {
            match example {
                Some(Ok(example)) if refused.is_none() => comparison.take(example),
                Some(Err(error)) if refused.is_none() => refused = Some(VerifyError::Sample { index, error }),
                _ => {}
            }
            progress.advance();
        };
        let runtime = check_runtime(self.model, &self.program, &self.inputs, beside.block(), measure, seen)
            .map_err(|(index, error)| VerifyError::Run { index, error })?;
        if let Some(error) = refused {
            return Err(error);
        }
        let found = comparison.finish();
        let nnue = self.particulars.about_file(&found);
        let (integer, truth) = (found.integer.clone(), found.truth.clone());
        let mut accuracy = Accuracy::new(found, self.outputs, self.labels.as_deref());
        if let Some(split) = &self.split {
            split.fill(&integer, &mut accuracy, &mut progress);
        }
        self.particulars.name_worst(&mut accuracy);
        let judged = self.particulars.mistakes(Measured {
            program: &self.program,
            integer: &integer,
            truth: &truth,
            accuracy: &accuracy,
        })?;
        let looked_for_mistakes = judged.is_some();
        let Found { mistakes, remarks } = judged.unwrap_or_else(Found::nothing);
        let proof = prove(&self.program);
        let mut report = Report {
            schema: SCHEMA,
            network: self.network.clone(),
            unit: self.unit,
            truth: self.truth.clone(),
            tensors: tensor_summaries(&self.program),
            runtime,
            proof: proof_summary(&proof, claims(&self.model, &self.program, &proof)),
            accuracy,
            constants: self.constants(&integer, &truth),
            allows_constants: self.allows_constants,
            looked_for_mistakes,
            mistakes,
            remarks,
            nnue,
            gates: Vec::new(),
            passed: false,
        };
        gates.judge(&mut report);
        Ok(report)
    }
}
