//! What `quantised.bin` is made of, for programs that write such files or look into them.
//!
//! A file is a header, an input, and lists of blocks, tensors, values and operations: [`Header`], [`InputRecord`],
//! [`BlockRecord`], [`TensorRecord`], [`ValueRecord`], [`OpRecord`], which a parsed [`crate::format::Model`] hands out.
//! Beside them lie, under the names of FORMAT.md, what their fields hold (the modules `activation`, `claim`, `element`,
//! `feature_set`, `input_kind`, `op` and `perspective_order`, and constants such as `MAGIC`, `VERSION` and `NONE`) and
//! what a writer computes as the reader does: `checksum`, `quads_fit`, `fnv1a`, the arithmetic (`num`), the features of
//! chess (`chess`). The file format has its own version and keeps its promises; this module does not: it changes with
//! the runtime, outside semantic versioning, so a program that uses it names the runtime's exact version.

#[doc(hidden)]
pub use crate::features::Feature;
pub use crate::format::header::Header;
#[doc(hidden)]
pub use crate::format::header::{
    ALIGNMENT, BYTE_ORDER, MAGIC, MAX_RESCALE_FACTOR, MAX_WORKSPACE_LEN_BYTES, NONE, VERSION,
};
pub use crate::format::layout::Layout;
pub use crate::format::model::Tensor;
#[doc(hidden)]
pub use crate::format::records::MOST_ROWS;
pub use crate::format::records::{BlockRecord, InputRecord, OpRecord, TensorRecord, ValueRecord};
#[doc(hidden)]
pub use crate::format::records::{
    activation, claim, element, feature_set, feature_sums, input_kind, op, perspective_order,
};
#[doc(hidden)]
pub use crate::format::rows::{MOST_STAGES, Overlap, RowWindow};
pub use crate::format::window::WindowRecord;
#[doc(hidden)]
pub use crate::format::window::is_depthwise;
#[doc(hidden)]
pub use crate::format::{checksum::checksum, quads::quads_fit};
#[doc(hidden)]
pub use crate::signature::fnv::{FNV_OFFSET, fnv1a};

/// The features of chess.
#[doc(hidden)]
pub mod chess {
    pub use crate::chess::board::Board;
    pub use crate::chess::relations::{RelationView, Relations};
    pub use crate::chess::view::{ChessView, FEATURES_PER_KING_BUCKET, OPPONENT, Perspective, Planes};
}

/// The arithmetic.
#[doc(hidden)]
pub mod num {
    pub use crate::num::*;
}
