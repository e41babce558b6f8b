//! A network of bullet's replayed in 64 bits, for the proof's bounds and witnesses: what no type can cut.

use tamis_quant::arch::HeadDivision;
use tamis_quant::quantised::{IntegerActivation, QuantNet};

/// A perspective's accumulators on a feature list.
pub fn accumulate(net: &QuantNet, features: &[u32]) -> Vec<i64> {
    let layer = &net.layers[0];
    let mut acc: Vec<i64> = layer.bias.integers().iter().map(|bias| i64::from(*bias)).collect();
    for feature in features {
        let row = layer.weights.integers().iter().skip(*feature as usize * layer.weights.outputs);
        acc.iter_mut().zip(row).for_each(|(sum, weight)| *sum += i64::from(*weight));
    }
    acc
}

/// What accumulators contribute to a row of the second layer. `start`: the row's first column for this perspective.
pub fn contribution(net: &QuantNet, acc: &[i64], row: usize, start: usize) -> i64 {
    let layer = &net.layers[1].weights;
    let weights = layer.integers().iter().skip(row + layer.outputs * start).step_by(layer.outputs);
    let activation = IntegerActivation::of(&net.arch).unwrap();
    if net.arch.output.divide == HeadDivision::Rounded {
        let term = |(value, weight): (&i64, &i32)| {
            let clipped = (*value).clamp(0, activation.qa.into());
            (clipped * i64::from(*weight) + 16_384).div_euclid(32_768) * clipped
        };
        return acc.iter().zip(weights).map(term).sum();
    }
    let activations = activation.apply(acc);
    activations.into_iter().zip(weights).map(|(value, weight)| value * i64::from(*weight)).sum()
}
