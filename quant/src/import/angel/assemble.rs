//! From the pieces of a matrix to its rows.

use std::collections::BTreeMap;

use super::error::AngelError;
use super::matrix::{Cells, Matrix, Row, Values};
use super::meta::partitions;
use super::meta::{Meta, Partition};
use super::piece::{Collected, Piece};
use super::row_type::Element;
use super::{binary, text};
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
    let cols = meta.cols.unwrap_or_else(|| values.largest_column().into_iter().fold(0, |_, column| column + 1));
    let matrix = Matrix { name: folder.to_owned(), row_type: meta.row_type, rows: meta.rows, cols, values };
    let remarks = remarks(meta, &matrix);
    Ok((matrix, remarks))
}

fn rows<T: Element>(
    meta: &Meta,
    files: &BTreeMap<String, Vec<u8>>,
    separator: &str,
) -> Result<Vec<Row<T>>, AngelError> {
    let mut collected = Collected::new();
    for partition in &meta.partitions {
        let bytes = files.get(&partition.file);
        let bytes = bytes.unwrap_or_else(|| unreachable!("`check_files` has found every piece inside its file"));
        partition.saved.iter().for_each(|(row, _)| {
            collected.entry(*row).or_default();
        });
        let mut piece = Piece { meta, partition, bytes, collected: &mut collected };
        if meta.format.text { text::decode(&mut piece, separator)? } else { binary::decode(&mut piece)? }
    }
    let largest = || collected.values().flatten().map(|(column, _)| column + 1).fold(0, u64::max);
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
