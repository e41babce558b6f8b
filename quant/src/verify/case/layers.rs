//! Bullet's networks, against their checkpoint, a reference, or both.

use super::Case;
use super::particulars::Particulars;
use crate::arch::{Architecture, InputKind};
use crate::float::{self, EvalError, Example, Net};
use crate::import::Checkpoint;
use crate::pack::unpack;
use crate::parallel;
use crate::positions::Position;
use crate::program::GraphInput;
use crate::quantised::QuantNet;
use crate::verify::accuracy::{Accuracy, Against, Outputs, is_centipawns};
use crate::verify::comparison::{Full, evaluate_all};
use crate::verify::error::VerifyError;
use crate::verify::mistakes::graph::Measured;
use crate::verify::mistakes::{self, Found};
use crate::verify::reference::Reference;
use crate::verify::report::TruthInfo;
use crate::verify::simulate::Simulation;
use crate::verify::split::{Examples, Split};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::Range;
use tamis_runtime::format::Model;

/// What a model of bullet's is held against.
#[derive(Debug, Clone, Copy)]
pub struct Truth<'a> {
    /// The float network under the description that the user gave.
    pub checkpoint: Option<&'a Checkpoint>,
    /// Outputs that the training framework computed.
    pub reference: Option<&'a Reference>,
    /// Positions to run; beside a reference that brings its own they are run for the first question only.
    pub positions: &'a [Position],
}

/// What is looked at for mistakes of the description.
struct Suspects<'a> {
    net: QuantNet,
    truth: Truth<'a>,
    /// The positions that have a truth.
    positions: &'a [Position],
}

impl<'a> Case<'a> {
    /// A container of bullet's layers and its truth.
    ///
    /// # Errors
    /// [`VerifyError`]: nothing to compare with, or another network.
    pub fn of_layers(model: Model<'a>, truth: &Truth<'a>) -> Result<Self, VerifyError> {
        Self::of_examples(model, truth, None)
    }

    /// A container of layers over features that only the caller understands, its checkpoint, and lists of them.
    ///
    /// # Errors
    /// As [`Case::of_layers`].
    pub fn of_features(
        model: Model<'a>,
        checkpoint: &'a Checkpoint,
        examples: &[Example],
    ) -> Result<Self, VerifyError> {
        let truth = Truth { checkpoint: Some(checkpoint), reference: None, positions: &[] };
        Self::of_examples(model, &truth, Some(examples))
    }

    fn of_examples(model: Model<'a>, truth: &Truth<'a>, given: Option<&[Example]>) -> Result<Self, VerifyError> {
        let net = unpack(&model)?;
        let brings_examples = |reference: &&Reference| !(reference.positions.is_empty() && reference.inputs.is_empty());
        let own = truth.reference.filter(brings_examples);
        let positions: &[Position] = own.map_or(truth.positions, |reference| &reference.positions);
        if let (Some(reference), None) = (truth.reference, own) {
            let outputs = reference.outputs.len() / reference.outputs_per_example.max(1);
            if outputs != positions.len() {
                return Err(VerifyError::ReferenceCount { positions: positions.len(), outputs });
            }
        }
        let examples = match given {
            Some(examples) => examples.to_vec(),
            None => examples(&net.arch, positions, truth.reference)?,
        };
        if examples.is_empty() {
            return Err(VerifyError::NoExamples);
        }
        let full = full(&net, truth, positions, given)?;
        let (program, compared) = (net.lower()?, examples.len());
        let mut inputs = inputs_of(&examples);
        // Positions beside a reference that brings its own have no truth; they still have to run alike on every tier.
        if own.is_some() && net.arch.input.kind == InputKind::Chess {
            let extra = self::examples(&net.arch, truth.positions, None)?;
            inputs.extend(inputs_of(&extra));
        }
        let outputs = Outputs {
            against: if truth.reference.is_some() { Against::Reference } else { Against::Checkpoint },
            of_positions: program.transformer.is_some(),
            scale: f64::from(net.arch.output.scale),
            centipawns: is_centipawns(&net.arch),
        };
        let split = match truth.checkpoint {
            Some(checkpoint) => {
                let simulation = Simulation::of_layers(&checkpoint.net, &net)?;
                Some(Split { simulation, examples: Examples::Positions(examples) })
            }
            None => None,
        };
        let labels = truth.reference.filter(|reference| !reference.labels.is_empty());
        Ok(Self {
            truth: TruthInfo {
                import: truth.checkpoint.map(Into::into),
                reference: truth.reference.map_or_else(BTreeMap::new, |reference| reference.metadata.clone()),
                examples: compared,
                ..TruthInfo::default()
            },
            network: net.arch.name.clone(),
            model,
            value: program.nodes.len(),
            program,
            inputs,
            full: Full::Outputs(full),
            outputs,
            labels: labels.map(|reference| reference.labels.iter().map(|label| usize::from(*label)).collect()),
            split,
            particulars: Box::new(Suspects { net, truth: *truth, positions }),
            allows_constants: false,
        })
    }
}

