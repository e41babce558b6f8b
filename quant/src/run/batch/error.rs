//! Why a batch is refused, and at which row.

use crate::error_kind::ErrorKind;
use crate::graph::SampleError;
use tamis_runtime::RunError;

/// Why rows cannot be run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// Not a whole number of rows.
    #[error("{found} numbers, expected rows of {expected}")]
    Columns {
        /// All of them.
        found: usize,
        /// Of one row.
        expected: usize,
    },
    /// Infinite, or no number.
    #[error("row {row}, column {column}: {value} is no number that a network takes; expected finite ones")]
    NotFinite {
        /// Which row.
        row: usize,
        /// Which element.
        column: usize,
        /// What stands there.
        value: f64,
    },
    /// The network takes something else.
    #[error("the network takes {expected}, found {found}")]
    Kind {
        /// What was given.
        found: &'static str,
        /// What it takes.
        expected: &'static str,
    },
    /// Offsets that do not go up from 0 to the number of features.
    #[error("row {row}: its features end at {found}; offsets ascend from 0 to the number of features, {expected}")]
    Offsets {
        /// The first row that they do not fit.
        row: usize,
        /// What stands there.
        found: usize,
        /// The number of features.
        expected: usize,
    },
    /// A row does not fit the network.
    #[error("row {row}: {cause}")]
    Sample {
        /// Which row.
        row: usize,
        /// Why.
        cause: SampleError,
    },
    /// The runtime refuses a row.
    #[error("row {row}: {cause}")]
    Run {
        /// Which row.
        row: usize,
        /// Why.
        cause: RunError,
    },
}

impl BatchError {
    /// Whose fault it is: always the caller's.
    #[must_use]
    pub const fn class(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}
