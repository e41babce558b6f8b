//! Full-precision outputs that a training framework computed, in a safetensors file that says where.

use crate::error_kind::ErrorKind;
use crate::positions::{Position, RECORD_LEN_BYTES};
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;

/// The `format` that the metadata must say.
pub const FORMAT: &str = "tamis-reference-1";

/// A reference file, decoded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reference {
    /// The positions, for chess networks.
    pub positions: Vec<Position>,
    /// The inputs, for dense networks.
    pub inputs: Vec<Vec<f64>>,
    /// Network outputs before `output.scale`, example after example.
    pub outputs: Vec<f64>,
    /// Outputs of one example.
    pub outputs_per_example: usize,
    /// Classes, if the file has them.
    pub labels: Vec<u8>,
    /// Device, framework, versions, seed and so on, as the file says.
    pub metadata: BTreeMap<String, String>,
}

/// Why a reference file is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// Not safetensors.
    #[error("not a safetensors file: {0}")]
    NotSafetensors(String),
    /// Another kind of safetensors file.
    #[error("the metadata's `format` is {found:?}, expected {FORMAT:?}; this is not a reference file")]
    Format {
        /// What it says.
        found: Option<String>,
    },
    /// A tensor is missing, or of the wrong type or shape.
    #[error("tensor `{tensor}`: {problem}")]
    Tensor {
        /// Its name.
        tensor: &'static str,
        /// What is wrong.
        problem: String,
    },
}

impl ReferenceError {
    /// Always malformed input.
    pub fn class(&self) -> ErrorKind {
        ErrorKind::Malformed
    }
}

impl Reference {
    /// Decodes a file: `outputs` f32 (n, outputs) with `positions` u8 (n, 32) in BulletFormat or `inputs` f32 (n,
    /// size), and `labels` u8 (n,) if there are classes. A file of outputs alone belongs to positions that are given
    /// apart.
    ///
    /// # Errors
    /// [`ReferenceError`] naming the tensor.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReferenceError> {
        let fault = |error: safetensors::SafeTensorError| ReferenceError::NotSafetensors(error.to_string());
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(fault)?;
        let metadata: BTreeMap<String, String> = metadata.metadata().clone().into_iter().flatten().collect();
        let found = metadata.get("format").cloned();
        if found.as_deref() != Some(FORMAT) {
            return Err(ReferenceError::Format { found });
        }
        let file = SafeTensors::deserialize(bytes).map_err(fault)?;
        let (shape, outputs) = reals(&file, "outputs")?.ok_or_else(|| problem("outputs", "is missing"))?;
        let examples = shape.0;
        let mut reference = Self { outputs, outputs_per_example: shape.1, metadata, ..Self::default() };
        if let Some((shape, records)) = bytes_of(&file, "positions")? {
            if shape != (examples, RECORD_LEN_BYTES) {
                return Err(problem(
                    "positions",
                    format!("has shape {shape:?}, expected ({examples}, {RECORD_LEN_BYTES})"),
                ));
            }
            let (records, _) = records.as_chunks::<RECORD_LEN_BYTES>();
            for (index, record) in records.iter().enumerate() {
                let position = Position::from_record(record)
                    .map_err(|error| problem("positions", format!("record {index}: {error}")))?;
                reference.positions.push(position);
            }
        }
        if let Some((shape, inputs)) = reals(&file, "inputs")? {
            if shape.0 != examples {
                return Err(problem("inputs", format!("has {} rows, `outputs` has {examples}", shape.0)));
            }
            reference.inputs = inputs.chunks(shape.1.max(1)).map(<[f64]>::to_vec).collect();
        }
        if let Some((shape, labels)) = bytes_of(&file, "labels")? {
            if shape.0 != examples || shape.1 != 1 {
                return Err(problem("labels", format!("has shape {shape:?}, expected ({examples},)")));
            }
            reference.labels = labels.to_vec();
        }
        if !reference.positions.is_empty() && !reference.inputs.is_empty() {
            return Err(problem("positions", "and `inputs` are both there; a network takes one or the other"));
        }
        Ok(reference)
    }
}

fn problem(tensor: &'static str, problem: impl Into<String>) -> ReferenceError {
    ReferenceError::Tensor { tensor, problem: problem.into() }
}

type Shaped<T> = Option<((usize, usize), T)>;

/// A u8 tensor's shape, as rows and columns, and bytes.
fn bytes_of<'d>(file: &SafeTensors<'d>, name: &'static str) -> Result<Shaped<&'d [u8]>, ReferenceError> {
    let Ok(view) = file.tensor(name) else { return Ok(None) };
    if view.dtype() != Dtype::U8 {
        return Err(problem(name, format!("is {:?}, expected U8", view.dtype())));
    }
    Ok(Some((shape(name, view.shape())?, view.data())))
}

fn reals(file: &SafeTensors<'_>, name: &'static str) -> Result<Shaped<Vec<f64>>, ReferenceError> {
    let Ok(view) = file.tensor(name) else { return Ok(None) };
    if view.dtype() != Dtype::F32 {
        return Err(problem(name, format!("is {:?}, expected F32", view.dtype())));
    }
    let (words, _) = view.data().as_chunks::<4>();
    let values: Vec<f64> = words.iter().map(|word| f64::from(f32::from_le_bytes(*word))).collect();
    if let Some(index) = values.iter().position(|value| !value.is_finite()) {
        return Err(problem(name, format!("index {index} is not a finite number")));
    }
    Ok(Some((shape(name, view.shape())?, values)))
}

fn shape(name: &'static str, shape: &[usize]) -> Result<(usize, usize), ReferenceError> {
    match shape {
        [rows] => Ok((*rows, 1)),
        [rows, cols] => Ok((*rows, *cols)),
        other => Err(problem(name, format!("has {} dimensions, expected 1 or 2", other.len()))),
    }
}
