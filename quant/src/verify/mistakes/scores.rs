//! The positions' own scores as the judge, where file and checkpoint agree: they may share one wrong description.
//!
//! Whose scores they are is not known, and in whose unit. So a factor between a network and the scores is no evidence:
//! outputs and scores are compared as expected scores, under the factor that fits best, the network's own and that of
//! each change. A network fits scores best under its true description. By how much was measured on eight engines'
//! networks, with scores of two origins, on 500 and on 2,000 positions: the best change of a right description takes
//! away 4.7 % of the loss at most, at 1.8 standard errors, and 2.4 % where there are 3.8 of them; the change of a wrong
//! one back takes away 21 % to 97 % at 6 to 38, but where the fact hardly matters to a network, which scores then
//! cannot decide.

use super::hypotheses::{Hypothesis, all};
use super::outputs::{outputs, sample};
use super::{Case, Evidence, Mistake, MistakeKind};
use crate::verify::VerifyError;
use crate::verify::stats::win_probability;

/// A change is a mistake's mending if it takes away this share of the loss,
const DECISIVE: f64 = 0.1;
/// and if the mean difference of the positions' losses is this many of its standard errors,
const DECISIVE_ERRORS: f64 = 4.0;
/// and worth a remark from this share
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

/// Looks for a change under which the outputs fit the positions' scores better, if they have any.
///
/// # Errors
/// [`VerifyError::Example`] if a position does not fit the network.
pub fn find(case: &Case<'_>) -> Result<Found, VerifyError> {
    let scale = f64::from(case.net.arch.output.scale);
    let (_, positions) = sample(case.positions, SAMPLE);
    let scores: Option<Vec<f64>> = positions.iter().map(|position| position.score.map(f64::from)).collect();
    let usable = |scores: &Vec<f64>| {
        case.net.arch.output_count() == 1
            && scale > 1.0
            && scores.len() >= LEAST_POSITIONS
            && scores.iter().any(|score| *score != 0.0)
    };
    let Some(scores) = scores.filter(usable) else { return Ok(Found::nothing()) };
    let expected: Vec<f64> = scores.iter().map(|score| win_probability(*score, scale)).collect();
    let model = case.net.to_reals();
    let own = fit(&outputs(&model, &positions)?, &expected, scale);
    let mut found = Found::nothing();
    let mut best: Option<(Hypothesis, Fit)> = None;
    for hypothesis in all(&model).into_iter().filter(|hypothesis| hypothesis.kind != MistakeKind::Scale) {
        let other = fit(&outputs(&hypothesis.net, &positions)?, &expected, scale);
        if best.as_ref().is_none_or(|(_, least)| mean(&other.losses) < mean(&least.losses)) {
            best = Some((hypothesis, other));
        }
    }
    if let Some((hypothesis, other)) = best {
        let (share, errors) = gain(&own, &other);
        let text = format!(
            "the positions' own scores are fitted better (loss {:.4}, now {:.4}, {errors:.0} standard errors) with {}: \
             file and description may share this mistake",
            mean(&other.losses),
            mean(&own.losses),
            hypothesis.text
        );
        let mistake = Mistake { kind: hypothesis.kind, evidence: Evidence::Scores, text };
        if share >= DECISIVE && errors >= DECISIVE_ERRORS {
            found.mistakes.push(mistake);
        } else if share >= NOTICED && errors >= NOTICED_ERRORS {
            found.remarks.push(mistake);
        }
    }
    if !(1.0 / NOTICED_FACTOR..=NOTICED_FACTOR).contains(&own.factor) {
        let text = format!(
            "the outputs fit the positions' scores best times {:.2}: the scores are another engine's, or a `scale`, \
             QA, \
             QB or the output's is wrong",
            own.factor
        );
        found.remarks.push(Mistake { kind: MistakeKind::Scale, evidence: Evidence::Scores, text });
    }
    Ok(found)
}

fn fit(values: &[f64], expected: &[f64], scale: f64) -> Fit {
    let losses = |factor: f64| -> Vec<f64> {
        let pairs = values.iter().zip(expected);
        pairs.map(|(value, expected)| (win_probability(factor * value, scale) - expected).powi(2)).collect()
    };
    let factors = (-3 * STEPS..=3 * STEPS).map(|step| libm::exp2(f64::from(step) / f64::from(STEPS)));
    let fits = factors.map(|factor| Fit { factor, losses: losses(factor) });
    let better = |a: Fit, b: Fit| if mean(&b.losses) < mean(&a.losses) { b } else { a };
    fits.reduce(better).unwrap_or_else(|| unreachable!("there are factors"))
}

/// The share of the loss that another fit takes away, and how many of its standard errors that is.
fn gain(own: &Fit, other: &Fit) -> (f64, f64) {
    let gains: Vec<f64> = own.losses.iter().zip(&other.losses).map(|(own, other)| own - other).collect();
    let gained = mean(&gains);
    let variance = mean(&gains.iter().map(|gain| (gain - gained).powi(2)).collect::<Vec<f64>>());
    let error = (variance / gains.len() as f64).sqrt();
    (gained / mean(&own.losses), gained / error)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
