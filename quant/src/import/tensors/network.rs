//! From a file of tensors to a network.

use super::draft::{Draft, draft};
use super::error::{TensorFileError, TensorsImportError};
use super::{read_npz, read_safetensors};
use crate::graph::description::{Description, Tensors};
use crate::import::chain::Chain;
use crate::import::datacode::Orientation;
use crate::import::{Imported, Ranges, Remark, fnv1a_64};

/// A file of tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorForm {
    /// safetensors
    Safetensors,
    /// npz
    Npz,
}

/// The network of a file: by a description that is given, else by the one in its metadata.
///
/// # Errors
/// [`TensorsImportError`].
pub fn import(bytes: &[u8], form: TensorForm, given: Option<&Description>) -> Result<Imported, TensorsImportError> {
    let (tensors, own) = read(bytes, form)?;
    let own = match (given, own) {
        (Some(_), _) => None,
        (None, Some(text)) => Some(Description::from_toml(&text, "metadata").map_err(TensorsImportError::Metadata)?),
        (None, None) => return Err(TensorsImportError::NoDescription { tensors: tensors.len() }),
    };
    let Some(description) = given.or(own.as_ref()) else {
        return Err(TensorsImportError::NoDescription { tensors: tensors.len() });
    };
    bind(bytes, form, tensors, description, Vec::new())
}

/// The description that a safetensors file has in its metadata.
///
/// # Errors
/// [`TensorsImportError`].
pub fn own_description(bytes: &[u8]) -> Result<Option<Description>, TensorsImportError> {
    let (_, text) = read_safetensors(bytes)?;
    let read = |text: String| Description::from_toml(&text, "metadata").map_err(TensorsImportError::Metadata);
    text.map(read).transpose()
}

/// The network of dense layers in a row whose sizes and activations are given, whatever the file says of itself: each
/// layer is the first matrix of its shape in the order of the names. `name` is the network's.
///
/// # Errors
/// [`TensorsImportError`].
pub fn import_chain(
    bytes: &[u8],
    form: TensorForm,
    name: &str,
    chain: &Chain,
    orientation: Option<Orientation>,
) -> Result<Imported, TensorsImportError> {
    let (tensors, _) = read(bytes, form)?;
    let Draft { description, remarks, .. } = draft(name, &tensors, Some(chain), orientation)?;
    bind(bytes, form, tensors, &description, remarks)
}

/// A description of the tensors and the network that it makes of them: of a chain, or of dense layers in a row as they
/// stand, whose activations are a guess. None of a file that has a description of its own, unless a chain is given.
///
/// # Errors
/// [`TensorsImportError`].
pub fn drafted(
    bytes: &[u8],
    form: TensorForm,
    name: &str,
    chain: Option<&Chain>,
    orientation: Option<Orientation>,
) -> Result<Option<(Draft, Imported)>, TensorsImportError> {
    let (tensors, own) = read(bytes, form)?;
    if own.is_some() && chain.is_none() {
        return Ok(None);
    }
    let mut draft = draft(name, &tensors, chain, orientation)?;
    if chain.is_none() {
        let guess =
            "the activations are a guess, ReLU between layers and none behind the last; no file of tensors says them";
        draft.remarks.push(Remark::Warning(guess.to_owned()));
    }
    let imported = bind(bytes, form, tensors, &draft.description, draft.remarks.clone())?;
    Ok(Some((draft, imported)))
}

fn read(bytes: &[u8], form: TensorForm) -> Result<(Tensors, Option<String>), TensorFileError> {
    match form {
        TensorForm::Safetensors => read_safetensors(bytes),
        TensorForm::Npz => Ok((read_npz(bytes)?, None)),
    }
}

fn bind(
    bytes: &[u8],
    form: TensorForm,
    tensors: Tensors,
    description: &Description,
    remarks: Vec<Remark>,
) -> Result<Imported, TensorsImportError> {
    let graph = description.bind(tensors)?;
    let source = match form {
        TensorForm::Safetensors => "safetensors",
        TensorForm::Npz => "npz",
    };
    Ok(Imported { graph, source: source.to_owned(), bytes_hash: fnv1a_64(bytes), remarks, ranges: Ranges::default() })
}
