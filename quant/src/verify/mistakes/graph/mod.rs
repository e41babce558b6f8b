//! Which fact differs between a graph's container and its checkpoint, or between both and their examples, by name.
//!
//! Judges, from the strongest to the weakest:
//! - weights: what the integers stand for is far from the checkpoint's in most layers: another network;
//! - outputs: the container's are far from the checkpoint's and near those that it has after one change, evaluated in
//!   double precision ([`hypotheses`]);
//! - examples: container and checkpoint disagree on these and agree on the same in another unit, or the container cuts
//!   off what it was not calibrated for ([`examples`], [`calibration`]);
//! - labels: both agree, and the labels are met far more often after one change ([`labels`]).
//!
//! A mistake is what one of them decides; what they only suggest is a remark. A few examples decide nothing: on them a
//! change may explain what rounding leaves by luck.

mod biases;
mod calibration;
mod dead;
mod examples;
mod hypotheses;
mod labels;

use super::chance::signs;
use super::{Evidence, Found, Mistake, MistakeKind};
use crate::graph::{Graph, Sample};
use crate::program::Program;
use crate::verify::accuracy::Accuracy;
use crate::verify::kinship::Kinship;
use hypotheses::Hypothesis;

/// A change explains a disagreement if it takes away more than this share of the mean square error. What rounding
/// leaves is noise, of which no change of a fact takes away much.
const EXPLAINED: f64 = 0.75;
/// And it has to come near: decibels of what varies from example to example.
const NEAR_DB: f64 = 12.0;
/// A later change, being less usual, must be better by this to win.
const TIE: f64 = 0.7;
/// Outputs nearer than this to the truth leave nothing to explain.
const CLOSE_DB: f64 = 45.0;
/// Outputs farther than this are not merely quantised.
const FAR_DB: f64 = 20.0;
/// Examples on which changes are tried, evenly taken.
const TRIED: usize = 24;
/// Fewer examples decide nothing.
const LEAST_EXAMPLES: usize = 16;
/// Examples have to come nearer one by one, by this many standard deviations of a fair coin: 14 of 16, 20 of 24.
const DECISIVE_SIGNS: f64 = 3.0;

/// The checkpoint read in another way.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Which mistake it would be to have read it as it was.
    pub kind: MistakeKind,
    /// The way, in words: "with epsilon 0.001".
    pub text: String,
    /// What it gives.
    pub graph: Graph,
}

/// What is looked at for mistakes.
pub(in crate::verify) struct Suspects<'a> {
    /// The checkpoint.
    pub graph: &'a Graph,
    /// What it has in common with the container.
    pub kinship: Kinship,
    /// All examples.
    pub samples: &'a [Sample],
    /// A class an example.
    pub labels: Option<Vec<usize>>,
    /// Other ways to read the checkpoint.
    pub readings: Vec<Reading>,
    /// Whether the container's integers were given by a file that was quantised elsewhere: its ranges are its own.
    pub is_given: bool,
}

/// What was measured.
#[derive(Clone, Copy)]
pub(in crate::verify) struct Measured<'m> {
    /// The container's network, its values numbered as the checkpoint's graph has them.
    pub program: &'m Program,
    /// (examples, outputs) of the container.
    pub integer: &'m [f64],
    /// (examples, outputs) of the checkpoint.
    pub truth: &'m [f64],
    pub accuracy: &'m Accuracy,
}

