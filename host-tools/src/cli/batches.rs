//! What `batches` takes.

use super::Target;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What a batch's size counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BatchType {
    /// Rows times the length of their bucket
    Tokens,
    /// Rows
    Examples,
}

/// How batches are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BatchFormat {
    /// Tensors named batch.N.src.ids and so on; the metadata says how many batches
    Safetensors,
    /// A batch a line of JSON
    Jsonl,
}

/// `batches`
#[derive(Debug, Args)]
pub struct Batches {
    /// Source sentences, a line each, tokens between blanks
    ///
    /// As all texts here plain or gzip.
    #[arg(long, value_name = "FILE")]
    pub src: PathBuf,
    /// Target sentences, a line for a line
    #[arg(long, value_name = "FILE")]
    pub tgt: PathBuf,
    /// Vocabulary of the source, a token a line
    ///
    /// A token's id is its line's number from 0; `<blank>`, `<s>` and `</s>` come first, `<unk>` is not listed.
    #[arg(long, value_name = "FILE")]
    pub src_vocab: PathBuf,
    /// Vocabulary of the target
    #[arg(long, value_name = "FILE")]
    pub tgt_vocab: PathBuf,
    /// Pharaoh alignments, `0-0 1-2`, a line for a line: source token 0 with target token 0, 1 with 2
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub alignments: Option<PathBuf>,
    /// Tokens or examples of a batch
    #[arg(long, value_name = "N")]
    pub batch_size: u64,
    /// What that counts
    #[arg(long, value_enum, default_value_t = BatchType::Examples)]
    pub batch_type: BatchType,
    /// Lines share a batch if their lengths are in one range of N
    ///
    /// The length of the longer side counts. Without it lines come as they stand.
    #[arg(long, value_name = "N")]
    pub length_bucket_width: Option<u64>,
    /// Rows of a full batch of tokens are a multiple of N: 8 for FP16
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 1)]
    pub batch_size_multiple: u64,
    /// Batches for N devices: N times as large, and dropped where their rows cannot be dealt out evenly
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 1)]
    pub batch_multiplier: u64,
    /// Keep batches whose rows cannot be dealt out evenly
    #[arg(hide_short_help = true, long)]
    pub keep_irregular: bool,
    /// Pad to the longest that a bucket may hold, not to the longest in the batch, and drop batches that are not full
    #[arg(hide_short_help = true, long)]
    pub pad_to_bucket_boundary: bool,
    /// Drop pairs whose source has more than N tokens
    #[arg(hide_short_help = true, long, value_name = "N")]
    pub max_src: Option<u64>,
    /// Drop pairs whose target has a length above N
    ///
    /// The mark counts, so that N tokens are one too many.
    #[arg(hide_short_help = true, long, value_name = "N")]
    pub max_tgt: Option<u64>,
    /// Shuffle with a buffer of N lines; -1 the whole corpus
    ///
    /// Shards of N lines and, within a buffer of N, lines; 0 shuffles nothing.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(i64).range(-1..)
    )]
    pub shuffle: i64,
    /// What the order of a shuffle follows from
    #[arg(hide_short_help = true, long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Go through the corpus N times, each time in an order of its own if it is shuffled
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 1)]
    pub repeat: u64,
    /// Stop at the shortest file where they have not the same number of lines
    #[arg(hide_short_help = true, long)]
    pub truncate: bool,
    /// Do as OpenNMT-tf: shards that overlap and give lines twice, `0-0-1 1` as two pairs
    #[arg(hide_short_help = true, long)]
    pub compat: bool,
    /// How batches are written
    #[arg(hide_short_help = true, long, value_enum, default_value_t = BatchFormat::Safetensors)]
    pub format: BatchFormat,
    /// Draw lengths and padding, a bar a bucket
    #[arg(hide_short_help = true, long, value_name = "OUT.svg")]
    pub svg: Option<PathBuf>,
    /// Where to.
    #[command(flatten)]
    pub target: Target,
}
