//! The integers that reals are, where they are whole multiples of a step.

use crate::float::Matrix;

/// How far from a whole number a quotient may be: products of two f32 in f64, and what folding has done with them.
const SLACK: f64 = 1e-5;
/// The greatest weight, as a magnitude: a byte less another.
const MOST: f64 = 255.0;

/// Weights as integers, each row times a step of its own.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    /// −255 to 255.
    pub weights: Matrix<i16>,
    pub bias: Vec<i32>,
    pub steps: Vec<f32>,
    /// Whether a bias is no whole number of its steps, so that it was rounded.
    pub bias_rounded: bool,
}

/// The integers of weights and biases over inputs of a scale; none where the weights are no bytes less zero points.
///
/// Where one step does for all rows it is taken, so that their sums are of one unit. A row's step may be a multiple of
/// the file's, which changes nothing; where its bias is no multiple then, the step is divided until it is.
pub(super) fn rows(weights: &Matrix<f64>, bias: &[f64], input_scale: f32) -> Option<Rows> {
    let row = |output: usize| (0..weights.inputs).map(move |input| weights.at(output, input));
    let common = step(weights.values.iter().copied());
    let mut made = Rows {
        weights: Matrix::new(weights.outputs, weights.inputs, vec![0; weights.values.len()])?,
        bias: Vec::new(),
        steps: Vec::new(),
        bias_rounded: false,
    };
    for (output, own) in bias.iter().enumerate() {
        let coarse = common.or_else(|| step(row(output)))?;
        let largest = row(output).fold(0f64, |largest, weight| largest.max((weight / coarse).abs().round()));
        let finest = if largest == 0.0 { 1 } else { (127.0 / largest).max(1.0) as u32 };
        let units = |by: u32| own * f64::from(by) / (f64::from(input_scale) * coarse);
        let is_whole = |by: &u32| (units(*by) - units(*by).round()).abs() <= 1e-3_f64.max(units(*by).abs() * 1e-9);
        let whole = (1..=finest).find(is_whole);
        made.bias_rounded |= whole.is_none();
        let by = whole.unwrap_or(finest);
        let stored = units(by).round();
        if !(stored >= f64::from(i32::MIN) && stored <= f64::from(i32::MAX)) {
            return None;
        }
        made.bias.push(stored as i32);
        made.steps.push((coarse / f64::from(by)) as f32);
        for (input, weight) in row(output).enumerate() {
            let integer = (weight / coarse).round() * f64::from(by);
            if integer.abs() > MOST {
                return None;
            }
            made.weights.values[output + weights.outputs * input] = integer as i16;
        }
    }
    Some(made)
}

/// The largest number of which all are whole multiples of up to 255; 1 where all are 0.
fn step(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let nonzero = || values.clone().map(f64::abs).filter(|value| *value > 0.0);
    let (Some(least), most) = (nonzero().reduce(f64::min), nonzero().fold(0f64, f64::max)) else { return Some(1.0) };
    if !(most.is_finite() && most / least <= MOST) {
        return None;
    }
    let is_step = |step: f64| {
        most / step <= MOST + SLACK && nonzero().all(|value| (value / step - (value / step).round()).abs() <= SLACK)
    };
    (1..=255).map(|parts| least / f64::from(parts)).find(|step| is_step(*step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_times_a_step_are_found_again() {
        let scale = f64::from(0.003_717_4f32);
        let stored = [-127.0, 3.0, 50.0, 8.0, 0.0, -2.0];
        let weights = Matrix::new(2, 3, stored.iter().map(|x| x * scale).collect()).unwrap();
        let bias = [7.0 * scale * 0.5, -3.0 * scale * 0.5];
        let found = rows(&weights, &bias, 0.5).unwrap();
        assert_eq!(found.weights.values, [-127, 3, 50, 8, 0, -2]);
        assert_eq!((found.bias, found.steps[0] as f64, found.bias_rounded), (vec![7, -3], scale, false));
        let real = Matrix::new(1, 3, vec![0.1234, 0.777, 0.31]).unwrap();
        assert!(rows(&real, &[0.0], 0.5).is_none());
    }

    #[test]
    fn a_bias_between_coarse_steps_makes_them_finer() {
        // Weights that are all even, and an odd bias.
        let weights = Matrix::new(1, 2, vec![4.0 * 0.25, 6.0 * 0.25]).unwrap();
        let found = rows(&weights, &[3.0 * 0.25 * 2.0], 2.0).unwrap();
        assert_eq!((found.weights.values, found.bias, found.steps), (vec![4, 6], vec![3], vec![0.25]));
    }
}
