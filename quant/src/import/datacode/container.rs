//! The file taken apart: every length is compared with what is left before it is believed.

use super::MAGIC;
use super::error::DataCodeError;
use std::collections::HashSet;

/// The longest JSON; a real one has a few KiB.
const MAX_JSON_LEN_BYTES: usize = 16 << 20;
/// The longest name of a tensor or a layer.
pub(super) const MAX_NAME_LEN_BYTES: usize = 256;
/// The most tensors.
pub(super) const MAX_TENSORS: usize = 4096;
/// The most dimensions.
const MAX_RANK: usize = 4;
/// The most elements of a tensor.
const MAX_ELEMENTS: u64 = 1 << 28;

/// A file whose header is right and whose JSON is whole.
pub(super) struct Container<'a> {
    /// The text, not yet looked at.
    pub(super) json: &'a [u8],
    /// Where it starts.
    pub(super) json_offset: usize,
    behind: Cursor<'a>,
}

/// A tensor, its elements still bytes.
#[derive(Debug, Clone)]
pub(super) struct Tensor<'a> {
    pub(super) name: &'a str,
    /// 1 to 4 dimensions, none of them 0.
    pub(super) dims: Vec<usize>,
    /// As many f32, little-endian, as the dimensions make.
    pub(super) data: &'a [u8],
    /// Where the elements start in the file.
    pub(super) offset: usize,
}

impl Tensor<'_> {
    /// The elements, all finite.
    pub(super) fn values(&self) -> Result<Vec<f32>, DataCodeError> {
        let (words, _) = self.data.as_chunks::<4>();
        let values: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(index) => Err(DataCodeError::NotFinite {
                tensor: self.name.to_owned(),
                index,
                offset_bytes: self.offset + 4 * index,
                value: values[index],
            }),
        }
    }
}

/// Finds the JSON. It is read before the tensors are looked for: a wrong length shows in it first.
pub(super) fn split(bytes: &[u8]) -> Result<Container<'_>, DataCodeError> {
    let mut cursor = Cursor { bytes, offset: 0 };
    if !bytes.starts_with(MAGIC) {
        let found = bytes[..bytes.len().min(MAGIC.len())].escape_ascii().to_string();
        return Err(DataCodeError::Magic { found });
    }
    cursor.take("the magic", MAGIC.len())?;
    let version = cursor.u32("the version")?;
    if version != 1 {
        return Err(DataCodeError::Version { found: version });
    }
    let json_len = cursor.len("the length of the JSON")?;
    if json_len > MAX_JSON_LEN_BYTES {
        return Err(DataCodeError::JsonLength { found: json_len, limit: MAX_JSON_LEN_BYTES });
    }
    let json_offset = cursor.offset;
    let json = cursor.take("the JSON", json_len)?;
    Ok(Container { json, json_offset, behind: cursor })
}

/// The tensors behind the JSON, up to the end of the file. No two have one name.
pub(super) fn tensors(container: Container<'_>) -> Result<Vec<Tensor<'_>>, DataCodeError> {
    let mut cursor = container.behind;
    let count = cursor.len("the number of tensors")?;
    if count > MAX_TENSORS {
        return Err(DataCodeError::TensorCount { found: count, limit: MAX_TENSORS });
    }
    let (mut tensors, mut names) = (Vec::new(), HashSet::new());
    for index in 0..count {
        let offset = cursor.offset;
        let tensor = cursor.tensor(index)?;
        if !names.insert(tensor.name) {
            return Err(DataCodeError::DuplicateTensor { name: tensor.name.to_owned(), index, offset_bytes: offset });
        }
        tensors.push(tensor);
    }
    match cursor.bytes.len() {
        0 => Ok(tensors),
        left => Err(DataCodeError::Trailing { offset_bytes: cursor.offset, count: left, tensors: tensors.len() }),
    }
}

/// What is left of a file.
struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, what: &str, len: usize) -> Result<&'a [u8], DataCodeError> {
        let Some((taken, rest)) = self.bytes.split_at_checked(len) else {
            let (offset_bytes, left) = (self.offset, self.bytes.len());
            return Err(DataCodeError::Truncated { what: what.to_owned(), offset_bytes, needed: len as u64, left });
        };
        self.bytes = rest;
        self.offset += len;
        Ok(taken)
    }

    fn u32(&mut self, what: &str) -> Result<u32, DataCodeError> {
        let bytes = self.take(what, 4)?;
        Ok(bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)))
    }

    fn len(&mut self, what: &str) -> Result<usize, DataCodeError> {
        Ok(usize::try_from(self.u32(what)?).unwrap_or(usize::MAX))
    }

    fn tensor(&mut self, index: usize) -> Result<Tensor<'a>, DataCodeError> {
        let name_len = self.len(&format!("the length of the name of tensor {index}"))?;
        let offset_bytes = self.offset;
        if !(1..=MAX_NAME_LEN_BYTES).contains(&name_len) {
            return Err(DataCodeError::NameLength { index, offset_bytes, found: name_len, limit: MAX_NAME_LEN_BYTES });
        }
        let name = self.take(&format!("the name of tensor {index}"), name_len)?;
        let name = std::str::from_utf8(name).map_err(|_| DataCodeError::NameUtf8 { index, offset_bytes })?;
        let shape_error = |dims: &[usize], why: &'static str| {
            let (name, found) = (name.to_owned(), format!("{dims:?}"));
            DataCodeError::Dimensions { name, offset_bytes, found, why }
        };
        let rank = self.len(&format!("the rank of `{name}`"))?;
        if !(1..=MAX_RANK).contains(&rank) {
            return Err(DataCodeError::Rank { name: name.to_owned(), offset_bytes, found: rank, limit: MAX_RANK });
        }
        let mut dims = Vec::new();
        for dimension in 0..rank {
            dims.push(self.len(&format!("dimension {dimension} of `{name}`"))?);
        }
        if dims.contains(&0) {
            return Err(shape_error(&dims, "no dimension may be 0"));
        }
        let elements = dims.iter().try_fold(1u64, |product, dim| product.checked_mul(*dim as u64));
        let elements = elements.filter(|elements| *elements <= MAX_ELEMENTS);
        let elements = elements.ok_or_else(|| shape_error(&dims, "more than 2^28 elements"))?;
        let len = usize::try_from(4 * elements).unwrap_or(usize::MAX);
        let offset = self.offset;
        let data = self.take(&format!("the {elements} elements of `{name}`"), len)?;
        Ok(Tensor { name, dims, data, offset })
    }
}
