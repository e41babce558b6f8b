//! Operations on maps of features; sections 6.21 to 6.25 of FORMAT.md define each.

use super::tensor::QuantTensor;
use crate::spatial::Window;

/// Sums of products of a window's inputs, rounded.
#[derive(Debug, Clone, PartialEq)]
pub struct Convolution {
    /// How the kernel slides.
    pub window: Window,
    /// Whether places and pixels are exchanged, as in transposed convolutions.
    pub transposed: bool,
    /// Output `o` reads the inputs of group `o / (m / groups)` alone.
    pub groups: usize,
    /// (m, taps · c / groups) of i8: columns by tap, then by input.
    pub weights: QuantTensor,
    /// (m, 1) of i32.
    pub bias: Option<QuantTensor>,
    /// What the sums become; without it they stay i32.
    pub rounding: Option<Rounding>,
}

/// `clamp(zero + ((sum · multiplier + 2^(shift−1)) >> shift), low, high)`; with a second value its elements, less their
/// zero point, times a multiplier of their own are added before the shift.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounding {
    /// (channels,); behind them as many for the second value, if there is one.
    pub multipliers: Vec<i32>,
    /// (channels,), 1 to 62.
    pub shifts: Vec<u8>,
    /// The least result.
    pub low: i32,
    /// The greatest.
    pub high: i32,
}

/// What a pool makes of the pixels in its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolKind {
    /// The greatest.
    Max,
    /// The mean of the integers as they are stored, to nearest, halves away from 0.
    Mean,
    /// The sum of what is above or below the zero point.
    Sum,
}

/// What is made of two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// The greater one.
    Max,
    /// The smaller one.
    Min,
    /// `a · multipliers[0] + b · multipliers[1]`, zero points taken off, rounded.
    Sum,
    /// `a · b · multipliers[0]`, zero points taken off, rounded.
    Product,
}

impl Convolution {
    /// Whether every channel has a filter of its own, and the file a row a tap.
    #[must_use]
    pub const fn is_depthwise(&self) -> bool {
        !self.transposed
            && self.groups > 1
            && self.groups == self.weights.outputs
            && self.weights.inputs == self.window.taps()
    }
}
