//! `_meta`: a length, and JSON that says what the data files hold.

pub(super) mod partitions;

use std::fmt;
use std::ops::Range;

use super::error::AngelError;
use super::format::{Format, Record};
use super::meta_json::{RawMeta, RawPart};
use super::row_type::{RowType, first};
use super::strict;
use crate::import::MAX_FILE_LEN_BYTES;

/// The longest `_meta`, its length included.
pub const MAX_META_LEN_BYTES: u64 = (64 << 20) + 4;

/// The most partitions of a matrix.
const MAX_PARTITIONS: usize = 1 << 20;

/// The most elements of a dense matrix.
const MAX_DENSE: u128 = 1 << 31;

/// What `_meta` says, checked for itself; the data is another matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// `matrixName`
    pub name: String,
    /// How the data files are written.
    pub format: Format,
    /// What a row is.
    pub row_type: RowType,
    /// Rows of the matrix; not all of them need be saved.
    pub rows: u32,
    /// Columns; none where Angel did not know.
    pub cols: Option<u64>,
    /// In ascending order of their ids.
    pub partitions: Vec<Partition>,
}

/// A part of a matrix, in one piece of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Its number.
    pub id: u32,
    /// The rows that it is responsible for.
    pub rows: Range<u32>,
    /// The columns that it is responsible for; none if columns are spread by a hash.
    pub cols: Option<Range<i64>>,
    /// The data file.
    pub file: String,
    /// Where the piece begins.
    pub offset: u64,
    /// How long it is.
    pub len_bytes: u64,
    /// The rows that were saved, ascending, each with its number of elements.
    pub saved: Vec<(u32, u64)>,
    /// Records of a column format.
    pub columns: u64,
}

impl Partition {
    /// The columns as they are written: from 0 to 0 where they are spread by a hash.
    pub(super) fn written_cols(&self) -> Range<i64> {
        match &self.cols {
            Some(cols) => cols.clone(),
            None => 0..0,
        }
    }
}

impl Meta {
    /// Reads `_meta`: the length in 4 bytes (since November 2018) or in 2 (a few weeks before), then JSON.
    ///
    /// # Errors
    /// [`AngelError`] that names the field, with what it says and what it may say.
    pub fn parse(bytes: &[u8]) -> Result<Self, AngelError> {
        let start = json_start(bytes)?;
        let raw: RawMeta = strict::parse(&bytes[start..], "_meta", start)?;
        let meta = Self::checked(raw)?;
        partitions::check_grid(&meta)?;
        Ok(meta)
    }

    fn checked(raw: RawMeta) -> Result<Self, AngelError> {
        let row_type = RowType::from_id(raw.row_type)?;
        let format = Format::from_class(&raw.format_class_name)?;
        let rows = within("row", raw.row, 1, i32::MAX.into())? as u32;
        let max_cols = if row_type.long_keys { i64::MAX } else { i32::MAX.into() };
        let cols = match raw.col {
            -1 => None,
            col if (1..=max_cols).contains(&col) => Some(col as u64),
            col => {
                let expected = format!("-1 or 1 to {max_cols}, since column ids are {}", row_type.key_words());
                return Err(field("col", col, expected));
            }
        };
        // Of a matrix of unknown columns, the files say how many elements there are.
        let elements = cols.map(|cols| u128::from(rows) * u128::from(cols));
        if let Some(elements) = elements.filter(|elements| row_type.dense && *elements > MAX_DENSE) {
            let expected = format!("at most {MAX_DENSE} elements of a dense matrix");
            return Err(field("row · col", elements, expected));
        }
        let count = raw.part_metas.0.len();
        if !(1..=MAX_PARTITIONS).contains(&count) {
            return Err(field("the number of partMetas", count, format!("1 to {MAX_PARTITIONS}")));
        }
        let matrix = Self { name: raw.matrix_name, format, row_type, rows, cols, partitions: Vec::new() };
        let parts = raw.part_metas.0.into_iter();
        let mut partitions = parts.map(|(key, part)| matrix.partition(&key, part)).collect::<Result<Vec<_>, _>>()?;
        partitions.sort_unstable_by_key(|partition| partition.id);
        Ok(Self { partitions, ..matrix })
    }

