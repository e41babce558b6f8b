//! What makes accumulators of lists of features.

use super::tensor::QuantTensor;
use tamis_runtime::raw::feature_set::{self, KING_TABLE_LEN};

/// Rows of features, shared by all perspectives: `acc = bias + Σ row(feature)`, i16, wrapping.
#[derive(Debug, Clone, PartialEq)]
pub struct Transformer {
    /// (width, features) of i16 or i8.
    pub rows: QuantTensor,
    /// (width, 1) of i16.
    pub bias: QuantTensor,
    /// What turns a chessboard into features; none where the caller does.
    pub tables: Option<Tables>,
    /// Which lists the proof has to reckon with.
    pub lists: Lists,
}

/// Tables of a chess network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    /// The king bucket of every square.
    pub kings: [u8; KING_TABLE_LEN],
    /// The output bucket of every count of pieces.
    pub buckets: Vec<u8>,
    /// Which pieces are counted, see [`tamis_runtime::raw::InputRecord::counted`].
    pub counted: u32,
}

/// Lists of features, as far as bounds depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lists {
    /// Any distinct features, at most `max_active`.
    Distinct,
    /// Those of a chessboard: of one king bucket, no two on one square, and at most sixteen pieces of a side.
    Board {
        /// Features of a king bucket, a multiple of 64.
        per_bucket: usize,
        /// King buckets.
        buckets: usize,
    },
}

impl Lists {
    /// Of a feature set, by its code, with so many features.
    #[must_use]
    pub fn of_set(set: u32, features: usize) -> Self {
        match feature_set::per_king_bucket(set) {
            Some(per_bucket) => {
                let per_bucket = per_bucket as usize;
                Self::Board { per_bucket, buckets: features / per_bucket }
            }
            None => Self::Distinct,
        }
    }
}
