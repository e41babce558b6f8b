//! Lines of a file, plain or gzip, as TensorFlow splits them: at `\n`, and every `\r` vanishes.

use super::MAX_LINE_LEN_BYTES;
use super::error::{BatchError, LineFault};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes that are read at once.
const BUFFER_LEN_BYTES: usize = 1 << 16;

/// Whether what is read next starts like gzip. Nothing of it is taken, and a read that a signal interrupts is made
/// again.
pub(super) fn is_gzip(reader: &mut impl BufRead) -> io::Result<bool> {
    loop {
        match reader.fill_buf() {
            Ok(bytes) => return Ok(bytes.starts_with(&[0x1F, 0x8B])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Refuses a folder, and a pipe or a device: every pass opens the file anew, and what one pass took of a pipe, the next
/// misses.
pub(super) fn check_regular(path: &Path) -> Result<(), BatchError> {
    let metadata = path.metadata().map_err(|error| BatchError::io(path, &error))?;
    let file = path.to_owned();
    match metadata.is_dir() {
        true => Err(BatchError::Directory { file }),
        false if metadata.is_file() => Ok(()),
        false => Err(BatchError::NotRegular { file }),
    }
}

/// A file of lines, from its first on.
pub(super) struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    /// Lines that were read.
    line: u64,
}

impl Lines {
    /// Opens a file, plain or gzip by its first bytes; `read_bytes` counts what is taken from the disk.
    pub fn open(path: &Path, read_bytes: Arc<AtomicU64>) -> Result<Self, BatchError> {
        let io = |error: io::Error| BatchError::io(path, &error);
        let file = File::open(path).map_err(io)?;
        if path.is_dir() {
            return Err(io(io::ErrorKind::IsADirectory.into()));
        }
        let counting = Counting { file, read_bytes };
        let mut raw = BufReader::with_capacity(BUFFER_LEN_BYTES, counting);
        let is_packed = is_gzip(&mut raw).map_err(io)?;
        let reader: Box<dyn BufRead + Send> = if is_packed {
            Box::new(BufReader::with_capacity(BUFFER_LEN_BYTES, MultiGzDecoder::new(raw)))
        } else {
            Box::new(raw)
        };
        Ok(Self::over(path, reader))
    }

    /// The lines of an open file, unpacked, from where it stands on.
    pub fn over(path: &Path, reader: Box<dyn BufRead + Send>) -> Self {
        Self { path: path.to_owned(), reader, line: 0 }
    }

    /// The next line into `text`, without its end; no at the end of the file.
    pub fn next(&mut self, text: &mut String) -> Result<bool, BatchError> {
        let Some(_) = self.next_raw(text)? else { return Ok(false) };
        Ok(true)
    }

    /// The same; gives the number of bytes that the line has in the unpacked file, its end among them.
    pub fn next_raw(&mut self, text: &mut String) -> Result<Option<u64>, BatchError> {
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.clear();
        // One byte more than a line with its end may have tells a long one.
        let most = MAX_LINE_LEN_BYTES as u64 + 2;
        let read = self.reader.by_ref().take(most).read_until(b'\n', &mut bytes);
        let len = read.map_err(|error| BatchError::io(&self.path, &error))?;
        if len == 0 {
            return Ok(None);
        }
        self.line += 1;
        *text = clean(bytes).map_err(|fault| BatchError::line(&self.path, self.line, fault))?;
        Ok(Some(len as u64))
    }

    /// Lines that were read.
    pub const fn count(&self) -> u64 {
        self.line
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The text of a line as it was read.
pub(super) fn clean(mut bytes: Vec<u8>) -> Result<String, LineFault> {
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    if bytes.len() > MAX_LINE_LEN_BYTES {
        return Err(LineFault::TooLong);
    }
    // Before the carriage returns go, so that the place is the file's.
    let mut text =
        String::from_utf8(bytes).map_err(|error| LineFault::NotUtf8 { byte: error.utf8_error().valid_up_to() })?;
    if text.as_bytes().contains(&b'\r') {
        text.retain(|c| c != '\r');
    }
    Ok(text)
}

/// A file that counts what is read of it.
struct Counting {
    file: File,
    read_bytes: Arc<AtomicU64>,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.file.read(buffer)?;
        self.read_bytes.fetch_add(len as u64, Relaxed);
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn lines(bytes: &[u8]) -> Result<Vec<String>, BatchError> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let (mut lines, mut text) = (Lines::open(file.path(), Arc::default())?, String::new());
        let mut all = Vec::new();
        while lines.next(&mut text)? {
            all.push(text.clone());
        }
        Ok(all)
    }

    #[test]
    fn lines_end_at_line_feeds_and_have_no_carriage_returns() {
        assert_eq!(lines(b"").unwrap(), [""; 0]);
        assert_eq!(lines(b"a\n\nb").unwrap(), ["a", "", "b"]);
        assert_eq!(lines(b"a\rb\r\r\nc\r").unwrap(), ["ab", "c"], "as TextLineDataset of TensorFlow 2.21 has them");
    }

    #[test]
    fn a_line_has_a_most() {
        let mut bytes = vec![b'x'; MAX_LINE_LEN_BYTES];
        bytes.extend_from_slice(b"\ny\n");
        assert_eq!(lines(&bytes).unwrap()[0].len(), MAX_LINE_LEN_BYTES);
        bytes.insert(0, b'x');
        let error = lines(&bytes).unwrap_err();
        assert!(matches!(error, BatchError::Line { line: 1, cause: LineFault::TooLong, .. }), "{error}");
    }

    #[test]
    fn what_is_no_text_is_named_by_its_byte() {
        let error = lines(b"good\nb\rd\xff\n").unwrap_err();
        assert!(error.to_string().ends_with("line 2: byte 3 of the line is not UTF-8"), "{error}");
    }
}
