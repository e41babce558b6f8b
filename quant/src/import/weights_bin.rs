//! `weights.bin`: the one file of bullet that names its tensors.
//!
//! ```text
//! until the end of the file:
//!     name     ASCII, then one byte 0x0A
//!     count    u64, or u32 if a 32-bit host wrote the file
//!     values   count × f32
//! ```
//!
//! All little-endian, tensors in any order (older versions of bullet wrote them in a random one). Nothing says how wide
//! the counts are; the width is the one with which the whole file comes out even, eight bytes if both do. No trainer
//! writes a file for which both do: with the wrong width four bytes are left over, or missing, at the end.

use super::assemble::{assemble, floats, merge_factoriser};
use super::error::ImportError;
use crate::arch::Architecture;
use crate::float::{Matrix, Net};
use tamis_runtime::raw::chess::Planes;

/// The longest name; bullet's own have three to ten letters.
const MAX_NAME_LEN: usize = 128;
/// So many bytes of a file decide whether it can be a `weights.bin`.
pub(super) const START_LEN_BYTES: usize = MAX_NAME_LEN + 1;
/// The most tensors; a description has 128 at most.
const MAX_TENSORS: usize = 1024;

/// A tensor in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its name.
    pub name: &'a str,
    /// Offset of the name.
    pub offset_bytes: u64,
    /// Its values, f32, little-endian, whole.
    pub values: &'a [u8],
}

/// Takes a file apart without knowing what it should hold.
///
/// # Errors
/// [`ImportError::Weights`] at the place where the reading that came further stopped, [`ImportError::DuplicateTensor`].
pub fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, ImportError> {
    let found = match (entries_of_width::<8>(bytes), entries_of_width::<4>(bytes)) {
        (Ok(found), _) | (Err(_), Ok(found)) => found,
        (Err(wide), Err(narrow)) => {
            let further = if narrow.offset > wide.offset { narrow } else { wide };
            let offset_bytes = further.offset as u64;
            return Err(ImportError::Weights { offset_bytes, index: further.index, why: further.why });
        }
    };
    for (index, entry) in found.iter().enumerate() {
        if let Some(first) = found[..index].iter().find(|first| first.name == entry.name) {
            return Err(ImportError::DuplicateTensor {
                name: entry.name.to_owned(),
                first_bytes: first.offset_bytes,
                second_bytes: entry.offset_bytes,
            });
        }
    }
    Ok(found)
}

/// Reads the network of a description, by name, the factoriser merged.
///
/// # Errors
/// [`ImportError`] if the file cannot be taken apart, lacks a tensor, has one that the description does not know or one
/// of another size, or holds a number that is not finite.
pub fn read_weights(bytes: &[u8], arch: &Architecture) -> Result<Net<f32>, ImportError> {
    let entries = entries(bytes)?;
    let known = |name: &str| arch.tensor_shape(name).is_some() || arch.factoriser() == Some(name);
    let unknown: Vec<String> = names(&entries).filter(|name| !known(name)).map(str::to_owned).collect();
    let wanted = arch.tensors.iter().map(|tensor| tensor.name.as_str()).chain(arch.factoriser());
    let missing: Vec<String> =
        wanted.filter(|&name| names(&entries).all(|present| present != name)).map(str::to_owned).collect();
    if !missing.is_empty() {
        let present = names(&entries).map(str::to_owned).collect();
        return Err(ImportError::MissingTensors { names: missing, present });
    }
    if !unknown.is_empty() {
        return Err(ImportError::UnknownTensors { names: unknown });
    }
    let values = |name: &str, shape: (usize, usize)| -> Result<Vec<f32>, ImportError> {
        let entry = entries.iter().find(|entry| entry.name == name);
        let found = entry.unwrap_or_else(|| unreachable!("`{name}` was found missing before")).values;
        let (found_count, expected) = ((found.len() / 4) as u64, shape.0 as u64 * shape.1 as u64);
        if found_count != expected {
            let hint = length_hint(found_count, shape);
            return Err(ImportError::TensorLength { name: name.to_owned(), found: found_count, expected, shape, hint });
        }
        Ok(floats(found))
    };
    let factoriser = match (arch.factoriser(), arch.factoriser_shape()) {
        (Some(name), Some(shape)) => {
            let factoriser = values(name, shape)?;
            super::assemble::check_finite(name, shape.0, &factoriser)?;
            Some(factoriser)
        }
        _ => None,
    };
    let mut net = assemble(arch, values)?;
    if let Some(factoriser) = factoriser {
        merge_factoriser(&mut net, &factoriser)?;
    }
    Ok(net)
}

