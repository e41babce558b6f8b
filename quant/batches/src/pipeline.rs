//! From files to batches.

use super::alignment::Alignment;
use super::batch::{Batch, MAX_ELEMENTS, Shape, batch};
use super::buckets::Buckets;
use super::corpus::{Corpus, Texts};
use super::error::BatchError;
use super::options::{Files, Options};
use super::summary::Summary;
use super::vocabulary::Vocabulary;
use super::windows::{Window, Windows};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How far a pipeline is, for whoever watches from another thread.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// What is done and what is to do, in the same unit.
    #[must_use]
    pub fn get(&self) -> (u64, u64) {
        (self.done.load(Relaxed), self.total.load(Relaxed))
    }
}

/// Batches, one after the other. After an error there are none.
pub struct Pipeline {
    options: Options,
    buckets: Buckets,
    source: Vocabulary,
    target: Vocabulary,
    /// Named in errors: that of the sources, and that of the alignments if there are.
    source_path: PathBuf,
    alignments_path: Option<PathBuf>,
    corpus: Corpus,
    texts: Texts,
    /// Of the line that was read: source, target.
    ids: (Vec<u32>, Vec<u32>),
    windows: Windows,
    /// A full window, of which the rows from here on are still to come.
    cutting: Option<(u64, Window, usize)>,
    epoch: Epoch,
    summary: Summary,
    progress: Arc<Progress>,
}

/// Where in its corpus a pipeline is.
#[derive(Clone, Copy, PartialEq)]
enum Epoch {
    /// This one is still to begin.
    Before(u64),
    /// Lines are coming.
    Within(u64),
    /// Only windows are left.
    Flushing(u64),
    /// Nothing comes.
    Ended,
}

impl Pipeline {
    /// Opens the files and reads the vocabularies.
    ///
    /// # Errors
    /// [`BatchError`] of an option, a file or a line of it.
    pub fn open(files: &Files, options: &Options) -> Result<Self, BatchError> {
        options.check()?;
        let source = Vocabulary::read(&files.source_vocabulary)?;
        let target = Vocabulary::read(&files.target_vocabulary)?;
        let corpus = Corpus::open(files, options)?;
        let buckets = Buckets::new(options);
        let pipeline = Self {
            options: options.clone(),
            buckets,
            source,
            target,
            source_path: files.source.clone(),
            alignments_path: files.alignments.clone(),
            corpus,
            texts: Texts::default(),
            ids: Default::default(),
            windows: Windows::new(buckets),
            cutting: None,
            epoch: Epoch::Before(0),
            summary: Summary::default(),
            progress: Arc::default(),
        };
        pipeline.tell();
        Ok(pipeline)
    }

    /// The source's and the target's vocabulary.
    #[must_use]
    pub const fn vocabularies(&self) -> (&Vocabulary, &Vocabulary) {
        (&self.source, &self.target)
    }

    /// How far it is, also while it runs elsewhere.
    #[must_use]
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// What became of the lines, complete when the last batch is out.
    #[must_use]
    pub fn into_summary(mut self) -> Summary {
        self.summary.finish();
        self.summary
    }

    fn next_batch(&mut self) -> Result<Option<Batch>, BatchError> {
        loop {
            if let Some(batch) = self.cut()? {
                self.tell();
                return Ok(Some(batch));
            }
            match self.epoch {
                Epoch::Before(epoch) => {
                    self.corpus.start()?;
                    self.epoch = Epoch::Within(epoch);
                }
                Epoch::Within(epoch) => {
                    if self.corpus.next(&mut self.texts)? {
                        self.take_line()?;
                    } else {
                        self.epoch = Epoch::Flushing(epoch);
                    }
                }
                Epoch::Flushing(epoch) => match self.windows.take_shortest() {
                    // Batches that are padded to boundaries are full or dropped.
                    Some((_, window)) if self.options.pad_to_bucket_boundary => {
                        self.summary.dropped.incomplete += window.lines.len() as u64;
                    }
                    Some((bucket, window)) => self.cutting = Some((bucket, window, 0)),
                    None if epoch + 1 < self.options.repeat => self.epoch = Epoch::Before(epoch + 1),
                    None => self.epoch = Epoch::Ended,
                },
                Epoch::Ended => return Ok(None),
            }
        }
    }

