//! Running the float evaluator over samples.

use super::histogram::Histogram;
use crate::graph::{Graph, Sample, SampleError};
use crate::parallel;

/// What was seen of one value.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// The least; +∞ if nothing was seen.
    pub low: f64,
    /// The greatest; −∞ if nothing was seen.
    pub high: f64,
    /// Whether it was never anything but 0 or 1.
    pub binary: bool,
    /// (len,) The largest magnitude of each element; of a sparse input nothing.
    pub magnitudes: Vec<f64>,
    /// All elements together.
    pub histogram: Histogram,
}

/// What was seen of every value of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// By the value's number; of a sparse input the values of its active features.
    pub values: Vec<Observed>,
    /// Number of samples.
    pub samples: usize,
}

/// Observes every value over all samples.
///
/// # Errors
/// Which sample does not fit, and why.
pub fn calibrate(graph: &Graph, samples: &[Sample]) -> Result<Calibration, (usize, SampleError)> {
    let nothing = vec![Observed::nothing(); graph.nodes.len() + 1];
    let mut values = for_each(graph, samples, &nothing, Observed::widen)?;
    values.iter_mut().for_each(Observed::make_bins);
    let values = for_each(graph, samples, &values, Observed::count)?;
    Ok(Calibration { values, samples: samples.len() })
}

/// Pieces of samples that are looked at side by side, at most. What one saw is put together with what those before it
/// saw as soon as they are done.
const PIECES: usize = 16;

/// What is seen of all samples, from `start` on: ends, magnitudes and counts, which come to the same in any order.
fn for_each(
    graph: &Graph,
    samples: &[Sample],
    start: &[Observed],
    see: impl Fn(&mut Observed, &[f64]) + Sync,
) -> Result<Vec<Observed>, (usize, SampleError)> {
    let pieces = PIECES.min(samples.len());
    let piece = |piece: usize| {
        let mut observed = start.to_vec();
        let range = piece * samples.len() / pieces..(piece + 1) * samples.len() / pieces;
        for (index, sample) in (range.start..).zip(&samples[range]) {
            let mut values = graph.trace(sample).map_err(|error| (index, error))?;
            if let (Sample::Sparse(active), Some(first)) = (sample, values.first_mut()) {
                *first = active.iter().map(|(_, value)| *value).collect();
            }
            observed.iter_mut().zip(&values).for_each(|(observed, value)| see(observed, value));
        }
        Ok(observed)
    };
    let mut all = start.to_vec();
    parallel::in_order(pieces, PIECES, piece, |_, piece| {
        all.iter_mut().zip(piece).for_each(|(all, piece)| all.join(piece));
        Ok(())
    })?;
    Ok(all)
}

impl Observed {
    fn nothing() -> Self {
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { low, high, binary: true, magnitudes: Vec::new(), histogram: Histogram::new(0.0, 0.0) }
    }

    /// What is seen in one value that was there once.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let mut observed = Self::nothing();
        observed.widen(values);
        observed.make_bins();
        observed.count(values);
        observed
    }

    /// Whether there was anything to see.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.low > self.high
    }

    fn widen(&mut self, values: &[f64]) {
        if self.magnitudes.len() < values.len() {
            self.magnitudes.resize(values.len(), 0.0);
        }
        for (value, magnitude) in values.iter().zip(&mut self.magnitudes) {
            self.binary &= *value == 0.0 || *value == 1.0;
            self.low = self.low.min(*value);
            self.high = self.high.max(*value);
            *magnitude = magnitude.max(value.abs());
        }
    }

    /// What this one and another saw, of which the histograms have the same bins.
    fn join(&mut self, other: &Self) {
        if self.magnitudes.len() < other.magnitudes.len() {
            self.magnitudes.resize(other.magnitudes.len(), 0.0);
        }
        self.binary &= other.binary;
        (self.low, self.high) = (self.low.min(other.low), self.high.max(other.high));
        self.magnitudes.iter_mut().zip(&other.magnitudes).for_each(|(own, other)| *own = own.max(*other));
        self.histogram.counts.iter_mut().zip(&other.histogram.counts).for_each(|(own, other)| *own += other);
    }

    fn make_bins(&mut self) {
        self.histogram = Histogram::new(self.low, self.high);
    }

    fn count(&mut self, values: &[f64]) {
        values.iter().for_each(|value| self.histogram.add(*value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Activation, Input, Node, Op, Shape};

    fn graph() -> Graph {
        let node = |name: &str, reads, op| Node { name: name.to_owned(), reads, op };
        Graph {
            name: "relu".to_owned(),
            input: Input::Dense { shape: Shape::vector(2) },
            nodes: vec![
                node("double", vec![0], Op::Scale(2.0)),
                node("relu", vec![1], Op::Activation(Activation::Relu)),
            ],
        }
    }

    #[test]
    fn every_value_is_seen_once() {
        let samples = [Sample::Dense(vec![1.0, -2.0]), Sample::Dense(vec![0.5, 3.0])];
        let seen = calibrate(&graph(), &samples).unwrap();
        let ends: Vec<(f64, f64)> = seen.values.iter().map(|value| (value.low, value.high)).collect();
        assert_eq!(ends, [(-2.0, 3.0), (-4.0, 6.0), (0.0, 6.0)]);
        assert_eq!(seen.values[1].magnitudes, [2.0, 6.0]);
        assert!(seen.values.iter().all(|value| value.histogram.total() == 4));
    }

    #[test]
    fn a_sample_that_does_not_fit_is_named() {
        let samples = [Sample::Dense(vec![1.0, 1.0]), Sample::Dense(vec![1.0])];
        assert_eq!(calibrate(&graph(), &samples).unwrap_err().0, 1);
        assert!(calibrate(&graph(), &[]).unwrap().values[0].is_empty());
    }
}
