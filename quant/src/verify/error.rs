//! Why a container cannot be verified at all. What is found wrong with one that can is in the report.

use super::part_error::PartError;
use crate::error_kind::ErrorKind;
use crate::float::EvalError;
use crate::graph::SampleError;
use crate::pack::PackError;
use crate::program::Unsupported;
use tamis_runtime::RunError;

/// What ends a verification without a report.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The container cannot be taken apart.
    #[error("{0}")]
    Pack(#[from] PackError),
    /// The network is none that can be run.
    #[error("{0}")]
    Unsupported(#[from] Unsupported),
    /// A position does not fit the float network.
    #[error("example {index}: {error}")]
    Example {
        /// Which example.
        index: usize,
        /// Why.
        error: EvalError,
    },
    /// A sample does not fit the graph.
    #[error("example {index}: {error}")]
    Sample {
        /// Which example.
        index: usize,
        /// Why.
        error: SampleError,
    },
    /// The runtime refuses an example.
    #[error("example {index}: {error}")]
    Run {
        /// Which example.
        index: usize,
        /// Why.
        error: RunError,
    },
    /// Neither positions nor a reference, or nothing in them.
    #[error("nothing to run the network on; give --positions FILE.bf, or a --reference that holds positions or inputs")]
    NoExamples,
    /// Neither a checkpoint nor a reference.
    #[error("nothing to hold the container against; give --checkpoint C, --reference FILE or both")]
    NoTruth,
    /// Positions that are not the reference's.
    #[error(
        "{positions} positions and a reference of {outputs} outputs; give the positions that the reference was \
         computed \
         on"
    )]
    ReferenceCount {
        /// Positions given.
        positions: usize,
        /// Examples of the reference.
        outputs: usize,
    },
    /// The reference's outputs do not fit the network.
    #[error("the reference has {found} outputs an example, the network {expected}; it belongs to another network")]
    ReferenceShape {
        /// The reference's.
        found: usize,
        /// The network's.
        expected: usize,
    },
    /// Outputs of another network, or of other examples.
    #[error("the reference has {found} outputs for {samples} examples, the network makes {expected} for each")]
    Outputs {
        /// All of them.
        found: usize,
        /// How many examples there are.
        samples: usize,
        /// What one example has before the last sigmoid or softmax.
        expected: usize,
    },
    /// Checkpoint and model are not of one shape.
    #[error(
        "the model is {model}, the checkpoint {checkpoint}; they are not the same network; give the \
             one that it was made from"
    )]
    DifferentShapes {
        /// The model's shape.
        model: String,
        /// The checkpoint's.
        checkpoint: String,
    },
    /// The checkpoint is another network.
    #[error(
        "the container was made from another network than the checkpoint: {what} differ; give the one that it was made \
         from"
    )]
    OtherNetwork {
        /// What shows it.
        what: &'static str,
    },
    /// A part of a verification that does not fit.
    #[error("{0}")]
    Part(#[from] PartError),
    /// The container describes a network of chess and has another input.
    #[error("the container's input is no chess board, which its description says it is; pack the network again")]
    NotChess,
}

impl VerifyError {
    /// The class that decides the exit status.
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::Pack(error) => error.class(),
            Self::Unsupported(error) => error.class(),
            Self::Part(error) => error.class(),
            Self::Example { .. }
            | Self::NoExamples
            | Self::NoTruth
            | Self::ReferenceCount { .. }
            | Self::DifferentShapes { .. }
            | Self::OtherNetwork { .. } => ErrorKind::Usage,
            Self::Sample { .. }
            | Self::Run { .. }
            | Self::ReferenceShape { .. }
            | Self::Outputs { .. }
            | Self::NotChess => ErrorKind::Malformed,
        }
    }
}
