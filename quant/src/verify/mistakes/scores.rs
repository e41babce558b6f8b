//! The positions' own scores as the judge, where file and checkpoint agree: they may share one wrong description.
//!
//! Whose scores they are is not known, and in whose unit. So a factor between a network and the scores is no evidence:
//! outputs and scores are compared as expected scores, under the factor that fits best, the network's own and that of
//! each change. A network fits scores best under its true description. By how much was measured on eight engines'
//! networks, with scores of two origins, on 500 and on 2,000 positions: the best change of a right description takes
//! away 4.7 % of the loss at most, at 1.8 standard errors, and 2.4 % where there are 3.8 of them; the change of a wrong
//! one back takes away 21 % to 97 % at 6 to 38, but where the fact hardly matters to a network, which scores then
//! cannot decide.

use super::chance::{DECISIVE_ERRORS, block_errors, mean};
use super::hypotheses::{Hypothesis, all};
use super::outputs::{outputs, sample};
use super::{Case, Evidence, Mistake, MistakeKind};
use crate::parallel;
use crate::positions::Position;
use crate::quantised::QuantNet;
use crate::verify::VerifyError;
use crate::verify::stats::win_probability;

/// A change is a mistake's mending if it takes away this share of the loss,
const DECISIVE: f64 = 0.1;
/// if the mean difference of the positions' losses is as many of its standard errors as chance does not make, and if
/// there are this many positions: fewer are of a handful of games;
const LEAST_DECISIVE: usize = 400;
/// it is worth a remark from this share
const NOTICED: f64 = 0.02;
/// and this many on.
const NOTICED_ERRORS: f64 = 2.0;
/// A factor is worth a remark beyond this, either way.
const NOTICED_FACTOR: f64 = 1.6;
/// Fewer positions say nothing.
const LEAST_POSITIONS: usize = 100;
/// Positions that are tried.
const SAMPLE: usize = 4096;
/// Factors that are tried are powers of two, this many for each doubling, up to eight times either way.
const STEPS: i32 = 4;

/// What scores decide, and what they only suggest.
#[derive(Debug)]
pub struct Found {
    /// Decided.
    pub mistakes: Vec<Mistake>,
    /// Suggested.
    pub remarks: Vec<Mistake>,
}

impl Found {
    /// Where nothing was looked for.
    pub const fn nothing() -> Self {
        Self { mistakes: Vec::new(), remarks: Vec::new() }
    }
}

/// The factor under which values fit the scores best, and the positions' losses under it.
struct Fit {
    factor: f64,
    losses: Vec<f64>,
}

/// How the best change of a description does beside the description itself, before the judge of scores.
pub struct BestChange {
    /// Which.
    pub kind: MistakeKind,
    /// The change, in words.
    pub text: String,
    /// The share of the loss that it takes away; below zero where every change fits worse.
    pub share: f64,
    /// The same in standard errors of the mean difference of the positions' losses.
    pub errors: f64,
    losses: [f64; 2],
}

/// Looks for a change under which the outputs fit the positions' scores better, if they have any.
///
/// # Errors
/// [`VerifyError::Example`] if a position does not fit the network.
pub fn find(case: &Case<'_>) -> Result<Found, VerifyError> {
    let (_, positions) = sample(case.positions, SAMPLE);
    let mut found = Found::nothing();
    let Some((own, expected)) = own_fit(case.net, &positions)? else { return Ok(found) };
    if let Some(best) = best(case.net, &positions, &own, &expected)? {
        let BestChange { kind, text, share, errors, losses: [before, after] } = best;
        let text = format!(
            "the positions' own scores are fitted better (loss {after:.4}, now {before:.4}, {errors:.0} standard \
             errors) with {text}: file and description may share this mistake",
        );
        let mistake = Mistake { kind, evidence: Evidence::Scores, text };
        if positions.len() >= LEAST_DECISIVE && share >= DECISIVE && errors >= DECISIVE_ERRORS {
            found.mistakes.push(mistake);
        } else if share >= NOTICED && errors >= NOTICED_ERRORS {
            found.remarks.push(mistake);
        }
    }
    if !(1.0 / NOTICED_FACTOR..=NOTICED_FACTOR).contains(&own.factor) {
        let text = format!(
            "the outputs fit the positions' scores best times {:.2}: the scores are another engine's, or a `scale`, \
             QA, QB or the output's is wrong",
            own.factor
        );
        found.remarks.push(Mistake { kind: MistakeKind::Scale, evidence: Evidence::Scores, text });
    }
    Ok(found)
}

