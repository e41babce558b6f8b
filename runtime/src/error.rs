//! What running refuses: never a file, always what the caller handed in; and what the signature finds out about the
//! runtime.

use crate::format::Identity;
use crate::message::worded;

/// Why a call is refused: always something that the caller handed in, but for [`RunError::RunsDiffer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// A slice has the wrong number of elements.
    Length {
        /// Which slice.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
    },
    /// The workspace is too short.
    Workspace {
        /// Its length in bytes.
        found: usize,
        /// The least it must have.
        expected: usize,
    },
    /// The workspace does not start at a multiple of 64.
    WorkspaceAlignment {
        /// Address modulo 64.
        remainder: usize,
    },
    /// A feature index that the network does not have.
    Feature {
        /// The index.
        found: u32,
        /// The number of features.
        limit: u32,
    },
    /// More features than the network was proved for.
    TooManyFeatures {
        /// How many.
        found: usize,
        /// `max_active`.
        limit: usize,
    },
    /// A list of features that has too few or too many, for a network that takes an exact number.
    FeatureCount {
        /// How many.
        found: usize,
        /// How many it must have.
        expected: usize,
    },
    /// Features of a sparse vector that are not in ascending order, or one that comes twice.
    FeatureOrder {
        /// A feature.
        previous: u32,
        /// The one behind it.
        found: u32,
    },
    /// An output bucket that the network does not have.
    Bucket {
        /// The bucket.
        found: usize,
        /// The number of buckets.
        limit: usize,
    },
    /// Chosen rows of a network that does not end in a layer, see [`crate::Plan::computes_rows`].
    NoRows,
    /// A row of the outputs that the network does not have.
    Row {
        /// The row.
        found: u32,
        /// The number of outputs.
        limit: usize,
    },
    /// Accumulators, a vector or a sparse vector for a network that takes another of them, or the wrong element.
    InputKind,
    /// A ply stack has no room for another ply.
    StackFull {
        /// The plies that it has, the root included.
        limit: usize,
    },
    /// A ply stack is at its root, or was never set.
    StackEmpty,
    /// A stack or a refresh cache was filled from another model than the plan's.
    OtherModel {
        /// Identity of the model that it was filled from, see [`crate::Plan::identity`].
        found: Identity,
        /// Identity of the plan's.
        expected: Identity,
    },
    /// A perspective of a ply stack has changed as a whole, and its features are to be given first.
    WantsFeatures {
        /// Which perspective.
        side: usize,
    },
    /// A refresh key beyond the cache's.
    RefreshKey {
        /// The key.
        found: u32,
        /// The number of keys.
        limit: u32,
    },
    /// [`crate::Plan::run`], which does several operations at once where it can, and [`crate::Plan::run_traced`], which
    /// does them one by one, gave different outputs. This is a defect of the runtime or of a tier, and only
    /// [`crate::signature::signature`] looks for it.
    RunsDiffer {
        /// In which sample of the signature.
        sample: u32,
    },
}

worded! { RunError {
    Self::Length { what, found, expected } => "{}: {} elements, expected {}", what, found, expected;
    Self::Workspace { found, expected } => "the workspace has {} bytes, the model needs {}", found, expected;
    Self::WorkspaceAlignment { remainder } => "the workspace lies {} bytes past a multiple of 64", remainder;
    Self::Feature { found, limit } => "feature {}; the network has 0 to {}", found, limit.saturating_sub(1);
    Self::TooManyFeatures { found, limit } => "{} active features; the network allows {}", found, limit;
    Self::FeatureCount { found, expected } => "{} active features; the network takes exactly {}", found, expected;
    Self::FeatureOrder { previous, found } =>
        "feature {} follows feature {}; features are given once each, in ascending order: sort them", found, previous;
    Self::Bucket { found, limit } => "output bucket {}; the network has {}", found, limit;
    Self::Row { found, limit } => "row {} of the outputs; the network has 0 to {}", found, limit.saturating_sub(1);
    Self::NoRows =>
        "the network does not end in a layer of rows, so that none can be computed alone: run it whole";
    Self::StackFull { limit } => "the ply stack is full: it has {} plies, the root included", limit;
    Self::StackEmpty => "the ply stack has no position: set its root first, and pop only what was pushed";
    Self::OtherModel { found, expected } =>
        "filled from the model {:016x} of load {}, used with the model {:016x} of load {}: \
        reset it when the network changes, and load a network once",
        found.checksum(), found.load(), expected.checksum(), expected.load();
    Self::WantsFeatures { side } =>
        "perspective {} changed as a whole: give its features to `refresh` first", side;
    Self::RefreshKey { found, limit } => "refresh key {}; the cache has 0 to {}", found, limit.saturating_sub(1);
    Self::RunsDiffer { sample } => "run and run_traced differ in sample {}: a defect of this runtime", sample;
    Self::InputKind => "the input is not of the kind that the network takes";
} }

impl core::error::Error for RunError {}
