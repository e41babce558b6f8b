//! Which operation has which keys.

use super::order::{KernelOrder, Order};
use super::types::{DescribedOp, Kernel};
use crate::graph::{Activation, Binary, Pooling, Shape, Window};
use serde::Deserialize;

/// Words, each with the keys that it must have and those that it may have, beside `name`, `op` and `reads`.
macro_rules! words {
    ($($word:ident $text:literal [$($needed:literal)*] [$($allowed:literal)*],)*) => {
        /// The word of an operation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
        pub(super) enum Word {
            $(#[serde(rename = $text)] $word,)*
        }

        impl Word {
            /// As it is written.
            pub(super) const fn text(self) -> &'static str {
                match self {
                    $(Self::$word => $text,)*
                }
            }

            /// The keys that it must have, and those that it may have.
            pub(super) const fn keys(self) -> (&'static [&'static str], &'static [&'static str]) {
                match self {
                    $(Self::$word => (&[$($needed),*], &[$($allowed),*]),)*
                }
            }
        }
    };
}

words! {
    Linear "linear" ["outputs"] ["weights" "bias" "order" "each_pixel"],
    SparseLinear "sparse-linear" ["outputs"] ["weights" "bias" "order"],
    Embed "embed" ["width"] ["table" "order"],
    FmTerm "fm-term" ["width"] [],
    BiInteraction "bi-interaction" ["width"] [],
    InnerProducts "inner-products" ["width"] [],
    Concat "concat" [] ["axis"],
    Add "add" [] [],
    BroadcastAdd "broadcast-add" [] [],
    Sub "sub" [] [],
    Mul "mul" [] [],
    Div "div" [] [],
    Max "max" [] [],
    Min "min" [] [],
    Constant "constant" ["shape"] ["values"],
    Scale "scale" ["factor"] [],
    PerChannel "per-channel" [] ["weights" "bias"],
    BatchNormalization "batch-normalization" [] ["weights" "bias" "mean" "variance" "epsilon"],
    PRelu "prelu" [] ["weights"],
    Relu "relu" [] [],
    Relu6 "relu6" [] [],
    Crelu "crelu" [] [],
    LeakyRelu "leaky-relu" ["alpha"] [],
    Sigmoid "sigmoid" [] [],
    Tanh "tanh" [] [],
    Softmax "softmax" [] [],
    LogSoftmax "log-softmax" [] [],
    Clip "clip" [] ["low" "high"],
    HardSigmoid "hard-sigmoid" [] ["alpha" "beta"],
    HardSwish "hard-swish" [] [],
    Elu "elu" [] ["alpha"],
    Abs "abs" [] [],
    Exp "exp" [] [],
    Sqrt "sqrt" [] [],
    Erf "erf" [] [],
    Flatten "flatten" [] ["order"],
    Reshape "reshape" ["shape"] [],
    Transpose "transpose" ["axes"] [],
    Slice "slice" ["size"] ["start" "step"],
    Pad "pad" [] ["before" "after" "fill"],
    Resize "resize" ["size"] ["sampling" "rounding" "coordinates"],
    Convolution "convolution" ["outputs" "kernel"]
        ["stride" "dilation" "padding" "groups" "weights" "bias" "order"],
    Depthwise "depthwise" ["kernel"] ["outputs" "stride" "dilation" "padding" "weights" "bias" "order"],
    TransposedConvolution "transposed-convolution" ["outputs" "kernel"]
        ["stride" "dilation" "padding" "size" "groups" "weights" "bias" "order"],
    AveragePool "average-pool" ["kernel"] ["stride" "dilation" "padding" "count_padding"],
    MaxPool "max-pool" ["kernel"] ["stride" "dilation" "padding"],
    GlobalAveragePool "global-average-pool" [] [],
    GlobalMaxPool "global-max-pool" [] [],
    Trees "trees" ["rate" "trees" "slots"] [],
}

/// The slope of `hard-sigmoid` in PyTorch and Keras 3.
pub(super) const HARD_SIGMOID_ALPHA: f64 = 1.0 / 6.0;
/// What it adds, everywhere.
pub(super) const HARD_SIGMOID_BETA: f64 = 0.5;
/// What `elu` goes towards, everywhere.
pub(super) const ELU_ALPHA: f64 = 1.0;
/// PyTorch's and ONNX's; Keras has 0.001.
pub(super) const EPSILON: f64 = 1e-5;

