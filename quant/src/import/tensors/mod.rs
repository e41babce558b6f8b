//! Files of named tensors, and networks of them.
//!
//! | form | tensors | how they hang together |
//! |------|---------|------------------------|
//! | safetensors | [`read_safetensors`] | a description given apart, or in the metadata of a file that [`export`] made |
//! | npz | [`read_npz`] | a description given apart |
//!
//! [`import`] makes a network of either, [`import_chain`] of dense layers in a row without a description, and
//! [`drafted`] writes one. Everything is a pure function of bytes; lengths are compared with the bytes
//! that are there before memory is taken.

mod draft;
mod element;
mod error;
mod export;
mod header;
mod network;
mod npy;
mod npz;
mod safetensors;
mod unpack;

pub(crate) use self::safetensors::read_typed_safetensors;
pub use self::safetensors::{is_safetensors, read_safetensors};
pub use draft::Draft;
pub(in crate::import) use element::half;
pub(crate) use element::{Element, TypedTensors};
pub use error::{TensorFileError, TensorsImportError};
pub use export::export;
pub(crate) use header::metadata_value;
pub use network::{TensorForm, drafted, import, import_chain, own_description};
pub(crate) use npy::read_typed_npy;
pub use npy::{is_npy, read_npy};
pub(crate) use npz::read_typed_npz;
pub use npz::{is_npz, read_npz};
pub use unpack::{MAX_UNPACKED_LEN_BYTES, gunzip, is_gzip};
