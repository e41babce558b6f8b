//! What a container of bullet's layers is held against.

use super::{Held, read_positions, read_reference};
use crate::cli::Verify;
use crate::commands::eval::lists;
use crate::error::{CliError, Explain};
use crate::files;
use crate::network::refuse_beside_layers;
use std::path::{Path, PathBuf};
use tamis_quant::float::Example;
use tamis_quant::import::{Checkpoint, read_checkpoint};
use tamis_quant::positions::Position;
use tamis_quant::verify::{Case, Reference, Truth, VerifyError};
use tamis_runtime::format::Model;

/// A checkpoint, a reference, or both.
struct Described {
    model: PathBuf,
    checkpoint: Option<(PathBuf, Checkpoint)>,
    reference: Option<Reference>,
    positions: Vec<Position>,
    /// Of a network over features that only the caller understands.
    lists: Vec<Example>,
}

/// Reads them.
///
/// # Errors
/// [`CliError`] naming the file, and arguments that layers have no use for.
pub fn read(args: &Verify, _: &Model<'_>) -> Result<Box<dyn Held>, CliError> {
    if let Some(inputs) = &args.inputs {
        let message = format!("{}: examples are for graphs, and the container holds layers", inputs.display());
        return Err(CliError::usage(message).help("give --positions, or a --reference with inputs of its own"));
    }
    refuse_beside_layers(&args.network)?;
    let arch = args.network.arch.as_deref().map(Path::new);
    let checkpoint = match (&args.truth.checkpoint, arch) {
        (Some(path), Some(arch)) => Some((path.clone(), read_described(path, arch)?)),
        (Some(path), None) => {
            let message = format!("{}: a checkpoint of layers needs its description", path.display());
            return Err(CliError::usage(message).help("add --arch A.toml"));
        }
        (None, Some(arch)) => {
            let message = format!("{}: describes a checkpoint, and none is given", arch.display());
            return Err(CliError::usage(message).help("add --checkpoint C"));
        }
        (None, None) => None,
    };
    let limit = args.limit.unwrap_or(usize::MAX);
    let reference = args.truth.reference.as_deref().map(|path| read_reference(path, limit)).transpose()?;
    let positions = args.positions.as_deref().map_or(Ok(Vec::new()), |path| read_positions(path, args.limit))?;
    let lists = match (&args.feature_lists, &checkpoint) {
        (Some(path), Some((_, checkpoint))) => lists::read(path, &checkpoint.net.arch, args.limit)?,
        _ => Vec::new(),
    };
    let lists = lists.into_iter().map(|line| line.example).collect();
    Ok(Box::new(Described { model: args.model.clone(), checkpoint, reference, positions, lists }))
}

fn read_described(path: &Path, arch: &Path) -> Result<Checkpoint, CliError> {
    let arch = files::read_arch(arch)?;
    if files::is_container(path) {
        return Err(CliError::usage(format!(
            "{}: is a container; --checkpoint takes what it was made from",
            path.display()
        ))
        .help("give the checkpoint's folder, weights.bin or raw.bin"));
    }
    read_checkpoint(path, &arch).explain()
}

impl Held for Described {
    fn case<'a>(&'a self, model: Model<'a>) -> Result<Case<'a>, VerifyError> {
        let checkpoint = self.checkpoint.as_ref();
        let mut case = match checkpoint {
            Some((_, checkpoint)) if !self.lists.is_empty() => Case::of_features(model, checkpoint, &self.lists)?,
            _ => Case::of_layers(
                model,
                &Truth {
                    checkpoint: checkpoint.map(|(_, checkpoint)| checkpoint),
                    reference: self.reference.as_ref(),
                    positions: &self.positions,
                },
            )?,
        };
        case.truth.checkpoint = checkpoint.map(|(path, _)| path.display().to_string());
        Ok(case)
    }

    fn file(&self) -> &Path {
        &self.model
    }
}
