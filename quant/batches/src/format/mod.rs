//! Batches as files.

mod json_lines;
pub mod names;
mod safetensors;

pub use json_lines::JsonLines;
pub use safetensors::{MAX_HEADER_LEN_BYTES, SafetensorsParts, WriteError};
