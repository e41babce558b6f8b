//! The file system: models into aligned memory, descriptions, and files written whole or not at all.
//!
//! Models are read, not mapped: a mapped file can change after its checksum was checked, and a network is small.

use crate::cli::Target;
use crate::error::{CliError, Explain};
use crate::output;
use crate::status::Status;
use std::fs::{self, File};
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use tamis_quant::arch::Architecture;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::{Header, MAGIC, Model, ParseError};

/// The name that means standard input or output.
const STREAM: &str = "-";

/// Reads and checks an architecture description.
///
/// # Errors
/// [`CliError`] naming file and line.
pub fn read_arch(path: &Path) -> Result<Architecture, CliError> {
    let text = read_text(path, "the architecture description, TOML")?;
    Architecture::from_toml(&text, &path.display().to_string()).explain()
}

/// Reads a text; `-` is standard input.
///
/// # Errors
/// [`CliError`] naming the file, and saying what was expected if it is no text.
pub fn read_text(path: &Path, expected: &str) -> Result<String, CliError> {
    let bytes = if path == Path::new(STREAM) {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(|error| CliError::io("read", path, &error))?;
        bytes
    } else {
        read(path)?
    };
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message =
            format!("{}: byte {at} is not UTF-8, so that the file is no text; expected {expected}", path.display());
        CliError::new(Status::Malformed, message).help("give the text file here, and the network where it belongs")
    })
}

/// Reads a whole file of bounded length.
///
/// # Errors
/// [`CliError`] naming the file.
pub fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    tamis_quant::import::read_file(path).explain()
}

/// Whether a file starts like a container; no if it cannot be read.
pub fn is_container(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    path.is_file() && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
}

/// A container in memory.
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    bytes: AlignedBytes,
}

impl ModelFile {
    /// Reads a container. What is none is refused on its first bytes, before memory is taken for the rest.
    ///
    /// # Errors
    /// [`CliError`] naming the file.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let io = |error: io::Error| CliError::io("read", path, &error);
        let metadata = path.metadata().map_err(io)?;
        if !metadata.is_file() {
            return Err(CliError::usage(format!("{}: is not a file", path.display()))
                .help("give the container itself; a checkpoint's folder goes to `host-tools quantise`"));
        }
        let mut file = File::open(path).map_err(io)?;
        let mut start = Vec::with_capacity(size_of::<Header>());
        Read::by_ref(&mut file).take(size_of::<Header>() as u64).read_to_end(&mut start).map_err(io)?;
        let len = check_start(&start, metadata.len()).explain_at(path)?;
        let mut bytes = AlignedBytes::zeroed(len);
        let (head, rest) = bytes.as_mut().split_at_mut(start.len().min(len));
        head.copy_from_slice(start.get(..head.len()).unwrap_or_default());
        file.read_exact(rest).map_err(io)?;
        Ok(Self { path: path.to_owned(), bytes })
    }

    /// The model in it, checked.
    ///
    /// # Errors
    /// [`CliError`] naming the file and what is wrong with it.
    pub fn model(&self) -> Result<Model<'_>, CliError> {
        Model::parse(self.bytes.as_ref()).explain_at(&self.path)
    }
}

/// The length of a container by its first bytes, which must be that of the file.
fn check_start(start: &[u8], file_len: u64) -> Result<usize, ParseError> {
    const LEN_OFFSET_BYTES: usize = 20;
    let found = usize::try_from(file_len).unwrap_or(usize::MAX);
    match start.first_chunk::<8>() {
        Some(magic) if *magic != MAGIC => return Err(ParseError::NotAContainer { found: *magic }),
        Some(_) if start.len() == size_of::<Header>() => {}
        _ => return Err(ParseError::TooShort { found, expected: 2 * size_of::<Header>() }),
    }
    let len = start.get(LEN_OFFSET_BYTES..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_le_bytes(*bytes));
    if u64::from(len) != file_len {
        return Err(ParseError::Length { found, expected: len as usize });
    }
    Ok(found)
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
    /// [`CliError`] if it exists and may not, or must not, be overwritten.
    pub fn check(target: &Target) -> Result<Self, CliError> {
        Self::check_path(&target.out, target.force)
    }

    /// The same for any path.
    ///
    /// # Errors
    /// As [`Sink::check`].
    pub fn check_path(path: &Path, force: bool) -> Result<Self, CliError> {
        if path == Path::new(STREAM) {
            return Ok(Self { path: path.to_owned(), force });
        }
        // A link's target is what is written, not the link.
        let resolved = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        match resolved.metadata() {
            Ok(metadata) if !metadata.is_file() => {
                return Err(CliError::usage(format!("{}: exists and is not a file", path.display()))
                    .help("name a file; `-o -` writes to standard output"));
            }
            Ok(_) if !force => return Err(exists(path)),
            _ => {}
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
        let folder = match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut file = temporary(folder).map_err(io)?;
        file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(io)?;
        let kept = if self.force { file.persist(&self.path) } else { file.persist_noclobber(&self.path) };
        match kept {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Err(exists(&self.path)),
            Err(error) => Err(io(error.error)),
        }
    }
}

fn exists(path: &Path) -> CliError {
    CliError::usage(format!("{}: exists already", path.display())).help("--force overwrites it")
}

/// A temporary file that ends up with the permissions of any new file.
fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".host-tools-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests;
