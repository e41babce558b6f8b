//! FlatBuffers: tables with optional fields, vectors and texts over a slice of bytes.
//!
//! A table begins with the distance back to its vtable; the vtable holds the length of both in bytes and, for each
//! field, where it lies in the table, 0 for one that is not there and has its default. Tables, vectors and texts are
//! reached by distances forward. Every distance is checked before it is followed, and nothing nests deeper than the
//! caller goes.
//!
//! Distances may lead to the same bytes again and again, so that a short file unfolds to a long list. What is looked
//! at is therefore counted, and a file that makes a reader look at many times its own length is refused.

use std::cell::Cell;
use std::fmt;
use thiserror::Error;

/// How many times its length a file may make the reader look at.
const MOST_LOOKS: usize = 8;
/// Looks that every file has.
const LOOKS: usize = 1 << 16;

/// Bytes that are no FlatBuffer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("byte {offset_bytes}: {place}: `{field}` {why}")]
pub struct FlatBufferError {
    /// Where in the file.
    pub offset_bytes: usize,
    /// Which table, with its number among its like.
    pub place: String,
    /// Which of its fields.
    pub field: &'static str,
    /// What is wrong.
    pub why: String,
}

/// A table's name in the schema and its number among its like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place(pub(super) &'static str, pub(super) usize);

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.0, self.1)
    }
}

/// The bytes, and how much of them may still be looked at.
pub(super) struct FlatBuffer<'a> {
    bytes: &'a [u8],
    left: Cell<usize>,
}

/// A table whose ends and whose vtable's ends lie in the file.
#[derive(Clone, Copy)]
pub(super) struct Table<'b, 'a> {
    buffer: &'b FlatBuffer<'a>,
    place: Place,
    start: usize,
    /// Its own bytes, the distance to the vtable first.
    body: &'a [u8],
    /// Two bytes a field.
    fields: &'a [u8],
}

impl<'a> FlatBuffer<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let left = bytes.len().saturating_mul(MOST_LOOKS).saturating_add(LOOKS);
        Self { bytes, left: Cell::new(left) }
    }

    /// The table that the first four bytes lead to.
    pub(super) fn root(&self, place: Place) -> Result<Table<'_, 'a>, FlatBufferError> {
        let distance = self.u32(0).ok_or_else(|| error(0, place, "root", "is cut off"))?;
        self.table(distance as usize, place, "root")
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    }

    fn u16(&self, at: usize) -> Option<usize> {
        self.bytes.get(at..)?.first_chunk().map(|bytes| usize::from(u16::from_le_bytes(*bytes)))
    }

    fn look(&self, len_bytes: usize, at: usize, place: Place, field: &'static str) -> Result<(), FlatBufferError> {
        let left = self.left.get().checked_sub(len_bytes);
        let why = "lies upon bytes that were read many times already";
        self.left.set(left.ok_or_else(|| error(at, place, field, why))?);
        Ok(())
    }

    fn table(&self, at: usize, place: Place, field: &'static str) -> Result<Table<'_, 'a>, FlatBufferError> {
        let no = |why: &str| error(at, place, field, why);
        let back = self.u32(at).ok_or_else(|| no("is a table outside the file"))?;
        let distance = i64::from(back.cast_signed());
        let vtable = i64::try_from(at).ok().and_then(|at| at.checked_sub(distance));
        let vtable = vtable.and_then(|vtable| usize::try_from(vtable).ok());
        let vtable = vtable.ok_or_else(|| no("has a vtable before the file's start"))?;
        let lens = self.u16(vtable).zip(vtable.checked_add(2).and_then(|at| self.u16(at)));
        let (vtable_len, len) = lens.ok_or_else(|| no("has a vtable outside the file"))?;
        self.look(vtable_len + 8, at, place, field)?;
        let fields = self.bytes.get(vtable..).and_then(|bytes| bytes.get(4..vtable_len));
        let fields = fields.ok_or_else(|| no("has a vtable that reaches behind the file's end"))?;
        let body = self.bytes.get(at..).and_then(|bytes| bytes.get(..len)).filter(|body| body.len() >= 4);
        let body = body.ok_or_else(|| no("is a table that reaches behind the file's end"))?;
        Ok(Table { buffer: self, place, start: at, body, fields })
    }
}

fn error(offset_bytes: usize, place: Place, field: &'static str, why: &str) -> FlatBufferError {
    FlatBufferError { offset_bytes, place: place.to_string(), field, why: why.to_owned() }
}

