//! What chance does by itself: a verdict needs more than that, however few the examples.

use crate::arch::Rounding;
use crate::float::{Affine, Net};
use crate::quantised::QuantNet;
use crate::verify::VerifyError;
use tamis_runtime::testing::SplitMix;

/// An event of chance is not this many of its standard deviations from what is expected: one in thirty thousand, and
/// some thirty changes are tried.
pub const DECISIVE_ERRORS: f64 = 4.0;
/// Blocks whose means are held against each other.
const BLOCKS: usize = 16;
/// Outputs that rounding is tried on, at least: of few positions it is tried more often.
const TRIED: usize = 64;
/// And as often at least.
const LEAST_TRIALS: usize = 4;

/// By how many standard deviations of a fair coin examples become better more often than worse: those that a change
/// leaves alone say nothing. Sixteen that all become better make four. Squared errors, an example each.
pub fn signs(before: &[f64], after: &[f64]) -> f64 {
    let (mut better, mut worse) = (0usize, 0usize);
    for (before, after) in before.iter().zip(after) {
        better += usize::from(after < before);
        worse += usize::from(after > before);
    }
    (better as f64 - worse as f64) / ((better + worse).max(1) as f64).sqrt()
}

/// A mean in its standard errors, which follow from the means of blocks of neighbours: positions of one game are alike,
/// so that a hundred of them are few.
pub fn block_errors(values: &[f64]) -> f64 {
    let len = values.len().div_ceil(BLOCKS).max(1);
    let means: Vec<f64> = values.chunks(len).map(mean).collect();
    if means.len() < 2 {
        return 0.0;
    }
    let of_all = mean(&means);
    let squares = means.iter().map(|mean| (mean - of_all).powi(2)).sum::<f64>();
    let error = (squares / (means.len() * (means.len() - 1)) as f64).sqrt();
    if error > 0.0 { of_all / error } else { 0.0 }
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The mean square by which outputs differ from those of the reals that the file's weights may have been rounded from.
/// Such reals are drawn, by a generator of numbers that always gives the same. outputs: what a network gives.
///
/// # Errors
/// Those of `outputs`.
pub fn rounding<F>(net: &QuantNet, outputs: F) -> Result<f64, VerifyError>
where
    F: Fn(&Net<f64>) -> Result<Vec<f64>, VerifyError>,
{
    let model = net.to_reals();
    let own = outputs(&model)?;
    let trials = TRIED.div_ceil(own.len().max(1)).max(LEAST_TRIALS);
    let (mut draws, mut squares) = (SplitMix(0), 0.0);
    for _ in 0..trials {
        let other = outputs(&drawn(net, &model, &mut draws))?;
        squares += own.iter().zip(&other).map(|(own, other)| (own - other).powi(2)).sum::<f64>();
    }
    Ok(squares / (trials * own.len().max(1)) as f64)
}

fn drawn(net: &QuantNet, model: &Net<f64>, draws: &mut SplitMix) -> Net<f64> {
    let mut other = model.clone();
    let layers = other.layers.iter_mut().chain(&mut other.psqt).zip(net.layers.iter().chain(&net.psqt));
    for (layer, file) in layers {
        let Affine { weights, bias, .. } = layer;
        for (values, file) in [(&mut weights.values, &file.weights), (bias, &file.bias)] {
            // A tensor that the description does not have is no rounding.
            let (Some(scale), Some(_)) = (file.scale, net.arch.tensor(&file.name)) else { continue };
            let truncates = net.arch.tensor(&file.name).is_some_and(|spec| spec.rounding == Rounding::Truncate);
            for value in values {
                // From −1/2 to 1/2 of a unit.
                let step = fraction(draws) - 0.5;
                let lost = match *value {
                    _ if !truncates => step,
                    0.0 => 2.0 * step,
                    value => (step + 0.5) * value.signum(),
                };
                *value += lost / f64::from(scale);
            }
        }
    }
    other
}

/// A number from 0 to 1.
fn fraction(random: &mut SplitMix) -> f64 {
    (random.draw() >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_examples_decide_nothing() {
        let (before, after) = ([1.0; 16], [0.1; 16]);
        assert!(signs(&before[..15], &after[..15]) < DECISIVE_ERRORS);
        assert!(signs(&before, &after) >= DECISIVE_ERRORS);
        assert_eq!(signs(&before, &before), 0.0);
        assert!(signs(&after, &before) < 0.0);
    }

    /// Sixty-four values that say the same sixteen by sixteen are four values.
    #[test]
    fn neighbours_that_are_alike_count_once() {
        let alike: Vec<f64> = (0..64).map(|index| f64::from(u8::from(index / 16 % 2 == 0))).collect();
        let apart: Vec<f64> = (0..64).map(|index| f64::from(u8::from(index % 2 == 0))).collect();
        assert!(block_errors(&alike) < 4.0 && block_errors(&apart) == 0.0);
        assert_eq!(block_errors(&[1.0]), 0.0);
    }

    #[test]
    fn draws_fill_their_range() {
        let mut draws = SplitMix(0);
        let drawn: Vec<f64> = (0..1000).map(|_| fraction(&mut draws)).collect();
        assert!(drawn.iter().all(|x| (0.0..1.0).contains(x)) && (mean(&drawn) - 0.5).abs() < 0.03);
    }
}
