//! safetensors: a JSON header and bytes.

use super::element::{Element, TypedTensors};
use super::error::TensorFileError;
use crate::arch::suggest::printable;
use crate::graph::description::{DESCRIPTION_KEY, Tensor, Tensors};
use safetensors::{Dtype, SafeTensors};

/// The header's length stands in front of it.
const LENGTH_LEN_BYTES: usize = 8;

/// Whether bytes start like safetensors: a length that is not too long, and JSON.
#[must_use]
pub fn is_safetensors(bytes: &[u8]) -> bool {
    let length = bytes.first_chunk().map(|length| u64::from_le_bytes(*length));
    length.is_some_and(|length| (2..=100_000_000).contains(&length)) && bytes.get(8) == Some(&b'{')
}

/// The longest header of a network or of arrays: a hundred thousand tensors, and a description. Reading it takes
/// several times as much memory.
const MAX_HEADER_LEN_BYTES: u64 = 1 << 24;

/// Every tensor, and the description of a network if the metadata has one.
///
/// # Errors
/// [`TensorFileError`] naming the tensor.
pub fn read_safetensors(bytes: &[u8]) -> Result<(Tensors, Option<String>), TensorFileError> {
    let (tensors, description) = read_typed_safetensors(bytes)?;
    Ok((tensors.into_iter().map(|(name, (tensor, _))| (name, tensor)).collect(), description))
}

/// The same, with the types of the elements.
pub(crate) fn read_typed_safetensors(bytes: &[u8]) -> Result<(TypedTensors, Option<String>), TensorFileError> {
    let found = bytes.first_chunk().map(|length| u64::from_le_bytes(*length));
    if let Some(found) = found.filter(|found| *found > MAX_HEADER_LEN_BYTES && *found < bytes.len() as u64) {
        return Err(TensorFileError::LongHeader { found, limit: MAX_HEADER_LEN_BYTES });
    }
    let fault = |error: safetensors::SafeTensorError| TensorFileError::Safetensors(error.to_string());
    let (header_len_bytes, metadata) = SafeTensors::read_metadata(bytes).map_err(fault)?;
    let description = metadata.metadata().as_ref().and_then(|metadata| metadata.get(DESCRIPTION_KEY)).cloned();
    let mut tensors = TypedTensors::new();
    // The header is read once: of many small tensors it is most of the file.
    for (name, info) in metadata.tensors() {
        let element = element(info.dtype)
            .ok_or_else(|| TensorFileError::Type { tensor: printable(&name), found: format!("{:?}", info.dtype) })?;
        let (start, end) = info.data_offsets;
        let first = LENGTH_LEN_BYTES + header_len_bytes;
        let data = bytes.get(first.saturating_add(start)..first.saturating_add(end)).ok_or_else(|| {
            TensorFileError::Safetensors(format!("tensor `{}` lies beyond the file's end", printable(&name)))
        })?;
        let values = element
            .decode(data, false)
            .map_err(|cause| TensorFileError::Array { array: printable(&name), cause: Box::new(cause) })?;
        tensors.insert(name, (Tensor { shape: info.shape.clone(), values }, element));
    }
    Ok((tensors, description))
}

fn element(dtype: Dtype) -> Option<Element> {
    Some(match dtype {
        Dtype::F64 => Element::F64,
        Dtype::F32 => Element::F32,
        Dtype::F16 => Element::F16,
        Dtype::BF16 => Element::Bf16,
        Dtype::I64 => Element::I64,
        Dtype::I32 => Element::I32,
        Dtype::I16 => Element::I16,
        Dtype::I8 => Element::I8,
        Dtype::U64 => Element::U64,
        Dtype::U32 => Element::U32,
        Dtype::U16 => Element::U16,
        Dtype::U8 => Element::U8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header takes fifteen times its length to read: 20 MB of empty tensors took 300 MB.
    #[test]
    fn a_long_header_is_refused_before_it_is_read() {
        let of = |len: u64| {
            let mut bytes = len.to_le_bytes().to_vec();
            bytes.push(b'{');
            bytes.resize(8 + len as usize - 1, b' ');
            bytes.extend([b'}', 0]);
            bytes
        };
        let found = MAX_HEADER_LEN_BYTES + 1;
        let refused = TensorFileError::LongHeader { found, limit: MAX_HEADER_LEN_BYTES };
        assert_eq!(read_typed_safetensors(&of(found)).map(|_| ()), Err(refused.clone()));
        assert_eq!(read_safetensors(&of(found)).map(|_| ()), Err(refused));
        assert!(!matches!(read_safetensors(&of(64)), Err(TensorFileError::LongHeader { .. })));
    }
}