    /// Filters the line that was read and puts it into its window.
    fn take_line(&mut self) -> Result<(), BatchError> {
        let Texts { line, source, target, alignment } = &self.texts;
        let dropped = &mut self.summary.dropped;
        self.summary.lines += 1;
        let (source_ids, target_ids) = &mut self.ids;
        source_ids.clear();
        target_ids.clear();
        let source_unknown = self.source.ids(source, source_ids);
        let target_unknown = self.target.ids(target, target_ids);
        let (source_len, target_len) = (source_ids.len() as u64, target_ids.len() as u64);
        // The mark counts, as it does where OpenNMT-tf compares.
        let target_full = target_len + 1;
        // Also of lines that are dropped: an alignment that does not belong to its lines is a corpus that slipped.
        let alignment = match &self.alignments_path {
            Some(path) => {
                let read = if self.options.compat { Alignment::parse_compatibly } else { Alignment::parse };
                let pairs = read(alignment, source_len as usize, target_len as usize);
                Some(pairs.map_err(|fault| BatchError::line(path, u64::from(*line) + 1, fault))?)
            }
            None => None,
        };
        if source_len == 0 {
            dropped.source_empty += 1;
            return Ok(());
        }
        if self.options.max_source.is_some_and(|most| source_len > most) {
            dropped.source_too_long += 1;
            return Ok(());
        }
        if self.options.max_target.is_some_and(|most| target_full > most) {
            dropped.target_too_long += 1;
            return Ok(());
        }
        let bucket = self.buckets.bucket(source_len.max(target_full));
        let window = self.windows.of(bucket);
        window.lines.push(*line);
        window.source.push(source_ids);
        window.target.push(target_ids);
        self.summary.source_unknown += source_unknown;
        self.summary.target_unknown += target_unknown;
        self.summary.source_tokens += source_len;
        self.summary.target_tokens += target_len;
        window.alignments.extend(alignment);
        if let Some(window) = self.windows.take_full(bucket) {
            self.cutting = Some((bucket, window, 0));
        }
        Ok(())
    }

    /// The next batch of the window that is being cut.
    fn cut(&mut self) -> Result<Option<Batch>, BatchError> {
        while let Some((bucket, window, start)) = self.cutting.take() {
            let rest = window.lines.len().saturating_sub(start);
            let count = rest.min(usize::try_from(self.buckets.most_rows(bucket)).unwrap_or(usize::MAX));
            if count == 0 {
                continue;
            }
            let rows = start..start + count;
            let made = if !self.options.keep_irregular && !(count as u64).is_multiple_of(self.options.batch_multiplier)
            {
                self.summary.dropped.irregular += count as u64;
                None
            } else {
                let shape = Shape::of(&window, rows.clone(), self.buckets.padded_length(bucket));
                self.check_size(&window, rows.clone(), &shape)?;
                Some(batch(bucket, &window, rows, &shape))
            };
            self.cutting = Some((bucket, window, start + count));
            if let Some(batch) = made {
                let width = self.options.length_bucket_width.unwrap_or(0);
                self.summary.count(&batch, self.buckets.limit(bucket), width);
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    fn check_size(&self, window: &Window, rows: std::ops::Range<usize>, shape: &Shape) -> Result<(), BatchError> {
        let elements = shape.elements(rows.len(), self.alignments_path.is_some());
        if elements <= MAX_ELEMENTS {
            return Ok(());
        }
        let longest = rows.max_by_key(|row| window.source.row(*row).len().max(window.target.row(*row).len()));
        let row = longest.unwrap_or_else(|| unreachable!("no rows have no elements"));
        let line = u64::from(window.lines[row]) + 1;
        Err(BatchError::BatchTooLarge { file: self.source_path.clone(), line, elements, limit: MAX_ELEMENTS })
    }

    fn tell(&self) {
        let (done, epoch) = self.corpus.progress();
        self.progress.done.store(done, Relaxed);
        self.progress.total.store(epoch.saturating_mul(self.options.repeat), Relaxed);
    }
}

impl Iterator for Pipeline {
    type Item = Result<Batch, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch();
        if next.is_err() {
            self.epoch = Epoch::Ended;
            self.cutting = None;
        }
        next.transpose()
    }
}
