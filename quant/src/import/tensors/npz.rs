//! NumPy's npz: a zip of npy files, stored or deflated.
//!
//! Read by the zip's central directory. What NumPy does not write, encryption, several volumes, more than 4 GiB, is
//! refused.

use super::element::TypedTensors;
use super::error::TensorFileError;
use super::npy::{budget, read_npy_within};
use super::unpack::{MAX_UNPACKED_LEN_BYTES, inflate};
use crate::graph::description::Tensors;
use std::borrow::Cow;
use tamis_batches::printable;

const LOCAL: &[u8] = b"PK\x03\x04";
const CENTRAL: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
const CENTRAL_LEN_BYTES: usize = 46;
const LOCAL_LEN_BYTES: usize = 30;
const END_LEN_BYTES: usize = 22;
/// The most arrays.
const MAX_ARRAYS: usize = 65_535;

/// Whether bytes start like a zip.
#[must_use]
pub fn is_npz(bytes: &[u8]) -> bool {
    bytes.starts_with(LOCAL) || bytes.starts_with(END)
}

/// Every array by its name, which is the file's without `.npy`.
///
/// # Errors
/// [`TensorFileError`] naming the array, or the offset in the zip.
pub fn read_npz(bytes: &[u8]) -> Result<Tensors, TensorFileError> {
    Ok(read_typed_npz(bytes)?.into_iter().map(|(name, (tensor, _))| (name, tensor)).collect())
}

/// The same, with the types of the elements.
pub(crate) fn read_typed_npz(bytes: &[u8]) -> Result<TypedTensors, TensorFileError> {
    let mut tensors = TypedTensors::new();
    let mut unpacked = 0;
    // Numbers are held as f64, and a byte of a packed file may be a thousand of them.
    let budget = budget(bytes.len());
    let mut held = 0;
    for entry in entries(bytes)? {
        let name = entry.name.strip_suffix(".npy").ok_or_else(|| {
            npz(entry.local, format!("the file `{}`, expected arrays, NAME.npy", printable(entry.name)))
        })?;
        let in_array = |cause| TensorFileError::Array { array: printable(name), cause: Box::new(cause) };
        // The same byte may be packed into many arrays: the bound is on all of them together.
        unpacked += u64::from(entry.len_bytes);
        if unpacked > MAX_UNPACKED_LEN_BYTES {
            let found = format!("with those before it, {unpacked}");
            return Err(in_array(TensorFileError::TooLarge { found, limit: MAX_UNPACKED_LEN_BYTES }));
        }
        let data = entry.unpack(bytes).map_err(in_array)?;
        let at_once = held + u64::from(entry.len_bytes);
        let tensor = read_npy_within(&data, budget.saturating_sub(at_once)).map_err(|cause| match cause {
            TensorFileError::Budget { found, .. } => {
                in_array(TensorFileError::Budget { found: found.saturating_add(at_once), limit: budget })
            }
            cause => in_array(cause),
        })?;
        held += (tensor.0.values.len() * size_of::<f64>()) as u64;
        if tensors.insert(name.to_owned(), tensor).is_some() {
            return Err(npz(entry.local, format!("the array `{}` is there twice", printable(name))));
        }
    }
    Ok(tensors)
}

/// A file of the zip, as the central directory says.
struct Entry<'z> {
    name: &'z str,
    method: u16,
    checksum: u32,
    packed_len_bytes: u32,
    len_bytes: u32,
    local: usize,
}

fn npz(offset_bytes: usize, why: impl Into<String>) -> TensorFileError {
    TensorFileError::Npz { offset_bytes, why: why.into() }
}

fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, TensorFileError> {
    let end = find_end(bytes).ok_or_else(|| npz(bytes.len(), "the zip has no end; is the file cut off?"))?;
    let (count, offset) = (u16_at(bytes, end + 10)?, u32_at(bytes, end + 16)?);
    if usize::from(count) == MAX_ARRAYS || offset == u32::MAX {
        return Err(npz(end, "a zip of more than 65534 files or 4 GiB"));
    }
    let mut at = offset as usize;
    let mut entries = Vec::new();
    for _ in 0..count {
        if bytes.get(at..at.saturating_add(4)) != Some(CENTRAL) {
            return Err(npz(at, "expected an entry of the zip's directory"));
        }
        let (flags, method) = (u16_at(bytes, at + 8)?, u16_at(bytes, at + 10)?);
        if flags & 1 != 0 {
            return Err(npz(at, "an encrypted file"));
        }
        let lens = [28, 30, 32].map(|field| u16_at(bytes, at + field));
        let [name_len, extra_len, comment_len] = lens;
        let (name_len, extra_len, comment_len) = (name_len?, extra_len?, comment_len?);
        let start = at + CENTRAL_LEN_BYTES;
        let name = bytes.get(start..start + usize::from(name_len)).and_then(|name| std::str::from_utf8(name).ok());
        let entry = Entry {
            name: name.ok_or_else(|| npz(at, "a file without a readable name"))?,
            method,
            checksum: u32_at(bytes, at + 16)?,
            packed_len_bytes: u32_at(bytes, at + 20)?,
            len_bytes: u32_at(bytes, at + 24)?,
            local: u32_at(bytes, at + 42)? as usize,
        };
        if [entry.packed_len_bytes, entry.len_bytes].contains(&u32::MAX) {
            return Err(npz(at, format!("`{}` of 4 GiB or more", printable(entry.name))));
        }
        at = start + usize::from(name_len) + usize::from(extra_len) + usize::from(comment_len);
        entries.push(entry);
    }
    Ok(entries)
}

/// The end of the directory, whose comment reaches to the end of the file.
fn find_end(bytes: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(END_LEN_BYTES)?;
    (last.saturating_sub(usize::from(u16::MAX))..=last).rev().find(|at| {
        let comment = u16_at(bytes, at + 20).map_or(usize::MAX, usize::from);
        bytes[*at..].starts_with(END) && at + END_LEN_BYTES == bytes.len().saturating_sub(comment)
    })
}

impl Entry<'_> {
    fn unpack<'z>(&self, bytes: &'z [u8]) -> Result<Cow<'z, [u8]>, TensorFileError> {
        let at = self.local;
        if bytes.get(at..at.saturating_add(4)) != Some(LOCAL) {
            return Err(npz(at, "expected a file of the zip"));
        }
        let (name_len, extra_len) = (usize::from(u16_at(bytes, at + 26)?), usize::from(u16_at(bytes, at + 28)?));
        let name_at = at + LOCAL_LEN_BYTES;
        if bytes.get(name_at..name_at + name_len) != Some(self.name.as_bytes()) {
            return Err(npz(at, "the directory has another name for this file"));
        }
        let start = name_at + name_len + extra_len;
        let packed = bytes.get(start..start.saturating_add(self.packed_len_bytes as usize));
        let packed = packed.ok_or_else(|| npz(start, format!("{} bytes, and the zip ends", self.packed_len_bytes)))?;
        let data = match self.method {
            0 if self.packed_len_bytes == self.len_bytes => Cow::Borrowed(packed),
            0 => {
                return Err(npz(at, format!("stored as {} bytes, expected {}", self.packed_len_bytes, self.len_bytes)));
            }
            8 => Cow::Owned(inflate(packed, self.len_bytes as usize)?),
            method => return Err(TensorFileError::Compression { method }),
        };
        let mut sum = flate2::Crc::new();
        sum.update(&data);
        if sum.sum() != self.checksum {
            return Err(npz(start, format!("checksum {:08x}, expected {:08x}; damaged", sum.sum(), self.checksum)));
        }
        Ok(data)
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16, TensorFileError> {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk);
    found.map(|bytes| u16::from_le_bytes(*bytes)).ok_or_else(|| npz(at, "the zip ends in a record"))
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, TensorFileError> {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk);
    found.map(|bytes| u32::from_le_bytes(*bytes)).ok_or_else(|| npz(at, "the zip ends in a record"))
}

#[cfg(test)]
mod tests {
    use super::super::npy::tests::npy_of;
    use super::*;
    use flate2::{Compression, write::DeflateEncoder};
    use std::io::Write;

