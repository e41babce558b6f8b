//! What a user can choose.

use crate::calibrate::Method;
use crate::import::Ranges;
use std::collections::{BTreeMap, BTreeSet};

/// How a graph is quantised.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How ranges follow from what calibration saw.
    pub method: Method,
    /// Units of weights.
    pub weights: Granularity,
    /// Integers between layers that are no maps.
    pub activations: Activations,
    /// Bits of weights. i16 weights read i16 activations.
    pub weight_bits: WeightBits,
    /// Whether the weights of a row are rounded together, for the least error of its sum on calibration samples, or
    /// each to nearest.
    pub round_together: bool,
    /// Whether biases take up the mean error that calibration samples show.
    pub bias_correction: bool,
    /// Whether channels between two linear layers, or of maps, may get units of their own, where that lowers the error
    /// on calibration samples.
    pub equalise: bool,
    /// Names of layers that stay f32.
    pub keep_f32: BTreeSet<String>,
    /// The ends of the input, where calibration shall not choose them.
    pub input_range: Option<(f64, f64)>,
    /// The integers of the container's input, where they are given: the byte `b` then stands for `(b − zero) · unit`,
    /// whatever calibration saw, so that bytes that mean this enter unchanged.
    pub input_encoding: Option<InputEncoding>,
    /// Names of layers whose maps are i16.
    pub sixteen: BTreeSet<String>,
    /// Whether more maps become i16, those that gain most on calibration samples, and what they may cost.
    pub sixteen_budget: Option<SixteenBudget>,
    /// The integers of maps.
    pub maps: Activations,
    /// The ends of what a node makes, by its name, where calibration shall not choose them.
    pub ranges: BTreeMap<String, (f64, f64)>,
    /// Whether a network is made whose sums may overflow.
    pub unproved: bool,
    /// Whether channels without an effect are taken out of networks over maps. No output depends on it; tests do.
    #[doc(hidden)]
    pub remove_channels: bool,
}

/// Given integers of an input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InputEncoding {
    /// Whether they are −128 to 127, or 0 to 255.
    pub is_signed: bool,
    /// The real value of a step: above 0, and normal in f32.
    pub unit: f64,
    /// The byte that stands for 0.
    pub zero: i32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            method: Method::MeanSquare,
            weights: Granularity::PerChannel,
            activations: Activations::U7,
            weight_bits: WeightBits::Eight,
            round_together: true,
            bias_correction: true,
            equalise: true,
            keep_f32: BTreeSet::new(),
            input_range: None,
            input_encoding: None,
            sixteen: BTreeSet::new(),
            sixteen_budget: None,
            maps: Activations::I8,
            ranges: BTreeMap::new(),
            unproved: false,
            remove_channels: true,
        }
    }
}

impl Options {
    /// The same with the ranges that a description gives, of what has none yet.
    #[must_use]
    pub fn with_ranges(self, given: Ranges) -> Self {
        let mut ranges = given.nodes;
        ranges.extend(self.ranges);
        Self { input_range: self.input_range.or(given.input), ranges, ..self }
    }
}

/// What 16-bit maps may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SixteenBudget {
    /// The most maps.
    pub maps: usize,
    /// The most bytes of workspace that the network may need; any number without it.
    pub workspace_len_bytes: Option<usize>,
    /// The most products that may read 16-bit maps, of a hundred; any number without it.
    pub macs_percent: Option<f64>,
}

/// Which weights share a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granularity {
    /// Those of one output.
    PerChannel,
    /// All of a layer.
    PerTensor,
}

/// The integers of activations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activations {
    /// 0 to 127 where values are not negative, else −127 to 127.
    U7,
    /// 0 to 255 with a zero point.
    U8,
    /// −128 to 127 with a zero point.
    I8,
    /// −32767 to 32767, fewer where sums would not fit.
    I16,
}

/// Bits of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightBits {
    /// −127 to 127.
    Eight,
    /// −32767 to 32767, fewer where sums would not fit.
    Sixteen,
}

impl WeightBits {
    /// The largest magnitude.
    #[must_use]
    pub const fn limit(self) -> i32 {
        match self {
            Self::Eight => 127,
            Self::Sixteen => 32_767,
        }
    }
}
