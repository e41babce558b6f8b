//! The one door back from a container: whatever it was packed from.

use super::bare::to_bare;
use super::error::PackError;
use super::unpack::unpack;
use super::unpack_graph::{is_graph, unpack_graph};
use super::unpack_nnue::{is_nnue, unpack_nnue};
use crate::program::Program;
use crate::quantised::QuantNet;
use crate::stockfish::{Net, to_bytes};
use tamis_runtime::format::Model;

/// What a container that was made of a trainer's `quantised.bin` names as its source.
pub const BARE_SOURCE: &str = "quantised.bin";
/// The same of a `.nnue` file.
pub const NNUE_SOURCE: &str = "nnue";

/// A form of container, and how it is told from others.
struct Form {
    holds: fn(&Model<'_>) -> bool,
    read: fn(&Model<'_>) -> Result<Contents, PackError>,
}

/// The forms that say what they are. Every other container is of bullet's layers.
const FORMS: [Form; 2] = [
    Form { holds: is_graph, read: |model| unpack_graph(model).map(Contents::Graph) },
    Form { holds: is_nnue, read: |model| unpack_nnue(model).map(Contents::Family) },
];

/// The program that a container was packed from.
///
/// # Errors
/// As [`Contents::of`] and [`Contents::lower`].
pub fn unpack_program(model: &Model<'_>) -> Result<Program, PackError> {
    match Contents::of(model)? {
        Contents::Graph(program) => Ok(program),
        other => other.lower(),
    }
}

/// The file of a trainer's that was packed, again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainersFile {
    /// `bare` or `nnue`
    pub form: &'static str,
    /// What a container that was made of such a file names as its source.
    pub source: &'static str,
    /// Byte for byte.
    pub bytes: Vec<u8>,
}

/// What a container was packed from.
#[derive(Debug, Clone, PartialEq)]
pub enum Contents {
    /// bullet's network of accumulators.
    Bullet(QuantNet),
    /// A `.nnue` file of the Stockfish family.
    Family(Net),
    /// Any other network, which was lowered when it was quantised.
    Graph(Program),
}

impl Contents {
    /// Takes a container apart: description, tensors in training order, what else the front end wants back.
    ///
    /// # Errors
    /// [`PackError`] if the file's description is refused, or if its tensors are not the description's.
    ///
    /// # Examples
    /// ```
    /// use tamis_quant::pack::Contents;
    /// use tamis_quant::run::AlignedBytes;
    /// use tamis_runtime::format::Model;
    ///
    /// let bytes = AlignedBytes::copy_of(include_bytes!("../../../tests/vectors/tiny.bin"));
    /// let contents = Contents::of(&Model::parse(bytes.as_ref())?)?;
    /// assert!(matches!(&contents, Contents::Bullet(net) if net.arch.name == "tiny"));
    /// assert_eq!(contents.lower()?.width(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(model: &Model<'_>) -> Result<Self, PackError> {
        let form = FORMS.iter().find(|form| (form.holds)(model));
        form.map_or_else(|| unpack(model).map(Self::Bullet), |form| (form.read)(model))
    }

    /// The program that was packed.
    ///
    /// # Errors
    /// [`PackError::Unsupported`] for a network of bullet that the runtime has no operation for.
    pub fn lower(&self) -> Result<Program, PackError> {
        match self {
            Self::Bullet(net) => Ok(net.lower()?),
            Self::Family(net) => Ok(net.lower()),
            Self::Graph(program) => Ok(program.clone()),
        }
    }

    /// The trainer's own file; none of networks that have no other form than the container.
    ///
    /// # Errors
    /// [`PackError::NoHeader`] if the bare file needs a header that nothing holds.
    pub fn trainers_file(&self) -> Result<Option<TrainersFile>, PackError> {
        Ok(match self {
            Self::Bullet(net) => Some(TrainersFile { form: "bare", source: BARE_SOURCE, bytes: to_bare(net)? }),
            Self::Family(net) => Some(TrainersFile { form: "nnue", source: NNUE_SOURCE, bytes: to_bytes(net) }),
            Self::Graph(_) => None,
        })
    }
}
