//! What a neuron of the accumulators adds to the sum of the output, as the runtime computes it.

use crate::arch::{Activation, ElementType};
use crate::quantised::{IntegerActivation, IntegerHead, QuantNet, head};

/// How an accumulator and an output weight become a summand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Product {
    /// `clip · weight`
    Plain,
    /// `clip² · weight`
    Squared,
    /// `((clip · weight + 2¹⁴) >> 15) · clip`
    Rounded,
}

/// The head of a network of accumulators and one layer behind them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    product: Product,
    clip: i32,
    /// What 1 of the sum is worth, in units of the output.
    pub sum_unit: f64,
    /// What 1 of the bias is worth.
    pub bias_unit: f64,
    /// Bounds of an output weight.
    pub weights: (i32, i32),
}

impl Form {
    /// `None` for networks with other heads.
    pub fn of(net: &QuantNet) -> Option<Self> {
        let activation = IntegerActivation::of(&net.arch)?;
        let IntegerHead { pre_divisor, bias_factor, factor, divisor, is_rounded } = head(&net.arch)?;
        let product = match activation.activation {
            _ if is_rounded => Product::Rounded,
            Activation::Screlu | Activation::Sqrrelu => Product::Squared,
            _ => Product::Plain,
        };
        let unit = f64::from(factor) / f64::from(divisor);
        let all = i32::from(i16::MIN)..=i32::from(i16::MAX);
        // Engines multiply the clip by the weight in 16 bits where that is exact, and so do kernels.
        let exact = i32::from(i16::MAX) / activation.clip.max(1);
        let second = &net.layers.get(1)?.weights;
        let is_exact = second.integers().iter().all(|weight| weight.abs() <= exact);
        debug_assert_eq!(second.element, ElementType::I16);
        let weights = match product {
            Product::Squared if is_exact => (-exact, exact),
            _ => (*all.start(), *all.end()),
        };
        Some(Self {
            product,
            clip: activation.clip,
            sum_unit: unit / f64::from(pre_divisor),
            bias_unit: unit * f64::from(bias_factor),
            weights,
        })
    }

    /// The summand of an accumulator.
    #[inline(always)]
    pub fn summand(&self, accumulator: i32, weight: i32) -> i64 {
        let clip = accumulator.clamp(0, self.clip);
        let [wide_clip, wide_weight] = [clip, weight].map(i64::from);
        match self.product {
            Product::Plain => wide_clip * wide_weight,
            Product::Squared => wide_clip * wide_clip * wide_weight,
            Product::Rounded => ((wide_clip * wide_weight + (1 << 14)) >> 15) * wide_clip,
        }
    }

    /// What an output weight is multiplied by, as a real: the summand but for its rounding.
    pub fn slope(&self, accumulator: i32) -> f64 {
        let clip = f64::from(accumulator.clamp(0, self.clip));
        match self.product {
            Product::Plain => clip,
            Product::Squared => clip * clip,
            Product::Rounded => clip * clip / f64::from(1 << 15),
        }
    }
}