impl<'b, 'a> Table<'b, 'a> {
    /// Where in the table a field lies; none where it is left out.
    fn at(&self, field: usize) -> Option<usize> {
        let at = self.fields.get(2 * field..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes));
        at.map(usize::from).filter(|at| *at != 0)
    }

    /// Whether a field is there.
    pub(super) fn has(&self, field: usize) -> bool {
        self.at(field).is_some()
    }

    fn scalar<const N: usize>(
        &self,
        field: usize,
        name: &'static str,
        default: [u8; N],
    ) -> Result<[u8; N], FlatBufferError> {
        let Some(at) = self.at(field) else { return Ok(default) };
        let bytes = self.body.get(at..).and_then(<[u8]>::first_chunk).copied();
        bytes.ok_or_else(|| error(self.start + at, self.place, name, "lies behind the end of its table"))
    }

    pub(super) fn u8(&self, field: usize, name: &'static str) -> Result<u8, FlatBufferError> {
        Ok(self.scalar(field, name, [0; 1])?[0])
    }

    pub(super) fn flag(&self, field: usize, name: &'static str) -> Result<bool, FlatBufferError> {
        Ok(self.u8(field, name)? != 0)
    }

    pub(super) fn u32(&self, field: usize, name: &'static str) -> Result<u32, FlatBufferError> {
        Ok(u32::from_le_bytes(self.scalar(field, name, [0; 4])?))
    }

    pub(super) fn i32(&self, field: usize, name: &'static str, default: i32) -> Result<i32, FlatBufferError> {
        Ok(i32::from_le_bytes(self.scalar(field, name, default.to_le_bytes())?))
    }

    pub(super) fn f32(&self, field: usize, name: &'static str) -> Result<f32, FlatBufferError> {
        Ok(f32::from_le_bytes(self.scalar(field, name, [0; 4])?))
    }

    pub(super) fn u64(&self, field: usize, name: &'static str) -> Result<u64, FlatBufferError> {
        Ok(u64::from_le_bytes(self.scalar(field, name, [0; 8])?))
    }

    /// Where the distance in a field leads.
    fn target(&self, field: usize, name: &'static str) -> Result<Option<usize>, FlatBufferError> {
        let Some(at) = self.at(field) else { return Ok(None) };
        let distance = self.u32(field, name)? as usize;
        let target = (self.start + at).checked_add(distance).filter(|target| *target < self.buffer.bytes.len());
        target.map(Some).ok_or_else(|| error(self.start + at, self.place, name, "leads behind the file's end"))
    }

    /// A table in a field.
    pub(super) fn table(&self, field: usize, name: &'static str) -> Result<Option<Self>, FlatBufferError> {
        let target = self.target(field, name)?;
        target.map(|at| self.buffer.table(at, self.place, name)).transpose()
    }

    /// The elements of a vector, `width` bytes each, as they lie in the file; nothing where it is left out.
    pub(super) fn vector(
        &self,
        field: usize,
        name: &'static str,
        width: usize,
    ) -> Result<Option<&'a [u8]>, FlatBufferError> {
        let Some(at) = self.target(field, name)? else { return Ok(None) };
        let no = |why: &str| error(at, self.place, name, why);
        let count = self.buffer.u32(at).ok_or_else(|| no("is a vector without its length"))? as usize;
        let elements = count.checked_mul(width).and_then(|len| self.buffer.bytes.get(at + 4..)?.get(..len));
        let left = self.buffer.bytes.len() - at - 4;
        let why = || format!("has {count} elements of {width} bytes, {left} bytes are left of the file");
        elements.map(Some).ok_or_else(|| no(&why()))
    }

    /// A vector that counts as empty where it is left out.
    pub(super) fn vector_or_empty(
        &self,
        field: usize,
        name: &'static str,
        width: usize,
    ) -> Result<&'a [u8], FlatBufferError> {
        Ok(match self.vector(field, name, width)? {
            Some(elements) => elements,
            None => &[],
        })
    }

    /// The same, for those who copy it.
    fn copied(&self, field: usize, name: &'static str, width: usize) -> Result<&'a [u8], FlatBufferError> {
        let elements = self.vector_or_empty(field, name, width)?;
        self.buffer.look(elements.len(), self.start, self.place, name)?;
        Ok(elements)
    }

    pub(super) fn i32s(&self, field: usize, name: &'static str) -> Result<Vec<i32>, FlatBufferError> {
        let (numbers, _) = self.copied(field, name, 4)?.as_chunks();
        Ok(numbers.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect())
    }

    pub(super) fn f32s(&self, field: usize, name: &'static str) -> Result<Vec<f32>, FlatBufferError> {
        let (numbers, _) = self.copied(field, name, 4)?.as_chunks();
        Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    pub(super) fn i64s(&self, field: usize, name: &'static str) -> Result<Vec<i64>, FlatBufferError> {
        let (numbers, _) = self.copied(field, name, 8)?.as_chunks();
        Ok(numbers.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect())
    }

    /// A text, as bytes; what is no UTF-8 is for the caller.
    pub(super) fn text(&self, field: usize, name: &'static str) -> Result<&'a [u8], FlatBufferError> {
        self.vector_or_empty(field, name, 1)
    }

    /// The tables of a vector, each called by `child` and its number.
    pub(super) fn tables(
        &self,
        field: usize,
        name: &'static str,
        child: &'static str,
    ) -> Result<Vec<Self>, FlatBufferError> {
        let distances = self.copied(field, name, 4)?;
        // `copied` has followed the field already.
        let Some(target) = self.target(field, name)? else { return Ok(Vec::new()) };
        let start = target.saturating_add(4);
        let (distances, _) = distances.as_chunks();
        let of = |(index, distance): (usize, &[u8; 4])| {
            let from = start + 4 * index;
            let at = from.saturating_add(u32::from_le_bytes(*distance) as usize);
            self.buffer.table(at, Place(child, index), name)
        };
        distances.iter().enumerate().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with field 0 = 7u32, field 1 left out, field 2 a vector of two i32: the vtable at 8, the table at 20.
    fn laid_out() -> Vec<u8> {
        let mut bytes = vec![20, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend([10, 0, 12, 0, 4, 0, 0, 0, 8, 0, 0, 0]);
        bytes.extend([12, 0, 0, 0, 7, 0, 0, 0, 4, 0, 0, 0]);
        bytes.extend([2, 0, 0, 0, 5, 0, 0, 0, 254, 255, 255, 255]);
        bytes
    }

    #[test]
    fn fields_have_their_values_or_their_defaults() {
        let bytes = laid_out();
        let buffer = FlatBuffer::new(&bytes);
        let root = buffer.root(Place("Root", 0)).unwrap();
        assert_eq!(root.u32(0, "number").unwrap(), 7);
        assert_eq!(root.i32(1, "absent", -3).unwrap(), -3);
        assert_eq!(root.i32s(2, "list").unwrap(), [5, -2]);
        assert!(root.i32s(9, "beyond the vtable").unwrap().is_empty());
        assert!(root.table(1, "absent").unwrap().is_none());
    }

    #[test]
    fn every_byte_that_is_missing_is_missed() {
        let bytes = laid_out();
        for end in 0..bytes.len() {
            let buffer = FlatBuffer::new(&bytes[..end]);
            let list = buffer.root(Place("Root", 0)).and_then(|root| root.i32s(2, "list"));
            assert!(list.is_err(), "{end}");
        }
    }

    #[test]
    fn places_are_named() {
        let cases: [(usize, u8, &str); 7] = [
            (0, 200, "byte 200: Root 0: `root` is a table outside the file"),
            (21, 127, "has a vtable before the file's start"),
            (23, 128, "has a vtable outside the file"),
            (8, 99, "has a vtable that reaches behind the file's end"),
            (10, 99, "is a table that reaches behind the file's end"),
            (16, 11, "`list` lies behind the end of its table"),
            (32, 3, "byte 32: Root 0: `list` has 3 elements of 4 bytes, 8 bytes are left of the file"),
        ];
        for (at, byte, words) in cases {
            let mut bytes = laid_out();
            bytes[at] = byte;
            let buffer = FlatBuffer::new(&bytes);
            let list = buffer.root(Place("Root", 0)).and_then(|root| root.i32s(2, "list"));
            let message = list.unwrap_err().to_string();
            assert!(message.contains(words), "{words}: {message}");
        }
    }

    #[test]
    fn a_file_that_unfolds_is_refused() {
        let bytes = laid_out();
        let buffer = FlatBuffer::new(&bytes);
        let root = buffer.root(Place("Root", 0)).unwrap();
        let read = (0..100_000).try_for_each(|_| root.i32s(2, "list").map(|_| ()));
        assert!(read.unwrap_err().to_string().contains("many times"));
    }
}
