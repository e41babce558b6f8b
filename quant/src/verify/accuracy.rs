//! Question 3: how far is the integer model from full precision, layer by layer and end to end, and which rounding is
//! to blame?

use super::VerifyError;
use super::progress::Progress;
use super::reference::Reference;
use super::simulate::Simulation;
use super::stats::{ErrorStats, HISTOGRAM_BINS, Histogram, compare, histogram, win_probability};
use crate::arch::{Architecture, ElementType, InputKind};
use crate::float::{Example, Net};
use crate::positions::Position;
use crate::quantise::QuantNet;
use crate::run::Outputs;
use serde::Serialize;

/// Points of the error plot, at most: what a page draws without weight.
const PLOT_POINTS: usize = 2000;
/// The largest errors that are listed.
const WORST_COUNT: usize = 10;
/// Sums of a layer that are compared in each example, evenly taken: enough of a wide one.
const SAMPLED_SUMS: usize = 64;

/// What is measured.
pub struct Task<'a> {
    /// The quantised network.
    pub net: &'a QuantNet,
    /// The float network, if there is a checkpoint.
    pub float: Option<&'a Net<f32>>,
    /// The framework's outputs, if there are.
    pub reference: Option<&'a Reference>,
    /// What the model sees.
    pub examples: &'a [Example],
    /// What the checkpoint sees, under its own description.
    pub float_examples: &'a [Example],
    /// The positions behind the examples, if chess.
    pub positions: &'a [Position],
    /// What the runtime made of the examples.
    pub outputs: &'a [Outputs],
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Accuracy {
    /// Where the truth comes from: `reference` or `checkpoint`; `none` if there is neither.
    pub against: &'static str,
    /// Integer minus float, end to end.
    pub total: ErrorStats,
    /// Examples whose sign changes.
    pub sign_flips: usize,
    /// The error as expected score (centipawn networks).
    pub win_probability: Option<ErrorStats>,
    /// Share of examples with the same greatest output (several outputs).
    pub top1_agreement: Option<f64>,
    /// Correct answers, float and integer (labelled examples).
    pub correct: Option<Correct>,
    /// The error of every layer's sums, in real units (with a checkpoint).
    pub layers: Vec<LayerError>,
    /// The error split by cause (with a checkpoint).
    pub causes: Vec<Cause>,
    /// The runtime's output minus the checkpoint's, what the causes add up to; `total` where there is no reference.
    pub split_total: ErrorStats,
    /// What is left: total minus the sum of the causes, per example.
    pub interaction: Option<ErrorStats>,
    /// The largest errors.
    pub worst: Vec<Worst>,
    /// Of integer minus float.
    pub histogram: Histogram,
    /// (float, integer minus float) of at most 2000 examples, evenly taken.
    pub points: Vec<(f64, f64)>,
}

/// Right answers on labelled examples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Correct {
    /// Of the float network.
    pub float: usize,
    /// Of the integer network.
    pub integer: usize,
    /// Examples.
    pub count: usize,
}

/// A layer's error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerError {
    /// Name of the layer.
    pub layer: String,
    /// Of its sums before the activation.
    pub sums: ErrorStats,
}

/// One rounding's share.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// Which rounding.
    pub cause: String,
    /// The output with only this rounding, minus float.
    pub alone: ErrorStats,
    /// The output with all, minus the output with all but this one.
    pub last: ErrorStats,
}

/// An example with a large error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Worst {
    /// Which example.
    pub example: usize,
    /// Which output.
    pub output: usize,
    /// The truth.
    pub float: f64,
    /// What the runtime gave.
    pub integer: f64,
}

/// What one unit of the output is called.
pub fn unit(arch: &Architecture) -> &'static str {
    if arch.input.kind == InputKind::Chess && arch.output.scale > 1 { "centipawns" } else { "output units" }
}

