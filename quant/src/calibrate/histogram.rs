//! Counts in equal bins.

/// Bins of a histogram: sixteen to a step of a byte's quantiser, so that a bin is small beside a rounding error.
pub const BINS: usize = 2048;

/// How often a value lay where, between the least and the greatest that it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// Left edge of the first bin.
    pub low: f64,
    /// Width of a bin; above 0.
    pub width: f64,
    /// Values in each bin.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// An empty one between two ends; ends that are equal, or no ends, give a width of 1.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Self {
        let width = (high - low) / BINS as f64;
        let (low, width) =
            if width.is_normal() { (low, width) } else { (if low.is_finite() { low } else { 0.0 }, 1.0) };
        Self { low, width, counts: vec![0; BINS] }
    }

    /// Counts a value; beyond the ends it goes to the nearest bin.
    pub fn add(&mut self, value: f64) {
        // A conversion saturates, and takes NaN, which no finite network makes, to 0.
        let bin = ((value - self.low) / self.width) as usize;
        if let Some(count) = self.counts.get_mut(bin.min(BINS - 1)) {
            *count += 1;
        }
    }

    /// The centre of each bin with its count, empty bins left out.
    pub fn bins(&self) -> impl Iterator<Item = (f64, u64)> {
        let centre = |(bin, count): (usize, &u64)| (self.low + (bin as f64 + 0.5) * self.width, *count);
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(centre)
    }

    /// All values that were counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_its_bin() {
        let mut histogram = Histogram::new(-1.0, 1.0);
        [-1.0, -0.9995, 0.0, 1.0, 5.0, -5.0].iter().for_each(|value| histogram.add(*value));
        assert_eq!((histogram.counts[0], histogram.counts[1024], histogram.counts[2047]), (3, 1, 2));
        assert_eq!(histogram.total(), 6);
        assert_eq!(histogram.bins().next(), Some((-1.0 + 1.0 / 2048.0, 3)));
    }

    #[test]
    fn a_value_that_never_changes_has_a_histogram() {
        let mut histogram = Histogram::new(3.0, 3.0);
        histogram.add(3.0);
        assert_eq!((histogram.width, histogram.counts[0]), (1.0, 1));
        assert_eq!(Histogram::new(f64::INFINITY, f64::NEG_INFINITY).width, 1.0);
    }
}
