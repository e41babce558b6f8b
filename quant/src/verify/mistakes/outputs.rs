//! Outputs against the truth: which single change brings them close?
//!
//! The truth is the framework's outputs or the checkpoint's where there are any. Without a disagreement there, model
//! and checkpoint may share one wrong description, which only the positions' scores can tell.

use super::hypotheses::{Hypothesis, all};
use super::{Case, Evidence, Mistake, MistakeKind, kings};
use crate::float::{Net, example};
use crate::positions::Position;
use crate::verify::VerifyError;
use crate::verify::comparison::evaluate_all;

/// Below this signal to noise the outputs are not merely quantised.
const FAR_SQNR_DB: f64 = 20.0;
/// A change explains a disagreement if it takes away more than this share of the mean square error. What rounding
/// leaves is noise, of which no change of a fact takes away much.
const EXPLAINED: f64 = 0.75;
/// Errors this close to each other decide nothing.
const TIE: f64 = 0.98;
/// Positions that are tried against the truth, evenly taken.
const SAMPLE: usize = 512;

/// Looks for a change that explains the outputs.
pub fn find(case: &Case<'_>, known: &[Mistake]) -> Result<Vec<Mistake>, VerifyError> {
    let (indices, positions) = sample(case.positions, SAMPLE);
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    let model = case.net.to_reals();
    if let Some(truth) = truth(case, &indices, &positions)? {
        let current = squared_error(&outputs(&model, &positions)?, &truth);
        let signal = squared_error(&vec![0.0; truth.len()], &truth);
        let mut best = best(&model, &positions, &|outputs| squared_error(outputs, &truth))?;
        let explained = |error: f64| error < current * (1.0 - EXPLAINED);
        if current > 0.0
            && !best.as_ref().is_some_and(|(_, error)| explained(*error))
            && let Some(hypothesis) = kings::recover(&model, &positions, &truth)?
        {
            let error = squared_error(&outputs(&hypothesis.net, &positions)?, &truth);
            best = Some((hypothesis, error));
        }
        if let Some((hypothesis, error)) = best.filter(|(_, error)| explained(*error)) {
            return Ok(vec![Mistake {
                kind: hypothesis.kind,
                evidence: Evidence::Outputs,
                text: format!(
                    "the file's outputs are far from {} (rms error {:.4}) and would come close ({:.4}) with {}",
                    truth_words(case),
                    current.sqrt(),
                    error.sqrt(),
                    hypothesis.text
                ),
            }]);
        }
        let far = current > 0.0 && 10.0 * libm::log10(signal / current) < FAR_SQNR_DB;
        if far && known.is_empty() {
            return Ok(vec![Mistake {
                kind: MistakeKind::OtherWeights,
                evidence: Evidence::Outputs,
                text: format!(
                    "the file's outputs are far from {} (rms error {:.4}), and no single change of the description \
                     explains it; do they \
                     belong together?",
                    truth_words(case),
                    current.sqrt()
                ),
            }]);
        }
    }
    Ok(Vec::new())
}

/// What the outputs are held against, in words.
fn truth_words(case: &Case<'_>) -> &'static str {
    if case.reference.is_some() { "the reference's" } else { "the checkpoint's under the description given now" }
}

/// At most `most` positions, evenly taken, with their indices.
pub(super) fn sample(positions: &[Position], most: usize) -> (Vec<usize>, Vec<&Position>) {
    let stride = positions.len().div_ceil(most).max(1);
    let indices: Vec<usize> = (0..positions.len()).step_by(stride).collect();
    let taken = indices.iter().filter_map(|index| positions.get(*index)).collect();
    (indices, taken)
}

/// What the outputs should be on the sample.
fn truth(case: &Case<'_>, indices: &[usize], positions: &[&Position]) -> Result<Option<Vec<f64>>, VerifyError> {
    let count = case.net.arch.output_count();
    if let Some(reference) = case.reference {
        let scale = f64::from(case.net.arch.output.scale);
        let rows = indices.iter().filter_map(|index| reference.outputs.get(index * count..(index + 1) * count));
        return Ok(Some(rows.flatten().map(|output| output * scale).collect()));
    }
    case.checkpoint.map(|checkpoint| outputs(&checkpoint.net.to_f64(), positions)).transpose()
}

pub(super) fn outputs(net: &Net<f64>, positions: &[&Position]) -> Result<Vec<f64>, VerifyError> {
    let mut examples = Vec::with_capacity(positions.len());
    for (index, position) in positions.iter().enumerate() {
        examples.push(example(&net.arch, position).map_err(|error| VerifyError::Example { index, error })?);
    }
    evaluate_all(net, &examples)
}

fn squared_error(values: &[f64], truth: &[f64]) -> f64 {
    let sum: f64 = values.iter().zip(truth).map(|(value, truth)| (value - truth).powi(2)).sum();
    sum / truth.len().max(1) as f64
}

/// The hypothesis with the least error, and that error; a later one, being less usual, must be better by `TIE` to win.
fn best(
    model: &Net<f64>,
    positions: &[&Position],
    error: &dyn Fn(&[f64]) -> f64,
) -> Result<Option<(Hypothesis, f64)>, VerifyError> {
    let mut best: Option<(Hypothesis, f64)> = None;
    for hypothesis in all(model) {
        let found = error(&outputs(&hypothesis.net, positions)?);
        if best.as_ref().is_none_or(|(_, least)| found < *least * TIE) {
            best = Some((hypothesis, found));
        }
    }
    Ok(best)
}
