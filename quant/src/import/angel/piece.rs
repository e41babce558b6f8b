//! A piece of a matrix: a partition with its bytes.

use std::collections::BTreeMap;

use super::error::AngelError;
use super::location::{At, Place};
use super::meta::{Meta, Partition};
use super::row_type::Element;

/// The elements of the rows that were saved, each with its column.
pub(super) type Collected<T> = BTreeMap<u32, Vec<(u64, T)>>;

/// A partition, its file, and where its elements go.
pub(super) struct Piece<'a, T> {
    /// The matrix.
    pub meta: &'a Meta,
    /// The partition.
    pub partition: &'a Partition,
    /// The whole file.
    pub bytes: &'a [u8],
    /// Where its elements go.
    pub collected: &'a mut Collected<T>,
}

impl<'a, T: Element> Piece<'a, T> {
    /// The partition's bytes.
    pub fn bytes(&self) -> &'a [u8] {
        let start = self.partition.offset as usize;
        &self.bytes[start..start + self.partition.len_bytes as usize]
    }

    /// Where an offset in the partition's bytes is in the file.
    pub fn place(&self, offset: usize) -> Place {
        let offset = self.partition.offset as usize + offset;
        let at = if self.meta.format.text {
            let before = self.bytes.get(..offset).unwrap_or(self.bytes);
            At::Line(1 + before.iter().filter(|byte| **byte == b'\n').count() as u64)
        } else {
            At::Byte(offset as u64)
        };
        Place { file: self.partition.file.clone(), at }
    }

    /// What is wrong at an offset in the partition's bytes.
    pub fn wrong(
        &self,
        offset: usize,
        what: &'static str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> AngelError {
        let (place, found, expected) = (self.place(offset), found.into(), expected.into());
        AngelError::Record { place, what, found, expected, hint: "" }
    }

    /// A column id of this partition.
    pub fn column(&self, offset: usize, column: i64) -> Result<u64, AngelError> {
        let known = self.meta.cols.map_or(i64::MAX, |cols| i64::try_from(cols).unwrap_or(i64::MAX));
        let expected = match &self.partition.cols {
            _ if !(0..known).contains(&column) => format!("0 to {}", known - 1),
            Some(range) if !range.contains(&column) => {
                format!("{} to {}, the columns of partition {}", range.start, range.end - 1, self.partition.id)
            }
            _ => return Ok(column as u64),
        };
        let swapped = if self.meta.row_type.long_keys {
            column.swap_bytes()
        } else {
            i64::from(i32::try_from(column).unwrap_or(-1).swap_bytes())
        };
        let mut error = self.wrong(offset, "the column is", column.to_string(), expected);
        if let (false, true, AngelError::Record { hint, .. }) =
            (self.meta.format.text, (0..known).contains(&swapped), &mut error)
        {
            *hint = "; Angel writes the high byte first, was this file written low byte first?";
        }
        Err(error)
    }

    /// Takes an element; `offset` is its value's.
    pub fn push(&mut self, offset: usize, row: u32, column: u64, value: T) -> Result<(), AngelError> {
        match value.finite() {
            Ok(value) => {
                self.collected.entry(row).or_default().push((column, value));
                Ok(())
            }
            Err(found) => Err(self.not_finite(offset, &found)),
        }
    }

    /// What is wrong with a value that is NaN or an infinity.
    pub fn not_finite(&self, offset: usize, found: &str) -> AngelError {
        let expected = format!("a finite {}; has the training diverged?", self.meta.row_type.value.words());
        self.wrong(offset, "the value is", found, expected)
    }
}

/// Columns of a range, which may be wider than an i64.
pub(super) fn width(columns: &std::ops::Range<i64>) -> i128 {
    i128::from(columns.end) - i128::from(columns.start)
}
