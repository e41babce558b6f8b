//! Three questions about a packed model, never mixed:
//!
//! 1. Does the runtime equal the integer model? [`runtime`]: every byte, every operation, every tier; tolerance 0.
//! 2. Can any accumulator overflow? [`crate::proof`], derived again from the file's own integers.
//! 3. How far is the integer model from full precision? [`accuracy`], with the error split by cause: [`simulate`].
//!
//! And a fourth that people really have: [`mistakes`] says which fact of a description is wrong.

pub mod accuracy;
mod claims;
mod gates;
pub mod graph;
mod html;
pub mod mistakes;
pub mod nnue;
mod progress;
mod reference;
mod report;
pub mod runtime;
pub mod simulate;
pub mod stats;
mod svg;

pub use claims::{CLAIM_WORDS, ClaimCheck, claim_words, claims};
pub use gates::{Findings, GateError, GateResult, Gates};
pub use html::to_html;
pub use reference::{Reference, ReferenceError};
pub use report::{Bound, ProofSummary, Report, SCHEMA, TensorSummary, TruthInfo};

use self::progress::Progress;
use crate::arch::{Architecture, InputKind};
use crate::fault::FaultClass;
use crate::float::{EvalError, Example, Net, example};
use crate::import::Checkpoint;
use crate::pack::{PackError, unpack};
use crate::positions::Position;
use crate::program::GraphInput;
use crate::proof::prove;
use crate::quantise::QuantNet;
use tamis_runtime::RunError;
use tamis_runtime::format::Model;

/// What a model is held against.
#[derive(Debug)]
pub struct Truth<'a> {
    /// The float network under the description that the user gave.
    pub checkpoint: Option<&'a Checkpoint>,
    /// Outputs that the training framework computed.
    pub reference: Option<&'a Reference>,
    /// Positions to run; beside a reference that brings its own they are run for the first question only.
    pub positions: &'a [Position],
}

/// Why a model cannot be verified at all.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The container cannot be taken apart.
    #[error("{0}")]
    Pack(#[from] PackError),
    /// An example does not fit the float network.
    #[error("example {index}: {error}")]
    Example {
        /// Which example.
        index: usize,
        /// Why.
        error: EvalError,
    },
    /// An example does not fit the model.
    #[error("example {index}: {error}")]
    Run {
        /// Which example.
        index: usize,
        /// Why.
        error: RunError,
    },
    /// Positions that are not the reference's.
    #[error(
        "{positions} positions and a reference of {outputs} outputs; give the positions that the reference was computed on"
    )]
    ReferenceCount {
        /// Positions given.
        positions: usize,
        /// Examples of the reference.
        outputs: usize,
    },
    /// Neither positions nor a reference.
    #[error("nothing to run the network on; give --positions FILE.bf, or a --reference that holds positions or inputs")]
    NoExamples,
    /// Checkpoint and model are not of one shape.
    #[error("the model is {model}, the checkpoint {checkpoint}; they are not the same network")]
    DifferentShapes {
        /// The model's shape.
        model: String,
        /// The checkpoint's.
        checkpoint: String,
    },
    /// The reference's outputs do not fit the network.
    #[error("the reference has {found} outputs an example, the network {expected}; it belongs to another network")]
    ReferenceShape {
        /// The reference's.
        found: usize,
        /// The network's.
        expected: usize,
    },
}

impl VerifyError {
    /// The class that decides the exit status.
    pub fn class(&self) -> FaultClass {
        match self {
            Self::Pack(error) => error.class(),
            Self::Example { .. } | Self::NoExamples | Self::ReferenceCount { .. } => FaultClass::Usage,
            Self::Run { .. } | Self::DifferentShapes { .. } | Self::ReferenceShape { .. } => FaultClass::Malformed,
        }
    }
}

