//! Binary data: packed records, high byte first.

use super::error::AngelError;
use super::format::Record;
use super::piece::{Piece, width};
use super::row_type::{Element, first};

/// Takes the records of a partition. Their number is compared with the bytes before any is read.
///
/// A row's `offset` in `_meta` is never used: Angel writes the partition's for every row, and the rows follow one
/// another.
pub(super) fn decode<T: Element>(piece: &mut Piece<'_, T>) -> Result<(), AngelError> {
    let (meta, partition) = (piece.meta, piece.partition);
    let row_type = meta.row_type;
    let (key, value) = (row_type.key_len_bytes(), row_type.value.len_bytes());
    let saved = partition.saved.len();
    let (key_words, value_words) = (row_type.key_words(), row_type.value.words());
    let (record, words) = match meta.format.record {
        Record::Value => (value, format!("value {value_words}")),
        Record::ColumnValue => (key + value, format!("column {key_words}, value {value_words}")),
        Record::RowColumnValue => (4 + key + value, format!("row i32, column {key_words}, value {value_words}")),
        Record::Column => (key + saved * value, format!("column {key_words}, {saved} values {value_words}")),
    };
    let bytes = piece.bytes();
    if !bytes.len().is_multiple_of(record) {
        let found = format!("partition {} of {} bytes", partition.id, bytes.len());
        let expected = format!("records of {record} bytes ({words}); do formatClassName and rowType suit the file?");
        return Err(piece.wrong(0, "found", found, expected));
    }
    let count = (bytes.len() / record) as u64;
    let (expected, source) = match meta.format.record {
        Record::Column => (u128::from(partition.columns), "saveColNum"),
        _ => (partition.saved.iter().map(|(_, count)| u128::from(*count)).sum(), "the elementNum of its rows"),
    };
    if u128::from(count) != expected {
        let found = format!("partition {} of {count} records", partition.id);
        return Err(piece.wrong(0, "found", found, format!("{expected}, as {source} says")));
    }
    let column_at = |at: usize| {
        let bytes = &bytes[at..];
        if row_type.long_keys { i64::from_be_bytes(first(bytes)) } else { i32::from_be_bytes(first(bytes)).into() }
    };
    let value_at = |at: usize| T::from_bytes(&bytes[at..], row_type.value);

    if meta.format.record == Record::Column {
        for at in (0..bytes.len()).step_by(record) {
            let column = piece.column(at, column_at(at))?;
            for (place, (row, _)) in partition.saved.iter().enumerate() {
                let at = at + key + place * value;
                piece.push(at, *row, column, value_at(at))?;
            }
        }
        return Ok(());
    }
    let mut at = 0;
    for (row, count) in &partition.saved {
        let columns = partition.written_cols();
        if meta.format.record == Record::Value && i128::from(*count) != width(&columns) {
            let expected = format!("{}, one for each column of the partition", width(&columns));
            return Err(piece.wrong(at, "the elementNum of a dense row is", count.to_string(), expected));
        }
        for place in 0..*count {
            let column = match meta.format.record {
                Record::Value => columns.start + place as i64,
                Record::ColumnValue => column_at(at),
                _ => {
                    let found = i32::from_be_bytes(first(&bytes[at..]));
                    if i64::from(found) != i64::from(*row) {
                        return Err(piece.wrong(at, "the row is", found.to_string(), row.to_string()));
                    }
                    column_at(at + 4)
                }
            };
            let column = piece.column(at, column)?;
            let value = at + record - value;
            piece.push(value, *row, column, value_at(value))?;
            at += record;
        }
    }
    Ok(())
}
