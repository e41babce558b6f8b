//! lattice-tune's checkpoints, and the two forms in which lattice-fann saves networks.
//!
//! | what | says its layers | holds |
//! |------|-----------------|-------|
//! | checkpoint, JSON | no | `weights`, bytes of f32 in an array or in base64; the state of an optimiser; a training record |
//! | `.fann` | yes | the same f32, binary |
//! | network, JSON | yes | the same numbers, decimal |
//!
//! A checkpoint therefore needs a [`Chain`]: written by hand, or that of a `.fann` or network JSON of the same network,
//! which [`architecture`] reads. Everywhere the parameters stand from input to output, for each layer the weights row
//! by row, one an output, then the biases.

mod checkpoint;
mod encoded;
mod error;
mod fann;
mod identity;
mod network_json;

pub use checkpoint::{Checkpoint, parse_checkpoint, read_lattice_checkpoint};
pub use error::LatticeError;
pub use fann::read_fann;
pub use network_json::read_network_json;

use super::bounded_json::first_key;
use super::chain::Chain;
use super::{Imported, Ranges, fnv1a_64};

/// The longest file.
pub const MAX_FILE_LEN_BYTES: usize = 2 << 30;

/// Whether a file that begins so is a checkpoint: an object whose first key is one of a checkpoint's.
#[must_use]
pub fn is_lattice_checkpoint(start: &[u8]) -> bool {
    let keys = ["id", "epoch", "global_step", "metrics", "created_at", "weights", "optimizer_state"];
    first_key(start).is_some_and(|key| keys.contains(&key))
}

/// Whether a file that begins so is a `.fann` of lattice-fann.
#[must_use]
pub fn is_fann(start: &[u8]) -> bool {
    start.starts_with(fann::MAGIC)
}

/// Whether a file that begins so is a network's JSON: an object whose first key is `layers`.
#[must_use]
pub fn is_network_json(start: &[u8]) -> bool {
    first_key(start) == Some("layers")
}

/// The sizes and activations of a `.fann` or a network's JSON, its weights left aside.
///
/// # Errors
/// [`LatticeError::NoArchitecture`] if it is neither, and those of [`read_fann`] and [`read_network_json`].
pub fn architecture(bytes: &[u8]) -> Result<Chain, LatticeError> {
    if is_fann(bytes) {
        Ok(fann::parse(bytes)?.0)
    } else if is_network_json(bytes) {
        Ok(network_json::parse(bytes)?.0)
    } else {
        Err(LatticeError::NoArchitecture)
    }
}

/// A chain and its parameters, of all of which the graph is made.
type LatticeNetwork = (Chain, Vec<f32>);

fn imported(network: &LatticeNetwork, name: &str, source: &str, bytes: &[u8]) -> Result<Imported, LatticeError> {
    let (chain, parameters) = network;
    if let Some((index, value)) = parameters.iter().enumerate().find(|(_, value)| !value.is_finite()) {
        let (layer, tensor, index) = error::place(chain, index);
        return Err(LatticeError::NotFinite { layer, tensor, index, value: *value });
    }
    let graph = chain.graph(name, parameters).ok_or_else(|| error::length(chain, parameters.len()))?;
    graph.check()?;
    Ok(Imported {
        graph,
        source: source.to_owned(),
        bytes_hash: fnv1a_64(bytes),
        remarks: Vec::new(),
        ranges: Ranges::default(),
    })
}

fn check_file_len(bytes: &[u8]) -> Result<(), LatticeError> {
    match bytes.len() {
        0..=MAX_FILE_LEN_BYTES => Ok(()),
        found => Err(LatticeError::TooLong { found, limit: MAX_FILE_LEN_BYTES }),
    }
}

#[cfg(test)]
mod tests;
