//! What can go wrong between a path and a graph.

use crate::arch::ArchError;
use crate::error_kind::ErrorKind;
use crate::graph::GraphError;
use crate::graph::description::DescriptionError;
use crate::import::ImportError;
use crate::import::angel::AngelError;
use crate::import::chain::ChainError;
use crate::import::datacode::DataCodeError;
use crate::import::lattice::LatticeError;
use crate::import::onnx::OnnxError;
use crate::import::tensors::TensorsImportError;
use crate::import::tflite::TfliteError;
use crate::quantised::QuantisedError;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a network was not read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// Anything below, of a path.
    #[error("{}: {cause}", path.display())]
    In {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        cause: Box<NetworkError>,
    },
    /// The file system's part, which names the path itself.
    #[error(transparent)]
    File(#[from] ImportError),
    /// DataCode's `.nn`.
    #[error(transparent)]
    DataCode(#[from] DataCodeError),
    /// lattice-tune and lattice-fann.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
    /// Angel's folders, which are named already.
    #[error(transparent)]
    Angel(#[from] AngelError),
    /// safetensors and npz.
    #[error(transparent)]
    Tensors(#[from] TensorsImportError),
    /// TensorFlow Lite's files.
    #[error(transparent)]
    Tflite(#[from] TfliteError),
    /// An ONNX model.
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    /// A network whose integers are given.
    #[error(transparent)]
    Quantised(#[from] QuantisedError),
    /// The description of a graph.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// The description in bullet's dialect.
    #[error(transparent)]
    Bullets(#[from] ArchError),
    /// A layer of a dense network that no graph can say.
    #[error("layer `{layer}`: {what} is not supported in integers; {instead}")]
    Unsupported {
        /// Which layer.
        layer: String,
        /// What.
        what: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// A network that is wrong in itself.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A chain in words.
    #[error("--arch: {0}")]
    Chain(#[from] ChainError),
    /// A checkpoint of bullet without what reads it.
    #[error(
        "a checkpoint of bullet, which does not say its layers; --arch A.toml describes them, starting with `schema = \
         1`"
    )]
    Bullet,
    /// A description of accumulators where a graph is read.
    #[error(
        "--arch describes a network of accumulators, `schema = 1`, and a graph of reals is read here; `host-tools \
         quantise` takes such a checkpoint, and `export` the container that it makes"
    )]
    Accumulators,
    /// A checkpoint of lattice-tune without its layers.
    #[error(
        "a checkpoint of lattice-tune, which does not say its layers; give --arch, as 784:relu128:linear10 for \
         instance, a .fann or a network JSON"
    )]
    NoLayers,
    /// An architecture of another kind.
    #[error("--arch is {found}; expected {expected}")]
    WrongArch {
        /// What it is.
        found: &'static str,
        /// What the form takes.
        expected: &'static str,
    },
    /// An architecture for a checkpoint that has its own.
    #[error("says its layers itself; leave --arch out")]
    NeedlessArch,
    /// An option that the form has no use for.
    #[error("{option} is for {users}, and this is {form}; leave it out")]
    NeedlessOption {
        /// Its name on the command line.
        option: &'static str,
        /// What it is for.
        users: &'static str,
        /// What the file is.
        form: &'static str,
    },
    /// A file that is too long for what `--arch` takes; told before it is read.
    #[error(
        "{len_bytes} bytes, at most {limit_bytes} are read of a description; expected TOML, a .fann or a network JSON"
    )]
    LongDescription {
        /// Its length.
        len_bytes: u64,
        /// The most.
        limit_bytes: u64,
    },
    /// A file that is no text.
    #[error("byte {offset_bytes} is not UTF-8; expected a description, TOML, a .fann or a network JSON")]
    NoText {
        /// Where.
        offset_bytes: usize,
    },
    /// A network in place of a description.
    #[error("is {what}, expected a description, TOML, a .fann or a network JSON")]
    NoDescription {
        /// What it is: `a container`.
        what: &'static str,
    },
    /// A quantised model.
    #[error("a container, quantised already, and no checkpoint")]
    Container,
    /// A folder of nothing known.
    #[error("holds neither a checkpoint of bullet (weights.bin or raw.bin) nor matrices of Angel (_meta)")]
    UnknownFolder,
    /// A file of no bytes.
    #[error("is empty")]
    Empty,
    /// A file of nothing known.
    #[error(
        "starts with \"{start}\", which is none of DataCode, lattice-tune, lattice-fann, safetensors, npz, TFLite, \
         ONNX and weights.bin; \
         --from FORM says what it is, and bullet's raw.bin and quantised.bin need --arch A.toml"
    )]
    NotRecognised {
        /// The first bytes, escaped.
        start: String,
    },
}

impl NetworkError {
    /// The same, of a path.
    pub(super) fn at(self, path: &Path) -> Self {
        Self::In { path: path.to_owned(), cause: Box::new(self) }
    }

    /// That of the cause; [`ErrorKind::Usage`] where something has to be given, or given otherwise.
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::In { cause, .. } => cause.class(),
            Self::File(error) => error.class(),
            Self::DataCode(error) => error.class(),
            Self::Lattice(error) => error.class(),
            Self::Angel(error) => error.class(),
            Self::Tensors(error) => error.class(),
            Self::Tflite(error) => error.class(),
            Self::Onnx(error) => error.class(),
            Self::Quantised(error) => error.class(),
            Self::Description(error) => error.class(),
            Self::Bullets(error) => error.class(),
            Self::Chain(ChainError::NotSupported { .. }) => ErrorKind::Unsupported,
            Self::Chain(_) | Self::Bullet | Self::NoLayers | Self::WrongArch { .. } => ErrorKind::Usage,
            Self::NeedlessArch | Self::NeedlessOption { .. } => ErrorKind::Usage,
            Self::Container | Self::UnknownFolder => ErrorKind::Usage,
            Self::Unsupported { .. } | Self::LongDescription { .. } | Self::NoDescription { .. } => {
                ErrorKind::Unsupported
            }
            Self::Accumulators => ErrorKind::Unsupported,
            Self::Graph(_) | Self::Empty => ErrorKind::Malformed,
            Self::NoText { .. } | Self::NotRecognised { .. } => ErrorKind::Malformed,
        }
    }
}
