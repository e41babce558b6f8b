//! The error of every layer, in sums: the values themselves would not fit memory.

use crate::program::Element;
use serde::Serialize;

/// The error of a layer's values with everything before it quantised.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerError {
    /// Name of the layer.
    pub layer: String,
    /// What the values are.
    pub element: &'static str,
    /// Mean of value minus truth, in real units.
    pub mean: f64,
    /// Population standard deviation of value minus truth.
    pub sd: f64,
    /// Largest magnitude.
    pub max: f64,
    /// Signal to noise in decibels; `None` without noise or without signal.
    pub sqnr_db: Option<f64>,
}

/// A layer and its sums.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LayerNoise {
    /// Its name.
    pub layer: String,
    /// What its values are.
    pub element: Element,
    /// Their errors.
    pub noise: Noise,
}

impl LayerNoise {
    /// What they come to.
    pub fn error(&self) -> LayerError {
        self.noise.of_layer(self.layer.clone(), self.element.word())
    }
}

/// Sums of a layer's errors.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Noise {
    count: usize,
    sum: f64,
    squares: f64,
    signal: f64,
    max: f64,
}

impl Noise {
    /// Adds values beside their truth.
    pub fn add(&mut self, values: impl Iterator<Item = (f64, f64)>) {
        for (value, truth) in values {
            let error = value - truth;
            self.count += 1;
            self.sum += error;
            self.squares += error * error;
            self.signal += truth * truth;
            self.max = self.max.max(error.abs());
        }
    }

    /// Whether nothing was added.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The sums, in numbers that a file holds: count, sum, squares, signal, greatest.
    pub const fn to_numbers(self) -> [f64; 5] {
        [self.count as f64, self.sum, self.squares, self.signal, self.max]
    }

    /// The same back.
    pub const fn of_numbers([count, sum, squares, signal, max]: [f64; 5]) -> Self {
        Self { count: count as usize, sum, squares, signal, max }
    }

    /// Adds what was added to another.
    pub fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
        self.signal += other.signal;
        self.max = self.max.max(other.max);
    }

    /// What they come to.
    pub fn of_layer(&self, layer: String, element: &'static str) -> LayerError {
        let count = self.count.max(1) as f64;
        let mean = self.sum / count;
        let is_noisy = self.squares > 0.0 && self.signal > 0.0;
        LayerError {
            layer,
            element,
            mean,
            // The difference of two sums of one size: rounding may take it below 0.
            sd: (self.squares / count - mean * mean).max(0.0).sqrt(),
            max: self.max,
            sqnr_db: is_noisy.then(|| 10.0 * libm::log10(self.signal / self.squares)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Noise;
    use crate::verify::stats::compare;

    #[test]
    fn sums_say_what_the_values_say() {
        let (values, truth) = ([1.0, 2.0, 5.0, -1.0], [1.5, 2.5, 4.0, -3.0]);
        let mut noise = Noise::default();
        noise.add(values.into_iter().zip(truth));
        let (found, wanted) = (noise.of_layer("l".to_owned(), "i32"), compare(&values, &truth));
        assert!((found.mean - wanted.mean).abs() < 1e-15 && (found.sd - wanted.sd).abs() < 1e-15, "{found:?}");
        assert!(found.max == wanted.max && found.sqnr_db == wanted.sqnr_db, "{found:?}");
        assert_eq!(Noise::default().of_layer("l".to_owned(), "i32").sqnr_db, None);
    }
}
