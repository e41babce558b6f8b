//! What can be wrong with files of lattice-tune and lattice-fann, and where.

use thiserror::Error;

use crate::error_kind::ErrorKind;
use crate::graph::GraphError;
use crate::import::chain::{Chain, ChainError};

/// Why a file was not read. Offsets are bytes from its start.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LatticeError {
    /// A file that is too long.
    #[error("is {found} bytes long, at most {limit} are read")]
    TooLong {
        /// Its length.
        found: usize,
        /// The longest.
        limit: usize,
    },
    /// JSON that is none, or not what the file's is.
    #[error("byte {offset_bytes}: {why}")]
    Json {
        /// Where.
        offset_bytes: usize,
        /// What is wrong.
        why: String,
    },
    /// A checkpoint without parameters.
    #[error(
        "`weights` is empty, as the crate itself leaves it: the training program has to put its parameters there \
         before it saves"
    )]
    EmptyWeights,
    /// Base64 that is none.
    #[error("`weights`, letter {index} of the base64: {why}")]
    Base64 {
        /// Which letter, from 0; the number of letters where none is wrong by itself.
        index: usize,
        /// What is wrong.
        why: String,
    },
    /// Bytes that are no f32.
    #[error("`{what}` has {found} bytes, expected a multiple of 4: f32, little-endian")]
    ByteCount {
        /// `weights` or `optimizer_state`.
        what: &'static str,
        /// How many.
        found: usize,
    },
    /// Parameters that are not those of the architecture.
    #[error(
        "`weights` has {found} f32, the architecture {architecture} makes {expected} ({terms}); one of the two is not \
         this network's"
    )]
    Length {
        /// How many there are.
        found: usize,
        /// How many the architecture has.
        expected: usize,
        /// The architecture's text.
        architecture: String,
        /// `4·8 + 8` a layer.
        terms: String,
    },
    /// NaN or an infinity.
    #[error("layer {layer}: element {index} of its {tensor} is {value}; a trained network has finite numbers only")]
    NotFinite {
        /// Which layer, from 0.
        layer: usize,
        /// `weights` or `biases`.
        tensor: &'static str,
        /// Which element, from 0, row by row.
        index: usize,
        /// What it is.
        value: f32,
    },
    /// A slope that is no number.
    #[error("layer {index}: the slope of its leaky ReLU is {found}, expected a finite number")]
    Slope {
        /// Which layer, from 0.
        index: usize,
        /// The slope.
        found: String,
    },
    /// A list of another length.
    #[error("layer {index} has {found} {tensor}, its sizes make {expected}")]
    Numbers {
        /// Which layer, from 0.
        index: usize,
        /// `weights` or `biases`.
        tensor: &'static str,
        /// How many there are.
        found: usize,
        /// How many there have to be.
        expected: usize,
    },
    /// Not a `.fann`.
    #[error("begins with \"{found}\", expected \"FANN\"")]
    FannMagic {
        /// The first bytes, escaped.
        found: String,
    },
    /// Another version.
    #[error("byte 4: .fann version {found}, expected 1, the only one that there is")]
    FannVersion {
        /// The version.
        found: u32,
    },
    /// Cut off.
    #[error("byte {offset_bytes}: {what} should have {needed} bytes, {left} are left; is the file cut off?")]
    FannTruncated {
        /// What is not whole.
        what: String,
        /// Where it starts.
        offset_bytes: usize,
        /// Its length.
        needed: usize,
        /// Bytes from there to the end.
        left: usize,
    },
    /// Something behind the last layer.
    #[error("byte {offset_bytes}: {count} bytes behind the last of {layers} layers, expected the end of the file")]
    FannTrailing {
        /// Where the last layer ends.
        offset_bytes: usize,
        /// How many bytes follow.
        count: usize,
        /// How many layers there are.
        layers: u32,
    },
    /// An activation that there is not.
    #[error(
        "byte {offset_bytes}: layer {index} has activation {found}, expected 0 to 5: linear, sigmoid, tanh, ReLU, \
         leaky ReLU, softmax"
    )]
    FannActivation {
        /// Which layer, from 0.
        index: u32,
        /// Where.
        offset_bytes: usize,
        /// The byte.
        found: u8,
    },
    /// Layers that are no chain.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// An architecture that was given as a file, and is none.
    #[error(
        "no architecture: expected a .fann, which begins with FANN, or a network's JSON, which begins with {{\"layers\""
    )]
    NoArchitecture,
    /// Layers that make no graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl LatticeError {
    /// [`ErrorKind::Usage`] for an architecture that is not the checkpoint's or none, [`ErrorKind::Unsupported`] for
    /// what is too long or of another version, else [`ErrorKind::Malformed`].
    #[must_use]
    pub const fn class(&self) -> ErrorKind {
        match self {
            Self::NoArchitecture | Self::Chain(ChainError::Part { .. }) => ErrorKind::Usage,
            Self::TooLong { .. } | Self::Chain(ChainError::NotSupported { .. }) => ErrorKind::Unsupported,
            Self::FannVersion { found } if *found > 1 => ErrorKind::Unsupported,
            _ => ErrorKind::Malformed,
        }
    }
}

/// The error of a number of parameters.
pub(super) fn length(chain: &Chain, found: usize) -> LatticeError {
    const SHOWN: usize = 8;
    let layers = chain.layers();
    let term = |layer: &crate::import::chain::ChainLayer| format!("{0}·{1} + {1}", layer.inputs, layer.outputs);
    let mut terms = layers.iter().take(SHOWN).map(term).collect::<Vec<_>>().join(" + ");
    if layers.len() > SHOWN {
        terms.push_str(" + …");
    }
    let architecture = crate::import::chain::short(&chain.to_string());
    LatticeError::Length { found, expected: chain.parameters(), architecture, terms }
}

/// Layer, tensor and element of a parameter.
pub(super) fn place(chain: &Chain, parameter: usize) -> (usize, &'static str, usize) {
    let mut rest = parameter;
    for (index, layer) in chain.layers().iter().enumerate() {
        let weights = layer.inputs * layer.outputs;
        if rest < weights {
            return (index, "weights", rest);
        }
        if rest < weights + layer.outputs {
            return (index, "biases", rest - weights);
        }
        rest -= weights + layer.outputs;
    }
    (chain.layers().len(), "weights", rest)
}
