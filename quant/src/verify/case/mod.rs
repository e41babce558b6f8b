//! A container beside what it is held against: what every kind of network is brought to before it is measured.

mod graph;
mod layers;
mod nnue;

pub use graph::{check_layers, check_origin};
pub use layers::Truth;
pub(super) use layers::evaluate_all;
pub use nnue::{Difference, DivideInfo, NnueFindings};

use super::accuracy::{Accuracy, Outputs};
use super::claims::claims;
use super::comparison::{Comparison, Full};
use super::error::VerifyError;
use super::gates::Gates;
use super::mistakes::Found;
use super::mistakes::graph as of_graphs;
use super::progress::Progress;
use super::report::{Report, SCHEMA, TruthInfo, proof_summary, tensor_summaries};
use super::runtime::check_runtime;
use super::split::Split;
use crate::constant::{are_constant, constant_tensors};
use crate::program::{GraphInput, Program};
use crate::proof::prove;
use layers::Suspects;
use nnue::Family;
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
    special: Special<'a>,
    /// Whether what is the same everywhere is meant.
    allows_constants: bool,
}

/// What only one kind of network can be asked.
enum Special<'a> {
    /// Nothing more.
    Nothing,
    /// Which fact of the description is wrong.
    Description(Box<Suspects<'a>>),
    /// Which fact differs between a graph, its container and the examples.
    Kin(Box<of_graphs::Suspects<'a>>),
    /// Whether it is the `.nnue` file.
    File(Box<Family>),
}

impl Special<'_> {
    /// Says of the worst examples which positions they are, if they are.
    fn name_worst(&self, accuracy: &mut Accuracy) {
        match self {
            Self::Description(suspects) => suspects.name_worst(accuracy),
            Self::Nothing | Self::Kin(_) | Self::File(_) => {}
        }
    }

    /// Takes other ways to read a checkpoint, where they are of use.
    fn take(&mut self, readings: Vec<of_graphs::Reading>) {
        match self {
            Self::Kin(suspects) => suspects.readings = readings,
            Self::Nothing | Self::Description(_) | Self::File(_) => {}
        }
    }
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
        let mut comparison = Comparison::new(&self.program, self.value, &self.full);
        let mut refused = None;
        let runtime = check_runtime(self.model, &self.program, &self.inputs, &mut |index, values| {
            if index < compared && refused.is_none() {
                refused = comparison.take(values).err().map(|error| VerifyError::Sample { index, error });
            }
            progress.advance();
        })
        .map_err(|(index, error)| VerifyError::Run { index, error })?;
        if let Some(error) = refused {
            return Err(error);
        }
        let found = comparison.finish();
        let nnue = match &self.special {
            Special::File(family) => Some(family.about(&found)),
            Special::Nothing | Special::Description(_) | Special::Kin(_) => None,
        };
        let (integer, truth) = (found.integer.clone(), found.truth.clone());
        let mut accuracy = Accuracy::new(found, self.outputs, self.labels.as_deref());
        if let Some(split) = &self.split {
            split.fill(&integer, &mut accuracy, &mut progress);
        }
        self.special.name_worst(&mut accuracy);
        let judged: Option<Found> = match &self.special {
            Special::Description(suspects) => Some(suspects.mistakes()?),
            Special::Kin(suspects) => Some(suspects.mistakes(of_graphs::Measured {
                program: &self.program,
                integer: &integer,
                truth: &truth,
                accuracy: &accuracy,
            })),
            Special::Nothing | Special::File(_) => None,
        };
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