impl Suspects<'_> {
    /// Looks for mistakes.
    pub fn find(&self, measured: Measured<'_>) -> Found {
        let mut found = Found::nothing();
        found.remarks.extend(dead::find(self.graph, measured.program));
        let (others, compared) = self.kinship.other_weights(self.graph);
        let db = measured.accuracy.total.sqnr_db;
        let far = db.filter(|db| *db < FAR_DB);
        let is_far = far.is_some();
        if is_far && 2 * others.len() > compared {
            found.mistakes.push(self.other_weights(&others, compared));
            return found;
        }
        if let Some(mistake) = biases::find(self, measured) {
            found.mistakes.push(mistake);
            return found;
        }
        let are_enough = self.samples.len() >= LEAST_EXAMPLES;
        if are_enough
            && db.is_some_and(|db| db < CLOSE_DB)
            && let Some((hypothesis, before, after)) = self.explained(measured)
        {
            found.mistakes.push(Mistake {
                kind: hypothesis.kind,
                evidence: Evidence::Outputs,
                text: format!(
                    "the container's outputs are far from the checkpoint's (rms error {before:.4}) and come close \
                     ({after:.4}) {}",
                    hypothesis.text
                ),
            });
            return found;
        }
        if is_far && !others.is_empty() {
            found.mistakes.push(self.other_weights(&others, compared));
        } else if !others.is_empty() {
            found.remarks.push(self.other_weights(&others, compared));
        }
        found.remarks.extend(self.other_windows());
        if let Some(db) = far.filter(|_| found.mistakes.is_empty()) {
            let mistake = examples::unit(self, measured).or_else(|| calibration::find(self, measured));
            match mistake {
                Some(mistake) if self.is_given && mistake.kind == MistakeKind::Calibration => {
                    found.remarks.push(mistake);
                }
                Some(mistake) if are_enough => found.mistakes.push(mistake),
                Some(mistake) => found.remarks.push(mistake),
                None => found.remarks.push(nothing_explains(db)),
            }
        }
        if found.mistakes.is_empty() {
            labels::find(self, measured, &mut found);
        }
        found
    }

    /// The change that explains the outputs, and the rms errors before and after it.
    fn explained(&self, measured: Measured<'_>) -> Option<(Hypothesis<'_>, f64, f64)> {
        let (indices, outputs) = (self.tried(), self.outputs(measured));
        let rows = |values: &[f64]| -> Vec<f64> {
            indices.iter().flat_map(|index| values[index * outputs..][..outputs].to_vec()).collect()
        };
        let (wanted, given) = (rows(measured.integer), rows(measured.truth));
        let before = square_error(&given, &wanted);
        let mut best: Option<(Hypothesis<'_>, f64)> = None;
        for hypothesis in hypotheses::all(self) {
            let samples = indices.iter().map(|index| &self.samples[*index]);
            let Some(values) = hypothesis.outputs(samples) else { continue };
            let error = square_error(&values, &wanted);
            let is_near = decibels(&values, &wanted, outputs) >= NEAR_DB;
            let each = |values: &[f64]| -> Vec<f64> {
                values
                    .chunks(outputs)
                    .zip(wanted.chunks(outputs))
                    .map(|(row, wanted)| square_error(row, wanted))
                    .collect()
            };
            if is_near
                && signs(&each(&given), &each(&values)) >= DECISIVE_SIGNS
                && error < before * (1.0 - EXPLAINED)
                && best.as_ref().is_none_or(|(_, least)| error < least * TIE)
            {
                best = Some((hypothesis, error));
            }
        }
        best.map(|(hypothesis, error)| (hypothesis, before.sqrt(), error.sqrt()))
    }

    fn outputs(&self, measured: Measured<'_>) -> usize {
        measured.truth.len() / self.samples.len().max(1)
    }

    /// The examples on which changes are tried.
    fn tried(&self) -> Vec<usize> {
        evenly(self.samples.len(), TRIED)
    }

    fn other_weights(&self, others: &[usize], compared: usize) -> Mistake {
        let names: Vec<String> =
            others.iter().take(3).map(|node| format!("`{}`", self.graph.nodes[*node].name)).collect();
        let more = if others.len() > 3 { ", …" } else { "" };
        let text = format!(
            "the container's weights are not the checkpoint's in {} of {compared} layers ({}{more}): it was made from \
             another network, or another training of it; give the one that it was made from",
            others.len(),
            names.join(", ")
        );
        Mistake { kind: MistakeKind::OtherWeights, evidence: Evidence::Tensors, text }
    }

    /// Windows that lie otherwise, where the outputs do not decide.
    fn other_windows(&self) -> Option<Mistake> {
        (!self.kinship.windows.is_empty()).then(|| {
            let text = format!("{}; the outputs do not show it", hypotheses::windows_in_words(self));
            Mistake { kind: MistakeKind::Padding, evidence: Evidence::Description, text }
        })
    }
}

fn nothing_explains(db: f64) -> Mistake {
    let text = format!(
        "the container is far from the checkpoint ({db:.1} dB), its weights are the checkpoint's, and no single change \
         explains it: quantise again with examples like these, or with more bits"
    );
    Mistake { kind: MistakeKind::OtherFact, evidence: Evidence::Outputs, text }
}

/// At most `most` of so many, evenly taken.
fn evenly(count: usize, most: usize) -> Vec<usize> {
    (0..count).step_by(count.div_ceil(most).max(1)).collect()
}

fn square_error(values: &[f64], truth: &[f64]) -> f64 {
    let sum: f64 = values.iter().zip(truth).map(|(value, truth)| (value - truth).powi(2)).sum();
    sum / truth.len().max(1) as f64
}

/// Signal to noise of what varies from example to example: outputs that are the same for all agree with anything.
fn decibels(values: &[f64], truth: &[f64], outputs: usize) -> f64 {
    let rows = (truth.len() / outputs.max(1)).max(1);
    let mean = |output: usize| truth.iter().skip(output).step_by(outputs).sum::<f64>() / rows as f64;
    let means: Vec<f64> = (0..outputs).map(mean).collect();
    let signal = truth.iter().zip(means.iter().cycle()).map(|(truth, mean)| (truth - mean).powi(2)).sum::<f64>();
    let noise = square_error(values, truth) * truth.len() as f64;
    if noise > 0.0 { 10.0 * libm::log10(signal / noise) } else { f64::INFINITY }
}
