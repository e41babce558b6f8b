//! From what was observed to the range that integers shall cover.
//!
//! A wide range has coarse steps, a narrow one cuts the largest values off. `MinMax` never cuts; the others try ranges
//! from all of what was seen down to a 128th of it and keep the best:
//!
//! ```text
//! Percentile    the narrowest range that holds so much of the values
//! MeanSquare    the least Σ (x − quantised x)²
//! Entropy       the least Σ p ln(p / q): p the values with what is cut off in the last bins, q the same as the
//!               quantiser sees it
//! ```

use super::histogram::Histogram;
use super::observe::Observed;

/// How a range is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// All that was seen.
    MinMax,
    /// So many per cent of the values, 50 to 100.
    Percentile(f64),
    /// The least mean square error.
    MeanSquare,
    /// The least Kullback–Leibler divergence.
    Entropy,
}

/// What the range is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Steps between the ends of the range; symmetric: between 0 and an end.
    pub steps: u32,
    /// Whether the range is ±its end, whatever the values.
    pub symmetric: bool,
}

/// The ends of a range; 0 is always inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// At most 0.
    pub low: f64,
    /// At least 0.
    pub high: f64,
}

impl Range {
    /// The larger of the two magnitudes.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        self.high.max(-self.low)
    }
}

/// Ranges that are tried: multiples of a 128th of what was seen.
const CANDIDATES: u32 = 128;

impl Observed {
    /// The range of a value for a quantiser.
    ///
    /// More steps than bins have nothing to gain from cutting: their range is all that was seen, whatever the method.
    #[must_use]
    pub fn range(&self, method: Method, target: Target) -> Range {
        let (low, high) = (self.low.min(0.0), self.high.max(0.0));
        let end = high.max(-low);
        let whole = if target.symmetric { Range { low: -end, high: end } } else { Range { low, high } };
        if method == Method::MinMax || target.steps as usize > self.histogram.counts.len() {
            return whole;
        }
        let total = self.histogram.total();
        let candidate = |k: u32| {
            let share = f64::from(k) / f64::from(CANDIDATES);
            Range { low: whole.low * share, high: whole.high * share }
        };
        if let Method::Percentile(percent) = method {
            let wanted = (total as f64 * percent / 100.0).ceil();
            let inside = |range: &Range| {
                let held = self.histogram.bins().filter(|(x, _)| range.low <= *x && *x <= range.high);
                held.map(|(_, count)| count).sum::<u64>() as f64 >= wanted
            };
            return (1..=CANDIDATES).map(candidate).find(inside).unwrap_or(whole);
        }
        let mut best = (f64::INFINITY, whole);
        // From the widest down, so that of equals the widest is kept.
        for range in (1..=CANDIDATES).rev().map(candidate) {
            let cost = match method {
                Method::Entropy => divergence(&self.histogram, range, target),
                _ => square_error(&self.histogram, range, target),
            };
            if cost < best.0 {
                best = (cost, range);
            }
        }
        best.1
    }
}

/// The unit of a quantiser over a range, and the number of its steps below 0.
fn unit(range: Range, target: Target) -> f64 {
    let extent = if target.symmetric { range.high } else { range.high - range.low };
    extent / f64::from(target.steps)
}

fn square_error(histogram: &Histogram, range: Range, target: Target) -> f64 {
    let unit = unit(range, target);
    if !unit.is_normal() {
        return f64::INFINITY;
    }
    let error = |(x, count): (f64, u64)| {
        let back = (x.clamp(range.low, range.high) / unit).round() * unit;
        count as f64 * (x - back).powi(2)
    };
    histogram.bins().map(error).sum()
}

