//! The file system: descriptions, positions, and files written whole or not at all.

mod positions;
mod sample;
mod stream;
mod temporary;

pub use positions::{PositionFile, PositionIter};
pub use sample::sample_positions;
pub use stream::Pending;
use temporary::temporary;

use crate::cli::Target;
use crate::error::{CliError, Explain};
use crate::output;
use crate::status::Status;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use tamis_quant::arch::Architecture;
use tamis_quant::import;
use tamis_quant::import::importers::{MAX_NETWORK_LEN_BYTES, network_in_place};
use tamis_quant::positions::{PositionError, RECORD_LEN_BYTES};
use tamis_runtime::raw::MAGIC;

/// The name that means standard input or output.
const STREAM: &str = "-";

/// What is looked at of a file to tell what it is.
const START_LEN_BYTES: u64 = 4096;

const MIB: u64 = 1 << 20;
/// The longest description or gate file.
pub const MAX_TOML_LEN_BYTES: u64 = MIB;
/// The longest file of FENs.
pub const MAX_FENS_LEN_BYTES: u64 = 256 * MIB;
/// The longest reference.
pub const MAX_REFERENCE_LEN_BYTES: u64 = 1024 * MIB;

/// The longest part of a verification.
pub const MAX_PART_LEN_BYTES: u64 = 8192 * MIB;

/// Reads and checks an architecture description.
///
/// # Errors
/// [`CliError`] naming file and line.
pub fn read_arch(path: &Path) -> Result<Architecture, CliError> {
    let text = read_text(path, "the architecture description, TOML", MAX_TOML_LEN_BYTES)?;
    Architecture::from_toml(&text, &path.display().to_string()).explain()
}

/// Reads a text of at most `limit_bytes`, without a byte order mark; `-` is standard input.
///
/// # Errors
/// [`CliError`] naming the file, and saying what was expected if it is no text, or is too long.
pub fn read_text(path: &Path, expected: &str, limit_bytes: u64) -> Result<String, CliError> {
    let bytes = if path == Path::new(STREAM) {
        let mut bytes = Vec::new();
        let mut stdin = io::stdin().lock().take(limit_bytes + 1);
        stdin.read_to_end(&mut bytes).map_err(|error| CliError::io("read", path, &error))?;
        if bytes.len() as u64 > limit_bytes {
            return Err(too_long(path, "more", limit_bytes, expected));
        }
        bytes
    } else {
        read(path, expected, limit_bytes)?
    };
    refuse_foreign(path, &bytes, expected)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        if let Some(what) = network_in_place(error.as_bytes()) {
            return misplaced(path, what, expected);
        }
        let at = error.utf8_error().valid_up_to();
        let message =
            format!("{}: byte {at} is not UTF-8, so that the file is no text; expected {expected}", path.display());
        CliError::new(Status::Malformed, message).help("give the text file here, and the network where it belongs")
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Reads a whole file of at most `limit_bytes`; the length is looked at first.
///
/// # Errors
/// [`CliError`] naming the file, and what was expected if it is too long.
pub fn read(path: &Path, expected: &str, limit_bytes: u64) -> Result<Vec<u8>, CliError> {
    match path.metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() > limit_bytes => {
            Err(too_long(path, &metadata.len().to_string(), limit_bytes, expected))
        }
        Ok(_) => import::read_file_at_most(path, limit_bytes).explain(),
        Err(error) => Err(CliError::io("read", path, &error)),
    }
}

fn too_long(path: &Path, found: &str, limit_bytes: u64, expected: &str) -> CliError {
    let message = format!("{}: {found} bytes, at most {limit_bytes} are read; expected {expected}", path.display());
    CliError::new(Status::Unsupported, message).help("give a part of it, if it is the right file")
}

