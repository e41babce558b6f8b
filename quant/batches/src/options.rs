//! What is asked for, and whether it fits together.

use super::error::OptionFault;
use std::path::PathBuf;

/// The largest number of tokens or examples of a batch, multiplier included.
pub const MAX_BATCH_SIZE: u64 = 1 << 24;

/// The files of a parallel corpus, each plain or gzip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// Source lines.
    pub source: PathBuf,
    /// Target lines.
    pub target: PathBuf,
    /// Vocabulary of the source.
    pub source_vocabulary: PathBuf,
    /// Vocabulary of the target.
    pub target_vocabulary: PathBuf,
    /// Pharaoh alignments, a line for a line.
    pub alignments: Option<PathBuf>,
}

/// What a batch's size counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BatchType {
    /// Rows.
    #[default]
    Examples,
    /// Rows times their bucket's length.
    Tokens,
}

/// In which order lines come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shuffle {
    /// As they stand.
    #[default]
    None,
    /// Any line first: the window is the whole corpus, four bytes a line.
    Whole,
    /// Shards of so many lines in any order, then a buffer of so many lines from which one is drawn after the other.
    Buffer(u32),
}

/// How lines become batches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// What the size counts.
    pub batch_type: BatchType,
    /// Tokens or examples of a batch.
    pub batch_size: u64,
    /// Lines whose longer side lies in a range of this width share a batch; `None` takes lines as they come.
    pub length_bucket_width: Option<u64>,
    /// Rows of full batches of tokens are a multiple of this: 8 for FP16.
    pub batch_size_multiple: u64,
    /// Batches are so many times as large, for as many devices; batches whose rows cannot be dealt out evenly are
    /// dropped.
    pub batch_multiplier: u64,
    /// Keep those batches.
    pub keep_irregular: bool,
    /// Pad to the longest that the bucket may hold, in place of the longest that is there, and drop batches that are
    /// not full.
    pub pad_to_bucket_boundary: bool,
    /// The most tokens of a source line.
    pub max_source: Option<u64>,
    /// The largest length of a target line, which is its tokens and one.
    pub max_target: Option<u64>,
    /// The order.
    pub shuffle: Shuffle,
    /// What the order follows from.
    pub seed: u64,
    /// How often the corpus is gone through, at least once.
    pub repeat: u64,
    /// Stop at the shortest of unequal files.
    pub truncate: bool,
    /// Do as OpenNMT-tf where it repeats lines or reads a malformed alignment.
    pub compat: bool,
}

impl Default for Options {
    /// As OpenNMT-tf has it where nothing is said, without buckets.
    fn default() -> Self {
        Self {
            batch_type: BatchType::Examples,
            batch_size: 32,
            length_bucket_width: None,
            batch_size_multiple: 1,
            batch_multiplier: 1,
            keep_irregular: false,
            pad_to_bucket_boundary: false,
            max_source: None,
            max_target: None,
            shuffle: Shuffle::None,
            seed: 0,
            repeat: 1,
            truncate: false,
            compat: false,
        }
    }
}

impl Options {
    /// Whether they fit together.
    ///
    /// # Errors
    /// [`OptionFault`]
    pub fn check(&self) -> Result<(), OptionFault> {
        let within = |option, found: u64, high| {
            if (1..=high).contains(&found) { Ok(()) } else { Err(OptionFault::Range { option, found, low: 1, high }) }
        };
        within("--batch-size", self.batch_size, MAX_BATCH_SIZE)?;
        within("--batch-multiplier", self.batch_multiplier, MAX_BATCH_SIZE)?;
        within("--batch-size times --batch-multiplier", self.scaled_size(), MAX_BATCH_SIZE)?;
        within("--batch-size-multiple", self.batch_size_multiple, MAX_BATCH_SIZE)?;
        within("--repeat", self.repeat, u64::from(u32::MAX))?;
        let lengths = [
            ("--length-bucket-width", self.length_bucket_width),
            ("--max-src", self.max_source),
            ("--max-tgt", self.max_target),
        ];
        for (option, found) in lengths {
            within(option, found.unwrap_or(1), u64::from(u32::MAX))?;
        }
        if let Shuffle::Buffer(size) = self.shuffle {
            within("--shuffle", size.into(), super::MAX_LINES)?;
        }
        if self.batch_type == BatchType::Tokens && self.length_bucket_width.is_none() {
            return Err(OptionFault::TokensWithoutWidth);
        }
        let has_boundaries = self.length_bucket_width.and(self.max_source).and(self.max_target).is_some();
        if self.pad_to_bucket_boundary && !has_boundaries {
            return Err(OptionFault::BoundaryWithoutMaxima);
        }
        Ok(())
    }

    /// Tokens or examples of a batch for all devices together.
    #[must_use]
    pub const fn scaled_size(&self) -> u64 {
        self.batch_size.saturating_mul(self.batch_multiplier)
    }
}
