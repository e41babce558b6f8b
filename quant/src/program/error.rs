//! Why a network is no program.

use crate::error_kind::ErrorKind;

/// A combination of layers, types and activations that the runtime has no operation for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("layer `{layer}`: {what}; {instead}")]
pub struct Unsupported {
    /// Which layer.
    pub layer: String,
    /// What cannot be expressed.
    pub what: String,
    /// What to do instead.
    pub instead: &'static str,
}

impl Unsupported {
    /// The class that decides the exit status.
    #[must_use]
    pub const fn class(&self) -> ErrorKind {
        ErrorKind::Unsupported
    }
}