/// The change of a description under which a network fits the positions' scores best, if the positions have scores and
/// are enough. How it does is the margin that a right description has before it is called wrong.
///
/// # Errors
/// [`VerifyError::Example`] if a position does not fit the network.
pub fn best_change(net: &QuantNet, positions: &[Position]) -> Result<Option<BestChange>, VerifyError> {
    let (_, positions) = sample(positions, SAMPLE);
    let Some((own, expected)) = own_fit(net, &positions)? else { return Ok(None) };
    best(net, &positions, &own, &expected)
}

/// How the network fits the expected scores, and those; none where positions have none, or are too few.
fn own_fit(net: &QuantNet, positions: &[&Position]) -> Result<Option<(Fit, Vec<f64>)>, VerifyError> {
    let scale = f64::from(net.arch.output.scale);
    let scores: Option<Vec<f64>> = positions.iter().map(|position| position.score.map(f64::from)).collect();
    let usable = |scores: &Vec<f64>| {
        net.arch.output_count() == 1
            && scale > 1.0
            && scores.len() >= LEAST_POSITIONS
            && scores.iter().any(|score| *score != 0.0)
    };
    let Some(scores) = scores.filter(usable) else { return Ok(None) };
    let expected: Vec<f64> = scores.iter().map(|score| win_probability(*score, scale)).collect();
    let own = fit(&outputs(&net.to_reals(), positions)?, &expected, scale);
    Ok(Some((own, expected)))
}

fn best(
    net: &QuantNet,
    positions: &[&Position],
    own: &Fit,
    expected: &[f64],
) -> Result<Option<BestChange>, VerifyError> {
    let (scale, before) = (f64::from(net.arch.output.scale), mean(&own.losses));
    let reals = net.to_reals();
    let changes: Vec<Hypothesis> = all(&reals).into_iter().filter(|change| change.kind != MistakeKind::Scale).collect();
    // A change to each piece of work: pieces of one change's positions are too short for a thread.
    let fits = parallel::map(changes.len(), |index| {
        let fitted = fit(&outputs(&changes[index].applied(&reals), positions)?, expected, scale);
        Ok::<_, VerifyError>((
            mean(&fitted.losses),
            own.losses.iter().zip(&fitted.losses).map(|(a, b)| a - b).collect(),
        ))
    });
    let mut best: Option<BestChange> = None;
    for (Hypothesis { kind, text, .. }, fitted) in changes.into_iter().zip(fits) {
        let (after, gains): (f64, Vec<f64>) = fitted?;
        if best.as_ref().is_none_or(|best| after < best.losses[1]) {
            let (share, errors) = (mean(&gains) / before, block_errors(&gains));
            best = Some(BestChange { kind, text, share, errors, losses: [before, after] });
        }
    }
    Ok(best)
}

fn fit(values: &[f64], expected: &[f64], scale: f64) -> Fit {
    let losses = |factor: f64| -> Vec<f64> {
        let pairs = values.iter().zip(expected);
        pairs.map(|(value, expected)| (win_probability(factor * value, scale) - expected).powi(2)).collect()
    };
    let factors: Vec<f64> =
        (-3 * STEPS..=3 * STEPS).map(|step| libm::exp2(f64::from(step) / f64::from(STEPS))).collect();
    let fits = parallel::map(factors.len(), |index| Fit { factor: factors[index], losses: losses(factors[index]) });
    let better = |a: Fit, b: Fit| if mean(&b.losses) < mean(&a.losses) { b } else { a };
    fits.into_iter().reduce(better).unwrap_or_else(|| unreachable!("there are factors"))
}
