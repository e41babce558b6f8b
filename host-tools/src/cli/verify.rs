//! What `verify` takes.

use super::{Arrays, Divide, NetworkArgs};
use clap::{ArgGroup, Args};
use std::path::PathBuf;

/// `verify`
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("written").args(["html", "partial"]).multiple(true)))]
pub struct Verify {
    /// Container
    pub model: PathBuf,
    /// What it is held against.
    #[command(flatten)]
    pub truth: Truth,
    /// What the checkpoint does not say.
    #[command(flatten)]
    pub network: NetworkArgs,
    /// A rule of the Stockfish family.
    #[command(flatten)]
    pub divide: Divide,
    /// Examples to run: idx, npy, npz, safetensors, libsvm or dummy rows
    ///
    /// For graphs; safetensors also as `batches` writes them.
    #[arg(long, value_name = "FILE", requires = "checkpoint", conflicts_with_all = ["reference", "positions"])]
    pub inputs: Option<PathBuf>,
    /// Labels of the examples
    #[arg(long, value_name = "FILE", requires = "inputs")]
    pub labels: Option<PathBuf>,
    /// How the examples lie.
    #[command(flatten)]
    pub arrays: Arrays,
    /// Pass over the first N examples: those that calibrated, for instance
    #[arg(hide_short_help = true, long, value_name = "N", requires = "inputs")]
    pub skip: Option<usize>,
    /// Positions to run: BulletFormat, or lines of FEN, of `FEN | score | result` or of EPD
    ///
    /// Beside a reference with examples of its own, for the first question only.
    #[arg(long, value_name = "FILE.bf")]
    pub positions: Option<PathBuf>,
    /// Lists of features to run, for a network whose input is `kind = "features"`
    ///
    /// A line an example, LIST / LIST | BUCKET, as `eval` takes them.
    #[arg(
        long,
        value_name = "FILE",
        requires = "checkpoint",
        conflicts_with_all = ["reference", "positions", "inputs"]
    )]
    pub feature_lists: Option<PathBuf>,
    /// Run the first N examples only
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Take weights, layers, examples or outputs that are the same everywhere
    ///
    /// Without it they are refused by name.
    #[arg(hide_short_help = true, long)]
    pub allow_constant: bool,
    /// Limits to keep; without a file: equal on every tier, proved, no mistakes
    #[arg(long, value_name = "G.toml")]
    pub gates: Option<PathBuf>,
    /// Write the report as a page with pictures
    #[arg(long, value_name = "OUT")]
    pub html: Option<PathBuf>,
    /// Write what was measured on these examples, for --merge
    ///
    /// The report is still printed. A part has 16 bytes an output of an example, and 16 more for each rounding.
    #[arg(hide_short_help = true, long, value_name = "OUT")]
    pub partial: Option<PathBuf>,
    /// Take the parts that --partial wrote, in the order of their examples, in place of examples
    ///
    /// The report is that of all examples at once: every figure made of outputs has the same bits, errors of layers
    /// differ in their last digits. Mistakes are those that a part found.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "PART",
        num_args = 1..,
        conflicts_with_all = ["checkpoint", "reference", "positions", "inputs", "feature_lists", "limit", "arch"]
    )]
    pub merge: Vec<PathBuf>,
    /// Overwrite the page if it exists
    #[arg(long, requires = "written")]
    pub force: bool,
}

/// Full precision: a checkpoint, a reference, or both; a network of the Stockfish family needs neither.
#[derive(Debug, Args)]
#[group(multiple = true)]
pub struct Truth {
    /// Float checkpoint that the container was made from
    ///
    /// Of a network of the Stockfish family its .nnue file, if any.
    #[arg(long, value_name = "C")]
    pub checkpoint: Option<PathBuf>,
    /// Outputs of the training framework, a safetensors file; of a graph: batches with `batch.N.logits`
    #[arg(long, value_name = "FILE")]
    pub reference: Option<PathBuf>,
}
