//! A file that is longer than memory: written piece by piece, and still whole or not at all.

use super::temporary::temporary;
use super::{STREAM, Sink, exists, folder_of};
use crate::error::CliError;
use crate::output;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Seek, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Bytes that are written at once.
const BUFFER_LEN_BYTES: usize = 1 << 17;

/// A file that is being written, under another name until it is whole.
#[derive(Debug)]
pub struct Pending {
    sink: Sink,
    writer: BufWriter<NamedTempFile>,
}

impl Sink {
    /// Begins the file; nothing takes its name before [`Pending::keep`].
    ///
    /// # Errors
    /// [`CliError`] naming the file.
    pub fn begin(self) -> Result<Pending, CliError> {
        let is_stream = self.path == Path::new(STREAM);
        if is_stream && io::stdout().is_terminal() {
            return Err(CliError::usage("standard output is a terminal, the file is long")
                .help("redirect it, or write to a file with -o OUT"));
        }
        let system = std::env::temp_dir();
        let folder = if is_stream { &system } else { folder_of(&self.path) };
        let file = temporary(folder).map_err(|error| CliError::io("write", &self.path, &error.kind().into()))?;
        Ok(Pending { sink: self, writer: BufWriter::with_capacity(BUFFER_LEN_BYTES, file) })
    }
}

impl Pending {
    /// Where the file will be.
    pub fn path(&self) -> &Path {
        &self.sink.path
    }

    /// What takes its bytes.
    pub const fn writer(&mut self) -> &mut impl Write {
        &mut self.writer
    }

    /// Whether the bytes go to standard output.
    pub fn is_stream(&self) -> bool {
        self.sink.path == Path::new(STREAM)
    }

    /// Hands all bytes to the system, so that a full disk is known before any name is taken.
    ///
    /// # Errors
    /// [`CliError`] naming the file.
    pub fn flush(&mut self) -> Result<(), CliError> {
        self.writer.flush().map_err(|error| self.refused(error))
    }

    /// A file without a name beside this one, for what can only be put behind something that is known later.
    ///
    /// # Errors
    /// [`CliError`] naming the file.
    pub fn spool(&self) -> Result<BufWriter<File>, CliError> {
        let folder = self.writer.get_ref().path().parent().unwrap_or(Path::new("."));
        let file = tempfile::tempfile_in(folder).map_err(|error| self.refused(error.kind().into()))?;
        Ok(BufWriter::with_capacity(BUFFER_LEN_BYTES, file))
    }

    /// Appends a spool.
    ///
    /// # Errors
    /// [`CliError`] naming the file.
    pub fn append(&mut self, spool: BufWriter<File>) -> Result<(), CliError> {
        let copy = || -> io::Result<()> {
            let mut spool = spool.into_inner().map_err(io::IntoInnerError::into_error)?;
            spool.rewind()?;
            self.writer.flush()?;
            // Between two files the system copies by itself.
            io::copy(&mut spool, self.writer.get_mut().as_file_mut()).map(drop)
        };
        copy().map_err(|error| self.refused(error))
    }

    /// Gives the file its name, or writes it to standard output; returns its length.
    ///
    /// # Errors
    /// [`CliError`] naming the file.
    pub fn keep(self) -> Result<u64, CliError> {
        let Self { sink, writer } = self;
        let file = writer.get_ref().as_file();
        if sink.path != Path::new(STREAM) {
            sink.keep_mode(file)?;
        }
        let Sink { path, force } = sink;
        let refused = |error: io::Error| CliError::io("write", &path, &error);
        let mut file = writer.into_inner().map_err(|error| refused(error.into_error()))?;
        let len_bytes = file.as_file().metadata().map_err(refused)?.len();
        if path == Path::new(STREAM) {
            output::refuse_closed_stdout()?;
            file.rewind().map_err(refused)?;
            return match io::copy(file.as_file_mut(), &mut io::stdout().lock()) {
                Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(refused(error)),
                _ => Ok(len_bytes),
            };
        }
        file.as_file().sync_all().map_err(refused)?;
        let kept = if force { file.persist(&path) } else { file.persist_noclobber(&path) };
        match kept {
            Ok(_) => Ok(len_bytes),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Err(exists(&path)),
            Err(error) => Err(refused(error.error)),
        }
    }

    /// The file system's refusal of a write.
    pub fn refused(&self, error: io::Error) -> CliError {
        CliError::io("write", &self.sink.path, &error)
    }
}
