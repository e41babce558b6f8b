//! What running refuses: never a file, always what the caller handed in.

use crate::engine::{Colour, Kind, Man};
use core::fmt;

/// Why a call is refused: always something that the caller handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
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
        found: u64,
        /// Identity of the plan's.
        expected: u64,
    },
    /// A perspective of a ply stack has changed as a whole, and its features are to be given first.
    WantsFeatures {
        /// Which perspective.
        side: usize,
    },
    /// A king that a move only adds or only removes: a king goes from a square to another in one move.
    LoneKing {
        /// Whose.
        colour: Colour,
    },
    /// A man that a move removes and that is not there, or one that it adds and that is, or that is a second king of its colour.
    Man {
        /// Which.
        man: Man,
        /// Whether it was to be added.
        is_added: bool,
    },
    /// More men than one move adds or removes.
    TooManyMen {
        /// How many.
        found: usize,
        /// The most.
        limit: usize,
    },
    /// A refresh key beyond the cache's.
    RefreshKey {
        /// The key.
        found: u32,
        /// The number of keys.
        limit: u32,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Length { what, found, expected } => write!(f, "{what}: {found} elements, expected {expected}"),
            Self::Workspace { found, expected } => {
                write!(f, "the workspace has {found} bytes, the model needs {expected}")
            }
            Self::WorkspaceAlignment { remainder } => {
                write!(f, "the workspace lies {remainder} bytes past a multiple of 64")
            }
            Self::Feature { found, limit } => {
                write!(f, "feature {found}; the network has 0 to {}", limit.saturating_sub(1))
            }
            Self::TooManyFeatures { found, limit } => write!(f, "{found} active features; the network allows {limit}"),
            Self::FeatureCount { found, expected } => {
                write!(f, "{found} active features; the network takes exactly {expected}")
            }
            Self::FeatureOrder { previous, found } => write!(
                f,
                "feature {found} follows feature {previous}; features are given once each, in ascending order: sort them"
            ),
            Self::Bucket { found, limit } => write!(f, "output bucket {found}; the network has {limit}"),
            Self::StackFull { limit } => write!(f, "the ply stack is full: it has {limit} plies, the root included"),
            Self::StackEmpty => {
                write!(f, "the ply stack has no position: set its root first, and pop only what was pushed")
            }
            Self::OtherModel { found, expected } => write!(
                f,
                "filled from the model {found:016x}, used with the model {expected:016x}: reset it when the network changes"
            ),
            Self::WantsFeatures { side } => {
                write!(f, "perspective {side} changed as a whole: give its features to `refresh` first")
            }
            Self::LoneKing { colour } => write!(
                f,
                "a king of {colour:?} comes or goes alone: give the square that it leaves and the one that it goes to in one move"
            ),
            Self::Man { man, is_added: true } if man.kind() == Kind::King => {
                write!(f, "{man} is to be added, and a king of its colour is there already")
            }
            Self::Man { man, is_added: true } => write!(f, "{man} is to be added and is there already"),
            Self::Man { man, is_added: false } => write!(f, "{man} is to be removed and is not there"),
            Self::TooManyMen { found, limit } => write!(f, "{found} men added or removed by one move; at most {limit}"),
            Self::RefreshKey { found, limit } => {
                write!(f, "refresh key {found}; the cache has 0 to {}", limit.saturating_sub(1))
            }
            Self::InputKind => write!(f, "the input is not of the kind that the network takes"),
        }
    }
}

impl core::error::Error for RunError {}
