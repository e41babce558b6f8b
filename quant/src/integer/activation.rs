//! Functions of reals, and the order in which f32 are added.

use crate::program::RealActivation;
use tamis_runtime::raw::num;

/// What a function of reals makes of a vector.
pub(super) fn activate(activation: RealActivation, x: &[f32]) -> Vec<f32> {
    let each = |function: fn(f32) -> f32| x.iter().map(|x| function(*x)).collect();
    match activation {
        RealActivation::Relu => each(num::relu),
        RealActivation::Crelu => each(num::crelu),
        RealActivation::Screlu => each(|x| num::crelu(x) * num::crelu(x)),
        RealActivation::Sqrrelu => each(|x| num::relu(x) * num::relu(x)),
        RealActivation::PairwiseCrelu => {
            let (first, second) = halves(x);
            first.iter().zip(second).map(|(a, b)| num::crelu(*a) * num::crelu(*b)).collect()
        }
        RealActivation::DualCrelu => {
            x.iter().map(|x| num::crelu(*x)).chain(x.iter().map(|x| num::crelu(x * x))).collect()
        }
        RealActivation::LeakyRelu { alpha } => x.iter().map(|x| if *x > 0.0 { *x } else { alpha * x }).collect(),
        RealActivation::HardSwish => each(num::hard_swish),
        RealActivation::Sigmoid => each(num::sigmoid),
        RealActivation::Tanh => each(num::tanh),
        RealActivation::Softmax => {
            let largest = x[1..].iter().fold(x[0], |m, x| if *x > m { *x } else { m });
            let powers: Vec<f32> = x.iter().map(|x| num::exp(x - largest)).collect();
            let sum = sum_f32(powers.iter().copied());
            powers.iter().map(|power| power / sum).collect()
        }
    }
}

/// ACTIVATE_F32 on one perspective's accumulators, clipped and as reals.
pub(super) fn activate_clipped(activation: RealActivation, x: &[f32]) -> Vec<f32> {
    match activation {
        RealActivation::Relu | RealActivation::Crelu => x.to_vec(),
        RealActivation::Screlu | RealActivation::Sqrrelu => x.iter().map(|x| x * x).collect(),
        RealActivation::PairwiseCrelu => {
            let (first, second) = halves(x);
            first.iter().zip(second).map(|(a, b)| a * b).collect()
        }
        other => panic!("no activation of accumulators: {other:?}"),
    }
}

/// The first half of a vector and the second.
pub(super) fn halves<T>(x: &[T]) -> (&[T], &[T]) {
    assert!(x.len().is_multiple_of(2), "halves of {} elements", x.len());
    x.split_at(x.len() / 2)
}

/// Eight lanes in the one order of f32 sums, each from +0 on.
pub(super) fn sum_f32(terms: impl Iterator<Item = f32>) -> f32 {
    let mut lanes = [0f32; 8];
    for (index, term) in terms.enumerate() {
        lanes[index % 8] += term;
    }
    num::reduce_f32(lanes)
}
