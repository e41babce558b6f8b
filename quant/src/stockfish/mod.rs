//! Networks of the Stockfish family: `.nnue` files as values and as bytes.
//!
//! [`Net`] is a file taken apart, in the file's own order and with the integers as they stand there; nothing is
//! rescaled, transposed or joined. The family's rules, who sees which feature and what becomes of the sums, belong to
//! it and not to this project's container, so they are written down here once more than elsewhere: as the truth that a
//! container made from such a network is held to.

mod board;
mod cursor;
mod decision;
pub mod description;
mod division;
mod error;
mod evaluate;
mod file_part;
mod hashes;
mod leb128;
mod net;
pub mod order;
mod read;
mod relations;
mod threat_rows;
mod write;

pub use board::{Board, Side};
pub use decision::{Basis, Decision, decide};
pub use division::{Division, OUTPUT_SCALE, Parts};
pub use error::NnueError;
pub use evaluate::{Evaluation, accumulator, evaluate};
pub use file_part::Place;
pub use hashes::MAX_WIDTH;
pub use net::{
    ACTIVATION_MAX, Affine, Block, Encoding, FeatureSet, Head, Net, PAIRWISE_FIRST, PSQT_BUCKETS, ROW_MULTIPLE,
    RelationRows, SECOND, Shape, Stack, Transformer, VERSION_HALF_KA, VERSION_HALF_KP, VERSION_WIDE, WEIGHT_SHIFT,
    WIDE_FIRST, WIDE_SHIFT, WIDE_SKIP,
};
pub use read::{is_nnue, read};
pub use relations::Relation;
pub use write::to_bytes;