    fn partition(&self, key: &str, raw: RawPart) -> Result<Partition, AngelError> {
        let id = id_of("partMetas", key)?;
        let name = |field: &str| format!("partMetas.{id}.{field}");
        if let Some(found) = raw.part_id.filter(|part| *part != i64::from(id)) {
            return Err(field(name("partId"), found, format!("{id}, as its key says")));
        }
        let end = within(name("endRow"), raw.end_row, 1, self.rows.into())?;
        let start = within(name("startRow"), raw.start_row, 0, end - 1)?;
        let rows = start as u32..end as u32;
        let cols = match (raw.start_col, raw.end_col) {
            (0, 0) => None,
            (start, end) => {
                let known = self.cols.map(|cols| i64::try_from(cols).unwrap_or(i64::MAX));
                within(name("endCol"), end, start.saturating_add(1), known.unwrap_or(i64::MAX))?;
                within(name("startCol"), start, if known.is_some() { 0 } else { i64::MIN }, end - 1)?;
                Some(start..end)
            }
        };
        let offset = within(name("offset"), raw.offset, 0, MAX_FILE_LEN_BYTES as i64)?;
        within(name("length"), raw.length, 0, MAX_FILE_LEN_BYTES as i64)?;
        if !is_file_name(&raw.file_name) {
            let expected = "the name of a file in this folder, without `/` and with no dot before it";
            return Err(field(name("fileName"), super::shown(raw.file_name.as_bytes()), expected));
        }
        let mut saved = Vec::with_capacity(raw.row_metas.0.len());
        for (key, row) in &raw.row_metas.0 {
            let row_id = id_of(&name("rowMetas"), key)?;
            let name = |field: &str| name(&format!("rowMetas.{row_id}.{field}"));
            if row.row_id != i64::from(row_id) {
                return Err(field(name("rowId"), row.row_id, format!("{row_id}, as its key says")));
            }
            within(name("rowId"), row.row_id, rows.start.into(), i64::from(rows.end) - 1)?;
            saved.push((row_id, within(name("elementNum"), row.element_num, 0, i32::MAX.into())? as u64));
        }
        saved.sort_unstable();
        let (counted, found) = match self.format.record {
            Record::Column => ("saveColElemNum", raw.save_col_elem_num),
            _ => ("saveRowNum", raw.save_row_num),
        };
        if usize::try_from(found) != Ok(saved.len()) {
            return Err(field(name(counted), found, format!("{}, the number of its rowMetas", saved.len())));
        }
        let columns = within(name("saveColNum"), raw.save_col_num, 0, i32::MAX.into())? as u64;
        let (offset, len_bytes) = (offset as u64, raw.length as u64);
        Ok(Partition { id, rows, cols, file: raw.file_name, offset, len_bytes, saved, columns })
    }
}

/// Where the JSON begins, behind a length that is right.
fn json_start(bytes: &[u8]) -> Result<usize, AngelError> {
    let (start, found) = match (bytes.first(), bytes.get(2), bytes.get(4)) {
        (Some(b'{'), ..) => return Err(AngelError::MetaNoLength),
        (_, _, Some(b'{')) => (4, i32::from_be_bytes(first(bytes)).into()),
        (_, Some(b'{'), _) => (2, u16::from_be_bytes(first(bytes)).into()),
        _ => return Err(AngelError::MetaBinary { found: bytes.len() as u64 }),
    };
    let expected = (bytes.len() - start) as u64;
    if u64::try_from(found) == Ok(expected) { Ok(start) } else { Err(AngelError::MetaLength { found, expected }) }
}

fn field(field: impl Into<String>, found: impl fmt::Display, expected: impl Into<String>) -> AngelError {
    AngelError::Field { field: field.into(), found: found.to_string(), expected: expected.into() }
}

fn within(name: impl Into<String>, found: i64, least: i64, most: i64) -> Result<i64, AngelError> {
    if (least..=most).contains(&found) { Ok(found) } else { Err(field(name, found, format!("{least} to {most}"))) }
}

/// A key that is an id, written in one way only, so that different keys are different ids.
fn id_of(name: &str, key: &str) -> Result<u32, AngelError> {
    let id = key.parse::<i32>().ok().and_then(|id| u32::try_from(id).ok());
    id.filter(|id| id.to_string() == key).ok_or_else(|| {
        field(format!("a key of {name}"), format!("`{}`", super::shown(key.as_bytes())), "an id such as 0 or 17")
    })
}