impl Particulars for Suspects<'_> {
    fn name_worst(&self, accuracy: &mut Accuracy) {
        for worst in &mut accuracy.worst {
            worst.fen = self.positions.get(worst.example).map(Position::to_fen);
        }
    }

    fn mistakes(&self, _: Measured<'_>) -> Result<Option<Found>, VerifyError> {
        let case = mistakes::Case {
            net: &self.net,
            checkpoint: self.truth.checkpoint,
            reference: self.truth.reference,
            positions: self.positions,
        };
        mistakes::find(&case).map(Some)
    }
}

/// The truth in real units: the reference's outputs if there are, else the checkpoint's.
fn full(
    net: &QuantNet,
    truth: &Truth<'_>,
    positions: &[Position],
    given: Option<&[Example]>,
) -> Result<Vec<f64>, VerifyError> {
    if let Some(checkpoint) = truth.checkpoint {
        same_shape(net, &checkpoint.net)?;
    }
    if let Some(reference) = truth.reference {
        let (found, expected) = (reference.outputs_per_example, net.arch.output_count());
        if found != expected {
            return Err(VerifyError::ReferenceShape { found, expected });
        }
        let scale = f64::from(net.arch.output.scale);
        return Ok(reference.outputs.iter().map(|output| output * scale).collect());
    }
    let checkpoint = truth.checkpoint.ok_or(VerifyError::NoTruth)?;
    if let Some(examples) = given {
        return evaluate_all(&checkpoint.net.to_f64(), examples);
    }
    // With a description of its own the checkpoint may see other features in the same position.
    evaluate_all(&checkpoint.net.to_f64(), &examples(&checkpoint.net.arch, positions, truth.reference)?)
}

/// Examples of a piece of work.
const EXAMPLES: usize = 256;

/// Examples as the network's program takes them.
fn inputs_of(examples: &[Example]) -> Vec<GraphInput> {
    let of = |range: Range<usize>| Ok::<_, Infallible>(examples[range].iter().map(input_of).collect());
    parallel::gather(examples.len(), EXAMPLES, of).unwrap_or_else(|never| match never {})
}

/// An example as the network's program takes it.
fn input_of(example: &Example) -> GraphInput {
    match example {
        Example::Features { lists, bucket } => GraphInput::Features { lists: lists.clone(), bucket: *bucket },
        Example::Dense(_) => unreachable!("the examples of a network of accumulators are lists of features"),
    }
}

/// What the network sees of positions.
fn examples(
    arch: &Architecture,
    positions: &[Position],
    reference: Option<&Reference>,
) -> Result<Vec<Example>, VerifyError> {
    if reference.is_some_and(|reference| !reference.inputs.is_empty()) {
        return Err(VerifyError::Example { index: 0, error: EvalError::NotChess });
    }
    float::examples(arch, positions).map_err(|(index, error)| VerifyError::Example { index, error })
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
