//! One neuron of the accumulators: its output weights and its column of the first layer, moved where that brings the
//! outputs nearer to the float network's.

use super::form::Form;
use super::samples::{ByFeature, Samples};

/// Examples that, beside the given ones, want every weight at its float. Few let weights follow what only these
/// positions have: on other games than were fitted to, noggin's bare file has an error of 4.45 centipawns with 10, of
/// 4.38 with 400, and of 4.17 with 5000; with 30000 too few weights move.
pub(super) const PSEUDO_EXAMPLES: f64 = 5000.0;

/// A neuron's weights, with the floats that they stand for in steps of the integers.
#[derive(Debug, Clone)]
pub(super) struct Neuron {
    /// Of every feature, and the bias behind them.
    pub first: Vec<i32>,
    /// The same as reals.
    pub first_real: Vec<f64>,
    /// Of every row of the output layer and every side: `sides · row + side`.
    pub second: Vec<i32>,
    /// The same as reals.
    pub second_real: Vec<f64>,
}

/// What all neurons share.
pub(super) struct Fitting<'a> {
    pub samples: &'a Samples,
    pub by_feature: &'a ByFeature,
    pub form: Form,
    /// For every entry its place in [`Neuron::second`].
    pub keys: &'a [u16],
    /// Bounds of a weight of the first layer.
    pub first_range: (i32, i32),
    /// Whether output weights may move.
    pub moves_second: bool,
}

impl Fitting<'_> {
    /// The accumulator of every entry.
    pub fn accumulators(&self, neuron: &Neuron) -> Vec<i32> {
        let [weights @ .., bias] = neuron.first.as_slice() else { return Vec::new() };
        let sum = |list: &[u32]| bias + list.iter().map(|feature| weights[*feature as usize]).sum::<i32>();
        self.samples.lists().map(sum).collect()
    }

    /// Adds what the neuron contributes to the outputs.
    pub fn add(&self, neuron: &Neuron, accumulators: &[i32], outputs: &mut [f64]) {
        for (entry, (accumulator, key)) in accumulators.iter().zip(self.keys).enumerate() {
            let summand = self.form.summand(*accumulator, neuron.second[usize::from(*key)]);
            outputs[entry / self.samples.sides] += self.form.sum_unit * summand as f64;
        }
    }

    /// Moves what helps, and keeps `errors`, output less target of every example, true. Gives how many weights moved.
    pub fn visit(&self, neuron: &mut Neuron, accumulators: &mut [i32], errors: &mut [f32]) -> usize {
        let mut moved = 0;
        if self.moves_second {
            moved += self.move_second(neuron, accumulators, errors);
        }
        moved + self.move_first(neuron, accumulators, errors)
    }

    /// Each output weight to the integer with the least squared error, all else as it is.
    fn move_second(&self, neuron: &mut Neuron, accumulators: &[i32], errors: &mut [f32]) -> usize {
        let (count, unit, sides) = (neuron.second.len(), self.form.sum_unit, self.samples.sides);
        // Σ slope², Σ slope · error and how many.
        let mut sums = vec![(0f64, 0f64, 0usize); count];
        for (entry, (accumulator, key)) in accumulators.iter().zip(self.keys).enumerate() {
            let slope = unit * self.form.slope(*accumulator);
            let sum = &mut sums[usize::from(*key)];
            *sum = (sum.0 + slope * slope, sum.1 + slope * f64::from(errors[entry / sides]), sum.2 + 1);
        }
        let before = neuron.second.clone();
        for (key, (squares, error, count)) in sums.into_iter().enumerate() {
            if squares == 0.0 {
                continue;
            }
            let ridge = PSEUDO_EXAMPLES * squares / count as f64;
            let (weight, real) = (f64::from(before[key]), neuron.second_real[key]);
            let step = -(error + ridge * (weight - real)) / (squares + ridge);
            let (low, high) = self.form.weights;
            neuron.second[key] = ((weight + step).round() as i32).clamp(low, high);
        }
        if neuron.second == before {
            return 0;
        }
        for (entry, (accumulator, key)) in accumulators.iter().zip(self.keys).enumerate() {
            let [now, then] = [&neuron.second, &before].map(|weights| weights[usize::from(*key)]);
            if now != then {
                let change = self.form.summand(*accumulator, now) - self.form.summand(*accumulator, then);
                errors[entry / sides] += (unit * change as f64) as f32;
            }
        }
        neuron.second.iter().zip(&before).filter(|(now, then)| now != then).count()
    }

    /// Each weight of the first layer to the other of the two integers around its float, where that lowers the squared
    /// error.
    fn move_first(&self, neuron: &mut Neuron, accumulators: &mut [i32], errors: &mut [f32]) -> usize {
        let entries: Vec<u32> = (0..accumulators.len() as u32).collect();
        let mut steps: Vec<[f32; 2]> = accumulators
            .iter()
            .zip(self.keys)
            .map(|(accumulator, key)| self.steps(*accumulator, neuron.second[usize::from(*key)]))
            .collect();
        let (last, mut moved) = (neuron.first.len() - 1, 0);
        for index in (0..=last).rev() {
            let active = if index == last { &entries } else { self.by_feature.of(index) };
            let off = f64::from(neuron.first[index]) - neuron.first_real[index];
            let up = off < 0.0;
            let weight = neuron.first[index] + if up { 1 } else { -1 };
            if active.is_empty() || off == 0.0 || weight < self.first_range.0 || weight > self.first_range.1 {
                continue;
            }
            let after = f64::from(weight) - neuron.first_real[index];
            let (gain, squares) = self.gain(active, &steps, usize::from(!up), errors);
            let ridge = PSEUDO_EXAMPLES * squares / active.len() as f64 * (after * after - off * off);
            if gain + ridge >= 0.0 {
                continue;
            }
            (neuron.first[index], moved) = (weight, moved + 1);
            for entry in active.iter().map(|entry| *entry as usize) {
                errors[entry / self.samples.sides] += steps[entry][usize::from(!up)];
                accumulators[entry] += if up { 1 } else { -1 };
                steps[entry] = self.steps(accumulators[entry], neuron.second[usize::from(self.keys[entry])]);
            }
        }
        moved
    }

    /// What the output changes by where the accumulator goes one up, and one down.
    #[inline(always)]
    fn steps(&self, accumulator: i32, weight: i32) -> [f32; 2] {
        let here = self.form.summand(accumulator, weight);
        [1, -1].map(|step| (self.form.sum_unit * (self.form.summand(accumulator + step, weight) - here) as f64) as f32)
    }

    /// By how much a step of all these entries changes the sum of squared errors, and the sum of the steps' squares.
    fn gain(&self, active: &[u32], steps: &[[f32; 2]], way: usize, errors: &[f32]) -> (f64, f64) {
        let (mut gain, mut squares) = (0f64, 0f64);
        // An example that has the feature on both sides takes both steps.
        let (mut last, mut taken) = (usize::MAX, 0f64);
        for entry in active.iter().map(|entry| *entry as usize) {
            let (step, example) = (f64::from(steps[entry][way]), entry / self.samples.sides);
            taken = if example == last { taken + step } else { step };
            let both = if example == last { 2.0 * step * (taken - step) } else { 0.0 };
            gain += step * (2.0 * f64::from(errors[example]) + step) + both;
            squares += step * step;
            last = example;
        }
        (gain, squares)
    }
}
