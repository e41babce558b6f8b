//! Where in a data file something is wrong.

use std::fmt;

/// Where in a data file something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Name of the file.
    pub file: String,
    /// Where in it.
    pub at: At,
}

/// A place in a binary or a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// Offset in bytes.
    Byte(u64),
    /// Number of the line, from 1.
    Line(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            At::Byte(offset) => write!(f, "file `{}`, byte {offset}", self.file),
            At::Line(line) => write!(f, "file `{}`, line {line}", self.file),
        }
    }
}
