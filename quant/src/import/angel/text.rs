//! Text data: a record a line, fields behind a separator.

use std::collections::BTreeMap;

use super::error::AngelError;
use super::format::Record;
use super::meta::Meta;
use super::piece::{Piece, width};
use super::row_type::Element;
use super::shown;

/// The longest line, in bytes.
const MAX_LINE_LEN_BYTES: usize = 1 << 20;

/// What is looked for in the first line.
const SEPARATORS: [&str; 4] = [",", "\t", " ", ":"];

/// What stands between two fields, in the whole matrix: what the caller says, else what follows the first number of the
/// first line. Looked up once, so that a line with another separator is an error and not another reading.
pub(super) fn separator(
    meta: &Meta,
    files: &BTreeMap<String, Vec<u8>>,
    given: Option<&str>,
) -> Result<String, AngelError> {
    if let Some(given) = given {
        let is_of_numbers = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '\n' | '\r');
        if given.is_empty() || given.contains(is_of_numbers) {
            return Err(AngelError::Option {
                option: "--separator",
                found: format!("`{}`", shown(given.as_bytes())),
                expected: "one or more characters that no number has".to_owned(),
            });
        }
        return Ok(given.to_owned());
    }
    let first = meta.partitions.iter().find(|partition| partition.len_bytes > 0);
    let piece = first.and_then(|first| files.get(&first.file)?.get(first.offset as usize..));
    let behind = piece.and_then(|piece| piece.iter().find(|byte| !byte.is_ascii_digit() && **byte != b'-'));
    let found = SEPARATORS.into_iter().find(|separator| Some(&separator.as_bytes()[0]) == behind);
    Ok(found.unwrap_or(",").to_owned())
}

/// Takes the lines of a partition.
pub(super) fn decode<T: Element>(piece: &mut Piece<'_, T>, separator: &str) -> Result<(), AngelError> {
    let (meta, partition) = (piece.meta, piece.partition);
    let mut lines = Lines { rest: piece.bytes(), offset: 0, count: 0 };
    if meta.format.record == Record::Column {
        while let Some((offset, line)) = lines.next(piece)? {
            let fields = fields(piece, offset, line, separator, 1 + partition.saved.len())?;
            let column = column(piece, offset, fields[0])?;
            for ((row, _), field) in partition.saved.iter().zip(&fields[1..]) {
                let value = value(piece, offset, field)?;
                piece.push(offset, *row, column, value)?;
            }
        }
        if lines.count != partition.columns {
            let found = format!("partition {} of {} lines", partition.id, lines.count);
            return Err(piece.wrong(0, "found", found, format!("{}, as saveColNum says", partition.columns)));
        }
        return Ok(());
    }
    let columns = partition.written_cols();
    for (row, count) in &partition.saved {
        if meta.format.record == Record::Value && i128::from(*count) != width(&columns) {
            let expected = format!("{}, one for each column of the partition", width(&columns));
            return Err(piece.wrong(lines.offset, "the elementNum of a dense row is", count.to_string(), expected));
        }
        for place in 0..*count {
            let Some((offset, line)) = lines.next(piece)? else {
                let found = format!("partition {} ends behind {place} lines of row {row}", partition.id);
                return Err(piece.wrong(lines.offset, "found", found, format!("{count}, as elementNum says")));
            };
            let (column, field) = match meta.format.record {
                Record::Value => (columns.start + place as i64, fields(piece, offset, line, separator, 1)?[0]),
                Record::ColumnValue => {
                    let fields = fields(piece, offset, line, separator, 2)?;
                    (column(piece, offset, fields[0])? as i64, fields[1])
                }
                _ => {
                    let fields = fields(piece, offset, line, separator, 3)?;
                    if fields[0] != row.to_string().as_bytes() {
                        let found = format!("`{}`", shown(fields[0]));
                        return Err(piece.wrong(offset, "the row is", found, row.to_string()));
                    }
                    (column(piece, offset, fields[1])? as i64, fields[2])
                }
            };
            let column = piece.column(offset, column)?;
            let value = value(piece, offset, field)?;
            piece.push(offset, *row, column, value)?;
        }
    }
    if let Some((offset, line)) = lines.next(piece)? {
        let expected = format!("the end of partition {}, whose rows have all of their elementNum", partition.id);
        return Err(piece.wrong(offset, "found", format!("the line `{}`", shown(line)), expected));
    }
    Ok(())
}

/// Lines that end in `\n` or `\r\n`, without their ends.
struct Lines<'a> {
    rest: &'a [u8],
    /// Of `rest`, in the partition.
    offset: usize,
    count: u64,
}

