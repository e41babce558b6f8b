//! The integer head of a bullet-family network: which divisions and factors turn a sum into centipawns.

use crate::arch::{Activation, ElementType};
use crate::quantise::QuantNet;

/// The shift of pairwise products where the description names none: 255·255 >> 9 = 127.
pub const DEFAULT_PRODUCT_SHIFT: u32 = 9;

/// `((sum / pre_divisor + bias) · factor) / divisor`, see [`tamis_runtime::num::rescale`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegerHead {
    /// QA after a squared activation, which carries QA²; else 1.
    pub pre_divisor: i32,
    /// The output's scale.
    pub factor: i32,
    /// QA·QB.
    pub divisor: i32,
}

/// The integer head, for a network of two layers whose second has integer weights and an integer bias.
pub fn head(net: &QuantNet) -> Option<IntegerHead> {
    let [first, second] = net.layers.as_slice() else { return None };
    let integers = second.weights.element == ElementType::I16 && second.bias.element != ElementType::F32;
    let squared = matches!(net.arch.layers.first()?.activation, Activation::Screlu | Activation::Sqrrelu);
    let plain = net.arch.layers.first()?.activation == Activation::Crelu;
    if !integers || !(squared || plain) {
        return None;
    }
    let (qa, qb) = (first.weights.scale?, second.weights.scale?);
    let pre_divisor = if squared { qa } else { 1 };
    Some(IntegerHead { pre_divisor, factor: net.arch.output.scale, divisor: qa.checked_mul(qb)? })
}
