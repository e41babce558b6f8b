//! `quantised.bin`, the container: the records, the one door ([`Model::parse`]) and the checked view behind it.
//!
//! FORMAT.md is the specification. Nothing here knows kernels or how a network runs.

mod check;
mod checksum;
mod error;
mod header;
mod identity;
mod layout;
mod model;
mod people;
mod quads;
mod records;
mod words;

pub use checksum::checksum;
pub use error::ParseError;
pub use header::{ALIGNMENT, BYTE_ORDER, Header, MAGIC, MAX_RESCALE_FACTOR, MAX_WORKSPACE_LEN_BYTES, NONE, VERSION};
pub use identity::Identity;
pub use layout::Layout;
pub(crate) use model::part;
pub use model::{Model, Tensor};
pub use people::People;
pub use quads::quads_fit;
pub use records::{
    BlockRecord, InputRecord, OpRecord, TensorRecord, ValueRecord, activation, claim, element, feature_set, input_kind,
    op, perspective_order,
};
use words::Words;