/// Refuses a file of another system, or a container, by its first bytes, where something else is read.
///
/// # Errors
/// [`CliError`] naming it, and how to make something of it that is read.
pub fn refuse_foreign(path: &Path, start: &[u8], expected: &str) -> Result<(), CliError> {
    if start.starts_with(&MAGIC) {
        return Err(misplaced(path, "a container", expected));
    }
    let Some(other) = import::foreign(start) else { return Ok(()) };
    let message = format!("{}: is {}, expected {expected}", path.display(), other.what);
    Err(CliError::new(Status::Unsupported, message).help(other.instead))
}

/// Refuses networks where examples, labels or other data are read: the forms that hold nothing else, and containers.
///
/// # Errors
/// [`CliError`] naming it, and where it belongs.
pub fn refuse_network(path: &Path, expected: &str) -> Result<(), CliError> {
    if path.is_dir() {
        return Ok(());
    }
    let (start, _) = import::read_file_start(path, START_LEN_BYTES).explain()?;
    network_in_place(&start).map_or(Ok(()), |what| Err(misplaced(path, what, expected)))
}

fn misplaced(path: &Path, what: &str, expected: &str) -> CliError {
    let message = format!("{}: is {what}, expected {expected}", path.display());
    CliError::new(Status::Unsupported, message).help("give the network where it belongs, and that file here")
}

/// Reads BulletFormat, the first `limit` records only if there is one.
///
/// # Errors
/// [`CliError`] naming the file, also if its length is no whole number of records.
pub fn read_records(path: &Path, limit: Option<usize>) -> Result<Vec<u8>, CliError> {
    let wanted = limit.map_or(u64::MAX, |limit| (limit as u64).saturating_mul(RECORD_LEN_BYTES as u64));
    let (bytes, len) = import::read_file_start(path, wanted).explain().map_err(|error| match error.status() {
        Status::Unsupported => error.help("--limit N reads the first N positions only"),
        _ => error,
    })?;
    if !len.is_multiple_of(RECORD_LEN_BYTES as u64) {
        let len_bytes = usize::try_from(len).unwrap_or(usize::MAX);
        return Err(PositionError::PartialRecord { len_bytes }).explain_at(path);
    }
    Ok(bytes)
}

/// Whether a file starts like a container; no if it cannot be read.
pub fn is_container(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    path.is_file() && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
}

/// A place to write to that has been found free, or may be overwritten.
#[derive(Debug)]
pub struct Sink {
    path: PathBuf,
    force: bool,
}

impl Sink {
    /// Looks at the target before any work is done.
    ///
    /// # Errors
    /// [`CliError`] if it exists and may not, or must not, be overwritten; an input never may.
    pub fn check(target: &Target, inputs: &[&Path]) -> Result<Self, CliError> {
        Self::check_path(&target.out, target.force, inputs)
    }

    /// The same for any path.
    ///
    /// # Errors
    /// As [`Sink::check`].
    pub fn check_path(path: &Path, force: bool, inputs: &[&Path]) -> Result<Self, CliError> {
        if path == Path::new(STREAM) {
            return Ok(Self { path: path.to_owned(), force });
        }
        // A link's target is what is written, not the link.
        let resolved = match path.canonicalize() {
            Ok(resolved) => resolved,
            // Not there yet; links in a circle are another matter.
            Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(CliError::io("write", path, &error)),
        };
        if inputs.iter().any(|input| is_or_holds(input, &resolved)) {
            return Err(CliError::usage(format!("{}: is an input and cannot be the output", path.display()))
                .help("write to another file; --force does not overwrite what is read"));
        }
        match resolved.metadata() {
            Ok(metadata) if !metadata.is_file() => {
                return Err(CliError::usage(format!("{}: exists and is not a file", path.display()))
                    .help("name a file; `-o -` writes to standard output"));
            }
            Ok(_) if !force => return Err(exists(path)),
            Ok(_) => {}
            // Nothing is computed for a file that has no place.
            Err(_) => {
                folder_of(&resolved).metadata().map_err(|error| CliError::io("write", path, &error))?;
            }
        }
        Ok(Self { path: resolved, force })
    }