/// The runtime's outputs in real units.
pub(crate) fn integer_outputs(outputs: &[Outputs]) -> Vec<f64> {
    outputs.iter().flat_map(|output| output.to_reals(1.0)).collect()
}

/// The truth in real units: the reference's outputs if there are, else the checkpoint's.
pub(crate) fn truth_outputs(task: &Task<'_>) -> Result<Option<Vec<f64>>, VerifyError> {
    if let Some(reference) = task.reference {
        let scale = f64::from(task.net.arch.output.scale);
        return Ok(Some(reference.outputs.iter().map(|output| output * scale).collect()));
    }
    let Some(float) = task.float else { return Ok(None) };
    evaluate_all(&float.to_f64(), task.float_examples).map(Some)
}

/// The float network's outputs on every example.
pub(crate) fn evaluate_all(net: &Net<f64>, examples: &[Example]) -> Result<Vec<f64>, VerifyError> {
    let mut outputs = Vec::new();
    for (index, example) in examples.iter().enumerate() {
        outputs.extend(net.evaluate(example).map_err(|error| VerifyError::Example { index, error })?);
    }
    Ok(outputs)
}

/// How often the split by cause goes through all examples: once for all roundings together, once for each.
pub(super) fn passes(float: &Net<f32>, net: &QuantNet) -> u64 {
    1 + Simulation::new(float, net).switches().len() as u64
}

/// Measures everything that the truth at hand allows.
///
/// # Errors
/// [`VerifyError::Example`] if an example does not fit the float network.
pub(super) fn measure(task: &Task<'_>, progress: &mut Progress<'_>) -> Result<Accuracy, VerifyError> {
    let integer = integer_outputs(task.outputs);
    let truth = truth_outputs(task)?;
    let against = match (task.reference, task.float) {
        (Some(_), _) => "reference",
        (None, Some(_)) => "checkpoint",
        (None, None) => "none",
    };
    let truth = truth.unwrap_or_else(|| integer.clone());
    let per_example = task.net.arch.output_count().max(1);
    let errors: Vec<f64> = integer.iter().zip(&truth).map(|(integer, truth)| integer - truth).collect();
    let centipawns = unit(&task.net.arch) == "centipawns";
    let scale = f64::from(task.net.arch.output.scale);
    let probabilities =
        |values: &[f64]| values.iter().map(|value| win_probability(*value, scale)).collect::<Vec<f64>>();
    let mut accuracy = Accuracy {
        against,
        total: compare(&integer, &truth),
        sign_flips: integer.iter().zip(&truth).filter(|(integer, truth)| **integer * **truth < 0.0).count(),
        win_probability: centipawns.then(|| compare(&probabilities(&integer), &probabilities(&truth))),
        top1_agreement: (per_example > 1).then(|| agreement(&integer, &truth, per_example)),
        correct: task.reference.filter(|reference| !reference.labels.is_empty()).map(|reference| Correct {
            float: right(&truth, &reference.labels, per_example),
            integer: right(&integer, &reference.labels, per_example),
            count: reference.labels.len(),
        }),
        layers: Vec::new(),
        causes: Vec::new(),
        split_total: compare(&integer, &truth),
        interaction: None,
        worst: worst(&integer, &truth, per_example),
        histogram: histogram(&errors, HISTOGRAM_BINS),
        points: Vec::new(),
    };
    let stride = truth.len().div_ceil(PLOT_POINTS).max(1);
    accuracy.points = truth.iter().zip(&errors).step_by(stride).map(|(truth, error)| (*truth, *error)).collect();
    if let Some(float) = task.float {
        split(task, float, &integer, &mut accuracy, progress);
    }
    Ok(accuracy)
}

