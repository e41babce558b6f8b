//! What can be wrong with a checkpoint, and where.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::foreign::Foreign;
use crate::error_kind::ErrorKind;

/// Why a checkpoint was not read. The pure readers know no path; [`ImportError::In`] adds it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Anything below, of a file that has a path.
    #[error("{}: {cause}", path.display())]
    In {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: Box<ImportError>,
    },
    /// The file system refused.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// A device, a pipe, or something else without a length.
    #[error("is neither a file nor a directory; write what it gives to a file, and give that")]
    NotAFile,
    /// A directory where one file is read.
    #[error("is a directory, expected a file")]
    IsADirectory,
    /// A directory without anything to read.
    #[error(
        "holds neither optimiser_state/weights.bin nor weights.bin nor raw.bin; is it a checkpoint \
         (`<net>-<superbatch>`)?"
    )]
    NothingThere,
    /// A file of another system.
    #[error("is {}, which is not read; {}", .0.what, .0.instead)]
    Foreign(Foreign),
    /// A file that is too big to be a network.
    #[error("is {len_bytes} bytes long, at most {limit_bytes} are read")]
    TooLarge {
        /// Its length.
        len_bytes: u64,
        /// The longest file that is read.
        limit_bytes: u64,
    },
    /// A file that grew or shrank while it was read.
    #[error("was {expected} bytes long and gave {found}; is a training run still writing it?")]
    Changed {
        /// Bytes read; one more than `expected` for any that are too many.
        found: u64,
        /// Length when the file was opened.
        expected: u64,
    },
    /// No memory for it.
    #[error("no memory for {len_bytes} bytes")]
    OutOfMemory {
        /// How much was wanted.
        len_bytes: u64,
    },
    /// An empty file.
    #[error(
        "is empty; bullet leaves an empty quantised.bin when a value did not fit its type, read the checkpoint itself"
    )]
    Empty,
    /// A length that no reading of the description gives.
    #[error("{form}: {found} bytes, the description makes {expected}\n{table}{hint}")]
    Length {
        /// `raw.bin` or `quantised.bin`.
        form: &'static str,
        /// Length of the file.
        found: u64,
        /// Length by the description.
        expected: u64,
        /// Lines: the byte range of every tensor, and where the file leaves them.
        table: String,
        /// Which single changed fact would fit, or what to look at.
        hint: String,
    },
    /// A file that neither its name, its first bytes nor its length makes any form of the description.
    #[error(
        "not recognised as weights.bin, raw.bin or quantised.bin of this description: {found} bytes, no tensor's name \
         at the start; raw.bin would have {raw} bytes, quantised.bin {bare}"
    )]
    NotRecognised {
        /// Length of the file.
        found: u64,
        /// Length of `raw.bin` by the description.
        raw: u64,
        /// Length of the bare file by the description.
        bare: u64,
    },
    /// A float checkpoint where a bare file is read.
    #[error("this is {form}, the float checkpoint ({len_bytes} bytes), and no quantised.bin")]
    FloatCheckpoint {
        /// `weights.bin` or `raw.bin`.
        form: &'static str,
        /// Length of the file.
        len_bytes: u64,
    },
    /// A file of a length that is both `raw.bin`'s and the bare file's.
    #[error(
        "{len_bytes} bytes can be raw.bin or a bare quantised.bin, and the two differ in order; name the file raw.bin \
         or quantised.bin"
    )]
    Ambiguous {
        /// Length of the file.
        len_bytes: u64,
    },
    /// `weights.bin` that cannot be taken apart.
    #[error("weights.bin: byte {offset_bytes}, tensor {index}: {why}")]
    Weights {
        /// Where.
        offset_bytes: u64,
        /// Index of the tensor, from 0.
        index: usize,
        /// What is wrong there.
        why: String,
    },
    /// A tensor twice.
    #[error("weights.bin: tensor `{name}` is there twice, at bytes {first_bytes} and {second_bytes}")]
    DuplicateTensor {
        /// Its name.
        name: String,
        /// Offset of the first.
        first_bytes: u64,
        /// Offset of the second.
        second_bytes: u64,
    },
    /// Tensors that the description does not know.
    #[error(
        "weights.bin: the description does not know {}; add a layer for each, or, if it is a factoriser that must be \
         merged, `factoriser = …` to the first layer",
        quoted(names)
    )]
    UnknownTensors {
        /// Their names.
        names: Vec<String>,
    },
    /// Tensors that the description wants.
    #[error("weights.bin: {} missing, the file has {}", quoted(names), quoted(present))]
    MissingTensors {
        /// Their names.
        names: Vec<String>,
        /// What there is.
        present: Vec<String>,
    },
    /// A tensor with another number of values than its shape.
    #[error("weights.bin: tensor `{name}` has {found} values, the description makes {expected} (out {}, in \
             {}){hint}", shape.0, shape.1)]
    TensorLength {
        /// Its name.
        name: String,
        /// Number of values in the file.
        found: u64,
        /// Number by the description.
        expected: u64,
        /// Shape (out, in) by the description.
        shape: (usize, usize),
        /// What would fit, or empty.
        hint: String,
    },
    /// A factoriser that the file cannot have.
    #[error(
        "raw.bin does not hold the factoriser `{factoriser}`, which bullet adds only when it quantises; read \
         optimiser_state/weights.bin"
    )]
    FactoriserNotInRaw {
        /// Name of the tensor.
        factoriser: String,
    },
    /// NaN or an infinity.
    #[error(
        "tensor `{tensor}`, index {index} (output {output}, input {input}): {value} is not a finite number; training \
         has diverged, or the layout is wrong"
    )]
    NonFinite {
        /// The tensor, or `<weights> + <factoriser>` for their sum.
        tensor: String,
        /// Index in bullet's order.
        index: usize,
        /// Row.
        output: usize,
        /// Column.
        input: usize,
        /// The value.
        value: f32,
    },
    /// A header that is another one.
    #[error("the header starts with {found:?}, the description says {expected:?}")]
    Magic {
        /// The first bytes, escaped.
        found: String,
        /// `header_magic`.
        expected: String,
    },
    /// Something else after the last tensor.
    #[error(
        "bytes {start_bytes} to {end_bytes} after the last tensor are {found}, the description says {expected}; set \
         file.tail, or look for a tensor that is missing from the description"
    )]
    Tail {
        /// Offset after the last tensor.
        start_bytes: u64,
        /// Length of the file.
        end_bytes: u64,
        /// "bullet", "zeros" or other bytes.
        found: String,
        /// The kind of tail by the description.
        expected: &'static str,
    },
    /// Integers without a scale.
    #[error(
        "tensor `{tensor}` is stored as {element} and the description gives it no scale, so that it has no real \
         values; read the float checkpoint"
    )]
    NoScale {
        /// The tensor.
        tensor: String,
        /// Its type.
        element: &'static str,
    },
}

impl ImportError {
    /// [`ErrorKind::Io`] for the file system's refusals, [`ErrorKind::Unsupported`] for what is too large or holds
    /// no real values, [`ErrorKind::Usage`] for a path that names nothing readable, else [`ErrorKind::Malformed`].
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        let mut innermost = self;
        while let Self::In { cause, .. } = innermost {
            innermost = cause;
        }
        match innermost {
            Self::Io(_) | Self::Changed { .. } => ErrorKind::Io,
            Self::Foreign(_) | Self::TooLarge { .. } | Self::OutOfMemory { .. } => ErrorKind::Unsupported,
            Self::FactoriserNotInRaw { .. } | Self::NoScale { .. } => ErrorKind::Unsupported,
            Self::FloatCheckpoint { .. } => ErrorKind::Unsupported,
            Self::NotAFile | Self::IsADirectory | Self::NothingThere | Self::Ambiguous { .. } => ErrorKind::Usage,
            _ => ErrorKind::Malformed,
        }
    }
}

/// "`a`, `b` and 3 more"
fn quoted(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
