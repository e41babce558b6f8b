//! A series: all cases in turn, round after round, in samples short enough that a scheduler seldom falls into one.
//!
//! Cases whose times are to be compared are measured within a fraction of a second of each other, so that a machine
//! that slows down slows all of them. The tenth percentile repeats within a percent or two where medians vary by a
//! third.

use crate::{Case, processor_time};
use std::time::Duration;

/// What a sample should take.
const SAMPLE: Duration = Duration::from_micros(200);
/// A sample's warm-up is so many times shorter than itself: predictors and what lies near are as they are in its midst.
const WARM_UP: u64 = 8;
/// The first case over other memory warms up for so many samples. A table of megabytes has rows that one sample does
/// not reach, and with the short warm-up that case alone would pay for fetching what those behind it find in a cache.
const FIRST_WARM_UP: u64 = 3;

/// Times of one case in nanoseconds an iteration.
#[derive(Debug, Clone)]
pub struct Figure {
    /// `what/shape/tier`.
    pub id: String,
    /// [`Case::amount`].
    pub amount: usize,
    /// Exceeded by nine samples of ten.
    pub p10: f64,
    /// Exceeded by half.
    pub median: f64,
    /// Exceeded by one of ten.
    pub p90: f64,
}

/// Measures every case `rounds` times, in turn.
pub fn series(mut cases: Vec<Case>, rounds: usize) -> Vec<Figure> {
    let iterations: Vec<u64> = cases.iter_mut().map(calibrate).collect();
    let mut samples = vec![Vec::with_capacity(rounds); cases.len()];
    // Cases of one shape share their memory.
    let mut shape = String::new();
    for _ in 0..rounds {
        for ((case, iterations), samples) in cases.iter_mut().zip(&iterations).zip(&mut samples) {
            let is_first = case.shape != shape;
            shape.clone_from(&case.shape);
            case.run(if is_first { iterations * FIRST_WARM_UP } else { (iterations / WARM_UP).max(1) });
            samples.push(sample(case, *iterations).as_nanos() as f64 / *iterations as f64);
        }
    }
    cases
        .iter()
        .zip(samples)
        .map(|(case, mut samples)| {
            samples.sort_by(f64::total_cmp);
            let at = |share: f64| samples.get(((rounds - 1) as f64 * share) as usize).copied().unwrap_or(f64::NAN);
            Figure { id: case.id(), amount: case.amount, p10: at(0.1), median: at(0.5), p90: at(0.9) }
        })
        .collect()
}

/// How many iterations take [`SAMPLE`].
fn calibrate(case: &mut Case) -> u64 {
    let mut iterations = 1;
    loop {
        let time = (0..3).map(|_| sample(case, iterations)).min().unwrap_or(SAMPLE);
        if time > SAMPLE / 3 || iterations >= 1 << 30 {
            return ((iterations as f64 * SAMPLE.as_secs_f64() / time.as_secs_f64()) as u64).max(1);
        }
        iterations *= 2;
    }
}

fn sample(case: &mut Case, iterations: u64) -> Duration {
    let start = processor_time();
    case.run(iterations);
    processor_time() - start
}
