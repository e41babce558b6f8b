//! The activations over the reals.

use crate::arch::{Activation, Layer};

/// Applies an activation to the sums of one perspective. Pairwise halves their number (the last one of an odd number
/// has no partner and is dropped; no checked description has one), dual doubles it.
#[must_use]
pub fn activate(activation: Activation, sums: &[f64]) -> Vec<f64> {
    let each = |function: fn(f64) -> f64| sums.iter().copied().map(function).collect();
    match activation {
        Activation::Identity => sums.to_vec(),
        Activation::Relu => each(|x| x.max(0.0)),
        Activation::Crelu => each(crelu),
        Activation::Screlu => each(|x| crelu(x) * crelu(x)),
        Activation::Sqrrelu => each(|x| x.max(0.0) * x.max(0.0)),
        Activation::PairwiseCrelu => {
            let (first, second) = sums.split_at(sums.len() / 2);
            first.iter().zip(second).map(|(&a, &b)| crelu(a) * crelu(b)).collect()
        }
        Activation::DualCrelu => {
            let squares = sums.iter().map(|&x| crelu(x * x));
            sums.iter().copied().map(crelu).chain(squares).collect()
        }
        Activation::HardSwish => each(|x| x * (x + 3.0).clamp(0.0, 6.0) / 6.0),
        Activation::Sigmoid => each(|x| 1.0 / (1.0 + libm::exp(-x))),
        Activation::Swish => each(|x| x / (1.0 + libm::exp(-x))),
    }
}

/// The same, and with a gate: the first half is activated and multiplied with the second.
#[must_use]
pub fn activate_layer(layer: &Layer, sums: &[f64]) -> Vec<f64> {
    if !layer.gated {
        return activate(layer.activation, sums);
    }
    let (gate, values) = sums.split_at(sums.len() / 2);
    activate(layer.activation, gate).iter().zip(values).map(|(gate, value)| gate * value).collect()
}

fn crelu(x: f64) -> f64 {
    x.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::activate;
    use crate::arch::Activation;

    /// Below, at, between and above the clips; a negative number whose square is inside and one whose is not.
    const SUMS: [f64; 6] = [-2.0, -0.5, 0.0, 0.5, 1.0, 2.0];

    /// 1 / (1 + e²) and so on, from tables of the exponential to as many digits as f64 has.
    const SIGMOIDS: [f64; 6] = [
        0.119_202_922_022_117_56,
        0.377_540_668_798_145_4,
        0.5,
        0.622_459_331_201_854_6,
        0.731_058_578_630_004_9,
        0.880_797_077_977_882_4,
    ];
    const SWISHES: [f64; 6] =
        [-2.0 * SIGMOIDS[0], -0.5 * SIGMOIDS[1], 0.0, 0.5 * SIGMOIDS[3], SIGMOIDS[4], 2.0 * SIGMOIDS[5]];

    #[test]
    fn truth_table() {
        for (activation, expected) in [
            (Activation::Identity, &[-2.0, -0.5, 0.0, 0.5, 1.0, 2.0][..]),
            (Activation::Relu, &[0.0, 0.0, 0.0, 0.5, 1.0, 2.0]),
            (Activation::Crelu, &[0.0, 0.0, 0.0, 0.5, 1.0, 1.0]),
            (Activation::Screlu, &[0.0, 0.0, 0.0, 0.25, 1.0, 1.0]),
            (Activation::Sqrrelu, &[0.0, 0.0, 0.0, 0.25, 1.0, 4.0]),
            // -2·0.5, -0.5·1, 0·2, each clipped first.
            (Activation::PairwiseCrelu, &[0.0, 0.0, 0.0]),
            (Activation::DualCrelu, &[0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 0.25, 0.0, 0.25, 1.0, 1.0]),
            // -2·1/6, -0.5·2.5/6, 0.5·3.5/6, 1·4/6, 2·5/6.
            (Activation::Sigmoid, &SIGMOIDS),
            (Activation::Swish, &SWISHES),
            (Activation::HardSwish, &[-2.0 / 6.0, -1.25 / 6.0, 0.0, 1.75 / 6.0, 4.0 / 6.0, 10.0 / 6.0]),
        ] {
            for (found, expected) in activate(activation, &SUMS).iter().zip(expected) {
                assert!((found - expected).abs() <= 1e-15, "{activation:?}: {found} {expected}");
            }
            assert_eq!(activate(activation, &SUMS).len(), expected.len(), "{activation:?}");
        }
        assert_eq!(activate(Activation::PairwiseCrelu, &[0.5, 2.0, 0.5, 0.5]), [0.25, 0.5]);
        assert_eq!(activate(Activation::PairwiseCrelu, &[]), [0.0; 0]);
    }
}
