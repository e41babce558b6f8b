//! Positions as lines of text: a FEN alone, `FEN | score | result` as bullet's converter takes it, or EPD.
//!
//! | line | score | result |
//! |------|-------|--------|
//! | `FEN`, `startpos` | | |
//! | `FEN \| 31 \| 0.5` | centipawns for white | 1.0, 0.5 or 0.0 for white; also `1-0`, `1/2-1/2`, `0-1` |
//! | `board side castling en-passant ce 31; c9 "1-0";` | the operation `ce`, for the side to move | `c9` or `result` |
//!
//! Results may stand in square brackets. Other operations of EPD are passed over. The score of a [`Position`] is the
//! side to move's, whatever the line's is.

use super::error::PositionError;
use super::fen::{bad_field, shown};
use super::position::Position;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
/// Board, side to move, castling, en passant: what EPD begins with.
const EPD_FIELDS: usize = 4;

impl Position {
    /// Reads a line.
    ///
    /// # Errors
    /// [`PositionError`] for what [`Position::from_fen`] refuses, and for what follows the FEN and is neither score and
    /// result nor an operation of EPD.
    ///
    /// ```
    /// use tamis_quant::positions::Position;
    ///
    /// let position = Position::from_line("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1 | 120 | 1.0")?;
    /// assert_eq!((position.score, position.result), (Some(-120), Some(0)));
    /// # Ok::<(), tamis_quant::positions::PositionError>(())
    /// ```
    pub fn from_line(line: &str) -> Result<Self, PositionError> {
        let parts: Vec<&str> = split_unquoted(line, '|').map(str::trim).collect();
        let mut parts = parts.into_iter();
        let first = parts.next().ok_or(PositionError::MissingField { field: "board" })?;
        let (fen, operations) = if first == "startpos" { (START, "") } else { split_operations(first) };
        let mut position = Self::from_fen(fen)?;
        read_operations(operations, &mut position)?;
        if let Some(score) = parts.next() {
            let score = read_score(score)?;
            position.score = Some(if position.is_black { -score } else { score });
        }
        if let Some(result) = parts.next() {
            position.result = Some(read_result(result, position.is_black)?);
        }
        match parts.next() {
            Some(part) => Err(PositionError::TrailingPart { found: shown(part) }),
            None => Ok(position),
        }
    }
}

/// The lines of a text that stand for positions, with their numbers from 1: empty lines and lines that start with `#`
/// are passed over.
pub fn numbered_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
}

/// The positions of a text, one a line, as [`numbered_lines`] has them.
///
/// # Errors
/// Each item is a position or [`PositionError::AtLine`]; a bad line does not end the iteration.
pub fn lines(text: &str) -> impl Iterator<Item = Result<Position, PositionError>> {
    numbered_lines(text).map(|(line, text)| {
        let at_line = |cause| PositionError::AtLine { line, cause: Box::new(cause) };
        Position::from_line(text).map_err(at_line)
    })
}

/// Whether the beginning of a file of positions is text, and not BulletFormat, none of whose records is: the byte of
/// the result is 0, 1 or 2.
#[must_use]
pub fn is_text(start: &[u8]) -> bool {
    let record = start.get(..super::RECORD_LEN_BYTES).unwrap_or(start);
    !record.is_empty() && record.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~' | 0x80..))
}

/// What stands behind the fields of a FEN, from the first word that begins with a letter on.
fn split_operations(text: &str) -> (&str, &str) {
    let mut rest = text;
    for _ in 0..EPD_FIELDS {
        let word = rest.trim_start();
        rest = word.find(char::is_whitespace).map_or("", |end| &word[end..]);
    }
    while rest.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
        let word = rest.trim_start();
        rest = word.find(char::is_whitespace).map_or("", |end| &word[end..]);
    }
    if rest.trim_start().starts_with(|c: char| c.is_ascii_alphabetic()) {
        return (&text[..text.len() - rest.len()], rest.trim());
    }
    (text, "")
}

