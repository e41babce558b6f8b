//! `quantised.bin`, the container: the one door, [`Model::parse`], and the checked view behind it.
//!
//! FORMAT.md is the specification. Nothing here knows kernels or how a network runs. The records and codes that a file
//! is made of are in [`crate::raw`].

mod check;
mod checked;
pub(crate) mod checksum;
mod error;
mod expected;
pub(crate) mod header;
mod identity;
pub(crate) mod layout;
#[cfg(feature = "metadata")]
mod metadata;
pub(crate) mod model;
pub(crate) mod quads;
pub(crate) mod records;
pub(crate) mod rows;
pub(crate) mod window;

pub use crate::features::Feature;
pub use checked::Checked;
pub use error::ParseError;
use expected::Words;
pub(crate) use header::{
    ALIGNMENT, BYTE_ORDER, Header, MAGIC, MAX_RESCALE_FACTOR, MAX_WORKSPACE_LEN_BYTES, NONE, VERSION,
};
pub use identity::Identity;
pub(crate) use layout::Layout;
#[cfg(feature = "metadata")]
pub use metadata::Metadata;
pub use model::Model;
pub(crate) use model::{Tensor, part};
pub(crate) use quads::quads_fit;
pub(crate) use records::{
    BlockRecord, InputRecord, OpRecord, TensorRecord, ValueRecord, activation, claim, element, feature_set,
    feature_sums, input_kind, op, perspective_order,
};
pub(crate) use rows::{MOST_STAGES, Overlap, RowWindow};
pub(crate) use window::{WindowRecord, is_depthwise};
