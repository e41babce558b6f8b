//! Biases that were lost on the way: outputs that differ by what is the same for every example.
//!
//! What rounding adds is noise, and its mean is small beside a bias, which the quantiser saw to; a bias may be smaller
//! than the noise and is found all the same, since it stays when the noise is averaged away.

use super::hypotheses::lost_biases;
use super::{Evidence, LEAST_EXAMPLES, Measured, Mistake, MistakeKind, Suspects, evenly};

/// Examples over which means are taken, evenly taken.
const AVERAGED: usize = 200;
/// The means have to be this many of their standard errors, as a root mean square over the outputs.
const DECISIVE_ERRORS: f64 = 3.0;
/// The bias has to take away this share of their mean square. Of the right biases rounding leaves up to a quarter, and
/// where none was lost a change only adds.
const TAKEN_AWAY: f64 = 0.6;
/// The same of biases that the container has and the checkpoint has not. What the quantiser adds to a layer without
/// any, so that rounding leaves no mean, can take more than that away, where it was wrong for these examples.
const TAKEN_AWAY_BY_OWN: f64 = 0.9;

/// The layer whose bias is missing on one side, if that explains the mean errors.
pub(super) fn find(suspects: &Suspects<'_>, measured: Measured<'_>) -> Option<Mistake> {
    let (indices, outputs) = (evenly(suspects.samples.len(), AVERAGED), suspects.outputs(measured));
    if indices.len() < LEAST_EXAMPLES {
        return None;
    }
    let rows = |values: &[f64]| -> Vec<f64> {
        indices.iter().flat_map(|index| values[index * outputs..][..outputs].iter().copied()).collect()
    };
    let (wanted, given) = (rows(measured.integer), rows(measured.truth));
    let before = Means::of(&given, &wanted, outputs);
    if before.errors < DECISIVE_ERRORS {
        return None;
    }
    let mut best: Option<(String, f64)> = None;
    for (hypothesis, is_own) in &lost_biases(suspects) {
        let samples = indices.iter().map(|index| &suspects.samples[*index]);
        let Some(values) = hypothesis.outputs(samples) else { continue };
        let after = Means::of(&values, &wanted, outputs).rms;
        let taken_away = if *is_own { TAKEN_AWAY_BY_OWN } else { TAKEN_AWAY };
        let explains = after * after < before.rms * before.rms * (1.0 - taken_away);
        if explains && best.as_ref().is_none_or(|(_, least)| after < *least * super::TIE) {
            best = Some((hypothesis.text.clone(), after));
        }
    }
    let (text, after) = best?;
    Some(Mistake {
        kind: MistakeKind::LostBias,
        evidence: Evidence::Outputs,
        text: format!(
            "container and checkpoint differ by what is the same for every example (mean errors of {:.4}, {:.0} \
             standard errors), and no longer ({after:.4}) {text}",
            before.rms, before.errors
        ),
    })
}

/// Mean errors of the outputs.
struct Means {
    /// Root of their mean square.
    rms: f64,
    /// The same in standard errors of each.
    errors: f64,
}

impl Means {
    fn of(values: &[f64], truth: &[f64], outputs: usize) -> Self {
        let count = (truth.len() / outputs.max(1)).max(1) as f64;
        let (mut squares, mut in_errors) = (0.0, 0.0);
        for output in 0..outputs {
            let errors = || {
                let pairs = values.iter().zip(truth).skip(output).step_by(outputs);
                pairs.map(|(value, truth)| value - truth)
            };
            let mean = errors().sum::<f64>() / count;
            let variance = errors().map(|error| (error - mean).powi(2)).sum::<f64>() / count;
            squares += mean * mean;
            // Outputs that agree to the last digit have no noise to hold a mean against.
            in_errors += if mean == 0.0 { 0.0 } else { (mean * mean * count / variance.max(1e-30)).min(1e6) };
        }
        let outputs = outputs.max(1) as f64;
        Self { rms: (squares / outputs).sqrt(), errors: (in_errors / outputs).sqrt() }
    }
}
