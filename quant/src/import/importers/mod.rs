//! One door for every checkpoint that becomes a graph: told by content, or forced; see [`NetworkForm`].
//!
//! bullet's dense networks come through it, too, by their description. Its networks of accumulators do not:
//! [`super::read_checkpoint`] reads them; here they are recognised, and the error says what is needed.

mod arch;
mod dense;
mod error;
mod form;
mod options;
mod quantised;

pub use arch::NetworkArch;
pub use dense::dense_graph;
pub use error::NetworkError;
pub use form::{NNUE_FILE, NetworkForm, network_in_place, sniff_network};
pub use options::NetworkOptions;
pub use quantised::{
    QUANTISED_SOURCE, QuantisedNetwork, quantised_form, read_network_of_reals, read_quantised_network,
};

use super::angel::read_model;
use super::datacode::{self, read_datacode};
use super::lattice::{read_fann, read_lattice_checkpoint, read_network_json};
use super::onnx::read_onnx_with;
use super::tensors::{Draft, TensorForm, drafted, import, import_chain, own_description};
use super::tflite::read_tflite;
use super::{Imported, read_file_at_most};
use crate::graph::description::Description;
use std::path::Path;

/// The longest checkpoint, in bytes.
pub const MAX_NETWORK_LEN_BYTES: u64 = 2 << 30;
/// The longest file of tensors, whose numbers take up to eight times as much as f64.
pub const MAX_TENSORS_LEN_BYTES: u64 = 1 << 30;

/// Reads a network from a file, or from a folder.
///
/// # Errors
/// [`NetworkError`] naming the path.
pub fn read_network(path: &Path, options: &NetworkOptions) -> Result<Imported, NetworkError> {
    if let Some(arch) = options.bullets().filter(|arch| !arch.input.is_sparse()) {
        options.check(NetworkForm::Bullet).map_err(|cause| cause.at(path))?;
        return dense::read(path, arch);
    }
    let at = |cause: NetworkError| cause.at(path);
    if options.bullets().is_some() && options.from.is_none() {
        return Err(at(NetworkError::Accumulators));
    }
    let form = match options.from {
        Some(form) => form,
        None => sniff_network(path)?,
    };
    options.check(form).map_err(at)?;
    let says_its_layers = matches!(
        form,
        NetworkForm::DataCode
            | NetworkForm::Fann
            | NetworkForm::NetworkJson
            | NetworkForm::Angel
            | NetworkForm::Tflite
            | NetworkForm::Onnx
    );
    if says_its_layers && options.arch.is_some() {
        return Err(at(NetworkError::NeedlessArch));
    }
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let read = |limit| read_file_at_most(path, limit);
    match form {
        NetworkForm::Bullet => Err(at(match &options.arch {
            Some(arch) => NetworkError::WrongArch {
                found: arch.words(),
                expected: "a description of a checkpoint of bullet, `schema = 1`",
            },
            None => NetworkError::Bullet,
        })),
        NetworkForm::DataCode => {
            let activations = options.activations.clone();
            let datacode = datacode::Options { orientation: options.orientation, activations };
            read_datacode(&read(MAX_NETWORK_LEN_BYTES)?, &name, &datacode).map_err(|error| at(error.into()))
        }
        NetworkForm::Lattice => {
            let chain = options.arch.as_ref().ok_or_else(|| at(NetworkError::NoLayers))?.chain().map_err(at)?;
            read_lattice_checkpoint(&read(MAX_NETWORK_LEN_BYTES)?, &name, &chain).map_err(|error| at(error.into()))
        }
        NetworkForm::Fann => read_fann(&read(MAX_NETWORK_LEN_BYTES)?, &name).map_err(|error| at(error.into())),
        NetworkForm::NetworkJson => {
            read_network_json(&read(MAX_NETWORK_LEN_BYTES)?, &name).map_err(|error| at(error.into()))
        }
        NetworkForm::Tflite => read_tflite(&read(MAX_TENSORS_LEN_BYTES)?, &name).map_err(|error| at(error.into())),
        NetworkForm::Onnx => {
            let bytes = read(MAX_NETWORK_LEN_BYTES)?;
            read_onnx_with(&bytes, path.parent(), &name, options.epsilon).map_err(|error| at(error.into()))
        }
        NetworkForm::Angel => Ok(read_model(path, &options.angel())?),
        NetworkForm::Safetensors | NetworkForm::Npz => {
            let form = tensor_form(form);
            if let Some(NetworkArch::Chain(chain)) = &options.arch {
                let bytes = read(MAX_TENSORS_LEN_BYTES)?;
                let imported = import_chain(&bytes, form, &name, chain, options.orientation);
                return imported.map_err(|error| at(error.into()));
            }
            let description = options.arch.as_ref().map(NetworkArch::description).transpose().map_err(at)?;
            let other = description.zip(options.epsilon).and_then(|(own, epsilon)| own.with_epsilon(epsilon));
            let description = other.as_ref().or(description);
            import(&read(MAX_TENSORS_LEN_BYTES)?, form, description).map_err(|error| at(error.into()))
        }
    }
}

/// A description of the tensors of a file that has none, of the chain that is given, or of dense layers in a row as
/// they stand; none where the path is of another form, or is described already.
///
/// # Errors
/// [`NetworkError`] naming the path.
pub fn draft_network(path: &Path, options: &NetworkOptions) -> Result<Option<(Draft, Imported)>, NetworkError> {
    let chain = match &options.arch {
        None => None,
        Some(NetworkArch::Chain(chain)) => Some(chain),
        Some(_) => return Ok(None),
    };
    let form = match options.from {
        Some(form) => form,
        None => sniff_network(path)?,
    };
    if !matches!(form, NetworkForm::Safetensors | NetworkForm::Npz) {
        return Ok(None);
    }
    options.check(form).map_err(|cause| cause.at(path))?;
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let bytes = read_file_at_most(path, MAX_TENSORS_LEN_BYTES)?;
    let drafted = drafted(&bytes, tensor_form(form), &name, chain, options.orientation);
    drafted.map_err(|error| NetworkError::from(error).at(path))
}

/// The description by which a file of tensors is read: the one that is given, else its own. It belongs to the names and
/// the orders of the file's tensors, which [`Description::of`] the network does not. None where the path is of another
/// form, or nothing describes it.
///
/// # Errors
/// [`NetworkError`] naming the path.
pub fn description_of(path: &Path, options: &NetworkOptions) -> Result<Option<Description>, NetworkError> {
    match &options.arch {
        Some(NetworkArch::Graph(description)) => return Ok(Some(description.clone())),
        Some(_) => return Ok(None),
        None => {}
    }
    let form = match options.from {
        Some(form) => form,
        None => sniff_network(path)?,
    };
    if form != NetworkForm::Safetensors {
        return Ok(None);
    }
    let bytes = read_file_at_most(path, MAX_TENSORS_LEN_BYTES)?;
    own_description(&bytes).map_err(|error| NetworkError::from(error).at(path))
}

fn tensor_form(form: NetworkForm) -> TensorForm {
    if form == NetworkForm::Npz { TensorForm::Npz } else { TensorForm::Safetensors }
}
