//! What a person should know of how a file was read or lowered.

use serde::{Deserialize, Serialize};

/// Something that the file leaves open or may have lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "text", rename_all = "lowercase")]
pub enum Remark {
    /// How a thing was read that could be read otherwise, and how to say otherwise.
    Decided(String),
    /// What may be wrong.
    Warning(String),
}

impl Remark {
    /// Its sentence.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Decided(text) | Self::Warning(text) => text,
        }
    }
}
