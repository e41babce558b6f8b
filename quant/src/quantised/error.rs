//! Why a network whose integers are given cannot be packed.

use crate::error_kind::ErrorKind;
use crate::graph::description::DescriptionError;

/// Why a network whose integers are given cannot be packed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QuantisedError {
    /// An operation that the runtime cannot compute to the bit, or nearly.
    #[error("`{node}`: {what} is not supported in a network that is quantised already; {instead}")]
    Unsupported {
        /// Which node.
        node: String,
        /// What, by the operator's name.
        what: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// A network without a rounding in it.
    #[error("a network of float32, none of whose values is quantised")]
    Float,
    /// A name that the description, which travels with the network, cannot hold.
    #[error("{0}")]
    Description(#[from] DescriptionError),
}

impl QuantisedError {
    /// The class that decides the exit status.
    #[must_use]
    pub const fn class(&self) -> ErrorKind {
        match self {
            Self::Unsupported { .. } | Self::Float => ErrorKind::Unsupported,
            Self::Description(_) => ErrorKind::Malformed,
        }
    }
}
