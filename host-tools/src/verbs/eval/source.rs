//! Where positions come from: a FEN, lines of FEN, or records of BulletFormat.

use crate::cli::Positions;
use crate::error::{CliError, Explain};
use crate::files;
use std::path::{Path, PathBuf};
use tamis_quant::positions::{Position, RECORD_LEN_BYTES, fen_lines, records};

/// Positions in memory, not yet read one by one.
pub enum Source {
    /// One FEN from the command line.
    Fen(String),
    /// A text of FENs.
    Lines(PathBuf, String),
    /// BulletFormat.
    Records(PathBuf, Vec<u8>),
}

/// Positions one by one; the first bad one ends with its file and place.
pub type PositionIter<'s> = Box<dyn Iterator<Item = Result<Position, CliError>> + 's>;

impl Source {
    /// Reads the file, if it is one; of records no more than a limit.
    ///
    /// # Errors
    /// [`CliError`] naming it.
    pub fn read(args: &Positions, limit: Option<usize>) -> Result<Self, CliError> {
        match (&args.fen, &args.fens, &args.positions) {
            (Some(fen), ..) => Ok(Self::Fen(fen.clone())),
            (_, Some(path), _) => {
                Ok(Self::Lines(path.clone(), files::read_text(path, "a FEN a line", files::MAX_FENS_LEN_BYTES)?))
            }
            (.., Some(path)) => Ok(Self::Records(path.clone(), files::read_records(path, limit)?)),
            _ => Err(CliError::usage("no positions").help("give --fen, --fens or --positions")),
        }
    }

    /// How many positions there are, counted up to a limit.
    pub fn count_at_most(&self, limit: usize) -> usize {
        match self {
            Self::Fen(_) => limit.min(1),
            Self::Lines(_, text) => fen_lines(text).take(limit).count(),
            Self::Records(_, bytes) => limit.min(bytes.len() / RECORD_LEN_BYTES),
        }
    }

    /// The positions.
    ///
    /// # Errors
    /// [`CliError`] if the file is no whole number of records.
    pub fn positions(&self) -> Result<PositionIter<'_>, CliError> {
        Ok(match self {
            Self::Fen(fen) => Box::new(std::iter::once(Position::from_fen(fen).explain_at(Path::new("--fen")))),
            Self::Lines(path, text) => Box::new(fen_lines(text).map(|position| position.explain_at(path))),
            Self::Records(path, bytes) => {
                Box::new(records(bytes).explain_at(path)?.map(|position| position.explain_at(path)))
            }
        })
    }
}
