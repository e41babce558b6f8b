//! Which form a file of examples has, told by its content.

use super::encoding::{Encoding, channels_last};
use super::error::DataError;
use super::inputs::{Inputs, Rows};
use super::{arrays, batches, idx, text, unpacked};
use crate::import::tensors::{is_npy, is_npz, is_safetensors};
use tamis_batches::printable;

/// Which part of a file is read.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Selection<'s> {
    /// The array, in a file of several.
    pub array: Option<&'s str>,
    /// The first so many examples only.
    pub limit: Option<usize>,
    /// What the bytes of an array stand for; of other files nothing.
    pub encoding: Option<Encoding>,
    /// Whether the examples calibrate: `calibration_inputs` then comes before `inputs`, where no array is named.
    pub calibrates: bool,
    /// Whether the examples of an array are (channels, height, width), to be put in order.
    pub channels_first: bool,
}

/// An array by name, of a file that has no names.
fn refuse_name(selection: Selection<'_>, present: &str) -> Result<(), DataError> {
    match selection.array {
        Some(array) => {
            let why = format!("there is no array `{}`", printable(array));
            Err(DataError::Choice { why, present: present.to_owned() })
        }
        None => Ok(()),
    }
}

impl Inputs {
    /// Reads a file of any of the forms, told apart by content.
    ///
    /// # Errors
    /// [`DataError`] naming the place.
    pub fn read(bytes: &[u8], selection: Selection<'_>) -> Result<Self, DataError> {
        let (packed_len_bytes, bytes) = (bytes.len(), unpacked(bytes)?);
        let mut inputs = if idx::is_idx(&bytes) {
            refuse_name(selection, "pixels of idx, which have no name")?;
            Self { rows: idx::read_images(&bytes)?, labels: None, outputs: None, array: None }
        } else if is_safetensors(&bytes) && batches::is_batches(&bytes) {
            if let Some(array) = selection.array {
                let why = format!("no array `{}` of examples", printable(array));
                return Err(DataError::Choice { why, present: "batches, all of which are read".to_owned() });
            }
            batches::read(&bytes)?
        } else if is_npy(&bytes) || is_npz(&bytes) || is_safetensors(&bytes) {
            arrays::read_inputs((&bytes, packed_len_bytes), selection.array, selection.calibrates)?
        } else {
            refuse_name(selection, "lines of text, which have no name")?;
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
