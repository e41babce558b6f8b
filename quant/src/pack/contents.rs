//! The one door back from a container: whatever it was packed from.

use super::error::PackError;
use super::unpack::unpack;
use super::unpack_graph::{is_graph, unpack_graph};
use super::unpack_nnue::{is_nnue, unpack_nnue};
use crate::program::Program;
use crate::quantised::QuantNet;
use crate::stockfish::Net;
use tamis_runtime::format::Model;

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
        if is_graph(model) {
            unpack_graph(model).map(Self::Graph)
        } else if is_nnue(model) {
            unpack_nnue(model).map(Self::Family)
        } else {
            unpack(model).map(Self::Bullet)
        }
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
}
