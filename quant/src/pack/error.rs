//! Why a network cannot be packed, or a file not be taken apart.

use crate::error_kind::ErrorKind;
use crate::program::Unsupported;
use tamis_runtime::format::ParseError;

/// Why a network cannot be packed, or a file not be taken apart.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// A combination of layers, types and activations that the runtime has no operation for.
    #[error("{0}")]
    Unsupported(#[from] Unsupported),
    /// The file would be longer than the format can say.
    #[error("the network needs {len_bytes} bytes; a container holds at most 4294967232: it is too large")]
    TooLarge {
        /// The length.
        len_bytes: usize,
    },
    /// No plan of the workspace fits the budget.
    #[error(
        "a workspace of {budget} bytes: {least} are the least that was found, and {whole} where every value lies whole"
    )]
    Budget {
        /// What was asked for.
        budget: usize,
        /// Of the smallest plan that was found.
        least: usize,
        /// Of whole values.
        whole: usize,
    },
    /// The bare form needs a header and there is none.
    #[error(
        "the bare file starts with a header of {len_bytes} bytes; give it as `header_hex` in [file] of the description"
    )]
    NoHeader {
        /// Its length.
        len_bytes: usize,
    },
    /// The container is refused by the loader.
    #[error("{0}")]
    Parse(#[from] ParseError),
    /// The container's own description is refused.
    #[error("the description inside the file: {0}")]
    Description(String),
    /// A tensor has a name that the container gives to a tensor of its own.
    #[error("two tensors of the container would be called `{tensor}`; give the description's another name")]
    NameTaken {
        /// The name.
        tensor: String,
    },
    /// The tensor that says in which order the neurons stand says no such thing.
    #[error("tensor `{tensor}`: {problem}; pack the network again")]
    Permutation {
        /// Name.
        tensor: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The zero point of a graph's value, which a file says twice, is not the same both times.
    #[error("value of `{node}`: a zero point of {found}, and {expected} in its record; pack the network again")]
    ZeroPoint {
        /// Name of what makes the value.
        node: String,
        /// Among the names of values.
        found: i32,
        /// In the value's record.
        expected: i32,
    },
    /// A unit of a graph's value is none, or the output's is not the one that the input record says.
    #[error("unit of `{node}`: {found}, expected {expected}; pack the network again")]
    Unit {
        /// Name of what makes the value.
        node: String,
        /// In the tensor of its units.
        found: f32,
        /// What it may be.
        expected: String,
    },
    /// The tensors are not those that the description names.
    #[error("there is no tensor `{tensor}` of shape {outputs} × {inputs}, which the description names; pack it again")]
    Contents {
        /// Name.
        tensor: String,
        /// Rows.
        outputs: usize,
        /// Columns.
        inputs: usize,
    },
}

impl PackError {
    /// The class that decides the exit status.
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::Unsupported(_) | Self::TooLarge { .. } | Self::Budget { .. } | Self::NameTaken { .. } => {
                ErrorKind::Unsupported
            }
            Self::NoHeader { .. }
            | Self::Parse(_)
            | Self::Description(_)
            | Self::Permutation { .. }
            | Self::ZeroPoint { .. }
            | Self::Unit { .. }
            | Self::Contents { .. } => ErrorKind::Malformed,
        }
    }
}
