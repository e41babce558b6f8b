//! What a node computes.

use super::activation::RealActivation;
use super::clip::{ByteActivation, Clip};
use super::maps::{Convolution, Pairing, PoolKind};
use super::sides::Sides;
use super::tensor::QuantTensor;
use crate::spatial::Window;

/// What a node computes, as FORMAT.md defines it. Tensors: element (output, input) is `values[output + outputs·input]`;
/// those of several banks have the outputs of one output bucket behind the other's.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Accumulators → i32: clipped, perhaps squared, times weights.
    ActivateDot {
        /// (m, n) of i16.
        weights: QuantTensor,
        /// What is done before the weights.
        clip: Clip,
        /// The accumulator that stands for 1, or the greatest i16 where there is no clip above.
        max: i32,
    },
    /// Accumulators → i32: clipped, times weights, rounded at 15 bits, times the clipped accumulators again.
    RoundedDot {
        /// (m, n) of i16.
        weights: QuantTensor,
        /// (m, 1) of i32.
        bias: Option<QuantTensor>,
        /// The accumulator that stands for 1.
        max: i32,
    },
    /// i32 → i32: the integer head, `((x / pre + bias) · factor) / divisor`.
    Rescale {
        /// (m, 1) of i16 or i32.
        bias: QuantTensor,
        /// The first divisor.
        pre: i32,
        /// The factor.
        factor: i32,
        /// The last divisor.
        divisor: i32,
    },
    /// Accumulators → i32: what `ActivateDot` and `Rescale` do, with sums in 64 bits.
    WideHead {
        /// (m, n) of i16.
        weights: QuantTensor,
        /// (m, 1) of i16 or i32.
        bias: QuantTensor,
        /// What is done before the weights.
        clip: Clip,
        /// The accumulator that stands for 1, or the greatest i16 where there is no clip above.
        max: i32,
        /// The first divisor.
        pre: i32,
        /// The factor.
        factor: i32,
        /// The last divisor.
        divisor: i32,
    },
    /// Accumulators → f32.
    ActivateF32 {
        /// Which function.
        activation: RealActivation,
        /// What accumulators are clipped to.
        max: i32,
        /// One over the accumulator that stands for 1.
        inverse: f32,
        /// Elements at the end of each accumulator that are not read.
        left_out: usize,
    },
    /// Accumulators → u8: products of a perspective's two halves.
    PairwiseU8 {
        /// What accumulators are clipped to.
        max: i32,
        /// How far products are shifted right.
        shift: u32,
        /// Whether to nearest, halves upward; else they are cut.
        is_rounded: bool,
        /// Elements at the end of each accumulator that are not read.
        left_out: usize,
    },
    /// Accumulators → u8.
    ClipU8 {
        /// What accumulators are clipped to.
        max: i32,
        /// How far they are then shifted right.
        shift: u32,
        /// Elements at the end of each accumulator that are not read.
        left_out: usize,
    },
    /// Digits at the end of the accumulators → i32 (1,): half the difference of the perspectives' piece-square values.
    Psqt {
        /// Digits of a value.
        digits: usize,
        /// Bits of a digit.
        bits: u32,
    },
    /// Digits at the end of the accumulators → i32: numbers that features add to.
    FeatureSums {
        /// Digits of a number.
        digits: usize,
        /// Bits of a digit.
        bits: u32,
        /// What is made of both perspectives.
        sides: Sides,
        /// Whether each output bucket has numbers of its own.
        is_bucketed: bool,
    },
    /// i32 → u8.
    ActivateU8 {
        /// What is done with a sum.
        form: ByteActivation,
        /// The greatest result.
        max: i32,
        /// The shift of sums that are clipped; 0 where none are.
        clip_shift: u32,
        /// The shift of squares; 0 where there are none.
        square_shift: u32,
    },
    /// Bytes or i16 → i32; which of the two kinds follows from what is read.
    Affine {
        /// (m, n) of i8, or of i16 where i16 are read.
        weights: QuantTensor,
        /// (m, 1) of i32.
        bias: Option<QuantTensor>,
    },
    /// i32, shifted and activated → i32.
    AffineI32 {
        /// What is done with what was shifted.
        clip: Clip,
        /// Whether it is the dual activation: clips times `max`, and behind those the squares of clips on both sides.
        is_dual: bool,
        /// What sums are clipped to: the greatest i16 for SqrReLU, the greatest i32 for ReLU and the identity.
        max: i32,
        /// How far what is read is shifted right.
        shift: u32,
        /// (m, n), or (m, 2n) behind the dual activation, of integers.
        weights: QuantTensor,
        /// (m, 1) of i32.
        bias: Option<QuantTensor>,
    },
    /// f32 → f32.
    AffineF32 {
        /// (m, n)
        weights: QuantTensor,
        /// (m, 1)
        bias: Option<QuantTensor>,
    },
    /// Sparse input → i32, or f32 with weights of f32.
    SparseAffine {
        /// (m, features)
        weights: QuantTensor,
        /// (m, 1)
        bias: Option<QuantTensor>,
    },
    /// Sparse input → (max_active · width,).
    SparseRows {
        /// (width, features)
        table: QuantTensor,
        /// Multiplier and shift of integers that are multiplied by their feature's value.
        requantisation: Option<(i32, u32)>,
    },
    /// Embeddings → (1,).
    FmTerm {
        /// Elements of one embedding.
        width: usize,
    },
    /// Embeddings → (width,).
    BiInteraction {
        /// Elements of one embedding.
        width: usize,
    },
    /// Embeddings → a product a pair.
    InnerProducts {
        /// Elements of one embedding.
        width: usize,
    },
    /// Two values of one element → one behind the other.
    Concat {
        /// Runs of both that take turns: 1 for all of one behind all of the other.
        runs: usize,
    },
    /// Two of i32, or two of f32 → their sum.
    Add,
    /// Two of f32 → their product.
    Multiply,
    /// i32 → narrower integers, or i32 of another unit.
    Requantise {
        /// (len,)
        multipliers: Vec<i32>,
        /// (len,)
        shifts: Vec<u8>,
        /// The least result.
        low: i32,
        /// The greatest.
        high: i32,
    },
    /// Bytes → bytes.
    Lookup {
        /// (256,) by the byte that is read.
        table: Vec<i32>,
    },
    /// The sparse input, integers or f32 → i32 (1,). Each tensor (trees, nodes), nodes in heap order.
    Trees {
        /// i32; −1 in a leaf.
        features: QuantTensor,
        /// i32, or f32 where f32 are read.
        thresholds: QuantTensor,
        /// i32.
        leaves: QuantTensor,
    },
    /// Integers → f32.
    ToF32 {
        /// The unit.
        factor: f32,
        /// The integer that becomes 0.
        zero: i32,
    },
    /// i32 → f32.
    Dequantise {
        /// The unit.
        factor: f32,
        /// (m, 1) of f32.
        bias: Option<QuantTensor>,
    },
    /// f32 → integers.
    Quantise {
        /// One over the unit.
        inverse: f32,
        /// The least result.
        low: i32,
        /// The greatest.
        high: i32,
    },
    /// f32 → f32.
    Activation(RealActivation),
    /// f32 → f32, times a constant.
    Scale(f32),
    /// A map of bytes or i16, and perhaps a second one that is added → a map.
    Convolution(Convolution),
    /// A map → a map of as many channels.
    Pool {
        /// How the window slides.
        window: Window,
        /// What is made of its pixels.
        kind: PoolKind,
        /// The least result; of sums nothing.
        low: i32,
        /// The greatest.
        high: i32,
    },
    /// Two maps of one shape, or a map and a pixel → a map.
    Elementwise {
        /// What is made of two elements.
        pairing: Pairing,
        /// Of the one and of the other.
        multipliers: [i32; 2],
        /// Of the sum, 1 to 62.
        shift: u32,
        /// The least result.
        low: i32,
        /// The greatest.
        high: i32,
    },
    /// A map → elements at equal distances along each axis.
    Move {
        /// The first element that is read.
        start: usize,
        /// Elements from one to the next along each axis of what is made.
        steps: [i32; 3],
    },
    /// A map → the same within a border that stands for 0.
    Pad {
        /// Rows above, pixels to the left.
        before: [usize; 2],
    },
    /// A map → a map of another size.
    Resize {
        /// Of the rows, then of the columns: two neighbours and the second one's weight in 1/1024.
        taps: Vec<[i32; 3]>,
    },
}

