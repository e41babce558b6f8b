//! Quantised tensors to files and back: [`QuantNet`] ⇄ container, [`QuantNet`] ⇄ bare `quantised.bin`, [`QuantGraph`] ⇄ container, and → safetensors;
//! the Stockfish family's [`Net`] ⇄ container.
//!
//! Orders are the runtime's own ([`tamis_runtime::format::Layout`]); the packer only asks where an element goes.

mod bare;
mod container;
mod describe_nnue;
mod error;
mod export;
mod place;
mod program;
mod tensor;
mod unpack;
mod unpack_graph;
mod unpack_nnue;

pub use bare::to_bare;
pub use container::{Provenance, pack_graph, pack_nnue, to_container};
pub use error::PackError;
pub use export::{QUANTISED_KEY, export_graph};
pub use unpack::unpack;
pub use unpack_graph::{is_graph, unpack_graph};
pub use unpack_nnue::{is_nnue, nnue_division, unpack_nnue};

#[cfg(doc)]
use crate::{
    quantise::{QuantNet, graph::QuantGraph},
    stockfish::Net,
};
