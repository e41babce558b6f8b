//! Networks of the Stockfish family: `.nnue` files as values and as bytes.
//!
//! [`Net`] is a file taken apart, in the file's own order and with the integers as they stand there; nothing is rescaled,
//! transposed or joined. The family's rules, who sees which feature and what becomes of the sums, belong to it and not
//! to this project's container, so they are written down here once more than elsewhere: as the truth that a container
//! made from such a network is held to.

mod net;
pub mod order;

pub use net::{
    ACTIVATION_MAX, Affine, Block, Encoding, FeatureSet, Head, Net, OUTPUT_SCALE, PAIRWISE_FIRST, PSQT_BUCKETS,
    ROW_MULTIPLE, SECOND, Shape, Stack, Transformer, VERSION_HALF_KA, VERSION_HALF_KP, WEIGHT_SHIFT,
};
