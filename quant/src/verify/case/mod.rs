//! A container beside what it is held against: what every kind of network is brought to before it is measured.

mod graph;
mod layers;
mod nnue;
mod particulars;

pub use graph::{check_layers, check_origin};
pub use layers::Truth;

use super::accuracy::Outputs;
use super::comparison::{Beside, BesideExample, Comparison, Full};
use super::error::VerifyError;
use super::gates::Gates;
use super::mistakes::Found;
use super::mistakes::graph::Measured;
use super::part::{Facts, Part, checksum};
use super::progress::Progress;
use super::report::{Report, TruthInfo};
use super::runtime::check_runtime;
use super::split::Split;
use crate::graph::SampleError;
use crate::integer::Data;
use crate::program::{GraphInput, Program};
use particulars::Particulars;
use tamis_runtime::format::Model;

/// A container, examples, and what is known of them in full precision. [`Case::of_layers`], [`Case::of_graph`],
/// [`Case::of_outputs`] and [`Case::of_nnue`] make one; [`Case::verify`] is the same for all.
pub struct Case<'a> {
    /// What it is held against, in words; a caller that has files adds their names.
    pub truth: TruthInfo,
    network: String,
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

    /// Answers all questions. `step` is called after every share of the work with (done, total).
    ///
    /// # Errors
    /// [`VerifyError`] if there is nothing to compare, or an example does not fit; findings are in the report.
    pub fn verify(&self, gates: &Gates, step: &mut dyn FnMut(u64, u64)) -> Result<Report, VerifyError> {
        self.part(step)?.report_of(&self.model, &self.program, gates)
    }

    /// What is measured on the examples; [`Part::report`] makes the same of it as [`Case::verify`].
    ///
    /// # Errors
    /// As [`Case::verify`].
    pub fn part(&self, step: &mut dyn FnMut(u64, u64)) -> Result<Part, VerifyError> {
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
        let seen = |index: usize, example: &Option<Result<BesideExample, SampleError>>| {
            match example {
                Some(Ok(example)) if refused.is_none() => comparison.take(example),
                Some(Err(error)) if refused.is_none() => {
                    refused = Some(VerifyError::Sample { index, error: error.clone() });
                }
                _ => {}
            }
            progress.advance();
        };
        let runtime = check_runtime(self.model, &self.program, &self.inputs, beside.ahead(), measure, seen)
            .map_err(|(index, error)| VerifyError::Run { index, error })?;
        if let Some(error) = refused {
            return Err(error);
        }
        let compared = comparison.finish();
        let apart = self.split.as_ref().map(|split| split.apart(&compared.integer, &mut progress));
        let mut part = Part {
            facts: Facts {
                container: checksum(&self.model),
                network: self.network.clone(),
                about: self.outputs,
                truth: self.truth.clone(),
                runtime,
                fens: Vec::new(),
                looked_for_mistakes: false,
                mistakes: Vec::new(),
                remarks: Vec::new(),
                file: self.particulars.given_file(),
                allows_constants: self.allows_constants,
            },
            compared,
            labels: self.labels.clone(),
            apart,
            joined: Vec::new(),
        };
        let mut accuracy = part.accuracy();
        self.particulars.name_worst(&mut accuracy);
        let judged = self.particulars.mistakes(Measured {
            program: &self.program,
            integer: &part.compared.integer,
            truth: &part.compared.truth,
            accuracy: &accuracy,
        })?;
        let named = accuracy.worst.into_iter().filter_map(|worst| Some((worst.example, worst.fen?)));
        part.facts.fens = named.collect();
        part.facts.looked_for_mistakes = judged.is_some();
        let Found { mistakes, remarks } = judged.unwrap_or_else(Found::nothing);
        (part.facts.mistakes, part.facts.remarks) = (mistakes, remarks);
        Ok(part)
    }
}
