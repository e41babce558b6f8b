//! DataCode's `.nn`, version 1.
//!
//! ```text
//!  0  DATACODE, then u32 version, 1
//! 12  u32 J, then J bytes of JSON: the layers, and a training record that is not needed
//!     u32 number of tensors, then for each
//!         u32 length and name, `<Linear>.weight` or `<Linear>.bias`
//!         u32 rank, rank × u32 dimensions, f32 elements row by row
//! ```
//!
//! All little-endian, nothing between and nothing behind. Two kinds of writer share the version: DataCode 2.1.0 stores
//! weights as [inputs, outputs] and counts all layers in the names, every later one stores [outputs, inputs] and counts
//! the Linear layers in their names only, so that an activation and a Linear may have the same name. [`Orientation`]
//! tells which it was.
//!
//! In the graph a Linear keeps its name, since its tensors have it; an activation is called `<name>.<what it
//! computes>`, such as `layer1.relu`, which no Linear of DataCode is.

mod assemble;
mod container;
mod error;
mod layers;
mod orientation;

pub use assemble::{Options, read_datacode};
pub use error::DataCodeError;
pub use orientation::Orientation;

/// The first eight bytes.
const MAGIC: &[u8; 8] = b"DATACODE";

/// Whether a file that begins so is DataCode's.
#[must_use]
pub fn is_datacode(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

#[cfg(test)]
mod tests;