impl<'a> Lines<'a> {
    /// The next line and its offset in the partition.
    fn next<T: Element>(&mut self, piece: &Piece<'_, T>) -> Result<Option<(usize, &'a [u8])>, AngelError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let offset = self.offset;
        let look = &self.rest[..self.rest.len().min(MAX_LINE_LEN_BYTES + 1)];
        let Some(end) = look.iter().position(|byte| *byte == b'\n') else {
            let (found, expected) = if look.len() > MAX_LINE_LEN_BYTES {
                (format!("more than {MAX_LINE_LEN_BYTES} bytes long"), "a line of a few fields")
            } else {
                ("without an end in its partition".to_owned(), "`\\n` as its last byte; is the file cut?")
            };
            return Err(piece.wrong(offset, "the line is", found, expected));
        };
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        self.offset += end + 1;
        self.count += 1;
        Ok(Some((offset, line.strip_suffix(b"\r").unwrap_or(line))))
    }
}

/// The fields of a line, which has to have so many.
fn fields<'a, T: Element>(
    piece: &Piece<'_, T>,
    offset: usize,
    line: &'a [u8],
    separator: &str,
    expected: usize,
) -> Result<Vec<&'a [u8]>, AngelError> {
    let separator = separator.as_bytes();
    let mut fields = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.windows(separator.len()).position(|window| window == separator) {
        fields.push(&rest[..at]);
        rest = &rest[at + separator.len()..];
    }
    fields.push(rest);
    if fields.len() == expected && !line.is_empty() {
        return Ok(fields);
    }
    let names = match piece.meta.format.record {
        Record::Value => "the value",
        Record::ColumnValue => "column and value",
        Record::RowColumnValue => "row, column and value",
        Record::Column => "the column and a value for each row",
    };
    let expected_words = format!("{expected} separated by `{}`: {names}", shown(separator));
    if line.is_empty() {
        return Err(piece.wrong(offset, "the line is", "empty", expected_words));
    }
    let has = |other: &&str| line.windows(1).any(|byte| byte == other.as_bytes());
    let count = fields.len();
    let hint = if count < expected && SEPARATORS.iter().any(|other| other.as_bytes() != separator && has(other)) {
        "; the matrix's first line decides what separates, unless `--separator` does"
    } else if fields.last().is_some_and(|last| last.is_empty()) {
        "; a separator ends the line"
    } else if count > expected && separator == b"," && !has(&".") && !has(&"E") {
        "; is it a decimal comma of the machine's locale? Save the matrix again with `-Duser.language=en`"
    } else {
        ""
    };
    let found = format!("{count} field{} (`{}`)", if count == 1 { "" } else { "s" }, shown(line));
    let mut error = piece.wrong(offset, "the line has", found, expected_words);
    if let AngelError::Record { hint: place, .. } = &mut error {
        *place = hint;
    }
    Err(error)
}

/// A field that is a column id.
fn column<T: Element>(piece: &Piece<'_, T>, offset: usize, field: &[u8]) -> Result<u64, AngelError> {
    let words = piece.meta.row_type.key_words();
    let is_whole = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let Some(text) = std::str::from_utf8(field).ok().filter(|text| is_whole(text)) else {
        let found = format!("`{}`", shown(field));
        return Err(piece.wrong(offset, "the column is", found, format!("a whole number ({words})")));
    };
    let fits = |column: &i64| piece.meta.row_type.long_keys || i32::try_from(*column).is_ok();
    match text.parse().ok().filter(fits) {
        Some(column) => piece.column(offset, column),
        None => Err(piece.wrong(offset, "the column is", shown(field), format!("a number that an {words} can hold"))),
    }
}

/// A field that is a value.
fn value<T: Element>(piece: &Piece<'_, T>, offset: usize, field: &[u8]) -> Result<T, AngelError> {
    let value_type = piece.meta.row_type.value;
    let parsed = std::str::from_utf8(field).ok().and_then(|text| T::from_text(text, value_type));
    let said_otherwise = |byte: &u8| matches!(byte, b'i' | b'I' | b'n' | b'N');
    let spelled = field.iter().any(said_otherwise);
    match parsed.map(T::finite) {
        Some(Ok(value)) => Ok(value),
        Some(Err(_)) if !spelled => {
            let expected = format!("a number that an {} can hold; does rowType suit the file?", value_type.words());
            Err(piece.wrong(offset, "the value is", shown(field), expected))
        }
        Some(Err(_)) => Err(piece.not_finite(offset, &shown(field))),
        None => {
            let text = match field {
                // DecimalFormat's sign for infinity, U+221E, and its older one for NaN, U+FFFD, cut to their low bytes.
                b"\x1e" | b"-\x1e" => Some("an infinity"),
                b"\xfd" => Some("NaN"),
                _ => None,
            };
            match text {
                Some(text) => {
                    let found = format!("`{}`, which is how Angel writes {text}", shown(field));
                    Err(piece.not_finite(offset, &found))
                }
                None => {
                    let found = format!("`{}`", shown(field));
                    Err(piece.wrong(offset, "the value is", found, format!("a number ({})", value_type.words())))
                }
            }
        }
    }
}
