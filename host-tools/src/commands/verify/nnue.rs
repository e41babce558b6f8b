//! What a container of the Stockfish family is held against: the file that it was made from, if one is given, and the
//! family's own arithmetic.

use super::{Held, read_positions};
use crate::cli::Verify;
use crate::error::CliError;
use crate::files;
use crate::network::refuse_options;
use crate::nnue::{NnueFile, refuse};
use std::path::{Path, PathBuf};
use tamis_quant::positions::Position;
use tamis_quant::verify::{Case, VerifyError};
use tamis_runtime::format::Model;

/// Positions, and perhaps a file.
struct Nnue {
    model: PathBuf,
    file: Option<(PathBuf, NnueFile)>,
    positions: Vec<Position>,
}

/// Reads them.
///
/// # Errors
/// [`CliError`] naming the file, and arguments that the family has no use for.
pub fn read(args: &Verify, _: &Model<'_>) -> Result<Box<dyn Held>, CliError> {
    refuse(args.network.arch.is_some(), "--arch", &args.model)?;
    refuse_options(&args.network, &[], "a network of the Stockfish family leaves nothing open")?;
    refuse(args.inputs.is_some(), "--inputs", &args.model)?;
    refuse(args.feature_lists.is_some(), "--feature-lists", &args.model)?;
    refuse(args.truth.reference.is_some(), "--reference", &args.model)?;
    let file = match &args.truth.checkpoint {
        Some(path) if path.is_file() && files::is_container(path) => {
            return Err(CliError::usage(format!("{}: is a container", path.display()))
                .help("--checkpoint takes the .nnue file that it was made from, or leave it out"));
        }
        Some(path) => Some((path.clone(), NnueFile::read(path, args.divide.rule)?)),
        None => None,
    };
    let Some(path) = &args.positions else {
        let message = format!("{}: nothing to run the network on", args.model.display());
        return Err(CliError::usage(message).help("give --positions FILE.bf"));
    };
    Ok(Box::new(Nnue { model: args.model.clone(), file, positions: read_positions(path, args.limit)? }))
}

impl Held for Nnue {
    fn case<'a>(&'a self, model: Model<'a>) -> Result<Case<'a>, VerifyError> {
        let file = self.file.as_ref();
        let mut case = Case::of_nnue(model, &self.positions, file.map(|(_, file)| file.bytes.as_slice()))?;
        case.truth.checkpoint = file.map(|(path, _)| path.display().to_string());
        Ok(case)
    }

    fn file(&self) -> &Path {
        &self.model
    }
}