/// Answers all questions about a model. `step` is called after every share of the work with (done, total).
///
/// # Errors
/// [`VerifyError`] if there is nothing to compare; findings are in the report, not errors.
///
/// # Examples
/// ```
/// use tamis_quant::arch::Architecture;
/// use tamis_quant::import::read_bytes;
/// use tamis_quant::pack::{Provenance, pack};
/// use tamis_quant::positions::Position;
/// use tamis_quant::proof::prove;
/// use tamis_quant::quantise::quantise;
/// use tamis_quant::run::AlignedBytes;
/// use tamis_quant::verify::{Gates, Truth, verify};
/// use tamis_runtime::format::Model;
///
/// let arch = Architecture::from_toml(include_str!("../../../tests/architectures/reference.toml"), "reference.toml")?;
/// let weights = include_bytes!("../../../tests/reference/nnue.weights.bin");
/// let checkpoint = read_bytes(weights, &arch, "weights.bin")?;
/// let net = quantise(&checkpoint.net)?;
/// let program = net.lower()?;
/// let bytes = AlignedBytes::copy_of(&pack(&program, &prove(&program), &Provenance::default())?);
///
/// let start = Position::from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")?;
/// let truth = Truth { checkpoint: Some(&checkpoint), reference: None, positions: &[start] };
/// let report = verify(Model::parse(bytes.as_ref())?, &truth, &Gates::default(), &mut |_, _| ())?;
/// assert!(report.runtime.equal && report.proof.holds && report.passed);
/// assert!(report.accuracy.total.max < 20.0, "centipawns");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify(
    model: Model<'_>,
    truth: &Truth<'_>,
    gates: &Gates,
    step: &mut dyn FnMut(u64, u64),
) -> Result<Report, VerifyError> {
    let net = unpack(&model)?;
    let brings_examples = |reference: &&Reference| !(reference.positions.is_empty() && reference.inputs.is_empty());
    let own = truth.reference.filter(brings_examples).is_some();
    let positions: &[Position] = match truth.reference {
        Some(reference) if own => &reference.positions,
        _ => truth.positions,
    };
    if let Some(reference) = truth.reference.filter(|_| !own) {
        let outputs = reference.outputs.len() / reference.outputs_per_example.max(1);
        if outputs != positions.len() {
            return Err(VerifyError::ReferenceCount { positions: positions.len(), outputs });
        }
    }
    let examples = examples(&net.arch, positions, truth.reference)?;
    if examples.is_empty() {
        return Err(VerifyError::NoExamples);
    }
    if let Some(checkpoint) = truth.checkpoint {
        same_shape(&net, &checkpoint.net)?;
    }
    if let Some(reference) = truth.reference
        && reference.outputs_per_example != net.arch.output_count()
    {
        return Err(VerifyError::ReferenceShape {
            found: reference.outputs_per_example,
            expected: net.arch.output_count(),
        });
    }
    let program = net.lower()?;
    let proof = prove(&program);
    // Positions beside a reference that brings its own have no truth; they still have to run alike on every tier.
    let extra = if own && net.arch.input.kind == InputKind::Chess {
        self::examples(&net.arch, truth.positions, None)?
    } else {
        Vec::new()
    };
    let everything = [examples.as_slice(), &extra].concat();
    let passes = truth.checkpoint.map_or(0, |checkpoint| accuracy::passes(&checkpoint.net, &net));
    let mut progress = Progress::new(everything.len() as u64 + passes * examples.len() as u64, step);
    let inputs: Vec<GraphInput> = everything.iter().map(|example| input_of(example)).collect();
    let (runtime, mut outputs) = runtime::check_runtime(model, &program, &inputs, &mut || progress.advance())
        .map_err(|(index, error)| VerifyError::Run { index, error })?;
    outputs.truncate(examples.len());
    // With a description of its own the checkpoint may see other features in the same position.
    let own_examples = match truth.checkpoint {
        Some(checkpoint) => self::examples(&checkpoint.net.arch, positions, truth.reference)?,
        None => examples.clone(),
    };
    let accuracy = accuracy::measure(
        &accuracy::Task {
            net: &net,
            float: truth.checkpoint.map(|checkpoint| &checkpoint.net),
            reference: truth.reference,
            examples: &examples,
            float_examples: &own_examples,
            positions,
            outputs: &outputs,
        },
        &mut progress,
    )?;
    let mistakes = mistakes::find(&mistakes::Case {
        net: &net,
        checkpoint: truth.checkpoint,
        reference: truth.reference,
        positions,
        accuracy: &accuracy,
    })?;
    let summary = report::proof_summary(&proof, claims(&model, &program, &proof));
    let truth = report::truth_info(truth, examples.len());
    let mut report = Report {
        schema: SCHEMA,
        network: net.arch.name.clone(),
        unit: accuracy::unit(&net.arch),
        truth,
        tensors: report::tensor_summaries(&net),
        runtime,
        proof: summary,
        accuracy,
        mistakes,
        gates: Vec::new(),
        passed: false,
    };
    let accuracy = &report.accuracy;
    report.gates = gates.judge(&Findings {
        equal_runtime: report.runtime.equal,
        proved: report.proof.holds && report.proof.claims_hold,
        mistakes: Some(report.mistakes.len()),
        total: &accuracy.total,
        top1_agreement: accuracy.top1_agreement,
        accuracy_loss: accuracy
            .correct
            .map(|correct| gates::accuracy_loss(correct.float, correct.integer, correct.count)),
    });
    report.passed = report.gates.iter().all(|gate| gate.passed);
    Ok(report)
}

/// An example as the network's program takes it.
fn input_of(example: &Example) -> GraphInput {
    match example {
        Example::Features { lists, bucket } => GraphInput::Features { lists: lists.clone(), bucket: *bucket },
        Example::Dense(_) => unreachable!("the examples of a network of accumulators are lists of features"),
    }
}

/// What the network sees of positions, or of a reference's dense inputs.
pub(crate) fn examples(
    arch: &Architecture,
    positions: &[Position],
    reference: Option<&Reference>,
) -> Result<Vec<Example>, VerifyError> {
    if reference.is_some_and(|reference| !reference.inputs.is_empty()) {
        return Err(VerifyError::Example { index: 0, error: EvalError::NotChess });
    }
    let fault = |(index, error)| VerifyError::Example { index, error };
    positions
        .iter()
        .enumerate()
        .map(|(index, position)| example(arch, position).map_err(|error| fault((index, error))))
        .collect()
}

fn same_shape(model: &QuantNet, checkpoint: &Net<f32>) -> Result<(), VerifyError> {
    let model: Vec<_> = model.layers.iter().map(|layer| (layer.weights.outputs, layer.weights.inputs)).collect();
    let checkpoint: Vec<_> =
        checkpoint.layers.iter().map(|layer| (layer.weights.outputs, layer.weights.inputs)).collect();
    if model == checkpoint {
        return Ok(());
    }
    let words = |shapes: &[(usize, usize)]| {
        let layers = shapes.iter().map(|(outputs, inputs)| format!("{outputs} × {inputs}"));
        layers.collect::<Vec<_>>().join(", then ")
    };
    Err(VerifyError::DifferentShapes { model: words(&model), checkpoint: words(&checkpoint) })
}
