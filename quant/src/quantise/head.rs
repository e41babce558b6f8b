//! The integer head of a bullet-family network: which divisions and factors turn a sum into centipawns.

use crate::arch::{Activation, Architecture, ElementType};

/// `((sum / pre_divisor + bias) · factor) / divisor`, see [`tamis_runtime::raw::num::rescale`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegerHead {
    /// QA after a squared activation, which carries QA²; else 1.
    pub pre_divisor: i32,
    /// The output's scale; the format takes 1 to 2³⁰.
    pub factor: i32,
    /// QA·QB.
    pub divisor: i32,
}

/// The integer head, for a network of two layers whose second has integer weights and an integer bias.
pub fn head(arch: &Architecture) -> Option<IntegerHead> {
    let [first, _] = arch.layers.as_slice() else { return None };
    let (weights, bias) = (arch.tensor(&arch.weights_name(1))?, arch.tensor(&arch.bias_name(1))?);
    let squared = matches!(first.activation, Activation::Screlu | Activation::Sqrrelu);
    let plain = matches!(first.activation, Activation::Relu | Activation::Crelu);
    if weights.r#type != ElementType::I16 || bias.r#type == ElementType::F32 || !(squared || plain) {
        return None;
    }
    let (qa, qb) = (arch.tensor(&arch.weights_name(0))?.scale?, weights.scale?);
    let pre_divisor = if squared { qa } else { 1 };
    Some(IntegerHead { pre_divisor, factor: arch.output.scale, divisor: qa.checked_mul(qb)? })
}
