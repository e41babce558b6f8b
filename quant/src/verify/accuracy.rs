//! Question 3: how far is the integer model from full precision, layer by layer and end to end, and which rounding is
//! to blame?

use super::comparison::{Beside, Compared, Comparison, Full};
use super::layers::{LayerError, LayerNoise};
use super::metrics::Agreement;
use super::predictions::{Predictions, agreement};
use super::stats::{ErrorStats, HISTOGRAM_BINS, Histogram, compare, histogram, win_probability};
use crate::arch::{Architecture, InputKind};
use crate::graph::{Graph, Sample, SampleError};
use crate::integer::IntegerModel;
use crate::parallel;
use crate::program::Program;
use serde::{Deserialize, Serialize};

/// Points of the error plot, at most: what a page draws without weight.
const PLOT_POINTS: usize = 2000;
/// The largest errors that are listed.
const WORST_COUNT: usize = 10;

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Accuracy {
    /// Where the truth comes from: `reference`, `checkpoint`, or `file`, whose integers a `.nnue` file's are.
    pub against: &'static str,
    /// Examples that were compared.
    pub samples: usize,
    /// Integer minus float: of the outputs, of a graph those before its last sigmoid or softmax.
    pub total: ErrorStats,
    /// The same where the outputs are not of positions.
    pub logits: Option<ErrorStats>,
    /// Values whose sign changes.
    pub sign_flips: usize,
    /// The error as expected score (centipawn networks).
    pub win_probability: Option<ErrorStats>,
    /// The share of examples whose answer both give alike, 0 to 1, where there are classes.
    pub agreement: Option<f64>,
    /// Examples that the integers get right, where there are labels.
    pub correct: Option<usize>,
    /// Area under the curve of the integers, where there are labels of two classes.
    pub auc: Option<f64>,
    /// How often both predict the same class, where there are classes.
    pub top1: Option<Agreement>,
    /// Pairs of neighbouring examples that both put in the same order, where one output says how good an example is.
    pub order: Option<Agreement>,
    /// Against labels, if there are any.
    pub predictions: Option<Predictions>,
    /// The error of every layer (with a checkpoint).
    pub layers: Vec<LayerError>,
    /// The error split by cause (with a checkpoint).
    pub causes: Vec<Cause>,
    /// Examples of which the error was split by cause.
    pub split_samples: usize,
    /// The integers minus the checkpoint on those, what the causes add up to; `total` where there is no reference.
    pub split_total: ErrorStats,
    /// What is left: total minus the sum of the causes, per example.
    pub interaction: Option<ErrorStats>,
    /// The largest errors.
    pub worst: Vec<Worst>,
    /// Of integer minus float.
    pub histogram: Histogram,
    /// (float, integer minus float) of at most 2000 values, evenly taken.
    pub points: Vec<(f64, f64)>,
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
    /// The position as a FEN, where examples are positions.
    pub fen: Option<String>,
    /// Which output.
    pub output: usize,
    /// The truth.
    pub float: f64,
    /// What the integers gave.
    pub integer: f64,
}

/// What one unit of the output is called.
pub fn unit(arch: &Architecture) -> &'static str {
    unit_word(is_centipawns(arch))
}

const fn unit_word(are_centipawns: bool) -> &'static str {
    if are_centipawns { "centipawns" } else { "output units" }
}

/// Whether a network's values are centipawns.
pub(super) fn is_centipawns(arch: &Architecture) -> bool {
    arch.input.kind == InputKind::Chess && arch.output.scale > 1
}

/// Where the truth comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Against {
    /// What a training framework computed.
    Reference,
    /// A checkpoint in full precision.
    Checkpoint,
    /// The integers of a `.nnue` file.
    File,
}

impl Against {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Checkpoint => "checkpoint",
            Self::File => "file",
        }
    }
}

/// What the outputs of a network mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Outputs {
    /// Where the truth comes from.
    pub against: Against,
    /// Whether they are of positions.
    pub of_positions: bool,
    /// How many units make a 1 of the network.
    pub scale: f64,
    /// Whether they are centipawns.
    pub centipawns: bool,
}

impl Outputs {
    /// What one unit is called.
    pub const fn unit(self) -> &'static str {
        unit_word(self.centipawns)
    }

    /// Scores of classes, in units of their own.
    pub const fn logits(against: Against) -> Self {
        Self { against, of_positions: false, scale: 1.0, centipawns: false }
    }
}