fn is_file_name(name: &str) -> bool {
    let harmless = |c: char| !matches!(c, '/' | '\\' | ':') && !c.is_control();
    !name.is_empty() && name != "_meta" && name.len() <= 255 && !name.starts_with('.') && name.chars().all(harmless)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(part: &str) -> String {
        format!(
            r#"{{"matrixId":0,"matrixName":"w","formatClassName":"a.b.ValueBinaryRowFormat","rowType":7,"row":1,"col":3,
            "partMetas":{{"0":{{"startRow":0,"endRow":1,"startCol":0,"endCol":3,"nnz":3,"saveRowNum":1,"saveColNum":0,
            "saveColElemNum":0,"fileName":"0","offset":0,"length":12,{part}}}}}}}"#
        )
    }

    const ROW: &str = r#""rowMetas":{"0":{"rowId":0,"offset":0,"elementNum":3,"saveType":0}}"#;

    fn with_len(json: &str) -> Vec<u8> {
        [&(json.len() as u32).to_be_bytes()[..], json.as_bytes()].concat()
    }

    #[test]
    fn both_lengths_are_read() {
        let json = json(ROW);
        let meta = Meta::parse(&with_len(&json)).unwrap();
        assert_eq!((meta.name.as_str(), meta.rows, meta.cols), ("w", 1, Some(3)));
        let partition = &meta.partitions[0];
        assert_eq!((partition.rows.clone(), partition.cols.clone()), (0..1, Some(0..3)));
        assert_eq!((partition.offset, partition.len_bytes), (0, 12));
        assert_eq!(partition.saved, [(0, 3)]);
        let short = [&(json.len() as u16).to_be_bytes()[..], json.as_bytes()].concat();
        assert_eq!(Meta::parse(&short).unwrap(), meta);
    }

    #[test]
    fn what_cannot_be_is_named() {
        let good = json(ROW);
        for (from, to, words) in [
            (r#""row":1,"#, "", "missing field `row`"),
            (r#""row":1,"#, r#""row":0,"#, "row is 0, expected 1 to"),
            (r#""row":1,"#, r#""row":1.5,"#, "expected i64"),
            (r#""row":1,"#, r#""row":1,"row":1,"#, "`row` is there twice"),
            (r#""nnz":3"#, r#""nnz":3,"nnz":3"#, "`nnz` is there twice"),
            (
                r#""col":3"#,
                r#""col":2147483648"#,
                "col is 2147483648, expected -1 or 1 to 2147483647, since column ids are i32",
            ),
            (r#""col":3"#, r#""col":4"#, "no partition holds the columns 3 to 3 of the rows 0 to 0"),
            (r#""row":1,"col":3"#, r#""row":3,"col":2147483647"#, "row · col is 6442450941"),
            (r#"{"0":{"startRow""#, r#"{"00":{"startRow""#, "a key of partMetas is `00`"),
            (r#""startRow":0"#, r#""partId":1,"startRow":0"#, "partMetas.0.partId is 1, expected 0"),
            (r#""startRow":0"#, r#""startRow":1"#, "partMetas.0.startRow is 1, expected 0 to 0"),
            (r#""endCol":3"#, r#""endCol":0"#, "spread by a hash"),
            (r#""endCol":3"#, r#""endCol":4"#, "partMetas.0.endCol is 4, expected 1 to 3"),
            (r#""startCol":0"#, r#""startCol":-1"#, "partMetas.0.startCol is -1"),
            (r#""fileName":"0""#, r#""fileName":"a\\b""#, "partMetas.0.fileName is a\\\\b"),
            (r#""fileName":"0""#, r#""fileName":".0""#, "no dot before it"),
            (
                r#""offset":0,"length":12"#,
                r#""offset":9223372036854775807,"length":1"#,
                "offset is 9223372036854775807, expected 0 to 4294967296",
            ),
            (r#""saveRowNum":1"#, r#""saveRowNum":2"#, "saveRowNum is 2, expected 1, the number of its rowMetas"),
            (r#""rowId":0"#, r#""rowId":1"#, "rowId is 1, expected 0, as its key says"),
            (r#"{"0":{"rowId":0"#, r#"{"1":{"rowId":1"#, "rowMetas.1.rowId is 1, expected 0 to 0"),
            (r#""elementNum":3"#, r#""elementNum":-3"#, "elementNum is -3, expected 0 to"),
        ] {
            assert!(good.contains(from), "{from}");
            let error = Meta::parse(&with_len(&good.replacen(from, to, 1))).unwrap_err().to_string();
            assert!(error.contains(words), "{words}: {error}");
        }
        let binary = Meta::parse(&[0, 0, 0, 7, 0, 3, b'a']).unwrap_err();
        assert!(binary.to_string().contains("until 15 October 2018"), "{binary}");
        assert_eq!(binary.class(), crate::error_kind::ErrorKind::Unsupported);
        assert!(matches!(Meta::parse(&[]).unwrap_err(), AngelError::MetaBinary { found: 0 }));
    }
}
