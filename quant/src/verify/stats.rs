//! Statistics of errors, in the order of the examples and in f64, so that every host prints the same digits.

use serde::Serialize;

/// How far values are from their truth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorStats {
    /// Number of values.
    pub count: usize,
    /// Mean of value minus truth: the bias.
    pub mean: f64,
    /// Population standard deviation of value minus truth.
    pub sd: f64,
    /// Largest magnitude.
    pub max: f64,
    /// The magnitude that 99.9 % do not exceed (nearest rank).
    pub p99_9: f64,
    /// Root of the mean square.
    pub rms: f64,
    /// Root of the mean square of the truth.
    pub truth_rms: f64,
    /// Signal to quantisation noise in decibels; `None` without noise or without signal.
    pub sqnr_db: Option<f64>,
    /// Cosine between values and truth.
    pub cosine: f64,
}

/// Compares values with their truth, pair by pair.
pub fn compare(values: &[f64], truth: &[f64]) -> ErrorStats {
    let errors: Vec<f64> = values.iter().zip(truth).map(|(value, truth)| value - truth).collect();
    let count = errors.len();
    let n = count.max(1) as f64;
    let mean = errors.iter().sum::<f64>() / n;
    let sd = (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / n).sqrt();
    let noise = errors.iter().map(|error| error * error).sum::<f64>();
    let signal = truth.iter().map(|truth| truth * truth).sum::<f64>();
    let energy = values.iter().map(|value| value * value).sum::<f64>();
    let dot = values.iter().zip(truth).map(|(value, truth)| value * truth).sum::<f64>();
    let mut magnitudes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    let max = magnitudes.iter().copied().fold(0.0, f64::max);
    let rank = (count as f64 * 0.999).ceil() as usize;
    ErrorStats {
        count,
        mean,
        sd,
        max,
        // Of no values all statistics are 0.
        p99_9: if count == 0 { 0.0 } else { *magnitudes.select_nth_unstable_by(rank - 1, f64::total_cmp).1 },
        rms: (noise / n).sqrt(),
        truth_rms: (signal / n).sqrt(),
        sqnr_db: (noise > 0.0 && signal > 0.0).then(|| 10.0 * libm::log10(signal / noise)),
        cosine: if signal > 0.0 && energy > 0.0 { dot / (signal.sqrt() * energy.sqrt()) } else { 1.0 },
    }
}

/// Bins of every histogram in a report.
pub const HISTOGRAM_BINS: usize = 48;

/// A histogram over equal bins.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Histogram {
    /// Left edge of the first bin.
    pub low: f64,
    /// Width of a bin.
    pub width: f64,
    /// Values in each.
    pub counts: Vec<usize>,
}

/// Counts values in `bins` equal bins between their least and their greatest.
pub fn histogram(values: impl Iterator<Item = f64> + Clone, bins: usize) -> Histogram {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.clone().fold(f64::NEG_INFINITY, f64::max);
    let mut counts = vec![0; bins];
    if !(low.is_finite() && high.is_finite()) || bins == 0 {
        return Histogram { low: 0.0, width: 1.0, counts };
    }
    let width = if high > low { (high - low) / bins as f64 } else { 1.0 };
    for value in values {
        let bin = (((value - low) / width) as usize).min(bins - 1);
        if let Some(count) = counts.get_mut(bin) {
            *count += 1;
        }
    }
    Histogram { low, width, counts }
}

/// Expected score of a centipawn value, on the logistic curve that the networks were trained with.
pub fn win_probability(centipawns: f64, scale: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-centipawns / scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let stats = compare(&[1.0, 2.0, 5.0], &[1.0, 3.0, 3.0]);
        assert_eq!((stats.count, stats.max, stats.p99_9), (3, 2.0, 2.0));
        assert!((stats.mean - 1.0 / 3.0).abs() < 1e-15);
        assert!((stats.sd - (14.0f64 / 9.0).sqrt()).abs() < 1e-15);
        assert!((stats.sqnr_db.unwrap() - 10.0 * (19.0f64 / 5.0).log10()).abs() < 1e-12);
        assert_eq!(compare(&[2.0], &[2.0]).sqnr_db, None);
    }

    #[test]
    fn every_value_is_counted_once() {
        let histogram = histogram([-1.0, 0.0, 0.5, 1.0].into_iter(), 4);
        assert_eq!(histogram.counts, [1, 0, 1, 2]);
        assert_eq!(self::histogram([3.0, 3.0].into_iter(), 5).counts.iter().sum::<usize>(), 2);
    }
}
