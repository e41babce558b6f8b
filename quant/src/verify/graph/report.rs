//! The three questions about a graph's container, in one value.

use super::compare::{Comparison, compare_graphs, compare_outputs, logits_of};
use super::origin::difference;
use crate::data::Outputs;
use crate::fault::FaultClass;
use crate::graph::{Graph, Sample, SampleError};
use crate::pack::{PackError, unpack_graph};
use crate::program::Program;
use crate::proof::prove;
use crate::run::RunGraphError;
use crate::verify::claims;
use crate::verify::gates::{Findings, GateResult, Gates, accuracy_loss};
use crate::verify::report::{ProofSummary, proof_summary};
use crate::verify::runtime::{RuntimeCheck, check_runtime};
use serde::Serialize;
use tamis_runtime::format::Model;

/// Everything that was found out about a graph's container.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphReport {
    /// The network's name.
    pub network: String,
    /// Question 1: does the runtime equal the integer model?
    pub runtime: RuntimeCheck,
    /// Question 2: can any sum overflow?
    pub proof: ProofSummary,
    /// Question 3: how far is it from full precision?
    pub accuracy: Comparison,
    /// The limits and whether they were kept.
    pub gates: Vec<GateResult>,
    /// Whether all were.
    pub passed: bool,
}

/// What ends a verification without a report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphVerifyError {
    /// The container cannot be taken apart.
    #[error(transparent)]
    Unpack(#[from] PackError),
    /// The checkpoint is another network.
    #[error(
        "the container was made from another network than the checkpoint: {what} differ; give the one that it was made from"
    )]
    OtherNetwork {
        /// What shows it.
        what: &'static str,
    },
    /// Outputs of another network.
    #[error("the reference has {found} outputs for {samples} examples, the network makes {expected} for each")]
    Outputs {
        /// All of them.
        found: usize,
        /// How many examples there are.
        samples: usize,
        /// What one example has before the last sigmoid or softmax.
        expected: usize,
    },
    /// A sample that does not fit.
    #[error("example {index}: {error}")]
    Sample {
        /// Which, from 0.
        index: usize,
        /// Why.
        error: SampleError,
    },
    /// A sample that the runtime refuses.
    #[error("example {index}: {error}")]
    Run {
        /// Which, from 0.
        index: usize,
        /// Why.
        error: RunGraphError,
    },
}

impl GraphVerifyError {
    /// The class that decides the exit status.
    #[must_use]
    pub fn class(&self) -> FaultClass {
        match self {
            Self::Unpack(error) => error.class(),
            Self::OtherNetwork { .. } => FaultClass::Usage,
            Self::Outputs { .. } | Self::Sample { .. } | Self::Run { .. } => FaultClass::Malformed,
        }
    }
}

/// Whether a container can have been made from a graph.
///
/// # Errors
/// [`GraphVerifyError::OtherNetwork`], or a container that cannot be taken apart.
pub fn check_origin(model: &Model<'_>, graph: &Graph) -> Result<(), GraphVerifyError> {
    match difference(graph, &unpack_graph(model)?) {
        Some(what) => Err(GraphVerifyError::OtherNetwork { what }),
        None => Ok(()),
    }
}

/// Asks all three questions, on every sample and every tier. labels: a class a sample.
///
/// # Errors
/// [`GraphVerifyError`]: a container or samples of another network. Findings are in the report.
pub fn verify_graph(
    model: Model<'_>,
    graph: &Graph,
    samples: &[Sample],
    labels: Option<&[usize]>,
    limits: &Gates,
) -> Result<GraphReport, GraphVerifyError> {
    check_origin(&model, graph)?;
    ask(model, samples, limits, |quantised| compare_graphs(graph, quantised, samples, labels))
}

/// The same against what another framework computed for the samples, in place of the float graph. labels: a class a
/// sample.
///
/// # Errors
/// [`GraphVerifyError`]: a container, samples or outputs of another network. Findings are in the report.
pub fn verify_graph_outputs(
    model: Model<'_>,
    outputs: &Outputs,
    samples: &[Sample],
    labels: Option<&[usize]>,
    limits: &Gates,
) -> Result<GraphReport, GraphVerifyError> {
    let quantised = unpack_graph(&model)?;
    let logits = logits_of(&quantised);
    let node = quantised.nodes.iter().rfind(|node| node.value.layer == Some(logits)).or(quantised.nodes.last());
    let expected = node.map_or(0, |node| node.value.len);
    let found = outputs.values.len();
    if outputs.columns != expected || samples.len().checked_mul(expected) != Some(found) {
        return Err(GraphVerifyError::Outputs { found, samples: samples.len(), expected });
    }
    ask(model, samples, limits, |quantised| compare_outputs(quantised, samples, outputs, labels))
}

fn ask(
    model: Model<'_>,
    samples: &[Sample],
    limits: &Gates,
    compare: impl FnOnce(&Program) -> Result<Comparison, (usize, SampleError)>,
) -> Result<GraphReport, GraphVerifyError> {
    let quantised = unpack_graph(&model)?;
    let input = |(index, sample): (usize, &Sample)| {
        quantised.input.quantise(sample).map_err(|error| GraphVerifyError::Run { index, error: error.into() })
    };
    let inputs = samples.iter().enumerate().map(input).collect::<Result<Vec<_>, _>>()?;
    let (runtime, _) = check_runtime(model, &quantised, &inputs, &mut || ())
        .map_err(|(index, error)| GraphVerifyError::Run { index, error: error.into() })?;
    let proof = prove(&quantised);
    let proof = proof_summary(&proof, claims(&model, &quantised, &proof));
    let accuracy = compare(&quantised).map_err(|(index, error)| GraphVerifyError::Sample { index, error })?;
    let gates = limits.judge(&Findings {
        equal_runtime: runtime.equal,
        proved: proof.holds && proof.claims_hold,
        mistakes: None,
        total: &accuracy.logits,
        top1_agreement: Some(accuracy.top1.share()),
        accuracy_loss: accuracy.predictions.as_ref().map(|predictions| {
            accuracy_loss(predictions.float_correct.equal, predictions.correct.equal, predictions.correct.count)
        }),
    });
    let passed = gates.iter().all(|gate| gate.passed);
    Ok(GraphReport { network: quantised.name, runtime, proof, accuracy, gates, passed })
}
