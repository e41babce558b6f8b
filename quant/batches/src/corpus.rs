//! Parallel files as lines with the same number, from the first to the last, or in the order of a shuffle.

use super::MAX_LINES;
use super::error::BatchError;
use super::indexed::Indexed;
use super::lines::{Lines, check_regular};
use super::options::{Files, Options, Shuffle};
use super::order::Order;
use std::path::PathBuf;
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
    /// By shards, whose lines are read one after the other and wait in the buffer.
    Shards { files: Vec<Indexed>, order: Order<Waiting>, taken: u64 },
    /// By number, each read when it is drawn: what waits are numbers, since all of them do.
    Whole { files: Vec<Indexed>, order: Order, taken: u64 },
}

/// The lines of one number, all behind one another.
struct Waiting {
    line: u32,
    /// Where the source and the target end.
    ends: [usize; 2],
    text: Box<str>,
}

impl Waiting {
    fn of(texts: &Texts) -> Self {
        let Texts { line, source, target, alignment } = texts;
        let ends = [source.len(), source.len() + target.len()];
        Self { line: *line, ends, text: [source.as_str(), target, alignment].concat().into() }
    }

    fn put(&self, texts: &mut Texts) {
        let [source, target] = self.ends;
        texts.line = self.line;
        let parts = [(&mut texts.source, 0..source), (&mut texts.target, source..target)];
        for (text, part) in parts.into_iter().chain([(&mut texts.alignment, target..self.text.len())]) {
            text.clear();
            text.push_str(&self.text[part]);
        }
    }
}

/// Reads the lines of a number.
fn read(files: &mut [Indexed], line: u32, texts: &mut Texts) -> Result<(), BatchError> {
    texts.line = line;
    let fields = [&mut texts.source, &mut texts.target, &mut texts.alignment];
    files.iter_mut().zip(fields).try_for_each(|(file, text)| file.read(line.into(), text))
}

impl Corpus {
    /// Opens the files; for a shuffle reads them once, to count their lines and find them again.
    pub fn open(files: &Files, options: &Options) -> Result<Self, BatchError> {
        let mut paths = vec![files.source.clone(), files.target.clone()];
        paths.extend(files.alignments.clone());
        paths.iter().try_for_each(|path| check_regular(path))?;
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
        let total = short.lines as u32;
        let &Options { shuffle, seed, compat, .. } = options;
        let reading = match shuffle {
            Shuffle::Buffer(size) if size < total => {
                Reading::Shards { files, order: Order::new(total, shuffle, seed, compat), taken: 0 }
            }
            _ => Reading::Whole { files, order: Order::new(total, shuffle, seed, compat), taken: 0 },
        };
        Ok(Self { paths, truncate, reading })
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
            Reading::Shards { files, order, .. } => {
                let mut texts = Texts::default();
                order.start_with(|line| read(files, line, &mut texts).map(|()| Waiting::of(&texts)))?;
            }
            Reading::Whole { order, .. } => order.start(),
        }
        Ok(())
    }

    /// What is done, and what one epoch takes, in the same unit.
    pub fn progress(&self) -> (u64, u64) {
        match &self.reading {
            Reading::Forwards { read_bytes, total_bytes, .. } => (read_bytes.load(Relaxed), *total_bytes),
            Reading::Shards { order, taken, .. } => (*taken, order.epoch_len()),
            Reading::Whole { order, taken, .. } => (*taken, order.epoch_len()),
        }
    }

    /// The next lines of an epoch; no at its end.
    pub fn next(&mut self, texts: &mut Texts) -> Result<bool, BatchError> {
        match &mut self.reading {
            Reading::Forwards { files, .. } => {
                let fields = [&mut texts.source, &mut texts.target, &mut texts.alignment];
                let mut there = [true; 3];
                for ((file, text), there) in files.iter_mut().zip(fields).zip(&mut there) {
                    *there = file.next(text)?;
                }
                let there = &there[..files.len()];
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
            Reading::Shards { files, order, taken } => {
                let next = order.next_with(|line| read(files, line, texts).map(|()| Waiting::of(texts)))?;
                let Some(next) = next else { return Ok(false) };
                next.put(texts);
                *taken += 1;
                Ok(true)
            }
            Reading::Whole { files, order, taken } => {
                let Some(line) = order.next() else { return Ok(false) };
                read(files, line, texts)?;
                *taken += 1;
                Ok(true)
            }
        }
    }
}
