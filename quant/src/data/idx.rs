//! MNIST's idx: two zeros, a type, a rank, big-endian dimensions, and the elements.

use super::error::DataError;
use super::inputs::Rows;

/// The type that MNIST has, unsigned bytes.
const BYTES: u8 = 0x08;
/// The types that the format knows.
const TYPES: [u8; 6] = [BYTES, 0x09, 0x0B, 0x0C, 0x0D, 0x0E];

/// Whether bytes start like idx.
pub(super) fn is_idx(bytes: &[u8]) -> bool {
    matches!(bytes, [0, 0, kind, 1..=8, ..] if TYPES.contains(kind))
}

/// Images: (n, …) bytes.
pub(super) fn read_images(bytes: &[u8]) -> Result<Rows, DataError> {
    let (shape, data) = read(bytes)?;
    match shape.as_slice() {
        [_] => Err(idx(3, "one dimension, which labels have; expected images, of two or more".to_owned())),
        [_, rest @ ..] => {
            // First, for the other dimensions of nothing may multiply to anything.
            if data.is_empty() {
                return Err(DataError::Empty);
            }
            Ok(Rows::Pixels { axes: rest.to_vec(), values: data.to_vec() })
        }
        [] => Err(idx(3, "no dimensions".to_owned())),
    }
}

/// Labels: (n,) bytes.
pub(super) fn read_labels(bytes: &[u8]) -> Result<Vec<f64>, DataError> {
    let (shape, data) = read(bytes)?;
    match shape.as_slice() {
        [_] => Ok(data.iter().map(|label| f64::from(*label)).collect()),
        more => Err(idx(3, format!("{} dimensions, which images have; expected labels, of one", more.len()))),
    }
}

fn read(bytes: &[u8]) -> Result<(Vec<usize>, &[u8]), DataError> {
    let (kind, rank) = (bytes[2], usize::from(bytes[3]));
    if kind != BYTES {
        return Err(idx(2, format!("elements of type 0x{kind:02x}, expected 0x08, unsigned bytes")));
    }
    let mut shape = Vec::new();
    for axis in 0..rank {
        let at = 4 + 4 * axis;
        let len = bytes.get(at..).and_then(<[u8]>::first_chunk).map(|len| u32::from_be_bytes(*len));
        shape.push(len.ok_or_else(|| idx(at, "the file ends in its header".to_owned()))? as usize);
    }
    let data = &bytes[4 + 4 * rank..];
    let expected = shape.iter().try_fold(1usize, |count, len| count.checked_mul(*len));
    if expected != Some(data.len()) {
        let dimensions = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" × ");
        return Err(idx(4 + 4 * rank, format!("{} bytes of elements, the header says {dimensions}", data.len())));
    }
    Ok((shape, data))
}

fn idx(offset_bytes: usize, why: String) -> DataError {
    DataError::Idx { offset_bytes, why }
}