/// The factoriser of a description, as the file holds it; nothing if the description has none.
///
/// # Errors
/// [`ImportError`] if the file cannot be taken apart.
pub fn read_factoriser(bytes: &[u8], arch: &Architecture) -> Result<Option<Matrix<f32>>, ImportError> {
    let (Some(name), Some((outputs, inputs))) = (arch.factoriser(), arch.factoriser_shape()) else { return Ok(None) };
    let entries = entries(bytes)?;
    let entry = entries.iter().find(|entry| entry.name == name);
    Ok(entry.and_then(|entry| Matrix::new(outputs, inputs, floats(entry.values))))
}

fn names<'a>(entries: &[Entry<'a>]) -> impl Iterator<Item = &'a str> {
    entries.iter().map(|entry| entry.name)
}

/// Which other shape has that many values.
fn length_hint(found: u64, (outputs, inputs): (usize, usize)) -> String {
    let (outputs, inputs) = (outputs.max(1) as u64, inputs.max(1) as u64);
    let factorisers = Planes::ALL.map(|planes| u64::from(planes.features_per_king_bucket()));
    let is_one = |columns: &u64| found == outputs * (inputs + columns) && inputs.is_multiple_of(*columns);
    if let Some(columns) = factorisers.into_iter().find(is_one) {
        return format!(
            "; {columns} columns more look like a factoriser inside the tensor, which must be a tensor of its own"
        );
    }
    let mut fits = Vec::new();
    if found.is_multiple_of(outputs) && found != 0 {
        fits.push(format!("{} inputs", found / outputs));
    }
    if found.is_multiple_of(inputs) && found != 0 && inputs > 1 {
        fits.push(format!("{} outputs", found / inputs));
    }
    if fits.is_empty() { String::new() } else { format!("; {} would fit", fits.join(" or ")) }
}

struct Stop {
    offset: usize,
    index: usize,
    why: String,
}

/// The file with counts of `WIDTH` bytes.
fn entries_of_width<const WIDTH: usize>(bytes: &[u8]) -> Result<Vec<Entry<'_>>, Stop> {
    let mut entries = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (offset, index) = (bytes.len() - rest.len(), entries.len());
        let stop = |why: String| Stop { offset, index, why };
        if index == MAX_TENSORS {
            return Err(stop(format!("more than {MAX_TENSORS} tensors")));
        }
        let name_len = rest.iter().take(MAX_NAME_LEN + 1).position(|&byte| byte == b'\n');
        let name = name_len.and_then(|len| rest.get(..len)).filter(|name| is_name(name));
        let Some(name) = name.and_then(|name| std::str::from_utf8(name).ok()) else {
            let found: String = rest.iter().take(16).flat_map(|byte| byte.escape_ascii()).map(char::from).collect();
            return Err(stop(format!("expected a name and a line feed, found \"{found}\"")));
        };
        let after_name = &rest[name.len() + 1..];
        let Some((count, values)) = after_name.split_first_chunk::<WIDTH>() else {
            return Err(stop(format!("the file ends in the count of `{name}`")));
        };
        let count = count.iter().rev().fold(0u64, |count, &byte| count << 8 | u64::from(byte));
        let len = count.checked_mul(4).and_then(|len| usize::try_from(len).ok());
        let Some((values, after)) = len.and_then(|len| values.split_at_checked(len)) else {
            let left = values.len() / 4;
            return Err(stop(format!("`{name}` should have {count} values, and {left} follow; is the file cut off?")));
        };
        entries.push(Entry { name, offset_bytes: offset as u64, values });
        rest = after;
    }
    Ok(entries)
}

/// Whether the bytes, or the first few of a file's, can be a first tensor's name and its line feed.
pub(super) fn begins_with_any_name(bytes: &[u8]) -> bool {
    let len = bytes.iter().take(START_LEN_BYTES).position(|&byte| byte == b'\n');
    len.and_then(|len| bytes.get(..len)).is_some_and(is_name)
}

/// Printable ASCII without spaces, at least one.
fn is_name(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests;
