//! Neurons in front of pairs that are stored finer than the first layer's scale.
//!
//! A neuron whose accumulator never comes near 1 wastes what its products could resolve: they are clipped at 1, and
//! have seven bits for all up to there. With its row of weights and its bias times `s` the clip stands at `1/s`, a
//! product of the pair (a, b) is `s[a]·s[b]` times as large, and the second layer's weights of that product are divided
//! by as much:
//!
//! ```text
//! Σ w · clip(x_a) · clip(x_b)  =  Σ w/(s_a·s_b) · clip(s_a·x_a) · clip(s_b·x_b)     where s_a·x_a ≤ 1, s_b·x_b ≤ 1
//! ```
//!
//! So the network is the same but for accumulators beyond `1/s`. Scales are sixteenths from 1 to 2: no file holds them,
//! since the integers beside the checkpoint's reals tell them.

use super::QuantNet;
use crate::arch::{Activation, Architecture};
use crate::float::{Affine, Net};
use std::borrow::Cow;

/// Steps of a scale in 1.
const STEPS: f64 = 16.0;
/// The greatest scale. Larger ones would leave the second layer's weights too few bits, and accumulators that are small
/// on all examples may be so by chance.
const MOST: f64 = 2.0;

/// By how much finer than its layer each neuron is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NeuronScales {
    /// (hidden,), sixteenths from 1 to 2.
    scales: Vec<f64>,
}

impl NeuronScales {
    /// The greatest that are no greater than `wanted`, (hidden,); `None` where all of them are 1.
    #[must_use]
    pub fn at_most(wanted: impl IntoIterator<Item = f64>) -> Option<Self> {
        let step = |scale: f64| (scale.min(MOST) * STEPS).floor() / STEPS;
        let scales: Vec<f64> = wanted.into_iter().map(|scale| if scale >= 1.0 { step(scale) } else { 1.0 }).collect();
        scales.iter().any(|scale| *scale > 1.0).then_some(Self { scales })
    }

    /// Those of a network in integers, from what its first layer's integers are of the reals; `None` where all of them
    /// are 1, or the networks are not of one kind.
    #[must_use]
    pub fn of(real: &Net<f32>, stored: &QuantNet) -> Option<Self> {
        let (weights, reals) = (&stored.layers.first()?.weights, &real.layers.first()?.weights);
        let is_alike = (weights.outputs, weights.inputs) == (reals.outputs, reals.inputs);
        if !can_have(&stored.arch) || !is_alike {
            return None;
        }
        let unit = f64::from(weights.scale?);
        let mut sums = vec![(0f64, 0f64); weights.outputs];
        let rows = weights.integers().chunks(weights.outputs).zip(reals.values.chunks(weights.outputs));
        for (integers, reals) in rows {
            for ((product, square), (integer, real)) in sums.iter_mut().zip(integers.iter().zip(reals)) {
                let real = f64::from(*real) * unit;
                (*product, *square) = (*product + f64::from(*integer) * real, *square + real * real);
            }
        }
        let scale = |(product, square): (f64, f64)| (product / square * STEPS).round() / STEPS;
        let scales: Vec<f64> = sums.into_iter().map(scale).collect();
        // Of another checkpoint's weights anything can come; a neuron without weights has no scale.
        let scales = scales.into_iter().map(|scale| if (1.0..=MOST).contains(&scale) { scale } else { 1.0 });
        Self::at_most(scales)
    }

    /// One a neuron.
    #[must_use]
    pub fn as_slice(&self) -> &[f64] {
        &self.scales
    }

    /// The float network with its neurons as much larger, and the weights behind them as much smaller.
    #[must_use]
    pub fn applied(&self, real: &Net<f32>) -> Net<f32> {
        let (mut net, pairs) = (real.clone(), self.scales.len() / 2);
        let [first, second, ..] = net.layers.as_mut_slice() else { return net };
        let Affine { weights, bias } = first;
        for values in weights.values.chunks_mut(self.scales.len()).chain([bias.as_mut_slice()]) {
            values.iter_mut().zip(&self.scales).for_each(|(value, scale)| *value *= *scale as f32);
        }
        let columns = second.weights.values.chunks_mut(second.weights.outputs.max(1));
        for (input, column) in columns.enumerate() {
            let (a, b) = (input % pairs, input % pairs + pairs);
            let product = (self.scales[a] * self.scales[b]) as f32;
            column.iter_mut().for_each(|weight| *weight /= product);
        }
        net
    }
}

/// Whether neurons can be finer than their layer: where products round, which no trainer's do.
fn can_have(arch: &Architecture) -> bool {
    let first = &arch.layers[0];
    let is_paired = first.activation == Activation::PairwiseCrelu && first.product_rounded && first.skip == 0;
    is_paired && arch.layers.len() > 1
}

/// The float network that a network in integers is a rounding of: with its neurons' scales, where they have any.
#[must_use]
pub fn as_stored<'n>(real: &'n Net<f32>, stored: &QuantNet) -> Cow<'n, Net<f32>> {
    match NeuronScales::of(real, stored) {
        Some(scales) => Cow::Owned(scales.applied(real)),
        None => Cow::Borrowed(real),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_sixteenths_from_1_to_2() {
        let wanted = [0.5, 1.0, 1.06, 1.0625, 1.99, 7.0, f64::INFINITY, f64::NAN];
        let scales = NeuronScales::at_most(wanted).unwrap();
        assert_eq!(scales.as_slice(), [1.0, 1.0, 1.0, 1.0625, 1.9375, 2.0, 2.0, 1.0]);
        assert_eq!(NeuronScales::at_most([1.0, 0.3, 1.03]), None);
    }
}
