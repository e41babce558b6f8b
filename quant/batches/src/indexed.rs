//! Lines by their number: where every so many lines start is noted, the rest is counted from there.

use super::error::BatchError;
use super::lines::{Lines, clean, is_gzip};
use super::{MAX_LINE_LEN_BYTES, MAX_LINES};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A file whose lines are found by their number.
pub(super) struct Indexed {
    pub path: PathBuf,
    /// Plain; what was packed was unpacked into a temporary file.
    reader: BufReader<File>,
    pub lines: u64,
    /// Lines between two marks.
    stride: u64,
    /// Where line `mark · stride` starts.
    marks: Vec<u64>,
    /// The line at which the reader stands.
    at: u64,
}

impl Indexed {
    /// The most marks: memory does not grow with the file, the way from a mark to a line does.
    const MAX_MARKS: usize = 1 << 17;
    /// Bytes that are read at once: some lines around one that is wanted.
    const BUFFER_LEN_BYTES: usize = 1 << 12;

    /// Reads the file once, to count and mark its lines.
    pub fn open(path: &Path) -> Result<Self, BatchError> {
        let io = |error: io::Error| BatchError::io(path, &error);
        let file = plain(path).map_err(io)?;
        let mut lines = Lines::over(path, Box::new(BufReader::with_capacity(1 << 16, file.try_clone().map_err(io)?)));
        let (mut marks, mut stride, mut offset_bytes) = (Vec::new(), 1u64, 0);
        let mut text = String::new();
        loop {
            let start = offset_bytes;
            let Some(len) = lines.next_raw(&mut text)? else { break };
            offset_bytes += len;
            let index = lines.count() - 1;
            if index >= MAX_LINES {
                return Err(BatchError::TooManyLines { file: path.to_owned() });
            }
            if index.is_multiple_of(stride) {
                marks.push(start);
            }
            if marks.len() == Self::MAX_MARKS {
                let mut place = 0;
                marks.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
                stride *= 2;
            }
        }
        let lines = lines.count();
        let reader = BufReader::with_capacity(Self::BUFFER_LEN_BYTES, file);
        // No line stands where the reader is, so that the first read goes to a mark.
        Ok(Self { path: path.to_owned(), reader, lines, stride, marks, at: u64::MAX })
    }

    /// Reads line `line`, from 0.
    pub fn read(&mut self, line: u64, text: &mut String) -> Result<(), BatchError> {
        let changed = || BatchError::Changed { file: self.path.clone(), line: line + 1 };
        let mark = line / self.stride;
        if self.at > line || self.at < mark * self.stride {
            let offset_bytes = *usize::try_from(mark).ok().and_then(|mark| self.marks.get(mark)).ok_or_else(changed)?;
            self.reader.seek(SeekFrom::Start(offset_bytes)).map_err(|error| BatchError::io(&self.path, &error))?;
            self.at = mark * self.stride;
        }
        let io = |error: io::Error| BatchError::io(&self.path, &error);
        while self.at < line {
            self.reader.skip_until(b'\n').map_err(io)?;
            self.at += 1;
        }
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.clear();
        let most = MAX_LINE_LEN_BYTES as u64 + 2;
        let len = self.reader.by_ref().take(most).read_until(b'\n', &mut bytes).map_err(io)?;
        self.at += 1;
        if len == 0 {
            return Err(changed());
        }
        *text = clean(bytes).map_err(|fault| BatchError::line(&self.path, line + 1, fault))?;
        Ok(())
    }
}

/// A file that can be sought in: the file itself, or what it holds if it is a gzip.
fn plain(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    let mut reader = BufReader::new(file);
    if !is_gzip(&mut reader)? {
        let mut file = reader.into_inner();
        file.rewind()?;
        return Ok(file);
    }
    let mut unpacked = tempfile::tempfile()?;
    io::copy(&mut MultiGzDecoder::new(reader), &mut unpacked)?;
    unpacked.rewind()?;
    Ok(unpacked)
}
