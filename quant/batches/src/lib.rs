//! Batches of token networks: parallel text becomes padded ids, by the rules of OpenNMT-tf's training pipeline, so that
//! a reference run elsewhere and the quantised network see the same batches.
//!
//! ```text
//! files -> lines -> order -> features -> filter -> windows by length -> batches -> safetensors or JSON lines
//! ```
//!
//! One stage is one file. Nothing holds the corpus: what is in memory are the windows that are not full yet, and what a
//! shuffle asks for. The rules are those that OpenNMT-tf 2.32 was observed to follow; where it loses or repeats lines
//! in silence, the default is an error or the right thing, and [`Options::compat`] or [`Options::truncate`] its own
//! behaviour.
//!
//! | | here | OpenNMT-tf, where it differs |
//! |---|---|---|
//! | corpora of unequal length | refused, unless truncated | the shortest ends all |
//! | shards of a shuffle | `k · size`, every line once | evenly spread starts, so that some lines come twice ([`shard_starts`]) |
//! | `0-0-1 1` in an alignment | refused | two pairs |
//! | text that is not UTF-8 | refused | bytes |
//! | order of a shuffle | by the seed, the same everywhere | TensorFlow's |
//!
//! It knows of no network. What tensors and metadata of a file of batches are called stands in [`names`], for whoever
//! reads one.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod alignment;
mod batch;
mod buckets;
mod corpus;
mod error;
mod features;
mod format;
mod indexed;
mod lines;
mod options;
mod order;
mod picture;
mod pipeline;
mod prefetch;
mod summary;
mod text;
mod vocabulary;
mod windows;

pub use alignment::{Alignment, AlignmentFault};
pub use batch::{Batch, Dense, Padded, Target};
pub use buckets::{Buckets, boundaries, bucket_of, window_size};
pub use error::{BatchError, Blame, LineFault, OptionFault};
pub use features::{SourceFeatures, TargetFeatures, source_features, target_features};
pub use format::{JsonLines, MAX_HEADER_LEN_BYTES, SafetensorsParts, WriteError, names};
pub use options::{BatchType, Files, MAX_BATCH_SIZE, Options, Shuffle};
pub use order::{Order, shard_starts};
pub use picture::picture;
pub use pipeline::{Pipeline, Progress};
pub use prefetch::Prefetch;
pub use summary::{BucketSummary, Dropped, Summary};
pub use text::{printable, tokens};
pub use vocabulary::{END, PAD, START, Vocabulary};

/// The longest line that is read, in bytes, without its end.
pub const MAX_LINE_LEN_BYTES: usize = 1 << 20;
/// The most lines of a corpus: line numbers are i32 in files of batches.
pub const MAX_LINES: u64 = i32::MAX as u64;
/// The most tokens of a vocabulary, the unknown one among them: as many features as a network takes.
pub const MAX_TOKENS: usize = 1 << 24;