impl Operation {
    /// The tensors that it reads.
    pub fn tensors(&self) -> impl Iterator<Item = &QuantTensor> {
        let three = match self {
            Self::Affine { weights, bias }
            | Self::RoundedDot { weights, bias, .. }
            | Self::AffineI32 { weights, bias, .. }
            | Self::AffineF32 { weights, bias }
            | Self::SparseAffine { weights, bias } => [Some(weights), bias.as_ref(), None],
            Self::WideHead { weights, bias, .. } => [Some(weights), Some(bias), None],
            Self::ActivateDot { weights: tensor, .. }
            | Self::Rescale { bias: tensor, .. }
            | Self::SparseRows { table: tensor, .. } => [Some(tensor), None, None],
            Self::Dequantise { bias, .. } => [bias.as_ref(), None, None],
            Self::Convolution(Convolution { weights, bias, .. }) => [Some(weights), bias.as_ref(), None],
            Self::Trees { features, thresholds, leaves } => [Some(features), Some(thresholds), Some(leaves)],
            Self::ActivateF32 { .. }
            | Self::PairwiseU8 { .. }
            | Self::ClipU8 { .. }
            | Self::Psqt { .. }
            | Self::FeatureSums { .. }
            | Self::ActivateU8 { .. }
            | Self::FmTerm { .. }
            | Self::BiInteraction { .. }
            | Self::InnerProducts { .. }
            | Self::Concat { .. }
            | Self::Add
            | Self::Multiply
            | Self::Requantise { .. }
            | Self::Lookup { .. }
            | Self::ToF32 { .. }
            | Self::Quantise { .. }
            | Self::Activation(_)
            | Self::Scale(_)
            | Self::Pool { .. }
            | Self::Elementwise { .. }
            | Self::Move { .. }
            | Self::Pad { .. }
            | Self::Resize { .. } => [None; 3],
        };
        three.into_iter().flatten()
    }

