//! Cross-layer equalisation: units of their own for the channels between two linear layers.
//!
//! In Linear → ReLU → Linear a channel of the middle may be counted in any unit: the first layer's requantisation has a
//! factor a channel, the second layer folds units into its weights. A quiet channel gets a finer unit, at the price of
//! larger weights' units in the second layer. With M the largest magnitude of all channels and m that of one, the
//! channel's unit is
//!
//! ```text
//! unit(M) · reach · (m / M)^power
//! ```
//!
//! `reach` above 1 leaves room for what calibration did not see, below 1 it clips. Which of them is best is measured:
//! the error of the logits against the one unit that the method of calibration gives, on every second calibration
//! sample, with ranges that the others gave: a channel's own range is taken from few values, and only samples that it
//! was not taken from show what it clips.

use super::error::GraphQuantError;
use super::lower::{Channels, lower};
use super::options::{Activations, Options};
use crate::calibrate::{Calibration, calibrate};
use crate::graph::{Activation, Graph, Op, Sample, SampleError, Value};
use crate::integer::IntegerModel;
use crate::parallel;
use crate::program::Program;

const POWERS: [f64; 4] = [0.25, 0.5, 0.75, 1.0];
const REACHES: [f64; 5] = [0.9, 1.0, 1.15, 1.3, 1.5];
/// A channel that calibration saw only small values of still counts so much of the loudest.
const QUIETEST: f64 = 1.0 / 64.0;
/// With fewer samples neither half of them says much.
const LEAST_SAMPLES: usize = 32;
/// Multiplications that a measurement may take: samples are fewer where the network is large.
const WORK: usize = 100_000_000;

/// The channels that lower the error, pair by pair in the order of the graph.
pub(super) fn channels(
    graph: &Graph,
    samples: &[Sample],
    calibration: &Calibration,
    options: &Options,
) -> Result<Channels, GraphQuantError> {
    let mut best = Channels::default();
    let values = middles(graph, options);
    if values.is_empty() || samples.len() < LEAST_SAMPLES || options.activations == Activations::I16 {
        return Ok(best);
    }
    let every_second = |first: usize| samples.iter().skip(first).step_by(2).cloned().collect::<Vec<Sample>>();
    let (seen, unseen) = (every_second(0), every_second(1));
    let half = calibrate(graph, &seen).map_err(|(index, error)| GraphQuantError::Sample { index: 2 * index, error })?;
    let measure = Measure::new(graph, &unseen)?;
    let error = |channels: &Channels| measure.error(&lower(graph, &half, options, channels)?);
    let mut least = error(&best)?;
    let mut chosen = Channels::default();
    for value in values {
        let before = best.clone();
        let ways: Vec<(f64, f64)> =
            POWERS.iter().flat_map(|power| REACHES.iter().map(move |reach| (*power, *reach))).collect();
        let tried = parallel::map(ways.len(), |way| {
            let (power, reach) = ways[way];
            let Some(factors) = factors(&half, value, power, reach) else { return Ok::<_, GraphQuantError>(None) };
            let mut tried = before.clone();
            tried.of.insert(value, factors);
            Ok(Some((error(&tried)?, tried)))
        });
        for ((power, reach), tried) in ways.into_iter().zip(tried) {
            let Some((found, tried)) = tried? else { continue };
            if found < least {
                (least, best) = (found, tried);
                chosen.of.extend(factors(calibration, value, power, reach).map(|factors| (value, factors)));
            }
        }
    }
    Ok(chosen)
}

/// The factors of a value's channels; `None` of a value that is always 0.
fn factors(calibration: &Calibration, value: Value, power: f64, reach: f64) -> Option<Vec<f64>> {
    let magnitudes = &calibration.values.get(value)?.magnitudes;
    let loudest = magnitudes.iter().copied().fold(0.0, f64::max);
    let factor = |m: &f64| reach * libm::pow((m / loudest).max(QUIETEST), power);
    (loudest > 0.0).then(|| magnitudes.iter().map(factor).collect())
}

/// Values between two linear layers that nothing else reads.
fn middles(graph: &Graph, options: &Options) -> Vec<Value> {
    let readers = |value: Value| graph.nodes.iter().filter(move |node| node.reads.contains(&value));
    let only = |value: Value| {
        let mut found = readers(value);
        found.next().filter(|_| found.next().is_none())
    };
    let linear =
        |node: &&crate::graph::Node| matches!(node.op, Op::Linear { .. }) && !options.keep_f32.contains(&node.name);
    let is_middle = |(index, node): (usize, &crate::graph::Node)| {
        let relu = matches!(node.op, Op::Activation(Activation::Relu)) && !options.keep_f32.contains(&node.name);
        let source = *node.reads.first()?;
        let made_by = graph.nodes.get(source.checked_sub(1)?).filter(linear)?;
        only(source).filter(|reader| relu && reader.name != made_by.name)?;
        only(index + 1).filter(linear).map(|_| index + 1)
    };
    graph.nodes.iter().enumerate().filter_map(is_middle).collect()
}

/// The error of the logits on some samples.
pub(super) struct Measure<'s> {
    samples: Vec<&'s Sample>,
    graph: &'s Graph,
    truth: Vec<Vec<f64>>,
}

impl<'s> Measure<'s> {
    /// Evaluates the float graph on samples from all over the list.
    pub(super) fn new(graph: &'s Graph, samples: &'s [Sample]) -> Result<Self, GraphQuantError> {
        let work = |op: &Op| match op {
            Op::Linear { weights, .. } => weights.values.len(),
            _ => 0,
        };
        let one: usize = graph.nodes.iter().map(|node| work(&node.op)).sum();
        let count = (WORK / one.max(1)).clamp(32, 512).min(samples.len()).max(1);
        let step = samples.len().div_ceil(count).max(1);
        let samples: Vec<&Sample> = samples.iter().step_by(step).collect();
        let truth = parallel::map(samples.len(), |index| {
            let logits = graph.evaluate_logits(samples[index]);
            logits.map_err(|error| GraphQuantError::Sample { index: index * step, error })
        });
        let truth = truth.into_iter().collect::<Result<_, _>>()?;
        Ok(Self { samples, graph, truth })
    }

    /// Σ (integer − float)² over all logits.
    pub(super) fn error(&self, quantised: &Program) -> Result<f64, GraphQuantError> {
        let model = IntegerModel::new(quantised);
        let of_sample = |index: usize| {
            let fault = |error: SampleError| GraphQuantError::Sample { index, error };
            let found = model.scores(self.samples[index], self.graph).map_err(fault)?;
            let squares = found.iter().zip(&self.truth[index]).map(|(found, truth)| (found - truth).powi(2));
            Ok(squares.sum::<f64>())
        };
        parallel::map(self.samples.len(), of_sample).into_iter().sum()
    }

    /// Σ float².
    pub(super) fn signal(&self) -> f64 {
        self.truth.iter().flatten().map(|truth| truth * truth).sum()
    }
}
