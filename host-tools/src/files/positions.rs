//! Files of positions: lines of text or BulletFormat, told apart by their first bytes.

use super::{MAX_FENS_LEN_BYTES, read_records, read_text, refuse_foreign, refuse_network};
use crate::error::{CliError, Explain};
use std::path::{Path, PathBuf};
use tamis_quant::import;
use tamis_quant::positions::{Position, RECORD_LEN_BYTES, is_text, lines, records};

/// What a file of positions has to be.
const EXPECTED: &str = "positions: lines of FEN, of `FEN | score | result` or of EPD, or BulletFormat";

/// Positions in memory, not yet read one by one.
#[derive(Debug)]
pub enum PositionFile {
    /// A position a line.
    Lines(PathBuf, String),
    /// BulletFormat.
    Records(PathBuf, Vec<u8>),
}

/// Positions one by one; the first bad one ends with its file and place.
pub type PositionIter<'s> = Box<dyn Iterator<Item = Result<Position, CliError>> + 's>;

impl PositionFile {
    /// Reads a file, of records no more than a limit.
    ///
    /// # Errors
    /// [`CliError`] naming it, also if there are no positions in it.
    pub fn read(path: &Path, limit: Option<usize>) -> Result<Self, CliError> {
        if is_lines(path)? {
            return Self::read_lines(path);
        }
        let file = Self::Records(path.to_owned(), read_records(path, limit)?);
        file.refuse_empty()?;
        Ok(file)
    }

    /// Reads a text; `-` is standard input.
    ///
    /// # Errors
    /// [`CliError`] naming it, also if there are no positions in it.
    pub fn read_lines(path: &Path) -> Result<Self, CliError> {
        let file = Self::Lines(path.to_owned(), read_text(path, "a position a line", MAX_FENS_LEN_BYTES)?);
        file.refuse_empty()?;
        Ok(file)
    }

    fn refuse_empty(&self) -> Result<(), CliError> {
        let (path, is_empty) = match self {
            Self::Lines(path, text) => (path, lines(text).next().is_none()),
            Self::Records(path, bytes) => (path, bytes.is_empty()),
        };
        if is_empty {
            return Err(CliError::usage(format!("{}: holds no positions", path.display()))
                .help("give at least one: a FEN a line, `FEN | score | result`, EPD, or a record of BulletFormat"));
        }
        Ok(())
    }

    /// How many positions there are, counted up to a limit.
    pub fn count_at_most(&self, limit: usize) -> usize {
        match self {
            Self::Lines(_, text) => lines(text).take(limit).count(),
            Self::Records(_, bytes) => limit.min(bytes.len() / RECORD_LEN_BYTES),
        }
    }

    /// The positions.
    ///
    /// # Errors
    /// [`CliError`] if the file is no whole number of records.
    pub fn positions(&self) -> Result<PositionIter<'_>, CliError> {
        Ok(match self {
            Self::Lines(path, text) => Box::new(lines(text).map(|position| position.explain_at(path))),
            Self::Records(path, bytes) => {
                Box::new(records(bytes).explain_at(path)?.map(|position| position.explain_at(path)))
            }
        })
    }
}

/// Whether a file of positions is text.
///
/// # Errors
/// [`CliError`] naming it: it cannot be read, or is a file of another system.
pub fn is_lines(path: &Path) -> Result<bool, CliError> {
    const START_LEN_BYTES: u64 = 512;
    let (start, _) = import::read_file_start(path, START_LEN_BYTES).explain()?;
    refuse_foreign(path, &start, EXPECTED)?;
    let first = start.first_chunk::<RECORD_LEN_BYTES>();
    if first.is_none_or(|record| Position::from_record(record).is_err()) {
        refuse_network(path, EXPECTED)?;
    }
    Ok(is_text(&start))
}