impl Word {
    /// The order of a matrix that does not say it.
    pub(super) const fn default_order(self) -> Order {
        match self {
            Self::Embed => Order::InOut,
            _ => Order::OutIn,
        }
    }

    /// The orders of its kernel, the default first; none where there is no kernel.
    pub(super) const fn kernel_orders(self) -> &'static [KernelOrder] {
        match self {
            Self::Convolution | Self::Depthwise => KernelOrder::OF_CONVOLUTIONS,
            Self::TransposedConvolution => KernelOrder::OF_TRANSPOSED,
            _ => &[],
        }
    }

    /// The word of two values' operation.
    pub(super) const fn of_binary(binary: Binary) -> Self {
        match binary {
            Binary::Add => Self::BroadcastAdd,
            Binary::Sub => Self::Sub,
            Binary::Mul => Self::Mul,
            Binary::Div => Self::Div,
            Binary::Max => Self::Max,
            Binary::Min => Self::Min,
        }
    }

    /// The word of a function.
    pub(super) fn of_activation(activation: Activation) -> Self {
        match activation {
            Activation::Relu => Self::Relu,
            Activation::Crelu => Self::Crelu,
            Activation::LeakyRelu { .. } => Self::LeakyRelu,
            Activation::Sigmoid => Self::Sigmoid,
            Activation::Tanh => Self::Tanh,
            Activation::Softmax => Self::Softmax,
            Activation::LogSoftmax => Self::LogSoftmax,
            Activation::Clip { low, high } if low.to_bits() == 0 && high == 6.0 => Self::Relu6,
            Activation::Clip { .. } => Self::Clip,
            Activation::HardSigmoid { .. } => Self::HardSigmoid,
            Activation::HardSwish => Self::HardSwish,
            Activation::Elu { .. } => Self::Elu,
            Activation::Abs => Self::Abs,
            Activation::Exp => Self::Exp,
            Activation::Sqrt => Self::Sqrt,
            Activation::Erf => Self::Erf,
        }
    }
}

impl DescribedOp {
    /// Its word, where it reads a value of this shape.
    pub(super) fn word(&self, read: Shape) -> Word {
        match self {
            Self::Linear { sparse: false, .. } => Word::Linear,
            Self::Linear { sparse: true, .. } => Word::SparseLinear,
            Self::Embed { .. } => Word::Embed,
            Self::FmTerm { .. } => Word::FmTerm,
            Self::BiInteraction { .. } => Word::BiInteraction,
            Self::InnerProducts { .. } => Word::InnerProducts,
            Self::Concat { .. } => Word::Concat,
            Self::Add => Word::Add,
            Self::Binary(binary) => Word::of_binary(*binary),
            Self::Constant { .. } => Word::Constant,
            Self::Scale(_) => Word::Scale,
            Self::PerChannel { .. } => Word::PerChannel,
            Self::BatchNormalization { .. } => Word::BatchNormalization,
            Self::PRelu { .. } => Word::PRelu,
            Self::Activation(activation) => Word::of_activation(*activation),
            Self::Flatten { .. } => Word::Flatten,
            Self::Reshape(_) => Word::Reshape,
            Self::Transpose(_) => Word::Transpose,
            Self::Slice { .. } => Word::Slice,
            Self::Pad { .. } => Word::Pad,
            Self::Resize { .. } => Word::Resize,
            Self::Convolution(Kernel { groups, .. }) if *groups > 1 && *groups == read.channels => Word::Depthwise,
            Self::Convolution(_) => Word::Convolution,
            Self::TransposedConvolution { .. } => Word::TransposedConvolution,
            Self::Pool { window, kind } => {
                let is_global = *window == Window::of([read.height, read.width]);
                match kind {
                    Pooling::Max if is_global => Word::GlobalMaxPool,
                    Pooling::Max => Word::MaxPool,
                    Pooling::Average if is_global => Word::GlobalAveragePool,
                    Pooling::Average | Pooling::AverageWithPadding => Word::AveragePool,
                }
            }
            Self::Trees { .. } => Word::Trees,
        }
    }
}