    /// Whether it is one of those on maps.
    #[must_use]
    pub const fn is_of_maps(&self) -> bool {
        matches!(
            self,
            Self::Convolution(_)
                | Self::Pool { .. }
                | Self::Elementwise { .. }
                | Self::Move { .. }
                | Self::Pad { .. }
                | Self::Resize { .. }
        )
    }

    /// The word in reports.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::ActivateDot { .. } => "activate-dot",
            Self::RoundedDot { .. } => "rounded-dot",
            Self::Rescale { .. } => "rescale",
            Self::WideHead { .. } => "wide-head",
            Self::ActivateF32 { .. } => "activate-f32",
            Self::PairwiseU8 { is_rounded, .. } => ["pairwise-u8", "pairwise-rounded"][*is_rounded as usize],
            Self::ClipU8 { .. } => "clip-u8",
            Self::Psqt { .. } => "psqt",
            Self::FeatureSums { .. } => "feature-sums",
            Self::ActivateU8 { .. } => "activate-u8",
            Self::Affine { .. } => "affine",
            Self::AffineI32 { .. } => "affine-i32",
            Self::AffineF32 { .. } => "affine-f32",
            Self::SparseAffine { .. } => "sparse-affine",
            Self::SparseRows { .. } => "sparse-rows",
            Self::FmTerm { .. } => "fm-term",
            Self::BiInteraction { .. } => "bi-interaction",
            Self::InnerProducts { .. } => "inner-products",
            Self::Concat { .. } => "concat",
            Self::Add => "add",
            Self::Multiply => "multiply",
            Self::Requantise { .. } => "requantise",
            Self::Lookup { .. } => "lookup",
            Self::Trees { .. } => "trees",
            Self::ToF32 { .. } => "to-f32",
            Self::Dequantise { .. } => "dequantise",
            Self::Quantise { .. } => "quantise",
            Self::Activation(_) => "activation",
            Self::Scale(_) => "scale",
            Self::Convolution(op) if op.transposed => "transposed-convolution",
            Self::Convolution(op) if op.is_depthwise() => "depthwise",
            Self::Convolution(_) => "convolution",
            Self::Pool { kind: PoolKind::Max, .. } => "max-pool",
            Self::Pool { kind: PoolKind::Mean, .. } => "mean-pool",
            Self::Pool { kind: PoolKind::Sum, .. } => "sum-pool",
            Self::Elementwise { pairing: Pairing::Max, .. } => "maximum",
            Self::Elementwise { pairing: Pairing::Min, .. } => "minimum",
            Self::Elementwise { pairing: Pairing::Sum, .. } => "add",
            Self::Elementwise { pairing: Pairing::Product, .. } => "multiply",
            Self::Move { .. } => "move",
            Self::Pad { .. } => "pad",
            Self::Resize { .. } => "resize",
        }
    }
}