/// Per layer and per cause, with every rounding switched alone, and switched off alone.
fn split(task: &Task<'_>, float: &Net<f32>, integer: &[f64], accuracy: &mut Accuracy, progress: &mut Progress<'_>) {
    let simulation = Simulation::new(float, task.net);
    let layer_count = task.net.layers.len();
    let mut sums: Vec<(Vec<f64>, Vec<f64>)> = vec![Default::default(); layer_count];
    let (mut none, mut all) = (Vec::new(), Vec::new());
    for example in task.examples {
        let exact = simulation.evaluate(example, &|_| false);
        let rounded = simulation.evaluate(example, &|_| true);
        for (layer, (exact, rounded)) in sums.iter_mut().zip(exact.sums.into_iter().zip(rounded.sums)) {
            let stride = exact.len().div_ceil(SAMPLED_SUMS).max(1);
            layer.0.extend(rounded.into_iter().step_by(stride));
            layer.1.extend(exact.into_iter().step_by(stride));
        }
        none.extend(exact.outputs);
        all.extend(rounded.outputs);
        progress.advance();
    }
    for (description, (rounded, exact)) in task.net.arch.layers.iter().zip(&sums) {
        accuracy.layers.push(LayerError { layer: description.name.clone(), sums: compare(rounded, exact) });
    }
    accuracy.split_total = compare(integer, &none);
    let mut total: Vec<f64> = integer.iter().zip(&none).map(|(integer, none)| integer - none).collect();
    for (name, switch) in simulation.switches() {
        let (mut alone, mut without) = (Vec::new(), Vec::new());
        for example in task.examples {
            alone.extend(simulation.evaluate(example, &|other| other == switch).outputs);
            without.extend(simulation.evaluate(example, &|other| other != switch).outputs);
            progress.advance();
        }
        for (rest, (alone, none)) in total.iter_mut().zip(alone.iter().zip(&none)) {
            *rest -= alone - none;
        }
        accuracy.causes.push(Cause {
            cause: name.clone(),
            alone: compare(&alone, &none),
            last: compare(&all, &without),
        });
    }
    // What the runtime computes in f32 the simulation computes in f64; the rest of the difference is that.
    if task.net.layers.iter().any(|layer| layer.weights.element == ElementType::F32) {
        for (rest, (integer, all)) in total.iter_mut().zip(integer.iter().zip(&all)) {
            *rest -= integer - all;
        }
        let stats = compare(integer, &all);
        accuracy.causes.push(Cause {
            cause: "f32 arithmetic of the tail".to_owned(),
            alone: stats.clone(),
            last: stats,
        });
    }
    let zeros = vec![0.0; total.len()];
    accuracy.interaction = Some(compare(&total, &zeros));
}

fn greatest(values: &[f64]) -> usize {
    let mut best = 0;
    for (index, value) in values.iter().enumerate() {
        if values.get(best).is_none_or(|best| value > best) {
            best = index;
        }
    }
    best
}

fn agreement(integer: &[f64], truth: &[f64], per_example: usize) -> f64 {
    let pairs = integer.chunks(per_example).zip(truth.chunks(per_example));
    let same = pairs.filter(|(integer, truth)| greatest(integer) == greatest(truth)).count();
    same as f64 / (integer.len() / per_example).max(1) as f64
}

fn right(values: &[f64], labels: &[u8], per_example: usize) -> usize {
    values.chunks(per_example).zip(labels).filter(|(values, label)| greatest(values) == usize::from(**label)).count()
}

/// The largest errors, the earlier example first among equals.
fn worst(integer: &[f64], truth: &[f64], per_example: usize) -> Vec<Worst> {
    let mut order: Vec<usize> = (0..integer.len().min(truth.len())).collect();
    let error = |index: &usize| {
        integer.get(*index).zip(truth.get(*index)).map_or(0.0, |(integer, truth)| (integer - truth).abs())
    };
    order.sort_by(|a, b| error(b).total_cmp(&error(a)).then(a.cmp(b)));
    order.truncate(WORST_COUNT);
    order
        .into_iter()
        .filter_map(|index| {
            let (integer, float) = (*integer.get(index)?, *truth.get(index)?);
            Some(Worst { example: index / per_example, output: index % per_example, float, integer })
        })
        .collect()
}
