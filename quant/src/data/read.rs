//! Which form a file of examples has, told by its content.

use super::encoding::{Encoding, channels_last};
use super::error::DataError;
use super::inputs::{Inputs, Rows};
use super::{arrays, batches, idx, text, unpacked};
use crate::arch::suggest::printable;
use crate::import::tensors::{is_npy, is_npz, is_safetensors};

/// Which part of a file is read.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Selection<'s> {
    /// The array, in a file of several.
    pub array: Option<&'s str>,
    /// The first so many examples only.
    pub limit: Option<usize>,
    /// What the bytes of an array stand for; of other files nothing.
    pub encoding: Option<Encoding>,
    /// Whether the examples of an array are (channels, height, width), to be put in order.
    pub channels_first: bool,
}

impl Inputs {
    /// Reads a file of any of the forms, told apart by content.
    ///
    /// # Errors
    /// [`DataError`] naming the place.
    pub fn read(bytes: &[u8], selection: Selection<'_>) -> Result<Self, DataError> {
        let bytes = unpacked(bytes)?;
        let mut inputs = if idx::is_idx(&bytes) {
            Self { rows: idx::read_images(&bytes)?, labels: None, outputs: None }
        } else if is_safetensors(&bytes) && batches::is_batches(&bytes) {
            if let Some(array) = selection.array {
                let why = format!("no array `{}` of examples", printable(array));
                return Err(DataError::Choice { why, present: "batches, all of which are read".to_owned() });
            }
            batches::read(&bytes)?
        } else if is_npy(&bytes) || is_npz(&bytes) || is_safetensors(&bytes) {
            arrays::read_inputs(&bytes, selection.array)?
        } else {
            text::read_rows(&bytes, selection.limit.unwrap_or(usize::MAX))?
        };
        inputs.truncate(selection.limit.unwrap_or(usize::MAX));
        if selection.channels_first {
            match &mut inputs.rows {
                Rows::Reals { axes, values, .. } => channels_last(axes, values)?,
                Rows::Pixels { axes, values } => channels_last(axes, values)?,
                _ => return Err(DataError::ChannelsFirst { found: "a list of features".to_owned() }),
            }
        }
        if let Some(encoding) = selection.encoding {
            inputs.encode(encoding);
        }
        if inputs.is_empty() && selection.limit != Some(0) { Err(DataError::Empty) } else { Ok(inputs) }
    }
}
