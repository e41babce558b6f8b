//! Why a network is not the one that an engine was built for.

use crate::format::ParseError;
use core::fmt;

/// Why [`super::Network::load`] refuses a file.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum LoadError {
    /// It is no sound container.
    Parse(ParseError),
    /// It is sound, but takes no chess features.
    NotChess,
    /// Something differs from what the engine was built for.
    Differs {
        /// What.
        what: &'static str,
        /// The file's.
        found: usize,
        /// The engine's.
        expected: usize,
    },
}

impl From<ParseError> for LoadError {
    fn from(error: ParseError) -> Self {
        Self::Parse(error)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parse(error) => error.fmt(f),
            Self::NotChess => write!(
                f,
                "the network takes no chess features; run it through `Plan`, with features that the program makes itself"
            ),
            Self::Differs { what, found, expected } => {
                write!(
                    f,
                    "{what}: the file has {found}, this program was built for {expected}; give it a network of its own kind"
                )
            }
        }
    }
}

impl core::error::Error for LoadError {}
