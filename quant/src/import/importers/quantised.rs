//! Files that are quantised already, as the integers that they say and the reals that those stand for.

use super::{MAX_NETWORK_LEN_BYTES, MAX_TENSORS_LEN_BYTES, NetworkError, NetworkForm, NetworkOptions, read_network};
use crate::import::onnx::read_onnx_model;
use crate::import::tflite::quantised::read_quantised;
use crate::import::tflite::{TfliteError, read_reals, read_tflite};
use crate::import::{Imported, read_file_at_most};
use crate::quantised::{QuantisedError, QuantisedGraph, from_graph, without_roundings};
use std::path::Path;

/// What the source of such a file ends in, in reports and in containers.
pub const QUANTISED_SOURCE: &str = ", quantised";

/// A network that is quantised already.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantisedNetwork {
    /// What it computes.
    pub integers: QuantisedGraph,
    /// What its integers stand for, and where both came from.
    pub reals: Imported,
}

/// Whether a file is of a form that can hold such a network: by its content, or else by its name.
#[must_use]
pub fn quantised_form(path: &Path) -> Option<NetworkForm> {
    let named = |extension: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension));
    match super::sniff_network(path) {
        Ok(form @ (NetworkForm::Tflite | NetworkForm::Onnx)) => Some(form),
        _ if named("tflite") => Some(NetworkForm::Tflite),
        _ if named("onnx") => Some(NetworkForm::Onnx),
        _ => None,
    }
}

/// Reads a network of one of these forms, quantised already.
///
/// # Errors
/// [`NetworkError`] naming the path; of a file of float32 it is [`QuantisedError::Float`].
pub fn read_quantised_network(path: &Path, form: NetworkForm) -> Result<QuantisedNetwork, NetworkError> {
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let read = match form {
        NetworkForm::Tflite => tflite(&read_file_at_most(path, MAX_TENSORS_LEN_BYTES)?, &name),
        _ => onnx(&read_file_at_most(path, MAX_NETWORK_LEN_BYTES)?, path.parent(), &name),
    };
    read.map_err(|cause| cause.at(path))
}

fn tflite(bytes: &[u8], name: &str) -> Result<QuantisedNetwork, NetworkError> {
    let integers = read_quantised(bytes, name).map_err(|error| match read_tflite(bytes, name) {
        Ok(_) => NetworkError::Quantised(QuantisedError::Float),
        Err(TfliteError::Quantised { .. }) => error.into(),
        // What no reader takes has a name of its own: integer weights under reals, state, and so on.
        Err(other) => other.into(),
    })?;
    let reals = Imported { source: format!("TFLite{QUANTISED_SOURCE}"), ..read_reals(bytes, name)? };
    Ok(QuantisedNetwork { integers, reals })
}

fn onnx(bytes: &[u8], folder: Option<&Path>, name: &str) -> Result<QuantisedNetwork, NetworkError> {
    let model = read_onnx_model(bytes, folder, name)?;
    let integers = from_graph(&model.imported.graph, model.given).map_err(|error| match (error, model.wide) {
        // It holds integers, and not as float32 does.
        (QuantisedError::Float, Some(node)) => QuantisedError::Unsupported {
            node,
            what: "an input of integers wider than a byte".to_owned(),
            instead: "give it as int8 or uint8 with its scale",
        },
        (error, _) => error,
    })?;
    let graph = without_roundings(&model.imported.graph, model.given.is_some());
    graph.check()?;
    let reals = Imported { graph, source: format!("ONNX model{QUANTISED_SOURCE}"), ..model.imported };
    Ok(QuantisedNetwork { integers, reals })
}

/// Reads a network as the reals that it stands for, be it quantised already or not: what a container is held against.
///
/// # Errors
/// As [`read_network`].
pub fn read_network_of_reals(path: &Path, options: &NetworkOptions) -> Result<Imported, NetworkError> {
    let form = if options.from.is_none() && options.arch.is_none() { quantised_form(path) } else { None };
    if let Some(form) = form
        && let Ok(QuantisedNetwork { reals, .. }) = read_quantised_network(path, form)
    {
        options.check(form).map_err(|cause| cause.at(path))?;
        return Ok(reals);
    }
    read_network(path, options)
}
