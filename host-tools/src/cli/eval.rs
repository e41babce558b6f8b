//! What `eval` takes.

use super::{Arrays, Divide, NetworkArgs};
use clap::Args;
use std::path::PathBuf;

/// `eval`
#[derive(Debug, Args)]
pub struct Eval {
    /// Container, a .nnue file, a trainer's quantised.bin, or a checkpoint
    ///
    /// A quantised.bin needs its description, --arch; a checkpoint --float.
    pub model: PathBuf,
    /// Where the positions are.
    #[command(flatten)]
    pub positions: Positions,
    /// Labels: the same, or a number a line; sums up
    ///
    /// The sum stands on standard error, so that standard output holds a line an example.
    #[arg(long, value_name = "FILE", requires = "inputs")]
    pub labels: Option<PathBuf>,
    /// How the examples lie.
    #[command(flatten)]
    pub arrays: Arrays,
    /// Print scores, before the last sigmoid or softmax
    #[arg(hide_short_help = true, long, requires = "inputs")]
    pub logits: bool,
    /// Print integers as the container has them, without their unit
    #[arg(hide_short_help = true, long, requires = "inputs", conflicts_with = "float")]
    pub raw: bool,
    /// Pass over the first N examples: those that calibrated, for instance
    #[arg(hide_short_help = true, long, value_name = "N", requires = "inputs")]
    pub skip: Option<usize>,
    /// Evaluate the first N positions or examples only
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Tier that evaluates; `host-tools tiers` lists them
    #[arg(long, value_name = "NAME", conflicts_with = "float")]
    pub tier: Option<String>,
    /// Print both parts of the value as well; of networks of the Stockfish family
    ///
    /// The piece-square and the positional one, each times 16.
    #[arg(hide_short_help = true, long, conflicts_with_all = ["inputs", "float"])]
    pub parts: bool,
    /// Print what every output bucket makes of each position, and which one counts
    #[arg(long, conflicts_with = "inputs")]
    pub buckets: bool,
    /// A rule of the Stockfish family.
    #[command(flatten)]
    pub divide: Divide,
    /// Evaluate the checkpoint in double precision, unquantised
    #[arg(long)]
    pub float: bool,
    /// What the checkpoint does not say.
    #[command(flatten)]
    pub network: NetworkArgs,
}

/// Positions or examples: exactly one source.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Positions {
    /// One position: a FEN, or startpos
    #[arg(long, value_name = "FEN")]
    pub fen: Option<String>,
    /// File of positions, a line each: FEN, `FEN | score | result` or EPD; `-` for standard input
    ///
    /// Empty lines and lines that start with # are passed over.
    #[arg(long, value_name = "FILE")]
    pub fens: Option<PathBuf>,
    /// File of positions, such lines or BulletFormat
    #[arg(long, value_name = "FILE.bf")]
    pub positions: Option<PathBuf>,
    /// Lists of features, for a network whose input is `kind = "features"`
    ///
    /// A line an example, LIST / LIST | BUCKET | SCORE: the side to move's features and the other side's, between
    /// blanks or commas, the output bucket, and what somebody says that it is worth; bucket and score may be missing.
    #[arg(long, value_name = "FILE")]
    pub feature_lists: Option<PathBuf>,
    /// File of examples: idx, npy, npz, safetensors, libsvm or dummy rows
    ///
    /// Any of them plain or as gzip; bytes of idx are divided by 255.
    #[arg(long, value_name = "FILE")]
    pub inputs: Option<PathBuf>,
}
