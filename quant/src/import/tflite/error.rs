//! What can be wrong with a TFLite file, and where.

use super::flatbuffer::FlatBufferError;
use crate::error_kind::ErrorKind;
use crate::graph::GraphError;
use thiserror::Error;

/// Why a file was not read. Places are operators and tensors by number and name, or bytes from the file's start.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TfliteError {
    /// Another beginning.
    #[error("bytes 4 to 7 are \"{found}\", expected \"TFL3\"; is it a .tflite file?")]
    Identifier {
        /// The bytes, escaped.
        found: String,
    },
    /// Distances or lengths that leave the file.
    #[error(transparent)]
    Bytes(#[from] FlatBufferError),
    /// Something that is not what the format says it has to be.
    #[error("{place}: {what} is {found}, expected {expected}")]
    Malformed {
        /// Where.
        place: String,
        /// What.
        what: &'static str,
        /// What it is.
        found: String,
        /// What it has to be.
        expected: String,
    },
    /// An operator by a number that the format does not have, or that is newer.
    #[error("{place}: operator code {code} is none that is known")]
    UnknownOperator {
        /// Which operator.
        place: String,
        /// Its code.
        code: i32,
    },
    /// Somebody's own operator.
    #[error("{place}: the custom operator `{name}`; a file says nothing of what it computes")]
    CustomOperator {
        /// Which operator.
        place: String,
        /// What it is called.
        name: String,
    },
    /// Something that is well formed, and that no graph says.
    #[error("{place}: {what} is not supported{}{instead}", if instead.is_empty() { "" } else { "; " })]
    Unsupported {
        /// Where.
        place: String,
        /// What.
        what: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// A network that remembers.
    #[error(
        "{place}: the network keeps state from one call to the next, which is not supported; unroll it, or convert a \
         model without state"
    )]
    Stateful {
        /// Where.
        place: String,
    },
    /// Integer weights under reals.
    #[error(
        "{place}: weights `{tensor}` are {element} under inputs of float32, a hybrid file; convert again without \
         `optimizations` for a float file, or with a representative dataset for an int8 file"
    )]
    Hybrid {
        /// Which operator.
        place: String,
        /// Which tensor.
        tensor: String,
        /// What it is of.
        element: &'static str,
    },
    /// The old quantisation.
    #[error(
        "{place}: tensor `{tensor}` is uint8, the quantisation of before 2019, which is not supported; convert again, \
         to int8 or to float32"
    )]
    Uint8 {
        /// Which operator.
        place: String,
        /// Which tensor.
        tensor: String,
    },
    /// A network of integers, for a reader of reals.
    #[error(
        "{place}: tensor `{tensor}` is {element}: the network is quantised already; `host-tools pack` packs it as \
         it is, or give the float32 file that it was converted from"
    )]
    Quantised {
        /// Which operator.
        place: String,
        /// Which tensor.
        tensor: String,
        /// What it is of.
        element: &'static str,
    },
    /// Weights that are copied more often than a network shares them.
    #[error(
        "{place}: the operators' weights are {found} numbers together, at most {limit} are read of a file this long"
    )]
    Copies {
        /// The operator that goes beyond.
        place: String,
        /// Numbers up to and with it.
        found: usize,
        /// The most.
        limit: usize,
    },
    /// Operators that make no graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl TfliteError {
    pub(super) fn malformed(
        place: impl Into<String>,
        what: &'static str,
        found: impl ToString,
        expected: impl ToString,
    ) -> Self {
        Self::Malformed { place: place.into(), what, found: found.to_string(), expected: expected.to_string() }
    }

    pub(super) fn unsupported(place: impl Into<String>, what: impl Into<String>, instead: &'static str) -> Self {
        Self::Unsupported { place: place.into(), what: what.into(), instead }
    }

    /// [`ErrorKind::Unsupported`] for what is well formed and cannot be said, else [`ErrorKind::Malformed`].
    #[must_use]
    pub const fn class(&self) -> ErrorKind {
        match self {
            Self::Identifier { .. }
            | Self::Bytes(_)
            | Self::Malformed { .. }
            | Self::Copies { .. }
            | Self::Graph(_) => ErrorKind::Malformed,
            Self::UnknownOperator { .. }
            | Self::CustomOperator { .. }
            | Self::Unsupported { .. }
            | Self::Stateful { .. }
            | Self::Hybrid { .. }
            | Self::Uint8 { .. }
            | Self::Quantised { .. } => ErrorKind::Unsupported,
        }
    }
}
