//! Reading what a trainer wrote.
//!
//! bullet writes four kinds of thing, and only one of them says what is in it:
//!
//! | what | where | holds |
//! |------|-------|-------|
//! | `weights.bin` | [`weights_bin`] | named f32 tensors in any order, factorisers apart |
//! | `raw.bin` | [`raw_bin`] | f32 tensors in the description's order, nothing between them |
//! | `quantised.bin`, bare | [`bare`] | quantised tensors, perhaps a header, perhaps a tail |
//! | a checkpoint's directory | here | the first three |
//!
//! Each reader is a pure function of bytes and a description; only [`read_checkpoint`] touches the file system. All
//! give the same thing: a [`Net<f32>`] whose factoriser is merged, every number of it finite.
//!
//! Other trainers' files, and dense networks of bullet's, become graphs, [`Imported`]; [`importers`] is the door to
//! them.

pub mod angel;
mod assemble;
pub mod bare;
mod bounded_json;
pub mod chain;
pub mod datacode;
mod error;
mod explain;
mod file;
mod foreign;
mod imported;
pub mod importers;
pub mod lattice;
pub mod onnx;
pub mod raw_bin;
mod sniff;
pub mod tensors;
pub mod tflite;
pub mod weights_bin;

pub use crate::remark::Remark;
pub use bare::{BareNet, BareTensor, BareValues, read_bare};
pub use error::ImportError;
pub use file::{
    IN_DIRECTORY, MAX_FILE_LEN_BYTES, read_bare_file, read_checkpoint, read_file, read_file_at_most, read_file_start,
};
pub use foreign::{Foreign, foreign};
pub use imported::{Imported, Ranges};
pub use raw_bin::read_raw;
pub use sniff::{SourceKind, read_bytes, sniff};
pub use weights_bin::read_weights;

use crate::float::{Matrix, Net};
use tamis_runtime::raw;

/// A network and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The network, factoriser merged.
    pub net: Net<f32>,
    /// The factoriser before it was merged, (outputs, features of a king bucket), if the description has one.
    pub factoriser: Option<Matrix<f32>>,
    /// What was read: `optimiser_state/weights.bin`, `weights.bin`, `raw.bin` or `quantised.bin (dequantised)`.
    pub source: String,
    /// FNV-1a, 64 bits, of the bytes read.
    pub bytes_hash: u64,
}

impl Checkpoint {
    /// Whether the reals are integers divided by their scales: then nothing of the original rounding is left in them.
    #[must_use]
    pub fn is_dequantised(&self) -> bool {
        self.source == SourceKind::Bare.words()
    }
}

/// FNV-1a with 64 bits, a name for bytes (not a protection against anybody).
#[must_use]
pub fn fnv1a_64(bytes: &[u8]) -> u64 {
    raw::fnv1a(raw::FNV_OFFSET, bytes)
}

#[cfg(test)]
mod tests {
    use super::fnv1a_64;

    /// From the reference vectors of the function's authors.
    #[test]
    fn the_hash_is_fnv1a() {
        for (text, expected) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            assert_eq!(fnv1a_64(text.as_bytes()), expected);
        }
    }
}
