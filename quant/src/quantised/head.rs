//! The integer head of a bullet-family network: which divisions and factors turn a sum into centipawns.

use crate::arch::{Activation, Architecture, ElementType, HeadDivision};

/// `((sum / pre_divisor + bias · bias_factor) · factor) / divisor`, see [`tamis_runtime::raw::num::rescale`]; the
/// container holds the product with the bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegerHead {
    /// QA after a squared activation, which carries QA²; 1 where that is divided once, and after others.
    pub pre_divisor: i32,
    /// QA after a squared activation that is divided once; else 1. The file's bias carries QA·QB all the same.
    pub bias_factor: i32,
    /// The output's scale; the format takes 1 to 2³⁰.
    pub factor: i32,
    /// QA·QB, times `bias_factor`.
    pub divisor: i32,
}

impl IntegerHead {
    /// QA·QB, the scale of the bias in the trainer's file.
    #[must_use]
    pub const fn bias_scale(&self) -> i32 {
        self.divisor / self.bias_factor
    }
}

/// The integer head, for a network of two layers whose second has integer weights and an integer bias.
pub fn head(arch: &Architecture) -> Option<IntegerHead> {
    let [first, _] = arch.layers.as_slice() else { return None };
    let (weights, bias) = (arch.tensor(&arch.weights_name(1))?, arch.tensor(&arch.bias_name(1))?);
    let squared = matches!(first.activation, Activation::Screlu | Activation::Sqrrelu);
    let plain = first.activation == Activation::Crelu;
    if weights.r#type != ElementType::I16 || bias.r#type == ElementType::F32 || !(squared || plain) {
        return None;
    }
    let (qa, qb) = (arch.tensor(&arch.weights_name(0))?.scale?, weights.scale?);
    let (pre_divisor, bias_factor) = match arch.output.divide {
        _ if !squared => (1, 1),
        HeadDivision::Twice => (qa, 1),
        HeadDivision::Once => (1, qa),
    };
    let divisor = qa.checked_mul(qb)?.checked_mul(bias_factor)?;
    Some(IntegerHead { pre_divisor, bias_factor, factor: arch.output.scale, divisor })
}
