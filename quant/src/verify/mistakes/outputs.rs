//! Outputs against the truth: which single change brings them close?
//!
//! The truth is the framework's outputs or the checkpoint's where there are any. Without a disagreement there, model
//! and checkpoint may share one wrong description, which only the positions' scores can tell.
//!
//! Outputs are rounded, and on a few positions a change may come near the truth by luck. So a change is named only if
//! it brings positions nearer one by one, far more often than a coin would, and outputs are called another network's
//! only if they are farther than what rounding does. A checkpoint whose description and tensors are the file's is the
//! file's, whatever its outputs: then there is nothing to look for.

use super::chance::{DECISIVE_ERRORS, mean, rounding, signs};
use super::hypotheses::{Hypothesis, all};
use super::{Case, Evidence, Mistake, MistakeKind, kings};
use crate::float::{Net, examples};
use crate::parallel;
use crate::positions::Position;
use crate::verify::VerifyError;
use crate::verify::comparison::evaluate_all;

/// Below this signal to noise the outputs are not merely quantised.
const FAR_SQNR_DB: f64 = 20.0;
/// Nor are they within this many standard deviations of what rounding does.
const FAR_ROUNDING: f64 = 5.0;
/// A change explains a disagreement if it takes away more than this share of the mean square error. What rounding
/// leaves is noise, of which no change of a fact takes away much.
const EXPLAINED: f64 = 0.75;
/// Errors this close to each other decide nothing.
const TIE: f64 = 0.98;
/// Positions that are tried against the truth, evenly taken.
const SAMPLE: usize = 512;

/// Looks for a change that explains the outputs. `known`: what stronger evidence found.
///
/// # Errors
/// [`VerifyError::Example`] if a position does not fit the network.
pub fn find(case: &Case<'_>, known: &[Mistake]) -> Result<Vec<Mistake>, VerifyError> {
    let (indices, positions) = sample(case.positions, SAMPLE);
    if positions.is_empty() || case.reference.is_none() && known.is_empty() {
        return Ok(Vec::new());
    }
    let Some(truth) = truth(case, &indices, &positions)? else { return Ok(Vec::new()) };
    let model = case.net.to_reals();
    let before = squared_errors(&outputs(&model, &positions)?, &truth, positions.len());
    let current = mean(&before);
    let mistake = |kind, text| Ok(vec![Mistake { kind, evidence: Evidence::Outputs, text }]);
    if let Some((hypothesis, error)) = explanation(&model, &positions, &truth, &before)? {
        let text = format!(
            "the file's outputs are far from {} (rms error {:.4}) and would come close ({:.4}) with {}",
            truth_words(case),
            current.sqrt(),
            error.sqrt(),
            hypothesis.text
        );
        return mistake(hypothesis.kind, text);
    }
    let signal = mean(&squared_errors(&vec![0.0; truth.len()], &truth, positions.len()));
    let is_far = current > 0.0 && 10.0 * libm::log10(signal / current) < FAR_SQNR_DB;
    if known.is_empty()
        && is_far
        && current > FAR_ROUNDING.powi(2) * rounding(case.net, |net| outputs(net, &positions))?
    {
        let few = match positions.len() {
            count if count as f64 >= DECISIVE_ERRORS.powi(2) => "",
            _ => ", and so few positions cannot name one: give a hundred or more",
        };
        let text = format!(
            "the file's outputs are far from {} (rms error {:.4}), and no single change of the description explains \
             it{few}; do they belong together?",
            truth_words(case),
            current.sqrt()
        );
        return mistake(MistakeKind::OtherWeights, text);
    }
    Ok(Vec::new())
}

/// The change that takes away most of the squared errors, and what it leaves of their mean.
fn explanation(
    model: &Net<f64>,
    positions: &[&Position],
    truth: &[f64],
    before: &[f64],
) -> Result<Option<(Hypothesis, f64)>, VerifyError> {
    let explains = |before: &[f64], after: &[f64]| {
        mean(after) < mean(before) * (1.0 - EXPLAINED) && signs(before, after) >= DECISIVE_ERRORS
    };
    let errors =
        |net: &Net<f64>| Ok::<_, VerifyError>(squared_errors(&outputs(net, positions)?, truth, positions.len()));
    // A later one, being less usual, must be better by `TIE` to win.
    let mut best: Option<(Hypothesis, f64)> = None;
    let changes = all(model);
    let tried = parallel::map(changes.len(), |index| errors(&changes[index].applied(model)));
    for (hypothesis, after) in changes.into_iter().zip(tried) {
        let after = after?;
        let found = mean(&after);
        if explains(before, &after) && best.as_ref().is_none_or(|(_, least)| found < *least * TIE) {
            best = Some((hypothesis, found));
        }
    }
    if best.is_some() || mean(before) == 0.0 {
        return Ok(best);
    }
    // A table has many squares: one that was fitted to some positions has to explain the others.
    let (fitted, held): (Vec<usize>, Vec<usize>) = (0..positions.len()).partition(|index| index % 2 == 0);
    let rows = |indices: &[usize]| -> (Vec<&Position>, Vec<f64>) {
        let outputs = truth.len() / positions.len().max(1);
        let truth = indices.iter().flat_map(|index| truth[index * outputs..][..outputs].iter().copied());
        (indices.iter().map(|index| positions[*index]).collect(), truth.collect())
    };
    let (fit_positions, fit_truth) = rows(&fitted);
    let Some(candidate) = kings::recover(model, &fit_positions, &fit_truth)? else { return Ok(None) };
    let after = errors(&candidate.applied(model))?;
    let of = |errors: &[f64]| -> Vec<f64> { held.iter().map(|index| errors[*index]).collect() };
    if !explains(&of(before), &of(&after)) {
        return Ok(None);
    }
    let Some(hypothesis) = kings::recover(model, positions, truth)? else { return Ok(None) };
    let error = mean(&errors(&hypothesis.applied(model))?);
    Ok(Some((hypothesis, error)))
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
    let examples = examples(&net.arch, positions);
    evaluate_all(net, &examples.map_err(|(index, error)| VerifyError::Example { index, error })?)
}

/// The mean squared error of each position.
fn squared_errors(values: &[f64], truth: &[f64], positions: usize) -> Vec<f64> {
    let outputs = (truth.len() / positions.max(1)).max(1);
    let rows = values.chunks(outputs).zip(truth.chunks(outputs));
    rows.map(|(values, truth)| {
        values.iter().zip(truth).map(|(value, truth)| (value - truth).powi(2)).sum::<f64>() / outputs as f64
    })
    .collect()
}
