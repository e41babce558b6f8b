//! lattice-fann's binary form.
//!
//! ```text
//! 0  FANN, then u32 version, 1
//! 8  u32 number of layers, then for each
//!        u32 inputs, u32 outputs
//!        u8 activation, and behind that of a leaky ReLU its slope, f32
//!        outputs·inputs × f32 weights row by row, outputs × f32 biases
//! ```
//!
//! All little-endian, nothing between and nothing behind.

use super::error::LatticeError;
use super::{LatticeNetwork, check_file_len, imported};
use crate::graph::Activation;
use crate::import::Imported;
use crate::import::chain::{Chain, ChainError, ChainLayer};

/// The first four bytes.
pub(super) const MAGIC: &[u8; 4] = b"FANN";

/// Reads a `.fann` file.
///
/// # Errors
/// [`LatticeError`], the first thing that is wrong.
pub fn read_fann(bytes: &[u8], name: &str) -> Result<Imported, LatticeError> {
    imported(&parse(bytes)?, name, "lattice-fann .fann", bytes)
}

/// The chain and its parameters, as many as it has.
pub(super) fn parse(bytes: &[u8]) -> Result<LatticeNetwork, LatticeError> {
    check_file_len(bytes)?;
    let mut cursor = Cursor { bytes, offset: 0 };
    if cursor.take("the magic", MAGIC.len())? != MAGIC {
        return Err(LatticeError::FannMagic { found: bytes[..MAGIC.len()].escape_ascii().to_string() });
    }
    let version = cursor.u32("the version")?;
    if version != 1 {
        return Err(LatticeError::FannVersion { found: version });
    }
    let count = cursor.u32("the number of layers")?;
    let (mut layers, mut parameters) = (Vec::new(), Vec::new());
    for index in 0..count {
        let layer = cursor.layer(index)?;
        // Said before its parameters are looked for, which would not be there.
        if let Some(before) = layers.last().filter(|before: &&ChainLayer| before.outputs != layer.inputs) {
            let (found, expected) = (layer.inputs, before.outputs);
            return Err(ChainError::Chain { index: layers.len(), found, expected }.into());
        }
        for (what, count) in [("weights", layer.inputs.saturating_mul(layer.outputs)), ("biases", layer.outputs)] {
            let bytes = cursor.take(&format!("the {what} of layer {index}"), count.saturating_mul(4))?;
            let (words, _) = bytes.as_chunks::<4>();
            parameters.extend(words.iter().map(|word| f32::from_le_bytes(*word)));
        }
        layers.push(layer);
    }
    match cursor.bytes.len() {
        0 => Ok((Chain::new(layers)?, parameters)),
        left => Err(LatticeError::FannTrailing { offset_bytes: cursor.offset, count: left, layers: count }),
    }
}

struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, what: &str, len: usize) -> Result<&'a [u8], LatticeError> {
        let Some((taken, rest)) = self.bytes.split_at_checked(len) else {
            let (offset_bytes, left) = (self.offset, self.bytes.len());
            return Err(LatticeError::FannTruncated { what: what.to_owned(), offset_bytes, needed: len, left });
        };
        self.bytes = rest;
        self.offset += len;
        Ok(taken)
    }

    fn u32(&mut self, what: &str) -> Result<u32, LatticeError> {
        let bytes = self.take(what, 4)?;
        Ok(bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)))
    }

    fn layer(&mut self, index: u32) -> Result<ChainLayer, LatticeError> {
        let mut size = |what| {
            let size = self.u32(&format!("the number of {what} of layer {index}"))?;
            Ok::<_, LatticeError>(usize::try_from(size).unwrap_or(usize::MAX))
        };
        let (inputs, outputs) = (size("inputs")?, size("outputs")?);
        let offset_bytes = self.offset;
        let activation = match self.take(&format!("the activation of layer {index}"), 1)? {
            [0] => None,
            [1] => Some(Activation::Sigmoid),
            [2] => Some(Activation::Tanh),
            [3] => Some(Activation::Relu),
            [4] => {
                let alpha = f32::from_bits(self.u32(&format!("the slope of layer {index}"))?);
                if !alpha.is_finite() {
                    return Err(LatticeError::Slope { index: index as usize, found: alpha.to_string() });
                }
                Some(Activation::LeakyRelu { alpha: f64::from(alpha) })
            }
            [5] => Some(Activation::Softmax),
            &[found, ..] => {
                return Err(LatticeError::FannActivation { index, offset_bytes, found });
            }
            [] => unreachable!("one byte was asked for"),
        };
        Ok(ChainLayer { inputs, outputs, activation })
    }
}
