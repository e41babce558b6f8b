//! Measures of predictions.

use serde::Serialize;

/// How many of so many, with the interval that a share of another sample would likely lie in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Agreement {
    /// How many agree.
    pub equal: usize,
    /// Of how many.
    pub count: usize,
    /// Lower end of the 95 % Wilson interval of the share.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Agreement {
    /// With its interval.
    #[must_use]
    pub fn new(equal: usize, count: usize) -> Self {
        let (low, high) = wilson(equal, count);
        Self { equal, count, low, high }
    }

    /// The share; 1 of nothing.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.count == 0 { 1.0 } else { self.equal as f64 / self.count as f64 }
    }
}

/// The 95 % interval of Wilson's score for a share; (0, 1) of nothing.
#[must_use]
pub fn wilson(equal: usize, count: usize) -> (f64, f64) {
    if count == 0 {
        return (0.0, 1.0);
    }
    // The 97.5th percentile of the normal distribution.
    let z = 1.959_963_984_540_054;
    let (n, p) = (count as f64, equal as f64 / count as f64);
    let centre = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    (((centre - half) / scale).max(0.0), ((centre + half) / scale).min(1.0))
}

/// The mean of −ln of the probability that logits give to the right class; one logit is that of class 1 of two.
#[must_use]
pub fn log_loss(logits: &[Vec<f64>], classes: &[usize]) -> f64 {
    let softplus = |x: f64| x.max(0.0) + libm::log1p(libm::exp(-x.abs()));
    let loss = |(logits, class): (&Vec<f64>, &usize)| match logits.as_slice() {
        [logit] => softplus(if *class == 1 { -logit } else { *logit }),
        logits => {
            let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logits.iter().map(|logit| libm::exp(logit - largest)).sum();
            libm::log(sum) + largest - logits.get(*class).copied().unwrap_or(f64::NAN)
        }
    };
    logits.iter().zip(classes).map(loss).sum::<f64>() / logits.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        // Newcombe (1998), table I: 81 of 263, and 0 of 20.
        let (low, high) = wilson(81, 263);
        assert!((low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5, "{low} {high}");
        let (low, high) = wilson(0, 20);
        assert!(low == 0.0 && (high - 0.1611).abs() < 5e-5, "{high}");
    }

    #[test]
    fn a_logit_of_two_classes_is_two_logits() {
        for logit in [-30.0, -1.0, 0.0, 2.5, 800.0] {
            for class in [0, 1] {
                let one = log_loss(&[vec![logit]], &[class]);
                let two = log_loss(&[vec![0.0, logit]], &[class]);
                assert!((one - two).abs() < 1e-12, "{logit} {class}: {one} {two}");
            }
        }
    }
}
