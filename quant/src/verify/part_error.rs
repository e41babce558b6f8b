//! Why parts of a verification make no whole.

use crate::error_kind::ErrorKind;

/// Why a part cannot be read, or stands beside parts of something else.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PartError {
    /// Not what `to_bytes` makes, or of another version.
    #[error("no part of a verification: {0}")]
    Malformed(String),
    /// The bytes are not those that were written.
    #[error("the checksum of its numbers is {found:016x}, expected {expected:016x}")]
    Checksum {
        /// Of what is there.
        found: u64,
        /// As it says.
        expected: u64,
    },
    /// Measured on another container.
    #[error("a part of the container with checksum {found}, expected {expected}")]
    Container {
        /// The part's.
        found: String,
        /// The one that it stands beside.
        expected: String,
    },
    /// Measured against something else than the parts before.
    #[error("another {what} than the parts before it")]
    Differs {
        /// What differs.
        what: &'static str,
    },
    /// Measured on the same examples as a part before it.
    #[error("the same numbers as a part before it, to the last bit; give every part once")]
    Twice,
    /// Nothing to put together.
    #[error("no parts")]
    None,
}

impl PartError {
    /// Whose fault it is.
    #[must_use]
    pub const fn class(&self) -> ErrorKind {
        match self {
            Self::Malformed(_) | Self::Checksum { .. } => ErrorKind::Malformed,
            Self::Container { .. } | Self::Differs { .. } | Self::Twice | Self::None => ErrorKind::Usage,
        }
    }
}
