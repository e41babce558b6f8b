//! Which operation has which keys.

use super::types::{DescribedOp, Order};
use crate::graph::Activation;
use serde::Deserialize;

/// The word of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Word {
    Linear,
    SparseLinear,
    Embed,
    FmTerm,
    BiInteraction,
    InnerProducts,
    Concat,
    Add,
    Scale,
    Relu,
    Crelu,
    LeakyRelu,
    Sigmoid,
    Tanh,
    Softmax,
    Flatten,
    Trees,
}

impl Word {
    /// As it is written.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::SparseLinear => "sparse-linear",
            Self::Embed => "embed",
            Self::FmTerm => "fm-term",
            Self::BiInteraction => "bi-interaction",
            Self::InnerProducts => "inner-products",
            Self::Concat => "concat",
            Self::Add => "add",
            Self::Scale => "scale",
            Self::Relu => "relu",
            Self::Crelu => "crelu",
            Self::LeakyRelu => "leaky-relu",
            Self::Sigmoid => "sigmoid",
            Self::Tanh => "tanh",
            Self::Softmax => "softmax",
            Self::Flatten => "flatten",
            Self::Trees => "trees",
        }
    }

    /// The keys that it must have, and those that it may have, beside `name`, `op` and `reads`.
    pub(super) const fn keys(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Linear | Self::SparseLinear => (&["outputs"], &["weights", "bias", "order"]),
            Self::Embed => (&["width"], &["table", "order"]),
            Self::FmTerm | Self::BiInteraction | Self::InnerProducts => (&["width"], &[]),
            Self::Scale => (&["factor"], &[]),
            Self::LeakyRelu => (&["alpha"], &[]),
            Self::Trees => (&["rate", "trees", "slots"], &[]),
            Self::Concat
            | Self::Add
            | Self::Relu
            | Self::Crelu
            | Self::Sigmoid
            | Self::Tanh
            | Self::Softmax
            | Self::Flatten => (&[], &[]),
        }
    }

    /// The order of a matrix that does not say it.
    pub(super) const fn default_order(self) -> Order {
        match self {
            Self::Embed => Order::InOut,
            _ => Order::OutIn,
        }
    }
}

impl DescribedOp {
    /// Its word.
    pub(super) fn word(&self) -> Word {
        match self {
            Self::Linear { sparse: false, .. } => Word::Linear,
            Self::Linear { sparse: true, .. } => Word::SparseLinear,
            Self::Embed { .. } => Word::Embed,
            Self::FmTerm { .. } => Word::FmTerm,
            Self::BiInteraction { .. } => Word::BiInteraction,
            Self::InnerProducts { .. } => Word::InnerProducts,
            Self::Concat => Word::Concat,
            Self::Add => Word::Add,
            Self::Scale(_) => Word::Scale,
            Self::Activation(Activation::Relu) => Word::Relu,
            Self::Activation(Activation::Crelu) => Word::Crelu,
            Self::Activation(Activation::LeakyRelu { .. }) => Word::LeakyRelu,
            Self::Activation(Activation::Sigmoid) => Word::Sigmoid,
            Self::Activation(Activation::Tanh) => Word::Tanh,
            Self::Activation(Activation::Softmax) => Word::Softmax,
            Self::Flatten => Word::Flatten,
            Self::Trees { .. } => Word::Trees,
            Self::Activation(_) => unreachable!("an activation without a word"),
        }
    }
}
