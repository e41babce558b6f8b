//! Where positions come from: one from the command line, or a file of lines or records.

use crate::cli::Positions;
use crate::error::{CliError, Explain};
use crate::files::{PositionFile, PositionIter};
use crate::status::Status;
use std::path::Path;
use tamis_quant::positions::Position;

/// Positions in memory, not yet read one by one.
pub enum Source {
    /// One from the command line.
    Fen(String),
    /// A file of them.
    File(PositionFile),
}

/// What is no text may be BulletFormat.
fn or_records(error: CliError) -> CliError {
    match error.status() {
        Status::Malformed => error.help("--fens takes lines of text; BulletFormat goes to --positions FILE"),
        _ => error,
    }
}

impl Source {
    /// Reads the file, if it is one; of records no more than a limit.
    ///
    /// # Errors
    /// [`CliError`] naming it, also if nothing is left to evaluate.
    pub fn read(args: &Positions, limit: Option<usize>) -> Result<Self, CliError> {
        if limit == Some(0) {
            return Err(CliError::usage("--limit 0: no positions are left").help("give a limit of 1 or more"));
        }
        match (&args.fen, &args.fens, &args.positions) {
            (Some(fen), ..) => Ok(Self::Fen(fen.clone())),
            (_, Some(path), _) => Ok(Self::File(PositionFile::read_lines(path).map_err(or_records)?)),
            (.., Some(path)) => Ok(Self::File(PositionFile::read(path, limit)?)),
            _ => Err(CliError::usage("the network takes positions").help("give --fen, --fens or --positions")),
        }
    }

    /// How many positions there are, counted up to a limit.
    pub fn count_at_most(&self, limit: usize) -> usize {
        match self {
            Self::Fen(_) => limit.min(1),
            Self::File(file) => file.count_at_most(limit),
        }
    }

    /// The positions.
    ///
    /// # Errors
    /// [`CliError`] if the file is no whole number of records.
    pub fn positions(&self) -> Result<PositionIter<'_>, CliError> {
        Ok(match self {
            Self::Fen(fen) => Box::new(std::iter::once(Position::from_line(fen).explain_at(Path::new("--fen")))),
            Self::File(file) => file.positions()?,
        })
    }
}