    /// Writes the whole file, or nothing: into a temporary file beside it, which then takes its name.
    ///
    /// # Errors
    /// [`CliError`] naming the file.
    pub fn write(self, bytes: &[u8]) -> Result<(), CliError> {
        if self.path == Path::new(STREAM) {
            if io::stdout().is_terminal() {
                return Err(CliError::usage("standard output is a terminal, the file is binary")
                    .help("redirect it, or write to a file with -o OUT"));
            }
            return output::bytes_to_stdout(bytes);
        }
        let io = |error: io::Error| CliError::io("write", &self.path, &error);
        let folder = folder_of(&self.path);
        // Asked first: the system's own words, and about the folder that the user named.
        folder.metadata().map_err(io)?;
        // The library's message names the temporary file, which means nothing to the user.
        let mut file = temporary(folder).map_err(|error| io(error.kind().into()))?;
        self.keep_mode(file.as_file())?;
        file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(io)?;
        let kept = if self.force { file.persist(&self.path) } else { file.persist_noclobber(&self.path) };
        match kept {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Err(exists(&self.path)),
            Err(error) => Err(io(error.error)),
        }
    }
}

impl Sink {
    /// A file that is overwritten keeps who may read it.
    fn keep_mode(&self, file: &File) -> Result<(), CliError> {
        match self.path.metadata().ok().filter(|_| self.force) {
            Some(before) => {
                file.set_permissions(before.permissions()).map_err(|error| CliError::io("write", &self.path, &error))
            }
            None => Ok(()),
        }
    }
}

/// The folder that a file lies in, or will.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Whether both are one file, or will be.
pub fn is_one_file(one: &Path, other: &Path) -> bool {
    // What is there may have several names; what is not has that in its folder.
    let whole = |path: &Path| {
        let whole = path.canonicalize().or_else(|_| {
            folder_of(path).canonicalize().map(|folder| match path.file_name() {
                Some(name) => folder.join(name),
                None => folder,
            })
        });
        whole.unwrap_or_else(|_| path.to_owned())
    };
    whole(one) == whole(other)
}

/// Refuses a second output that is the first one.
///
/// # Errors
/// [`CliError`] naming it.
pub fn refuse_one_file(one: &Path, other: &Path, what: &str) -> Result<(), CliError> {
    if is_one_file(one, other) {
        let other = other.display();
        return Err(CliError::usage(format!("{other}: is {what} too")).help("give each a name of its own"));
    }
    Ok(())
}

/// Whether an input is this file, or this file is read with it: a checkpoint's in its folder, a matrix of Angel's, or
/// data of a model that names it.
fn is_or_holds(input: &Path, file: &Path) -> bool {
    let is = |input: &Path| input.canonicalize().is_ok_and(|input| input == file);
    is(input)
        || import::IN_DIRECTORY.iter().any(|name| is(&input.join(name)))
        || input.canonicalize().is_ok_and(|folder| import::angel::is_of_model(&folder, file))
        || names(input, file)
}

/// Whether an ONNX model in the folder of a file, or above it, says its name, as one does that has external data.
fn names(model: &Path, file: &Path) -> bool {
    let near = model.canonicalize().is_ok_and(|model| {
        model.is_file() && model.parent().is_some_and(|folder| file.starts_with(folder)) && file.is_file()
    });
    let Some(name) = file.file_name().filter(|_| near) else { return false };
    let Ok((start, _)) = import::read_file_start(model, START_LEN_BYTES) else { return false };
    import::onnx::is_onnx(&start)
        && import::read_file_at_most(model, MAX_NETWORK_LEN_BYTES).is_ok_and(|bytes| {
            let name = name.as_encoded_bytes();
            bytes.windows(name.len()).any(|window| window == name)
        })
}

fn exists(path: &Path) -> CliError {
    CliError::usage(format!("{}: exists already", path.display())).help("--force overwrites it")
}

#[cfg(test)]
mod tests;
