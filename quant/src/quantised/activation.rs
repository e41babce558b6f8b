//! What the first layer hands to the second in integers: clips, squares, products and their scale, once.

use super::net::QuantLayer;
use crate::arch::{Activation, Architecture, ElementType};

/// The shift of products that a description gives none.
const UNSHIFTED: u32 = 0;

/// The activation behind the feature transformer, on accumulators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegerActivation {
    /// Which function.
    pub activation: Activation,
    /// QA: the accumulator that stands for 1.
    pub qa: i32,
    /// What an accumulator is clipped to: QA; for ReLU and SqrReLU, which have no clip, the greatest i16, or what
    /// becomes the greatest signed byte where bytes follow.
    pub clip: i32,
    /// How far pairwise products, or accumulators that become bytes, are shifted right.
    pub shift: u32,
    /// Whether that rounds to nearest, halves upward; only of products.
    pub is_rounded: bool,
}

impl IntegerActivation {
    /// The activation of a description; `None` for dense networks and for transformers stored as f32.
    pub fn of(arch: &Architecture) -> Option<Self> {
        let first = arch.layers.first()?;
        let qa = arch.tensor(&arch.weights_name(0))?.scale?;
        let makes_bytes = arch.tensor(&arch.weights_name(1)).is_some_and(|next| next.r#type == ElementType::I8);
        let shift = first.product_shift.or(first.activation_shift).unwrap_or(UNSHIFTED);
        let clip = match first.activation {
            Activation::Relu if makes_bytes => (128i32 << shift.min(8)) - 1,
            Activation::Relu | Activation::Sqrrelu => i16::MAX.into(),
            _ => qa,
        };
        Some(Self { activation: first.activation, qa, clip, shift, is_rounded: first.product_rounded })
    }

    /// What the accumulators of one perspective contribute before their weights: (hidden,), or (hidden / 2,) for
    /// pairwise.
    ///
    /// At most `clip`² each, so with the 15 bits of a clip they fit i32.
    pub fn apply(&self, acc: &[i64]) -> Vec<i64> {
        let clipped = |value: &i64| (*value).clamp(0, self.clip.into());
        match self.activation {
            Activation::PairwiseCrelu => {
                let (first, second) = acc.split_at(acc.len() / 2);
                first.iter().zip(second).map(|(a, b)| self.product(clipped(a), clipped(b))).collect()
            }
            Activation::Relu | Activation::Crelu => acc.iter().map(|value| clipped(value) >> self.shift).collect(),
            _ => acc.iter().map(|value| clipped(value).pow(2)).collect(),
        }
    }

    /// What a pair of clipped accumulators makes.
    #[must_use]
    pub const fn product(&self, a: i64, b: i64) -> i64 {
        let half = if self.is_rounded && self.shift > 0 { 1 << (self.shift - 1) } else { 0 };
        (a * b + half) >> self.shift
    }

    /// The contribution that stands for 1: QA or QA², less the shifted bits.
    pub fn units(&self) -> f64 {
        let qa = f64::from(self.qa);
        match self.activation {
            Activation::Relu | Activation::Crelu => qa / self.divisor(),
            Activation::PairwiseCrelu => qa * qa / self.divisor(),
            _ => qa * qa,
        }
    }

    /// What the shift divides by.
    pub fn divisor(&self) -> f64 {
        (1u64 << self.shift.min(63)) as f64
    }
}

/// What turns the second layer's integer sums into reals, in the precision of the runtime.
pub fn sum_factor(activation: IntegerActivation, second: &QuantLayer) -> f32 {
    (1.0 / (activation.units() * f64::from(second.weights.multiplier()))) as f32
}
