//! Why a network is not the one that an engine was built for.

use crate::format::ParseError;
use crate::words::worded;

/// Why [`super::Network::load`] refuses a file.
#[derive(Debug, Clone, Copy, PartialEq)]
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

worded! { LoadError {
    Self::Parse(error) => "{}", error;
    Self::NotChess =>
        "the network takes no chess features; run it through `Plan`, with features that the program makes itself";
    Self::Differs { what, found, expected } =>
        "{}: the file has {}, this program was built for {}; give it a network of its own kind", what, found, expected;
} }

impl core::error::Error for LoadError {}
