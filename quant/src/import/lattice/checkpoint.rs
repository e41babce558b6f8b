//! A checkpoint: f32 without a shape, and what the training program says about itself.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::encoded::{self, Count, Encoded};
use super::error::{LatticeError, length};
use super::{check_file_len, identity, imported};
use crate::import::bounded_json::parse_object;
use crate::import::chain::{Chain, short};
use crate::import::{Imported, Remark};

/// A checkpoint without its training record.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// A UUID if the crate wrote it.
    pub id: Option<String>,
    /// Epochs that were trained.
    pub epoch: Option<u64>,
    /// Steps that were trained.
    pub global_step: Option<u64>,
    /// When it was written: a date as RFC 3339 has them, if the crate wrote it.
    pub created_at: Option<String>,
    /// All parameters; not yet compared with any architecture, and perhaps not finite. At least one.
    pub weights: Vec<f32>,
    /// Bytes of optimiser state, which no inference needs and nothing keeps; a multiple of 4.
    pub optimizer_state_len_bytes: usize,
    /// What is odd.
    pub remarks: Vec<Remark>,
}

#[derive(Deserialize)]
struct JsonCheckpoint<'a> {
    id: Option<String>,
    epoch: Option<u64>,
    global_step: Option<u64>,
    #[serde(rename = "metrics")]
    _metrics: Option<IgnoredAny>,
    created_at: Option<String>,
    #[serde(borrow, deserialize_with = "encoded::weights")]
    weights: Encoded<'a>,
    #[serde(default, deserialize_with = "encoded::optimizer_state")]
    optimizer_state: Count,
}

/// Reads a checkpoint whose layers are known.
///
/// # Errors
/// Those of [`parse_checkpoint`], [`LatticeError::Length`] if the architecture has more or fewer parameters, and
/// [`LatticeError::NotFinite`].
pub fn read_lattice_checkpoint(bytes: &[u8], name: &str, architecture: &Chain) -> Result<Imported, LatticeError> {
    let Checkpoint { weights, remarks, .. } = parse_checkpoint(bytes)?;
    if weights.len() != architecture.parameters() {
        return Err(length(architecture, weights.len()));
    }
    let network = (architecture.clone(), weights);
    Ok(Imported { remarks, ..imported(&network, name, "lattice-tune checkpoint", bytes)? })
}

/// Takes a checkpoint apart without knowing what its numbers are for.
///
/// # Errors
/// [`LatticeError`] for JSON that is none, weights that are no bytes, bad base64, a number of bytes that makes no f32,
/// and weights that are empty.
pub fn parse_checkpoint(bytes: &[u8]) -> Result<Checkpoint, LatticeError> {
    check_file_len(bytes)?;
    let json: JsonCheckpoint<'_> =
        parse_object(bytes).map_err(|fault| LatticeError::Json { offset_bytes: fault.offset, why: fault.why })?;
    let weights = json.weights.bytes()?;
    let (words, rest) = weights.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(LatticeError::ByteCount { what: "weights", found: weights.len() });
    }
    if words.is_empty() {
        return Err(LatticeError::EmptyWeights);
    }
    let weights = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
    let optimizer_state_len_bytes = json.optimizer_state.0;
    if !optimizer_state_len_bytes.is_multiple_of(4) {
        return Err(LatticeError::ByteCount { what: "optimizer_state", found: optimizer_state_len_bytes });
    }
    let mut remarks = Vec::new();
    if let Some(id) = json.id.as_deref().filter(|id| !identity::is_uuid(id)) {
        remarks.push(Remark::Warning(format!("id is `{}`, expected a UUID; it was not needed", short(id))));
    }
    if let Some(date) = json.created_at.as_deref().filter(|date| !identity::is_rfc3339(date)) {
        let date = short(date);
        remarks
            .push(Remark::Warning(format!("created_at is `{date}`, expected 2024-01-15T10:30:00Z; it was not needed")));
    }
    Ok(Checkpoint {
        id: json.id,
        epoch: json.epoch,
        global_step: json.global_step,
        created_at: json.created_at,
        weights,
        optimizer_state_len_bytes,
        remarks,
    })
}
