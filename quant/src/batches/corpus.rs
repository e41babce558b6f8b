//! Parallel files as lines with the same number, from the first to the last, or in the order of a shuffle.

use super::error::BatchError;
use super::lines::{Lines, clean};
use super::options::{Files, Options, Shuffle};
use super::order::Order;
use super::{MAX_LINE_LEN_BYTES, MAX_LINES};
use crate::import::tensors::is_gzip;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The lines of one number.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// From 0.
    pub line: u32,
    pub source: String,
    pub target: String,
    pub alignment: String,
}

/// A corpus that is being read.
pub(super) struct Corpus {
    /// Source, target, and alignments if there are.
    paths: Vec<PathBuf>,
    truncate: bool,
    reading: Reading,
}

enum Reading {
    /// Forwards; the files are opened again for each epoch.
    Forwards { files: Vec<Lines>, read_bytes: Arc<AtomicU64>, total_bytes: u64 },
    /// By number.
    Shuffled { files: Vec<Indexed>, order: Order, taken: u64 },
}

impl Corpus {
    /// Opens the files; for a shuffle reads them once, to count their lines and find them again.
    pub fn open(files: &Files, options: &Options) -> Result<Self, BatchError> {
        let mut paths = vec![files.source.clone(), files.target.clone()];
        paths.extend(files.alignments.clone());
        let truncate = options.truncate;
        if options.shuffle == Shuffle::None {
            // What cannot be read is found before anything else is done.
            for path in &paths {
                Lines::open(path, Arc::default())?;
            }
            let total_bytes = files.source.metadata().map_or(0, |metadata| metadata.len());
            let reading = Reading::Forwards { files: Vec::new(), read_bytes: Arc::default(), total_bytes };
            return Ok(Self { paths, truncate, reading });
        }
        let files = paths.iter().map(|path| Indexed::open(path)).collect::<Result<Vec<_>, _>>()?;
        let (Some(short), Some(long)) =
            (files.iter().min_by_key(|file| file.lines), files.iter().max_by_key(|file| file.lines))
        else {
            return Err(BatchError::Lost);
        };
        if short.lines < long.lines && !truncate {
            return Err(BatchError::Unequal { short: short.path.clone(), lines: short.lines, long: long.path.clone() });
        }
        if short.lines == 0 {
            return Err(BatchError::Empty { file: short.path.clone() });
        }
        let order = Order::new(short.lines as u32, options.shuffle, options.seed, options.compat);
        Ok(Self { paths, truncate, reading: Reading::Shuffled { files, order, taken: 0 } })
    }

    /// Begins an epoch.
    pub fn start(&mut self) -> Result<(), BatchError> {
        match &mut self.reading {
            Reading::Forwards { files, read_bytes, .. } => {
                files.clear();
                for (place, path) in self.paths.iter().enumerate() {
                    // The source's bytes are the measure of progress.
                    let counter = if place == 0 { Arc::clone(read_bytes) } else { Arc::default() };
                    files.push(Lines::open(path, counter)?);
                }
            }
            Reading::Shuffled { order, .. } => order.start(),
        }
        Ok(())
    }

    /// What is done, and what one epoch takes, in the same unit.
    pub fn progress(&self) -> (u64, u64) {
        match &self.reading {
            Reading::Forwards { read_bytes, total_bytes, .. } => (read_bytes.load(Relaxed), *total_bytes),
            Reading::Shuffled { order, taken, .. } => (*taken, order.epoch_len()),
        }
    }

    /// The next lines of an epoch; no at its end.
    pub fn next(&mut self, texts: &mut Texts) -> Result<bool, BatchError> {
        let fields = [&mut texts.source, &mut texts.target, &mut texts.alignment];
        match &mut self.reading {
            Reading::Forwards { files, .. } => {
                let mut there = [true; 3];
                for ((file, text), there) in files.iter_mut().zip(fields).zip(&mut there) {
                    *there = file.next(text)?;
                }
                let there = there.get(..files.len()).unwrap_or_default();
                let (Some(ended), more) =
                    (there.iter().position(|there| !there), there.iter().position(|there| *there))
                else {
                    // All have the line.
                    let line = files.first().map_or(0, Lines::count);
                    if line > MAX_LINES {
                        return Err(BatchError::TooManyLines { file: self.paths[0].clone() });
                    }
                    texts.line = (line - 1) as u32;
                    return Ok(true);
                };
                let short = &files[ended];
                match more {
                    Some(more) if !self.truncate => Err(BatchError::Unequal {
                        short: short.path().to_owned(),
                        lines: short.count(),
                        long: files[more].path().to_owned(),
                    }),
                    _ if short.count() == 0 => Err(BatchError::Empty { file: short.path().to_owned() }),
                    _ => Ok(false),
                }
            }
            Reading::Shuffled { files, order, taken } => {
                let Some(line) = order.next() else { return Ok(false) };
                for (file, text) in files.iter_mut().zip(fields) {
                    file.read(line.into(), text)?;
                }
                texts.line = line;
                *taken += 1;
                Ok(true)
            }
        }
    }
}

/// A file whose lines are found by their number: where every so many lines start is noted, the rest is counted from there.
struct Indexed {
    path: PathBuf,
    /// Plain; what was packed was unpacked into a temporary file.
    reader: BufReader<File>,
    lines: u64,
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

    fn open(path: &Path) -> Result<Self, BatchError> {
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
    fn read(&mut self, line: u64, text: &mut String) -> Result<(), BatchError> {
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
    if !is_gzip(reader.fill_buf()?) {
        let mut file = reader.into_inner();
        file.rewind()?;
        return Ok(file);
    }
    let mut unpacked = tempfile::tempfile()?;
    io::copy(&mut MultiGzDecoder::new(reader), &mut unpacked)?;
    unpacked.rewind()?;
    Ok(unpacked)
}
