//! What can be wrong with a file of examples.

use crate::fault::FaultClass;
use crate::import::tensors::TensorFileError;
use thiserror::Error;

/// Why a file of examples was refused. The readers know no path; whoever opened the file adds it.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DataError {
    /// A packed file, or one of arrays, that cannot be read.
    #[error(transparent)]
    File(#[from] TensorFileError),
    /// No form that is known.
    #[error(
        "starts with {start}, which is none of idx, npy, npz, safetensors, libsvm (`label id:value …`) and dummy (`label id …`)"
    )]
    NotRecognised {
        /// The first bytes.
        start: String,
    },
    /// No examples.
    #[error("there are no examples in it")]
    Empty,
    /// An idx file that does not fit itself.
    #[error("idx: byte {offset_bytes}: {why}")]
    Idx {
        /// Where.
        offset_bytes: usize,
        /// What is wrong there.
        why: String,
    },
    /// A line of text.
    #[error("line {line}: {why}")]
    Line {
        /// From 1.
        line: usize,
        /// What is wrong there.
        why: String,
    },
    /// An example of arrays, from 0.
    #[error("record {record}: {why}")]
    Record {
        /// From 0.
        record: usize,
        /// What is wrong there.
        why: String,
    },
    /// No array, or too many to choose from.
    #[error("{why}; it holds {present}")]
    Choice {
        /// What was looked for.
        why: String,
        /// What is there.
        present: String,
    },
    /// Labels that are no classes.
    #[error("label {index} is {found}; classes are -1 and 1, or whole numbers from 0")]
    Class {
        /// Which label, from 0.
        index: usize,
        /// What it is.
        found: f64,
    },
}

impl DataError {
    /// [`FaultClass::Usage`] where a choice is needed, else that of the cause, else [`FaultClass::Malformed`].
    #[must_use]
    pub fn class(&self) -> FaultClass {
        match self {
            Self::File(error) => error.class(),
            Self::Choice { .. } => FaultClass::Usage,
            _ => FaultClass::Malformed,
        }
    }
}
