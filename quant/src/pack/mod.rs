//! Quantised tensors to files and back: [`QuantNet`] ⇄ container, [`QuantNet`] ⇄ bare `quantised.bin`.
//!
//! Orders are the runtime's own ([`tamis_runtime::format::Layout`]); the packer only asks where an element goes.

mod bare;
mod container;
mod error;
mod place;
mod program;
mod tensor;
mod unpack;

pub use bare::to_bare;
pub use container::{Provenance, to_container};
pub use error::PackError;
pub use unpack::unpack;

#[cfg(doc)]
use crate::quantise::QuantNet;
