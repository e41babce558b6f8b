//! What can be wrong with a question to a network.

use thiserror::Error;

use crate::error_kind::ErrorKind;

/// Why a network cannot be asked this.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EvalError {
    /// A chess position for a network without a board.
    #[error("the network's input is not a chess board, so that a position means nothing to it")]
    NotChess,
    /// A vector for features, or features for a vector.
    #[error("the example is a list of {found}, the network expects {expected}")]
    ExampleKind {
        /// What the example has.
        found: &'static str,
        /// What the network has.
        expected: &'static str,
    },
    /// A vector of the wrong length.
    #[error("the example has {found} numbers, the network expects {expected}")]
    InputLength {
        /// Length of the vector.
        found: usize,
        /// Inputs of the network.
        expected: usize,
    },
    /// A number that is none.
    #[error("number {index} of the example is {value}")]
    InputNotFinite {
        /// Index of the number.
        index: usize,
        /// The number.
        value: f64,
    },
    /// A feature that does not exist.
    #[error("perspective {perspective}, entry {entry}: feature {feature} of a network with {count} (0 to \
             {})", count.saturating_sub(1))]
    FeatureOutOfRange {
        /// 0 for the side to move.
        perspective: usize,
        /// Index in the list.
        entry: usize,
        /// The feature.
        feature: u32,
        /// Number of features.
        count: usize,
    },
    /// More active features than the description allows.
    #[error("perspective {perspective} has {found} active features, the description allows {max}")]
    TooManyFeatures {
        /// 0 for the side to move.
        perspective: usize,
        /// Length of the list.
        found: usize,
        /// The description's `max_active`.
        max: usize,
    },
    /// A second list for a network of one perspective.
    #[error("the example has {found} features of a second perspective, the network has one perspective")]
    SecondPerspective {
        /// Length of the list.
        found: usize,
    },
    /// An output bucket that does not exist.
    #[error("output bucket {found} of a network with {count} (0 to {})", count.saturating_sub(1))]
    BucketOutOfRange {
        /// The bucket.
        found: usize,
        /// Number of buckets.
        count: usize,
    },
    /// Weights that do not have the description's shape; no importer makes such a network.
    #[error("layer {}: weights {found:?} or their bias do not have the shape (out, in) = {expected:?}", layer + 1)]
    Shape {
        /// Index of the layer.
        layer: usize,
        /// Shape of its weights.
        found: (usize, usize),
        /// Shape by the description.
        expected: (usize, usize),
    },
}

impl EvalError {
    /// [`ErrorKind::Usage`], as the example and the network do not fit together.
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}
