//! `.nnue` files of the Stockfish family, which hold integers already: read, and made into containers.

use crate::divide::DivideReport;
use crate::error::{CliError, Explain};
use crate::files;
use crate::status::Status;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use tamis_quant::import::fnv1a_64;
use tamis_quant::import::importers::{NNUE_FILE, network_in_place};
use tamis_quant::pack::{NNUE_SOURCE, Provenance};
use tamis_quant::stockfish::{self, Division, Net};

/// The longest file: the largest networks of the family have some 140 million bytes.
const MAX_LEN_BYTES: u64 = 1 << 30;

/// A file, and what it says.
#[derive(Debug)]
pub struct NnueFile {
    pub net: Net,
    pub bytes: Vec<u8>,
    pub divide: DivideReport,
}

impl NnueFile {
    /// Reads a file, whose network divides as it tells, or as the option says.
    ///
    /// # Errors
    /// [`CliError`] naming it, and what the file system or the family's rules refuse.
    pub fn read(path: &Path, divide: Option<Division>) -> Result<Self, CliError> {
        let bytes = files::read(path, "a .nnue file of the Stockfish family", MAX_LEN_BYTES)?;
        let mut net = stockfish::read(&bytes).explain_at(path)?;
        let divide = DivideReport::of_file(&mut net, &bytes, divide);
        Ok(Self { net, bytes, divide })
    }

    /// Where a container of it comes from.
    pub fn provenance(&self) -> Provenance {
        Provenance { source: NNUE_SOURCE.to_owned(), source_hash: fnv1a_64(&self.bytes) }
    }
}

/// Whether a file starts as one of the family does; no if it cannot be read.
pub fn is_nnue(path: &Path) -> bool {
    let mut start = [0; 4];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && network_in_place(&start) == Some(NNUE_FILE)
}

/// Refuses a `.nnue` file where a container is read.
///
/// # Errors
/// [`CliError`] if it is one.
pub fn refuse_for_container(path: &Path) -> Result<(), CliError> {
    refuse_file(path, ", expected a container", "")
}

/// Refuses a `.nnue` file where a checkpoint in full precision is read.
///
/// # Errors
/// [`CliError`] if it is one.
pub fn refuse_for_checkpoint(path: &Path) -> Result<(), CliError> {
    refuse_file(path, ", which holds integers already", "; `host-tools eval` takes positions for it")
}

fn refuse_file(path: &Path, why: &str, or: &str) -> Result<(), CliError> {
    if !is_nnue(path) {
        return Ok(());
    }
    let shown = path.display();
    Err(CliError::new(Status::Unsupported, format!("{shown}: is a .nnue file{why}"))
        .help(format!("make a container of it: `host-tools pack {shown} -o OUT`{or}")))
}

/// Refuses an option that only other networks have a use for.
///
/// # Errors
/// [`CliError`] if it was given.
pub fn refuse(is_given: bool, option: &str, path: &Path) -> Result<(), CliError> {
    if is_given {
        let message =
            format!("{option}: {} is a network of the Stockfish family, which has no use for it", path.display());
        return Err(CliError::usage(message).help("leave it out; the file says all that there is to know"));
    }
    Ok(())
}
