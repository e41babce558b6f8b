//! From a file of tensors to a network.

use super::error::TensorFileError;
use super::{read_npz, read_safetensors};
use crate::fault::FaultClass;
use crate::graph::description::{Description, DescriptionError, TensorsError};
use crate::import::{Imported, Ranges, fnv1a_64};
use thiserror::Error;

/// A file of tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorForm {
    /// safetensors
    Safetensors,
    /// npz
    Npz,
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
        "{tensors} tensors and no description of the network; --arch FILE.toml names one, which starts with `graph = 1` (what `export` makes of a quantised network is not read back)"
    )]
    NoDescription {
        /// How many there are.
        tensors: usize,
    },
    /// The description in the metadata.
    #[error("the metadata's description: {0}")]
    Metadata(DescriptionError),
    /// Tensors that do not fit it.
    #[error(transparent)]
    Tensors(#[from] TensorsError),
}

impl TensorsImportError {
    /// [`FaultClass::Usage`] without a description, else that of the cause.
    #[must_use]
    pub fn class(&self) -> FaultClass {
        match self {
            Self::File(error) => error.class(),
            Self::NoDescription { .. } => FaultClass::Usage,
            Self::Metadata(error) => error.class(),
            Self::Tensors(error) => error.class(),
        }
    }
}

/// The network of a file: by a description that is given, else by the one in its metadata.
///
/// # Errors
/// [`TensorsImportError`].
pub fn import(bytes: &[u8], form: TensorForm, given: Option<&Description>) -> Result<Imported, TensorsImportError> {
    let (tensors, own) = match form {
        TensorForm::Safetensors => read_safetensors(bytes)?,
        TensorForm::Npz => (read_npz(bytes)?, None),
    };
    let own = match (given, own) {
        (Some(_), _) => None,
        (None, Some(text)) => Some(Description::from_toml(&text, "metadata").map_err(TensorsImportError::Metadata)?),
        (None, None) => return Err(TensorsImportError::NoDescription { tensors: tensors.len() }),
    };
    let Some(description) = given.or(own.as_ref()) else {
        return Err(TensorsImportError::NoDescription { tensors: tensors.len() });
    };
    let graph = description.bind(tensors)?;
    let source = match form {
        TensorForm::Safetensors => "safetensors",
        TensorForm::Npz => "npz",
    };
    Ok(Imported {
        graph,
        source: source.to_owned(),
        bytes_hash: fnv1a_64(bytes),
        remarks: Vec::new(),
        ranges: Ranges::default(),
    })
}