    /// A zip of these files, deflated or stored.
    fn zip_of(files: &[(&str, &[u8])], deflated: bool) -> Vec<u8> {
        let (mut zip, mut directory) = (Vec::new(), Vec::new());
        for (name, data) in files {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(data).unwrap();
            let packed = if deflated { encoder.finish().unwrap() } else { data.to_vec() };
            let mut sum = flate2::Crc::new();
            sum.update(data);
            let len = |len: usize| u32::try_from(len).unwrap().to_le_bytes();
            let method = if deflated { [8, 0] } else { [0, 0] };
            let common =
                [&[0, 0][..], &method, &[0; 4], &sum.sum().to_le_bytes(), &len(packed.len()), &len(data.len())]
                    .concat();
            let name_len = u16::try_from(name.len()).unwrap().to_le_bytes();
            let local = len(zip.len());
            directory
                .extend([CENTRAL, &[45, 3, 20, 0], &common, &name_len, &[0; 12], &local, name.as_bytes()].concat());
            zip.extend([LOCAL, &[20, 0], &common, &name_len, &[3, 0], name.as_bytes(), b"xyz", &packed].concat());
        }
        let count = u16::try_from(files.len()).unwrap().to_le_bytes();
        let (size, offset) = (u32::try_from(directory.len()).unwrap(), u32::try_from(zip.len()).unwrap());
        zip.extend(directory);
        zip.extend([END, &[0; 4], &count, &count, &size.to_le_bytes(), &offset.to_le_bytes(), &[0, 0]].concat());
        zip
    }

    fn two() -> [Vec<u8>; 2] {
        let w = npy_of("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", &[0; 16]);
        let b = npy_of("{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1)}", &[0xFF]);
        [w, b]
    }

    #[test]
    fn stored_and_deflated_arrays_are_read() {
        let [w, b] = two();
        for deflated in [false, true] {
            let zip = zip_of(&[("w.npy", &w), ("b.npy", &b)], deflated);
            let tensors = read_npz(&zip).unwrap();
            assert_eq!(tensors.keys().collect::<Vec<_>>(), ["b", "w"]);
            assert_eq!((tensors["b"].values.as_slice(), tensors["w"].values.len()), (&[-1.0][..], 2));
        }
        assert!(read_npz(&zip_of(&[], false)).unwrap().is_empty());
    }

    #[test]
    fn damage_is_found() {
        let [w, b] = two();
        for deflated in [false, true] {
            let zip = zip_of(&[("w.npy", &w), ("b.npy", &b)], deflated);
            for end in 0..zip.len() {
                assert!(read_npz(&zip[..end]).is_err(), "{end}");
            }
            // No byte may make it panic; one of the packed data is always found.
            for at in 0..zip.len() {
                for bit in [0x01, 0x80, 0xFF] {
                    let mut damaged = zip.clone();
                    damaged[at] ^= bit;
                    let read = read_npz(&damaged);
                    assert!(read.is_err() || !(38..90).contains(&at), "byte {at}");
                }
            }
        }
        let message = |zip: &[u8]| read_npz(zip).unwrap_err().to_string();
        assert!(message(&zip_of(&[("w.npy", &w), ("w.npy", &b)], true)).contains("`w` is there twice"));
        assert!(message(&zip_of(&[("w.txt", &w)], true)).contains("`w.txt`, expected arrays"));
        assert!(message(&zip_of(&[("w.npy", &w[..40])], true)).contains("array `w`: npy: byte 8"));
    }

    /// Ones of a byte each that take a thousandth of their number, and eight times it once they are read.
    #[test]
    fn what_is_held_at_once_is_bounded() {
        let bytes = npy_of("{'descr': '|u1', 'fortran_order': False, 'shape': (67108864,)}", &vec![0; 1 << 26]);
        let zip = zip_of(&[("a.npy", &bytes)], true);
        let error = read_npz(&zip).unwrap_err();
        assert_eq!(error.class(), crate::error_kind::ErrorKind::Unsupported);
        assert!(error.to_string().contains("are held at once"), "{error}");
    }

    #[test]
    fn a_directory_that_repeats_itself_is_bounded() {
        let zeros = npy_of("{'descr': '|u1', 'fortran_order': False, 'shape': (1048576,)}", &vec![0; 1 << 20]);
        let one = zip_of(&[("a.npy", &zeros)], true);
        assert!(one.len() < 3000);
        // A length that the packed bytes do not have is found when they are unpacked, without memory for it.
        let mut lying = one.clone();
        let central = one.windows(4).rposition(|window| window == CENTRAL).unwrap();
        lying[central + 24..central + 28].copy_from_slice(&((1u32 << 29) - 1).to_le_bytes());
        assert!(read_npz(&lying).unwrap_err().to_string().contains("come out, expected"));
        lying[central + 24..central + 28].copy_from_slice(&(1u32 << 30).to_le_bytes());
        assert!(matches!(read_npz(&lying).unwrap_err(), TensorFileError::Array { cause, .. }
                if matches!(*cause, TensorFileError::TooLarge { .. })));
    }
}
