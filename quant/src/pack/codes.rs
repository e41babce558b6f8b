//! Codes of activations in a file.

use crate::program::{Clip, RealActivation};
use tamis_runtime::raw::activation;

/// The code of what is done with accumulators in front of integer weights.
pub(super) fn dot_code(clip: Clip) -> u32 {
    match clip {
        Clip::Identity => unreachable!("accumulators are clipped"),
        // With the greatest i16 as its clip above.
        Clip::Relu | Clip::Crelu => activation::CRELU,
        Clip::Screlu => activation::SCRELU,
        Clip::Sqrrelu => activation::SQRRELU,
    }
}

/// The code of an activation and its parameter.
pub(super) const fn activation_code(function: RealActivation) -> (u32, u32) {
    match function {
        RealActivation::Relu => (activation::RELU, 0),
        RealActivation::Crelu => (activation::CRELU, 0),
        RealActivation::Screlu => (activation::SCRELU, 0),
        RealActivation::Sqrrelu => (activation::SQRRELU, 0),
        RealActivation::PairwiseCrelu => (activation::PAIRWISE_CRELU, 0),
        RealActivation::DualCrelu => (activation::DUAL_CRELU, 0),
        RealActivation::LeakyRelu { alpha } => (activation::LEAKY_RELU, alpha.to_bits()),
        RealActivation::HardSwish => (activation::HARD_SWISH, 0),
        RealActivation::Sigmoid => (activation::SIGMOID, 0),
        RealActivation::Tanh => (activation::TANH, 0),
        RealActivation::Softmax => (activation::SOFTMAX, 0),
    }
}
