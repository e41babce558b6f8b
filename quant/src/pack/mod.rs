//! Programs to files, and files back to what they were lowered from.
//!
//! A program becomes a container; bullet's networks also a bare `quantised.bin`, graphs also safetensors.
//!
//! Orders are the runtime's own ([`tamis_runtime::raw::Layout`]); the packer only asks where an element goes.

mod bare;
mod codes;
mod container;
mod contents;
mod error;
mod export;
mod kept;
mod maps;
mod records;
mod tensor;
mod unpack;
mod unpack_graph;
mod unpack_nnue;
mod workspace;

pub use bare::to_bare;
pub use container::{Provenance, pack, pack_within, whole_workspace_len_bytes, workspace_len_bytes};
pub use contents::{BARE_SOURCE, Contents, NNUE_SOURCE, TrainersFile, unpack_program};
pub use error::PackError;
pub use export::{QUANTISED_KEY, export_graph};
pub use unpack::unpack;
pub use unpack_graph::{is_graph, unpack_graph};
pub use unpack_nnue::{is_nnue, nnue_division, unpack_nnue};