/// `ce 31; id "a; b";`
fn read_operations(text: &str, position: &mut Position) -> Result<(), PositionError> {
    if text.is_empty() {
        return Ok(());
    }
    let Some(text) = text.strip_suffix(';') else {
        let last = text.rsplit(';').next().map(str::trim);
        return Err(PositionError::Operation { found: last.map(shown).into_iter().collect() });
    };
    for operation in split_unquoted(text, ';').map(str::trim) {
        let (name, operand) = operation.split_once(char::is_whitespace).unwrap_or((operation, ""));
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(PositionError::Operation { found: shown(operation) });
        }
        let operand = operand.trim().trim_matches('"');
        match name {
            "ce" => position.score = Some(read_score(operand)?),
            // Comment 9 is where collections of quiet positions have it; some comments are no results.
            "c9" | "result" => {
                position.result = read_result(operand, position.is_black).ok().or(position.result);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Centipawns, of which the side to move's may be the negative.
fn read_score(text: &str) -> Result<i16, PositionError> {
    let score = text.parse().ok().filter(|score| *score != i16::MIN);
    score.ok_or_else(|| bad_field("score", text, "a whole number of centipawns, -32767 to 32767"))
}

/// 0 loss, 1 draw, 2 win for the side to move, of white's result.
fn read_result(text: &str, is_black: bool) -> Result<u8, PositionError> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let whites = match bare {
        "1.0" | "1" | "1-0" => 2,
        "0.5" | "1/2" | "1/2-1/2" => 1,
        "0.0" | "0" | "0-1" => 0,
        _ => return Err(bad_field("result", text, "1.0, 0.5 or 0.0, white's view")),
    };
    Ok(if is_black { 2 - whites } else { whites })
}

/// The parts between marks that stand in no quotation.
fn split_unquoted(text: &str, mark: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |c: char| {
        quoted ^= c == '"';
        c == mark && !quoted
    })
}

#[cfg(test)]
mod tests {
    use super::super::{PositionError, RECORD_LEN_BYTES};
    use super::{Position, START, is_text, lines};

    #[test]
    fn every_kind_of_line_is_read() {
        let board = "4k3/4p3/8/8/8/8/4P3/4K3";
        for (line, score, result) in [
            ("startpos".to_owned(), None, None),
            (format!("{board} w"), None, None),
            (format!("{board} w - - 0 1 | 31"), Some(31), None),
            (format!("{board} w - - 0 1 | +31 | 0.5"), Some(31), Some(1)),
            (format!("{board} b - - 0 1|31|1.0"), Some(-31), Some(0)),
            (format!("{board} b - - 0 1 | -7 | [0.0]"), Some(7), Some(2)),
            (format!("{board} w - - bm e4;"), None, None),
            (format!("{board} b - - ce 31; id \"a; | b\"; c9 \"1-0\";"), Some(31), Some(0)),
            (format!("{board} w - - 3 4 acd 12; c9 \"1/2-1/2\";"), None, Some(1)),
            (format!("{board} w - - c9 \"a comment\";"), None, None),
        ] {
            let position = Position::from_line(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!((position.score, position.result), (score, result), "{line}");
        }
        let start = Position::from_line("startpos | 12 | 1").unwrap();
        assert_eq!(start.pieces(), Position::from_fen(START).unwrap().pieces());
        assert_eq!((start.score, start.result), (Some(12), Some(2)));
    }

    #[test]
    fn what_else_follows_a_fen_is_named() {
        for (rest, words) in [
            ("w - - bm e4", "`bm e4` follows the FEN; an operation"),
            ("w - - bm e4; 7;", "`7` follows the FEN; an operation"),
            ("w - - 0 1 2", "`2` follows the FEN; its last"),
            ("w - - 0 1 | x", "the score `x` is not a whole number"),
            ("w - - 0 1 | 40000", "the score `40000`"),
            ("w - - 0 1 | -32768", "the score `-32768`"),
            ("w - - 0 1 | 4 | 2", "the result `2` is not 1.0"),
            ("w - - 0 1 | 4 | 1 | 5", "`5` follows the result"),
            ("w - - ce many;", "the score `many`"),
            ("", "the FEN has no side to move"),
        ] {
            let error = Position::from_line(&format!("4k3/8/8/8/8/8/8/4K3 {rest}")).unwrap_err().to_string();
            assert!(error.starts_with(words), "{rest}: {error}");
        }
    }

    #[test]
    fn lines_count_from_one_and_skip_comments() {
        let text = "# opening\nstartpos\n\nnonsense\n4k3/8/8/8/8/8/8/4K3 b\n";
        let all: Vec<_> = lines(text).collect();
        assert_eq!(all.len(), 3);
        assert!(matches!(all[1], Err(PositionError::AtLine { line: 4, .. })), "{:?}", all[1]);
        assert!(all[0].is_ok() && all[2].is_ok());
    }

    /// Whatever the score is, and the bytes behind the record.
    #[test]
    fn no_record_is_text() {
        let mut position = Position::from_line("startpos").unwrap();
        for score in i16::MIN..=i16::MAX {
            position.score = Some(score);
            position.result = Some(score.unsigned_abs() as u8 % 3);
            position.extra = [b'x'; 3];
            assert!(!is_text(&position.to_record()), "{score}");
        }
        assert!(is_text(b"startpos\n") && is_text(START.as_bytes()) && is_text("# Grüße an alle\r\n".as_bytes()));
        assert!(!is_text(&[0; RECORD_LEN_BYTES]) && !is_text(b""));
    }
}
