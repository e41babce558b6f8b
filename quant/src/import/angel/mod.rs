//! Matrix folders of Angel, and the models that they make up.
//!
//! ```text
//! <model>/graph.json                      what the layers are (since April 2019)
//! <model>/<matrix>/_meta                  a length, and JSON: type, shape, partitions
//! <model>/<matrix>/0, 5, …                data, in one of eight formats
//!
//! _meta -meta-> Meta --binary, text--> pieces --assemble--> Matrix
//! graph.json -graph_json-> Description --network--> Graph
//!   or else   -suffixes-->     ^
//! ```
//!
//! Only [`is_angel_folder`], [`is_of_model`], [`read_matrix`] and [`read_model`] touch the file system; the rest are
//! functions of bytes.
//! Nothing is allocated that is not a small multiple of the bytes that are there, until a model needs a sparse matrix
//! with its zeros, which is bounded.

mod assemble;
mod binary;
mod error;
mod folder;
mod forest;
mod format;
mod graph_json;
mod input;
mod kind;
mod location;
mod matrix;
mod meta;
mod meta_json;
mod network;
mod options;
mod piece;
mod row_type;
mod strict;
mod suffixes;
mod tensors;
#[cfg(test)]
mod tests;
mod text;

pub use assemble::decode;
pub use error::AngelError;
pub use folder::{is_angel_folder, is_of_model, read_matrix, read_model};
pub use format::{Format, Record};
pub use graph_json::{Description, Layer, LayerKind, Transfer, parse_graph_json};
pub use kind::Kind;
pub use location::{At, Place};
pub use matrix::{Cells, Matrix, Row, Values};
pub use meta::{Meta, Partition};
pub use network::build;
pub use options::Options;
pub use row_type::{RowType, ValueType};

/// Bytes of a file in a message: escaped, and not too many.
fn shown(bytes: &[u8]) -> String {
    const SHOWN_BYTES: usize = 60;
    let escaped = |bytes: &[u8]| bytes.escape_ascii().to_string().replace("\\'", "'").replace("\\\"", "\"");
    match bytes.get(..SHOWN_BYTES) {
        Some(start) if bytes.len() > SHOWN_BYTES => format!("{}…", escaped(start)),
        _ => escaped(bytes),
    }
}