/// Σ p ln(p / q). The bin of an exact 0 would outweigh all others after a ReLU, and costs nothing to represent: it is
/// left out.
fn divergence(histogram: &Histogram, range: Range, target: Target) -> f64 {
    let unit = unit(range, target);
    if !unit.is_normal() {
        return f64::INFINITY;
    }
    let inside: Vec<(f64, u64)> = histogram.bins().filter(|(x, _)| x.abs() > histogram.width).collect();
    let step = |x: f64| (x.clamp(range.low, range.high) / unit).round() as i64;
    // What is cut off belongs to the outermost bins of p, and q does not see it.
    let held = |x: f64| range.low <= x && x <= range.high;
    let ends = |pick: fn(f64, f64) -> bool| {
        inside.iter().filter(|(x, _)| held(*x)).map(|(x, _)| *x).reduce(|a, b| if pick(b, a) { b } else { a })
    };
    let (Some(first), Some(last)) = (ends(|b, a| b < a), ends(|b, a| b > a)) else { return f64::INFINITY };
    let below: u64 = inside.iter().filter(|(x, _)| *x < range.low).map(|(_, count)| count).sum();
    let above: u64 = inside.iter().filter(|(x, _)| *x > range.high).map(|(_, count)| count).sum();
    let total: u64 = inside.iter().map(|(_, count)| count).sum();
    // How far away what is cut off lies, a divergence does not see: no more than a hundredth may be.
    if (below + above) * 100 > total {
        return f64::INFINITY;
    }
    let mut cost = 0.0;
    let kept: Vec<&(f64, u64)> = inside.iter().filter(|(x, _)| held(*x)).collect();
    let seen: u64 = kept.iter().map(|(_, count)| count).sum();
    for group in kept.chunk_by(|a, b| step(a.0) == step(b.0)) {
        // The quantiser cannot tell the bins of a step apart: q spreads their sum evenly.
        let even = group.iter().map(|(_, count)| *count).sum::<u64>() as f64 / group.len() as f64 / seen as f64;
        for (x, count) in group {
            let cut = if *x == first { below } else { 0 } + if *x == last { above } else { 0 };
            let p = (count + cut) as f64 / total as f64;
            cost += p * libm::log(p / even);
        }
    }
    cost
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYMMETRIC: Target = Target { steps: 127, symmetric: true };
    const BYTE: Target = Target { steps: 255, symmetric: false };

    fn observed(values: &[f64]) -> Observed {
        Observed::of(values)
    }

    /// A bell of 10 000 values and one far out.
    fn with_outlier() -> Observed {
        let bell = (0..10_000).map(|k| {
            let u = (f64::from(k) + 0.5) / 10_000.0;
            libm::log(u / (1.0 - u)) / 10.0
        });
        observed(&bell.chain([20.0]).collect::<Vec<f64>>())
    }

    #[test]
    fn a_range_holds_zero_and_what_was_seen() {
        let values = observed(&[1.0, 2.0, 3.0]);
        assert_eq!(values.range(Method::MinMax, BYTE), Range { low: 0.0, high: 3.0 });
        assert_eq!(values.range(Method::MinMax, SYMMETRIC), Range { low: -3.0, high: 3.0 });
        let values = observed(&[-1.0, 3.0]);
        assert_eq!(values.range(Method::MinMax, BYTE), Range { low: -1.0, high: 3.0 });
    }

    #[test]
    fn every_other_method_cuts_an_outlier_off_and_keeps_the_bell() {
        for method in [Method::Percentile(99.9), Method::MeanSquare, Method::Entropy] {
            let high = with_outlier().range(method, SYMMETRIC).high;
            let square_keeps = method == Method::MeanSquare;
            assert!(high > 0.5 && (high < 3.0 || square_keeps && high < 20.0), "{method:?}: {high}");
        }
    }

    /// The search against the sum over the values themselves, not their bins.
    #[test]
    fn the_least_square_error_is_least() {
        let values: Vec<f64> = (0..4000).map(|k| libm::exp(-f64::from(k) / 300.0) * 4.0).collect();
        let found = observed(&values).range(Method::MeanSquare, Target { steps: 15, symmetric: false }).high;
        let error = |high: f64| {
            let unit = high / 15.0;
            values.iter().map(|x| (x - (x.min(high) / unit).round() * unit).powi(2)).sum::<f64>()
        };
        let least = (1..=128).map(|k| error(4.0 * f64::from(k) / 128.0)).fold(f64::INFINITY, f64::min);
        assert!(error(found) < least * 1.05, "{} for {least}", error(found));
        assert!(found < 4.0);
    }

    #[test]
    fn many_steps_cut_nothing() {
        let target = Target { steps: 32_767, symmetric: true };
        assert_eq!(with_outlier().range(Method::MeanSquare, target).high, 20.0);
    }

    #[test]
    fn a_value_that_is_always_zero_has_an_empty_range() {
        for method in [Method::MinMax, Method::Percentile(99.0), Method::MeanSquare, Method::Entropy] {
            assert_eq!(observed(&[0.0; 5]).range(method, SYMMETRIC).magnitude(), 0.0, "{method:?}");
        }
    }
}
