//! safetensors: a JSON header and bytes.

use super::element::{Element, TypedTensors};
use super::error::TensorFileError;
use super::header::{Entry, Header};
use crate::graph::description::{DESCRIPTION_KEY, Tensor, Tensors};
use std::collections::btree_map::Entry::{Occupied, Vacant};
use tamis_batches::printable;

/// Whether bytes start like safetensors: a length that is not too long, and JSON.
#[must_use]
pub fn is_safetensors(bytes: &[u8]) -> bool {
    let length = bytes.first_chunk().map(|length| u64::from_le_bytes(*length));
    length.is_some_and(|length| (2..=100_000_000).contains(&length)) && bytes.get(8) == Some(&b'{')
}

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
    let Header { value: description, entries } = Header::read(bytes, DESCRIPTION_KEY)?;
    let mut tensors = TypedTensors::new();
    for Entry { name, dtype, shape, place } in entries {
        let element = element(dtype)
            .ok_or_else(|| TensorFileError::Type { tensor: printable(&name), found: printable(dtype) })?;
        let (found, count) = (place.len(), shape.iter().try_fold(1, |count: usize, size| count.checked_mul(*size)));
        if count.and_then(|count| count.checked_mul(element.len_bytes())) != Some(found) {
            let (name, shape) = (printable(&name), Tensor::shape_text(&shape));
            return Err(TensorFileError::Safetensors(format!(
                "tensor `{name}` has {found} bytes, which are not those of {dtype} {shape}"
            )));
        }
        let values = element
            .decode(&bytes[place], false)
            .map_err(|cause| TensorFileError::Array { array: printable(&name), cause: Box::new(cause) })?;
        match tensors.entry(name) {
            Occupied(twice) => {
                let name = printable(twice.key());
                return Err(TensorFileError::Safetensors(format!("tensor `{name}` is there twice")));
            }
            Vacant(place) => place.insert((Tensor { shape, values }, element)),
        };
    }
    Ok((tensors, description))
}

fn element(dtype: &str) -> Option<Element> {
    Some(match dtype {
        "F64" => Element::F64,
        "F32" => Element::F32,
        "F16" => Element::F16,
        "BF16" => Element::Bf16,
        "I64" => Element::I64,
        "I32" => Element::I32,
        "I16" => Element::I16,
        "I8" => Element::I8,
        "U64" => Element::U64,
        "U32" => Element::U32,
        "U16" => Element::U16,
        "U8" => Element::U8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::header::MAX_HEADER_LEN_BYTES;
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
    }

    /// Every fault of a header by name, and none of them a panic.
    #[test]
    fn a_header_that_lies_is_refused() {
        let of = |dtype: &str, shape: &str, start: usize, end: usize| {
            format!("{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":[{start},{end}]}}")
        };
        let said = |header: &str, data: usize| match read_safetensors(&file(header, &vec![0; data])) {
            Ok((tensors, _)) => format!("{} tensors", tensors.len()),
            Err(error) => error.to_string(),
        };
        let one = |entry: String| format!("{{\"w\":{entry}}}");
        assert_eq!(said(&one(of("F32", "[2]", 0, 8)), 8), "1 tensors");
        assert_eq!(
            said(&format!("{{\"__metadata__\":{{\"a\":\"b\"}},\"w\":{}}}  ", of("U8", "[]", 0, 1)), 1),
            "1 tensors"
        );
        for (header, data, words) in [
            (one(of("F32", "[2]", 0, 8)), 7, "to end by 7"),
            (one(of("F32", "[2]", 0, 8)), 9, "1 bytes behind the last tensor"),
            (one(of("F32", "[3]", 0, 8)), 8, "has 8 bytes, which are not those of F32"),
            (one(of("F32", "[4611686018427387904, 4]", 0, 8)), 8, "which are not those of F32"),
            (one(of("F32", "[2]", 1, 9)), 9, "expected to begin at 0"),
            (one(of("F32", "[2]", 8, 0)), 8, "before its start"),
            (one(of("F32", "[2]", 0, usize::MAX)), 8, "to end by 8"),
            (one(of("F4", "[2]", 0, 8)), 8, "elements of type F4"),
            (format!("{{\"w\":{0},\"w\":{0}}}", of("U8", "[0]", 0, 0)), 0, "`w` is there twice"),
            (format!("{{\"w\":{0},\"v\":{0}}}", of("U8", "[1]", 0, 1)), 1, "expected to begin at 1"),
            ("{\"w\":7}".to_owned(), 0, "its header"),
            ("{\"__metadata__\":7}".to_owned(), 0, "its header"),
            ("{} x".to_owned(), 0, "its header"),
            ("{".to_owned(), 0, "its header"),
        ] {
            let found = said(&header, data);
            assert!(found.contains(words), "`{words}` is missing of {header}: {found}");
        }
        assert!(read_safetensors(&file("{}", &[])[..9]).unwrap_err().to_string().contains("cut off"));
    }

    /// The length of a header bounds what is kept of it, whatever stands there.
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
