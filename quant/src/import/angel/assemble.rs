//! From the pieces of a matrix to its rows.

use std::collections::BTreeMap;

use super::error::AngelError;
use super::matrix::{Cells, Matrix, Row, Values};
use super::meta::{Meta, Partition};
use super::place::{At, Place};
use super::row_type::Element;
use super::{binary, partitions, text};
use crate::import::Remark;

/// Decodes the data files of a matrix. `folder` is its folder's name, `files` what `_meta` names; `separator` stands
/// between the fields of a line, and is looked up in the first line where it is not given.
///
/// # Errors
/// [`AngelError`] that names the file and the place in it, what is there and what should be.
pub fn decode(
    meta: &Meta,
    folder: &str,
    files: &BTreeMap<String, Vec<u8>>,
    separator: Option<&str>,
) -> Result<(Matrix, Vec<Remark>), AngelError> {
    partitions::check_files(meta, files)?;
    let separator = text::separator(meta, files, separator)?;
    let values = if meta.row_type.value.is_whole() {
        Values::Whole(rows(meta, files, &separator)?)
    } else {
        Values::Real(rows(meta, files, &separator)?)
    };
    let cols = meta.cols.unwrap_or_else(|| values.largest_column().map_or(0, |column| column + 1));
    let matrix = Matrix { name: folder.to_owned(), row_type: meta.row_type, rows: meta.rows, cols, values };
    let remarks = remarks(meta, &matrix);
    Ok((matrix, remarks))
}

/// The elements of the rows that were saved, each with its column.
type Collected<T> = BTreeMap<u32, Vec<(u64, T)>>;

fn rows<T: Element>(
    meta: &Meta,
    files: &BTreeMap<String, Vec<u8>>,
    separator: &str,
) -> Result<Vec<Row<T>>, AngelError> {
    let mut collected = Collected::new();
    for partition in &meta.partitions {
        // `check_files` has found every piece inside its file.
        let bytes = files.get(&partition.file).map_or(&[][..], Vec::as_slice);
        partition.saved.iter().for_each(|(row, _)| {
            collected.entry(*row).or_default();
        });
        let mut piece = Piece { meta, partition, bytes, collected: &mut collected };
        if meta.format.text { text::decode(&mut piece, separator)? } else { binary::decode(&mut piece)? }
    }
    let largest = || collected.values().flatten().map(|(column, _)| column + 1).max().unwrap_or(0);
    let cols = meta.cols.unwrap_or_else(largest);
    collected.into_iter().map(|(id, cells)| row(id, cells, cols, meta.row_type.dense)).collect()
}

fn row<T: Element>(id: u32, mut cells: Vec<(u64, T)>, cols: u64, dense: bool) -> Result<Row<T>, AngelError> {
    cells.sort_by_key(|(column, _)| *column);
    if let Some(pair) = cells.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(AngelError::Duplicate { row: id, column: pair[0].0 });
    }
    if !dense {
        return Ok(Row { id, cells: Cells::Sparse(cells) });
    }
    // All columns differ and lie below `cols`: as many as there are columns are all of them.
    let found = cells.len() as u64;
    if found != cols {
        let hole = cells.iter().zip(0..).position(|((column, _), place)| *column != place);
        let missing = hole.map_or(found, |place| place as u64);
        return Err(AngelError::Incomplete { row: id, found, expected: cols, missing });
    }
    Ok(Row { id, cells: Cells::Dense(cells.into_iter().map(|(_, value)| value).collect()) })
}

/// A partition, its file, and where its elements go.
pub(super) struct Piece<'a, T> {
    /// The matrix.
    pub meta: &'a Meta,
    /// The partition.
    pub partition: &'a Partition,
    /// The whole file.
    bytes: &'a [u8],
    collected: &'a mut Collected<T>,
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

/// What a person should know about a matrix.
fn remarks(meta: &Meta, matrix: &Matrix) -> Vec<Remark> {
    let name = &matrix.name;
    let mut remarks = Vec::new();
    let mut warn = |text: String| remarks.push(Remark::Warning(text));
    if meta.name != *name {
        warn(format!("matrix `{name}`: its `_meta` calls it `{}`; it is read under the folder's name", meta.name));
    }
    if meta.format.cuts_doubles() && meta.row_type.value == super::ValueType::Double {
        warn(format!("matrix `{name}`: doubles that {} cut to 6 decimals when it wrote them", meta.format.name));
    }
    let lost = |partition: &Partition| partition.saved.iter().any(|(_, count)| *count > partition.columns);
    if meta.format.record == super::format::Record::Column && meta.partitions.iter().any(lost) {
        warn(format!(
            "matrix `{name}`: {} saved only the columns of its first row, and other rows had more: those are lost",
            meta.format.name
        ));
    }
    if meta.cols.is_none() {
        let decided = format!("matrix `{name}`: the number of columns was not saved; read as {}", matrix.cols);
        remarks.push(Remark::Decided(decided));
    }
    remarks
}
