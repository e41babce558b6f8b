//! What makes accumulators of lists of features.

use super::tensor::QuantTensor;
use tamis_runtime::raw::feature_set::{self, KING_TABLE_LEN};

/// Rows of features, shared by all perspectives: `acc = bias + Σ row(feature)`, i16, wrapping.
#[derive(Debug, Clone, PartialEq)]
pub struct Transformer {
    /// (width, features) of i16 or i8.
    pub rows: QuantTensor,
    /// The same of the features behind those, in blocks of their own.
    pub further: Vec<QuantTensor>,
    /// (width, 1) of i16.
    pub bias: QuantTensor,
    /// What turns a chessboard into features; none where the caller does.
    pub tables: Option<Tables>,
    /// Which lists the proof has to reckon with.
    pub lists: Lists,
    /// So many elements, from the first on, wrap at 16 bits in the network's own arithmetic too, so that it is no fault
    /// if they leave i16; 0 of networks that are meant to be exact.
    pub wraps: usize,
}

impl Transformer {
    /// The weights of a feature, (width,).
    ///
    /// # Panics
    /// If there is no such feature.
    #[must_use]
    pub fn row(&self, feature: usize) -> &[i32] {
        let width = self.rows.outputs;
        let mut row = feature;
        let blocks = std::iter::once(&self.rows).chain(&self.further);
        for block in blocks {
            if row < block.inputs {
                return &block.integers()[row * width..(row + 1) * width];
            }
            row -= block.inputs;
        }
        unreachable!("feature {feature} of a network with fewer")
    }
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
    /// Those of a chessboard: of the first block's of one king bucket, no two on one square, and at most sixteen pieces
    /// of a side.
    Board {
        /// Features of a king bucket, a multiple of 64.
        per_bucket: usize,
        /// King buckets.
        buckets: usize,
        /// The most features of each further block that come together.
        further: [usize; 2],
    },
}

impl Lists {
    /// Of a feature set, by its code, with so many features.
    #[must_use]
    pub fn of_set(set: u32, features: usize) -> Self {
        match feature_set::per_king_bucket(set) {
            Some(per_bucket) => {
                let per_bucket = per_bucket as usize;
                let further = match feature_set::of(set).and_then(|set| set.relations) {
                    Some(relations) => relations.most().map(|most| most as usize),
                    None => [0; 2],
                };
                let pieces = features - feature_set::relation_count(set) as usize;
                Self::Board { per_bucket, buckets: pieces / per_bucket, further }
            }
            None => Self::Distinct,
        }
    }
}