impl Accuracy {
    /// Of a quantised graph that is in no container, on samples that fit it.
    ///
    /// # Errors
    /// Which sample does not, and why.
    ///
    /// # Panics
    /// If the program is another graph's.
    pub fn of_graph(
        graph: &Graph,
        program: &Program,
        samples: &[Sample],
        labels: Option<&[usize]>,
    ) -> Result<Self, (usize, SampleError)> {
        let full = Full::Graph { graph, samples };
        let model = IntegerModel::new(program);
        let beside = Beside::new(program, model.scored(graph), &full);
        let mut comparison = Comparison::new(beside);
        let example = |index: usize| {
            let values = model.trace(&samples[index]).and_then(|values| beside.example(index, &values));
            values.map_err(|error| (index, error))
        };
        parallel::in_order(samples.len(), beside.ahead(), example, |_, example| {
            comparison.take(example);
            Ok(())
        })?;
        Ok(Self::new(&comparison.finish(), Outputs::logits(Against::Checkpoint), labels))
    }

    /// What follows from both; causes are nobody's yet.
    pub(super) fn new(compared: &Compared, about: Outputs, labels: Option<&[usize]>) -> Self {
        let Compared { examples, integer, truth, outputs, layers } = compared;
        let (examples, outputs) = (*examples, *outputs);
        let total = compare(integer, truth);
        let errors: Vec<f64> = integer.iter().zip(truth).map(|(integer, truth)| integer - truth).collect();
        let probabilities =
            |values: &[f64]| values.iter().map(|value| win_probability(*value, about.scale)).collect::<Vec<f64>>();
        let rows = |values: &[f64]| -> Vec<Vec<f64>> {
            values.chunks(outputs).map(|row| row.iter().map(|value| value / about.scale).collect()).collect()
        };
        let are_classes = !about.of_positions || outputs > 1;
        let (float_rows, integer_rows) =
            if are_classes { (rows(truth), rows(integer)) } else { (Vec::new(), Vec::new()) };
        let stride = truth.len().div_ceil(PLOT_POINTS).max(1);
        let top1 = are_classes.then(|| agreement(&float_rows, &integer_rows));
        let predictions =
            labels.filter(|_| are_classes).map(|labels| Predictions::of(&float_rows, &integer_rows, labels));
        Self {
            agreement: top1.map(|top1| top1.share()),
            correct: predictions.as_ref().map(|predictions| predictions.correct.equal),
            auc: predictions.as_ref().and_then(|predictions| predictions.auc),
            against: about.against.word(),
            samples: examples,
            logits: (!about.of_positions).then(|| total.clone()),
            sign_flips: integer.iter().zip(truth).filter(|(integer, truth)| **integer * **truth < 0.0).count(),
            win_probability: about.centipawns.then(|| compare(&probabilities(integer), &probabilities(truth))),
            top1,
            order: (outputs == 1).then(|| same_order(truth, integer)),
            predictions,
            layers: layers.iter().map(LayerNoise::error).collect(),
            causes: Vec::new(),
            split_samples: 0,
            split_total: total.clone(),
            total,
            interaction: None,
            worst: worst(integer, truth, outputs),
            histogram: histogram(errors.iter().copied(), HISTOGRAM_BINS),
            points: truth.iter().zip(&errors).step_by(stride).map(|(truth, error)| (*truth, *error)).collect(),
        }
    }
}

/// How many neighbours are not the other way round.
fn same_order(truth: &[f64], integer: &[f64]) -> Agreement {
    let pairs = truth.windows(2).zip(integer.windows(2));
    let same = pairs.filter(|(truth, integer)| (truth[1] - truth[0]) * (integer[1] - integer[0]) >= 0.0);
    Agreement::new(same.count(), truth.len().saturating_sub(1))
}

/// The largest errors, the earlier example first among equals.
fn worst(integer: &[f64], truth: &[f64], outputs: usize) -> Vec<Worst> {
    let mut order: Vec<usize> = (0..integer.len()).collect();
    let error = |index: usize| (integer[index] - truth[index]).abs();
    let worse = |a: &usize, b: &usize| error(*b).total_cmp(&error(*a)).then(a.cmp(b));
    if order.len() > WORST_COUNT {
        order.select_nth_unstable_by(WORST_COUNT, worse);
        order.truncate(WORST_COUNT);
    }
    order.sort_unstable_by(worse);
    let one = |index: usize| Worst {
        example: index / outputs,
        fen: None,
        output: index % outputs,
        float: truth[index],
        integer: integer[index],
    };
    order.into_iter().map(one).collect()
}
