//! What can be wrong with a file of tensors.

use crate::error_kind::ErrorKind;
use crate::graph::description::{DescriptionError, TensorsError};
use thiserror::Error;

/// Why a file of tensors was refused. The readers know no path; whoever opened the file adds it.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TensorFileError {
    /// Not safetensors, or damaged.
    #[error("not a safetensors file: {0}")]
    Safetensors(String),
    /// Not npy, or damaged.
    #[error("npy: byte {offset_bytes}: {why}")]
    Npy {
        /// Where.
        offset_bytes: usize,
        /// What is wrong there.
        why: String,
    },
    /// Not a zip, or damaged.
    #[error("npz: byte {offset_bytes}: {why}")]
    Npz {
        /// Where.
        offset_bytes: usize,
        /// What is wrong there.
        why: String,
    },
    /// Anything above, of one array of an npz.
    #[error("array `{array}`: {cause}")]
    Array {
        /// The array.
        array: String,
        /// What is wrong with it.
        cause: Box<TensorFileError>,
    },
    /// Elements of a type that is no number here.
    #[error("tensor `{tensor}`: elements of type {found}; expected F64, F32, F16, BF16 or integers")]
    Type {
        /// The tensor.
        tensor: String,
        /// Its type.
        found: String,
    },
    /// A file of a zip that is packed as NumPy does not pack.
    #[error("packed by method {method} of zip; expected 0, stored, or 8, deflated, as `numpy.savez` writes")]
    Compression {
        /// The method's number: 12 is bzip2, 14 LZMA, 93 Zstandard.
        method: u16,
    },
    /// An integer that double precision does not hold.
    #[error("element {index} is the integer {value}, which is not exact in double precision")]
    NotExact {
        /// Which.
        index: usize,
        /// What it is.
        value: i128,
    },
    /// Compressed bytes that cannot be unpacked.
    #[error("cannot be unpacked: {0}")]
    Packed(String),
    /// A longer header than is taken.
    #[error("a header of {found} bytes, at most {limit} are taken")]
    LongHeader {
        /// Its length.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// More numbers than are held at once.
    #[error("{found} bytes are held at once to read it, at most {limit} are taken of a file of this length")]
    Budget {
        /// How many, as f64, with what is unpacked.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// More bytes than are taken.
    #[error("unpacks to {found} bytes, at most {limit} are taken")]
    TooLarge {
        /// How many, or what is known of it.
        found: String,
        /// The limit.
        limit: u64,
    },
}

impl TensorFileError {
    /// [`ErrorKind::Unsupported`] for what is too large or of a strange type, else [`ErrorKind::Malformed`].
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::TooLarge { .. } | Self::LongHeader { .. } | Self::Budget { .. } => ErrorKind::Unsupported,
            Self::Type { .. } | Self::NotExact { .. } | Self::Compression { .. } => ErrorKind::Unsupported,
            Self::Array { cause, .. } => cause.class(),
            _ => ErrorKind::Malformed,
        }
    }
}

/// Why a file of tensors makes no network.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TensorsImportError {
    /// The file itself.
    #[error(transparent)]
    File(#[from] TensorFileError),
    /// Tensors, and nothing that says how they hang together.
    #[error(
        "{tensors} tensors and no description of the network; give --arch, FILE.toml that starts with `graph = 1`, of \
         dense layers in a row also 16:relu24:linear4; of these `host-tools describe` drafts one (what `export` makes \
         of a quantised network is not read back)"
    )]
    NoDescription {
        /// How many there are.
        tensors: usize,
    },
    /// Tensors that are not the dense layers in a row that they should be.
    #[error("{why}; the tensors: {tensors}; --arch FILE.toml describes any other graph, `graph = 1`")]
    NoChain {
        /// What does not fit.
        why: String,
        /// Their names and shapes.
        tensors: String,
    },
    /// A description that was drafted for them.
    #[error("no description can be drafted: {0}")]
    Draft(DescriptionError),
    /// The description in the metadata.
    #[error("the metadata's description: {0}")]
    Metadata(DescriptionError),
    /// Tensors that do not fit it.
    #[error(transparent)]
    Tensors(#[from] TensorsError),
}

impl TensorsImportError {
    /// [`ErrorKind::Usage`] without a description, or with a chain that does not fit, else that of the cause.
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::File(error) => error.class(),
            Self::NoDescription { .. } | Self::NoChain { .. } => ErrorKind::Usage,
            Self::Draft(error) => error.class(),
            Self::Metadata(error) => error.class(),
            Self::Tensors(error) => error.class(),
        }
    }
}
