//! What can be wrong with a file of examples.

use crate::error_kind::ErrorKind;
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
        "starts with {start}, which is none of idx, npy, npz, safetensors, libsvm (`label id:value …`) and dummy \
         (`label id …`)"
    )]
    NotRecognised {
        /// The first bytes.
        start: String,
    },
    /// No examples.
    #[error("there are no examples in it")]
    Empty,
    /// Lists of features for a network that takes something else.
    #[error("lists of features are for networks whose input is `kind = \"features\"`")]
    NoFeatures,
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
    /// Channels that are to come first in examples that have none.
    #[error("channels first: examples of the shape {found}, expected (channels, height, width)")]
    ChannelsFirst {
        /// Their shape.
        found: String,
    },
    /// An example of arrays, from 0.
    #[error("record {record}: {why}")]
    Record {
        /// From 0.
        record: usize,
        /// What is wrong there.
        why: String,
    },
    /// A number that the metadata of batches has to have.
    #[error("the metadata's `{key}` is {found}; expected a number below 2^31, as `host-tools batches` writes it")]
    Metadata {
        /// Which.
        key: &'static str,
        /// What it is.
        found: String,
    },
    /// A tensor of a batch.
    #[error("`{tensor}`: {why}")]
    Batch {
        /// Its name.
        tensor: String,
        /// What is wrong with it.
        why: String,
    },
    /// A row of a batch.
    #[error("{place}: {why}")]
    Row {
        /// Batch, row, and line of the corpus.
        place: String,
        /// What is wrong there.
        why: String,
    },
    /// Batches of other vocabularies than the network's.
    #[error(
        "{place}: ids of vocabularies with {source_ids} source and {target_ids} target ids, together {found}; the \
         network's embedding \
         has {expected} rows"
    )]
    Vocabulary {
        /// Batch, row, and line of the corpus.
        place: String,
        /// Source ids, those of unknown tokens among them.
        source_ids: u32,
        /// The same of the target.
        target_ids: u32,
        /// Both.
        found: u64,
        /// Features that the network has.
        expected: usize,
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
    /// [`ErrorKind::Usage`] where a choice is needed, else that of the cause, else [`ErrorKind::Malformed`].
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::File(error) => error.class(),
            Self::Choice { .. } | Self::ChannelsFirst { .. } | Self::NoFeatures => ErrorKind::Usage,
            _ => ErrorKind::Malformed,
        }
    }
}
