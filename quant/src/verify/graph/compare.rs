//! How far a quantised graph is from the float graph, on samples with or without labels.

use super::metrics::{Agreement, log_loss};
use crate::data::Outputs;
use crate::graph::description::{Described, DescribedOp, Description};
use crate::graph::{Activation, Graph, Sample, SampleError};
use crate::integer::IntegerModel;
use crate::program::Program;
use crate::score::area_under_curve;
use crate::verify::stats::{ErrorStats, compare};
use serde::Serialize;

/// The comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Samples that were compared.
    pub samples: usize,
    /// Of all logits; without a sigmoid or softmax at the end, of the outputs.
    pub logits: ErrorStats,
    /// How often both predict the same class.
    pub top1: Agreement,
    /// Against labels, if there are any.
    pub predictions: Option<Predictions>,
    /// Every layer that has integers of its own.
    pub layers: Vec<LayerError>,
}

/// Right and wrong predictions of both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Predictions {
    /// Right ones of the float graph.
    pub float_correct: Agreement,
    /// Right ones of the quantised graph.
    pub correct: Agreement,
    /// AUC of the float graph, for two classes.
    pub float_auc: Option<f64>,
    /// AUC of the quantised graph.
    pub auc: Option<f64>,
    /// Log-loss of the float graph.
    pub float_log_loss: f64,
    /// Log-loss of the quantised graph.
    pub log_loss: f64,
}

/// The error of a layer's values with everything before it quantised.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerError {
    /// Of the float graph's layer.
    pub layer: String,
    /// What the values are.
    pub element: &'static str,
    /// Signal to noise in decibels; `None` without noise or without signal.
    pub sqnr_db: Option<f64>,
    /// The largest error.
    pub max: f64,
}

/// Sums of a layer's errors; the values themselves would not fit memory.
#[derive(Default, Clone)]
struct Noise {
    signal: f64,
    noise: f64,
    max: f64,
}

/// Compares on every sample, with the integer model. labels: (samples,) a class each.
///
/// # Errors
/// Which sample does not fit, and why.
pub fn compare_graphs(
    graph: &Graph,
    quantised: &Program,
    samples: &[Sample],
    labels: Option<&[usize]>,
) -> Result<Comparison, (usize, SampleError)> {
    let model = IntegerModel::new(quantised);
    let logits = graph.logits();
    let shown = quantised.nodes.iter().rposition(|node| node.value.layer == Some(logits));
    let (mut truth, mut found) = (Vec::new(), Vec::new());
    let mut noise = vec![Noise::default(); quantised.nodes.len()];
    for (index, sample) in samples.iter().enumerate() {
        let mut reals = graph.trace(sample).map_err(|error| (index, error))?;
        let integers = model.trace(sample).map_err(|error| (index, error))?;
        let mut last = Vec::new();
        for (number, ((node, data), noise)) in
            quantised.nodes.iter().zip(integers.iter().skip(1)).zip(&mut noise).enumerate()
        {
            let values = data.to_reals(&node.value);
            if let Some(truth) = node.value.layer.and_then(|layer| reals.get(layer)) {
                for (value, truth) in values.iter().zip(truth) {
                    noise.signal += truth * truth;
                    noise.noise += (value - truth).powi(2);
                    noise.max = noise.max.max((value - truth).abs());
                }
            }
            if number == shown.unwrap_or(quantised.nodes.len().max(1) - 1) {
                last = values;
            }
        }
        truth.push(reals.swap_remove(logits));
        found.push(last);
    }
    let all = |logits: &[Vec<f64>]| logits.concat();
    let agree = truth.iter().zip(&found).filter(|(truth, found)| class(truth) == class(found)).count();
    let predictions = labels.map(|labels| predictions(&truth, &found, labels));
    let layers = quantised.nodes.iter().zip(&noise).filter_map(|(node, noise)| {
        let layer = node.value.layer?;
        let name = graph.nodes.get(layer.checked_sub(1)?)?.name.clone();
        let has_noise = noise.noise > 0.0 && noise.signal > 0.0;
        let sqnr_db = has_noise.then(|| 10.0 * libm::log10(noise.signal / noise.noise));
        Some(LayerError { layer: name, element: node.value.element.word(), sqnr_db, max: noise.max })
    });
    Ok(Comparison {
        samples: samples.len(),
        logits: compare(&all(&found), &all(&truth)),
        top1: Agreement::new(agree, samples.len()),
        predictions,
        layers: layers.collect(),
    })
}

/// Compares with what another framework computed before the last sigmoid or softmax, on every sample, with the integer
/// model. No layers: the framework's are not known. labels: (samples,) a class each; outputs: as many as samples.
///
/// # Errors
/// Which sample does not fit, and why.
pub fn compare_outputs(
    quantised: &Program,
    samples: &[Sample],
    outputs: &Outputs,
    labels: Option<&[usize]>,
) -> Result<Comparison, (usize, SampleError)> {
    let model = IntegerModel::new(quantised);
    let logits = logits_of(quantised);
    let found = samples.iter().enumerate();
    let found = found.map(|(index, sample)| model.logits(sample, logits).map_err(|error| (index, error)));
    let found = found.collect::<Result<Vec<_>, _>>()?;
    let truth: Vec<Vec<f64>> = outputs.values.chunks(outputs.columns.max(1)).map(<[f64]>::to_vec).collect();
    let agree = truth.iter().zip(&found).filter(|(truth, found)| class(truth) == class(found)).count();
    Ok(Comparison {
        samples: samples.len(),
        logits: compare(&found.concat(), &outputs.values),
        top1: Agreement::new(agree, samples.len()),
        predictions: labels.map(|labels| predictions(&truth, &found, labels)),
        layers: Vec::new(),
    })
}

/// The value of the float graph before its last sigmoid or softmax, as the container's description has it.
pub(super) fn logits_of(quantised: &Program) -> usize {
    let last = |nodes: &[Described]| match nodes.last() {
        Some(Described { op: DescribedOp::Activation(Activation::Sigmoid | Activation::Softmax), reads, .. }) => {
            reads.first().copied().unwrap_or(nodes.len())
        }
        _ => nodes.len(),
    };
    Description::from_toml(&quantised.description, "description").map_or(0, |description| last(&description.nodes))
}

fn predictions(truth: &[Vec<f64>], found: &[Vec<f64>], labels: &[usize]) -> Predictions {
    let count = truth.len().min(labels.len());
    let correct = |logits: &[Vec<f64>]| {
        let right = logits.iter().zip(labels).filter(|(logits, label)| class(logits) == **label).count();
        Agreement::new(right, count)
    };
    let area = |logits: &[Vec<f64>]| {
        let scored = |(logits, label): (&Vec<f64>, &usize)| match logits.as_slice() {
            [logit] => Some((*logit, *label == 1)),
            [no, yes] => Some((yes - no, *label == 1)),
            _ => None,
        };
        area_under_curve(&logits.iter().zip(labels).map(scored).collect::<Option<Vec<(f64, bool)>>>()?)
    };
    Predictions {
        float_correct: correct(truth),
        correct: correct(found),
        float_auc: area(truth),
        auc: area(found),
        float_log_loss: log_loss(truth, labels),
        log_loss: log_loss(found, labels),
    }
}

/// The predicted class: the first largest logit; of one logit, whether it is above 0.
fn class(logits: &[f64]) -> usize {
    match logits {
        [logit] => usize::from(*logit > 0.0),
        logits => {
            let mut best = 0;
            for (index, logit) in logits.iter().enumerate() {
                if logits.get(best).is_some_and(|most| logit > most) {
                    best = index;
                }
            }
            best
        }
    }
}
