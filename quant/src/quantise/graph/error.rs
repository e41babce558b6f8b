//! Why a graph cannot be quantised.

use crate::error_kind::ErrorKind;
use crate::graph::description::DescriptionError;
use crate::graph::{GraphError, SampleError};

/// Why a graph cannot be quantised.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphQuantError {
    /// The graph is none.
    #[error("{0}")]
    Graph(#[from] GraphError),
    /// A name that the description, which travels with the network, cannot hold.
    #[error("{0}")]
    Description(#[from] DescriptionError),
    /// A calibration sample does not fit.
    #[error("calibration sample {index}: {error}")]
    Sample {
        /// Which.
        index: usize,
        /// Why.
        error: SampleError,
    },
    /// A range is needed and nothing was seen.
    #[error("the range of {value} is not known; calibrate with samples, or keep its layer in f32")]
    NotCalibrated {
        /// Which value.
        value: String,
    },
    /// A layer that an option names and that is not there.
    #[error("no layer `{name}`; the layers are {}", layers.join(", "))]
    NoSuchLayer {
        /// What was asked for.
        name: String,
        /// What there is.
        layers: Vec<String>,
    },
    /// A number that the file's types cannot hold.
    #[error("layer `{layer}`: {what}; {instead}")]
    Unsupported {
        /// Which layer.
        layer: String,
        /// What cannot be.
        what: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// A sum can leave its type.
    #[error("{violation}; scale the network down, keep the layer in f32, or take the risk with `unproved`")]
    Overflow {
        /// Tensor, row and bound.
        violation: String,
    },
}

impl GraphQuantError {
    /// The class that decides the exit status.
    #[must_use]
    pub const fn class(&self) -> ErrorKind {
        match self {
            Self::Graph(_) | Self::Description(_) => ErrorKind::Malformed,
            Self::Sample { .. } | Self::NotCalibrated { .. } | Self::NoSuchLayer { .. } => ErrorKind::Usage,
            Self::Unsupported { .. } | Self::Overflow { .. } => ErrorKind::Unsupported,
        }
    }
}
