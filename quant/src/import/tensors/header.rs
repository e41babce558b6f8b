//! The header of safetensors: JSON that says of each tensor its type, its shape and where its bytes are.
//!
//! It is read entry by entry into what is needed of it, so that reading takes a few times its length, however many
//! tensors it has; and what no tensor needs of its metadata is passed over.

use super::error::TensorFileError;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use std::fmt;
use std::ops::Range;
use tamis_batches::printable;

/// The header's length stands in front of it.
const LENGTH_LEN_BYTES: usize = 8;
/// The longest header of a network or of arrays: a hundred thousand tensors, and a description.
pub(super) const MAX_HEADER_LEN_BYTES: u64 = 1 << 24;
const METADATA: &str = "__metadata__";

/// A tensor, as the header has it.
pub(super) struct Entry<'h> {
    pub name: String,
    /// The word of its elements.
    pub dtype: &'h str,
    pub shape: Vec<usize>,
    /// Its bytes in the file.
    pub place: Range<usize>,
}

/// A header.
pub(super) struct Header<'h> {
    /// What the metadata says under the key that was asked for.
    pub value: Option<String>,
    /// In the order of their bytes; each begins where the one before ends, and the last one ends with the file.
    pub entries: Vec<Entry<'h>>,
}

/// What the metadata says under a key; nothing of a file that is damaged.
pub(crate) fn metadata_value(bytes: &[u8], key: &str) -> Option<String> {
    let text = text(bytes).ok()?;
    let mut json = serde_json::Deserializer::from_slice(text);
    Head { key, entries: None }.deserialize(&mut json).ok()?
}

impl<'h> Header<'h> {
    /// Of a file, with one of the metadata's values.
    pub fn read(bytes: &'h [u8], key: &str) -> Result<Self, TensorFileError> {
        let text = text(bytes)?;
        let fault = |error: serde_json::Error| TensorFileError::Safetensors(format!("its header: {error}"));
        let mut entries = Vec::new();
        let mut json = serde_json::Deserializer::from_slice(text);
        let value = Head { key, entries: Some(&mut entries) }.deserialize(&mut json).map_err(fault)?;
        json.end().map_err(fault)?;
        entries.sort_by_key(|entry: &Entry<'_>| (entry.place.start, entry.place.end));
        let first = LENGTH_LEN_BYTES + text.len();
        let mut at = first;
        for entry in &mut entries {
            let place = entry.place.start.saturating_add(first)..entry.place.end.saturating_add(first);
            if place.start != at || place.end < at || place.end > bytes.len() {
                return Err(TensorFileError::Safetensors(format!(
                    "tensor `{}` lies at bytes {} to {} of the data, expected to begin at {} and to end by {}",
                    printable(&entry.name),
                    entry.place.start,
                    entry.place.end,
                    at - first,
                    bytes.len() - first
                )));
            }
            at = place.end;
            entry.place = place;
        }
        if at != bytes.len() {
            let left = bytes.len() - at;
            return Err(TensorFileError::Safetensors(format!("{left} bytes behind the last tensor are no tensor's")));
        }
        Ok(Self { value, entries })
    }
}

/// The header's own bytes.
fn text(bytes: &[u8]) -> Result<&[u8], TensorFileError> {
    let damaged = |why: String| TensorFileError::Safetensors(why);
    let Some((length, rest)) = bytes.split_first_chunk() else {
        return Err(damaged(format!("{} bytes, expected at least the length of a header", bytes.len())));
    };
    let found = u64::from_le_bytes(*length);
    let cut = || damaged(format!("a header of {found} bytes, and {} follow; is the file cut off?", rest.len()));
    let len = usize::try_from(found).map_err(|_| cut())?;
    if found > MAX_HEADER_LEN_BYTES && len < rest.len() {
        return Err(TensorFileError::LongHeader { found, limit: MAX_HEADER_LEN_BYTES });
    }
    rest.get(..len).ok_or_else(cut)
}

/// Reads the header's object; tensors are passed over if nobody wants them.
struct Head<'k, 'e, 'h> {
    key: &'k str,
    entries: Option<&'e mut Vec<Entry<'h>>>,
}

#[derive(Deserialize)]
struct Info<'h> {
    dtype: &'h str,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

impl<'h> DeserializeSeed<'h> for Head<'_, '_, 'h> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'h>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'h> Visitor<'h> for Head<'_, '_, 'h> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'h>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self { key, mut entries } = self;
        let mut value = None;
        while let Some(name) = map.next_key::<String>()? {
            if name == METADATA {
                value = map.next_value_seed(Metadata { key })?;
            } else if let Some(entries) = &mut entries {
                let Info { dtype, mut shape, data_offsets: [start, end] } = map.next_value()?;
                if end < start {
                    let name = printable(&name);
                    return Err(A::Error::custom(format!("tensor `{name}` ends at {end}, before its start, {start}")));
                }
                shape.shrink_to_fit();
                entries.push(Entry { name, dtype, shape, place: start..end });
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(value)
    }
}

/// One value of an object of strings.
struct Metadata<'k> {
    key: &'k str,
}

impl<'h> DeserializeSeed<'h> for Metadata<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'h>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'h> Visitor<'h> for Metadata<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of strings")
    }

    fn visit_map<A: MapAccess<'h>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<String>()? {
            let value: String = map.next_value()?;
            if key == self.key {
                found = Some(value);
            }
        }
        Ok(found)
    }
}
