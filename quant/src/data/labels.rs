//! Labels in files of their own, and as classes.

use super::error::DataError;
use super::{arrays, idx, text, unpacked};
use crate::import::tensors::{is_npy, is_npz, is_safetensors};

/// Reads labels from a file of any of the forms; `array` names one of several arrays.
///
/// # Errors
/// [`DataError`] naming the place.
pub fn read_labels(bytes: &[u8], array: Option<&str>) -> Result<Vec<f64>, DataError> {
    let (packed_len_bytes, bytes) = (bytes.len(), unpacked(bytes)?);
    let labels = if idx::is_idx(&bytes) {
        idx::read_labels(&bytes)?
    } else if is_npy(&bytes) || is_npz(&bytes) || is_safetensors(&bytes) {
        arrays::read_labels((&bytes, packed_len_bytes), array)?
    } else {
        text::read_numbers(&bytes)?
    };
    if labels.is_empty() { Err(DataError::Empty) } else { Ok(labels) }
}

/// Labels as classes from 0. Where a −1 is among them they are ±1, and −1 is class 0.
///
/// # Errors
/// [`DataError::Class`] for a label that is neither.
pub fn classes(labels: &[f64]) -> Result<Vec<u32>, DataError> {
    let is_signed = labels.contains(&-1.0);
    let class = |(index, label): (usize, &f64)| match *label {
        -1.0 if is_signed => Ok(0),
        1.0 => Ok(1),
        whole if !is_signed && whole.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&whole) => Ok(whole as u32),
        found => Err(DataError::Class { index, found }),
    };
    labels.iter().enumerate().map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::classes;

    #[test]
    fn labels_are_signs_or_numbers() {
        assert_eq!(classes(&[-1.0, 1.0, -1.0]).unwrap(), [0, 1, 0]);
        assert_eq!(classes(&[1.0, 1.0]).unwrap(), [1, 1]);
        assert_eq!(classes(&[0.0, 1.0, 9.0]).unwrap(), [0, 1, 9]);
        for labels in [[-1.0, 0.0], [0.5, 1.0], [-2.0, 1.0], [f64::NAN, 1.0], [1e300, 1.0]] {
            assert!(classes(&labels).is_err(), "{labels:?}");
        }
    }
}
