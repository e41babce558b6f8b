//! What can be typed; what it means is in [`crate::verbs`].

mod arrays;
mod batches;
mod network;

pub use arrays::Arrays;
pub use batches::{BatchFormat, BatchType, Batches};
pub use network::{Activations, Bits, Calibration, Network, RangeMethod, Weights};

use crate::status;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;
use tamis_quant::stockfish::Division;

/// The command line.
///
/// # Errors
/// clap's own refusal, which is also how it answers `--help` and `--version`.
pub fn parse() -> Result<Cli, clap::Error> {
    Cli::try_parse()
}

/// Quantise, pack, inspect, evaluate and verify trained networks.
#[derive(Debug, Parser)]
#[command(name = "host-tools", version, after_help = status::EXPLAINED)]
pub struct Cli {
    /// What every verb takes.
    #[command(flatten)]
    pub common: Common,
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What every verb takes.
#[derive(Debug, Clone, Copy, Args)]
pub struct Common {
    /// Print one JSON object, `"schema": "tamis-<verb>-<version>"`, instead of text
    #[arg(long, global = true, help_heading = "Options of every verb")]
    pub json: bool,
    /// Show no progress
    #[arg(long, short, global = true, help_heading = "Options of every verb")]
    pub quiet: bool,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Turn a training checkpoint into a checked quantised.bin
    #[command(alias = "quantize")]
    Quantise(Quantise),
    /// Turn what is quantised already, int8 TFLite, ONNX, a trainer's quantised.bin or a .nnue file, into a container
    Pack(Pack),
    /// Turn a container back into the file that was packed
    Unpack(Unpack),
    /// Say what is in a container, or in a .nnue file's, and prove its bounds again
    Inspect(Inspect),
    /// Evaluate positions, a line each, for the side to move, or the examples of a file
    Eval(Eval),
    /// Write a checkpoint as safetensors that say how its tensors hang together, or the integers of a graph's container
    Export(Export),
    /// Print a network's description, so that it can be changed and given back with --arch
    #[command(before_help = "Example: host-tools describe net.safetensors --arch net.toml --tensors again.safetensors")]
    Describe(Describe),
    /// Write a Rust module that embeds a container: sizes as constants, a typed wrapper
    Codegen(Codegen),
    /// Measure a container against full precision, prove its bounds, name mistakes
    Verify(Verify),
    /// Turn parallel text into padded batches of ids, as OpenNMT-tf makes them for training
    Batches(Batches),
    /// List what this machine can run, operation by operation
    Tiers,
    /// Do all of it on the networks that come with the program
    Demo,
    /// Print a shell's completions
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual, or write a page for every verb
    Man {
        /// Folder for the pages
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Overwrite pages that exist
        #[arg(long, requires = "out")]
        force: bool,
    },
}

/// Where a verb writes, and whether it may.
#[derive(Debug, Clone, Args)]
pub struct Target {
    /// File to write, whole or not at all; `-` for standard output
    #[arg(short, long, value_name = "OUT")]
    pub out: PathBuf,
    /// Overwrite it if it exists
    #[arg(long)]
    pub force: bool,
}

/// A Rust module beside the container.
#[derive(Debug, Clone, Args)]
pub struct Module {
    /// Also write a Rust module that embeds the container by its path from there: sizes as constants, a typed wrapper;
    /// --force overwrites it, too
    #[arg(long = "codegen", value_name = "FILE.rs")]
    pub codegen: Option<PathBuf>,
}

impl Module {
    /// The module's path for a report.
    pub fn shown(&self) -> Option<String> {
        self.codegen.as_ref().map(|path| path.display().to_string())
    }
}

/// Another order of the neurons in the container.
#[derive(Debug, Clone, Args)]
pub struct Permute {
    /// Reorder the neurons so that more inputs of the first int8 layer are zero four at a time on these positions, in
    /// BulletFormat; the outputs stay the same integers
    #[arg(long = "permute", value_name = "POSITIONS.bf")]
    pub positions: Option<PathBuf>,
    /// Sample N of the positions, spread over the file: every second one chooses the order, the others measure it
    #[arg(
        long = "permute-limit",
        value_name = "N",
        requires = "positions",
        default_value_t = 4096,
        value_parser = clap::value_parser!(u32).range(2..=16384)
    )]
    pub limit: u32,
}

/// A form of quantised.bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Checked, aligned, self-describing: what the runtime loads
    Container,
    /// The trainer's own: tensors packed, for engines that read it already
    Bare,
}

/// `quantise`
#[derive(Debug, Args)]
pub struct Quantise {
    /// Checkpoint, a file or a folder
    pub checkpoint: PathBuf,
    /// What the checkpoint does not say.
    #[command(flatten)]
    pub network: Network,
    /// How a graph becomes integers.
    #[command(flatten)]
    pub calibration: Calibration,
    /// Form of the file
    #[arg(long, value_enum, default_value_t = Form::Container)]
    pub form: Form,
    /// Another order of the neurons.
    #[command(flatten)]
    pub permute: Permute,
    /// Where to.
    #[command(flatten)]
    pub target: Target,
    /// A Rust module beside it.
    #[command(flatten)]
    pub module: Module,
    /// Write the network even if an accumulator can leave its type
    #[arg(long)]
    pub unproved: bool,
}

/// How networks of the Stockfish family make a value of its two parts.
#[derive(Debug, Clone, Copy, Args)]
pub struct Divide {
    /// Of networks of the Stockfish family: make the value of its two parts by dividing once, (psqt + positional) / 16,
    /// as Stockfish does up to 16.1, or twice, psqt / 16 + positional / 16, as from 17 on; without it what the file
    /// tells, by its architecture or as one that is known, and what the report names
    #[arg(long = "divide", value_name = "RULE", value_parser = divisions())]
    pub rule: Option<Division>,
}

fn divisions() -> impl TypedValueParser<Value = Division> {
    let parser = PossibleValuesParser::new(Division::ALL.map(Division::word));
    parser.try_map(|word| Division::from_word(&word).ok_or("no rule"))
}

/// `pack`
#[derive(Debug, Args)]
pub struct Pack {
    /// A .tflite or .onnx file that is quantised already, the trainer's quantised.bin, or a .nnue file
    pub bare: PathBuf,
    /// Architecture description of a quantised.bin; the others need none
    #[arg(long, value_name = "A.toml")]
    pub arch: Option<PathBuf>,
    /// Another order of the neurons.
    #[command(flatten)]
    pub permute: Permute,
    /// Where to.
    #[command(flatten)]
    pub target: Target,
    /// A Rust module beside it.
    #[command(flatten)]
    pub module: Module,
    /// Write the network even if an accumulator can leave its type
    #[arg(long)]
    pub unproved: bool,
    /// A rule of the Stockfish family.
    #[command(flatten)]
    pub divide: Divide,
}

/// `unpack`
#[derive(Debug, Args)]
pub struct Unpack {
    /// Container
    pub model: PathBuf,
    /// Where to.
    #[command(flatten)]
    pub target: Target,
}

/// `inspect`
#[derive(Debug, Args)]
pub struct Inspect {
    /// Container, or a .nnue file of the Stockfish family
    pub model: PathBuf,
    /// Tier that computes the signature; `host-tools tiers` lists them
    #[arg(long, value_name = "NAME")]
    pub tier: Option<String>,
    /// A rule of the Stockfish family.
    #[command(flatten)]
    pub divide: Divide,
}

/// `eval`
#[derive(Debug, Args)]
pub struct Eval {
    /// Container, a .nnue file of the Stockfish family, or a checkpoint
    pub model: PathBuf,
    /// Where the positions are.
    #[command(flatten)]
    pub positions: Positions,
    /// Labels of the examples: idx, npy, npz, safetensors, or a number a line; adds a summary
    #[arg(long, value_name = "FILE", requires = "inputs")]
    pub labels: Option<PathBuf>,
    /// How the examples lie.
    #[command(flatten)]
    pub arrays: Arrays,
    /// Print scores, before the last sigmoid or softmax
    #[arg(long, requires = "inputs")]
    pub logits: bool,
    /// Print integers as the container has them, without their unit
    #[arg(long, requires = "inputs", conflicts_with = "float")]
    pub raw: bool,
    /// Pass over the first N examples: those that calibrated, for instance
    #[arg(long, value_name = "N", requires = "inputs", default_value_t = 0)]
    pub skip: usize,
    /// Evaluate the first N positions or examples only
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Tier that evaluates; `host-tools tiers` lists them
    #[arg(long, value_name = "NAME", conflicts_with = "float")]
    pub tier: Option<String>,
    /// Print the two parts of the value as well, piece-square and positional, each times 16; of networks of the
    /// Stockfish family
    #[arg(long, conflicts_with_all = ["inputs", "float"])]
    pub parts: bool,
    /// A rule of the Stockfish family.
    #[command(flatten)]
    pub divide: Divide,
    /// Evaluate the checkpoint in double precision, unquantised
    #[arg(long)]
    pub float: bool,
    /// What the checkpoint does not say.
    #[command(flatten)]
    pub network: Network,
}

/// `export`
#[derive(Debug, Args)]
pub struct Export {
    /// Checkpoint, a file or a folder; or a graph's container
    pub checkpoint: PathBuf,
    /// What the checkpoint does not say.
    #[command(flatten)]
    pub network: Network,
    /// Where to.
    #[command(flatten)]
    pub target: Target,
}

/// `describe`
#[derive(Debug, Args)]
pub struct Describe {
    /// Checkpoint of any form, a file or a folder
    pub checkpoint: PathBuf,
    /// What the checkpoint does not say.
    #[command(flatten)]
    pub network: Network,
    /// File to write the description to; it is printed else
    #[arg(short, long, value_name = "OUT.toml")]
    pub out: Option<PathBuf>,
    /// Also write the tensors that the description names, so that both together are the network
    #[arg(long, value_name = "OUT.safetensors")]
    pub tensors: Option<PathBuf>,
    /// Overwrite files that exist
    #[arg(long)]
    pub force: bool,
}

/// Positions or examples: exactly one source.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Positions {
    /// One position
    #[arg(long, value_name = "FEN")]
    pub fen: Option<String>,
    /// File of positions, a FEN a line; empty lines and lines that start with # are passed over; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub fens: Option<PathBuf>,
    /// File of positions in BulletFormat
    #[arg(long, value_name = "FILE.bf")]
    pub positions: Option<PathBuf>,
    /// File of examples: idx (bytes divided by 255), npy, npz, safetensors, libsvm or dummy rows, any of them plain or
    /// as gzip
    #[arg(long, value_name = "FILE")]
    pub inputs: Option<PathBuf>,
}

/// `codegen`
#[derive(Debug, Args)]
pub struct Codegen {
    /// Container that the module embeds, by its path from there
    pub model: PathBuf,
    /// Where to.
    #[command(flatten)]
    pub target: Target,
}

/// `verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// Container
    pub model: PathBuf,
    /// What it is held against.
    #[command(flatten)]
    pub truth: Truth,
    /// What the checkpoint does not say.
    #[command(flatten)]
    pub network: Network,
    /// A rule of the Stockfish family.
    #[command(flatten)]
    pub divide: Divide,
    /// Examples to run, for networks that take vectors or features: idx, npy, npz, safetensors (also of `batches`),
    /// libsvm or dummy rows
    #[arg(long, value_name = "FILE", requires = "checkpoint", conflicts_with_all = ["reference", "positions"])]
    pub inputs: Option<PathBuf>,
    /// Labels of the examples
    #[arg(long, value_name = "FILE", requires = "inputs")]
    pub labels: Option<PathBuf>,
    /// How the examples lie.
    #[command(flatten)]
    pub arrays: Arrays,
    /// Pass over the first N examples: those that calibrated, for instance
    #[arg(long, value_name = "N", requires = "inputs", default_value_t = 0)]
    pub skip: usize,
    /// Positions in BulletFormat to run; beside a reference with examples of its own, for the first question only
    #[arg(long, value_name = "FILE.bf")]
    pub positions: Option<PathBuf>,
    /// Run the first N examples only
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Limits to keep; without a file: equal on every tier, proved, no mistakes
    #[arg(long, value_name = "G.toml")]
    pub gates: Option<PathBuf>,
    /// Write the report as a page with pictures
    #[arg(long, value_name = "OUT")]
    pub html: Option<PathBuf>,
    /// Overwrite the page if it exists
    #[arg(long, requires = "html")]
    pub force: bool,
}

/// Full precision: a checkpoint, a reference, or both; a network of the Stockfish family needs neither.
#[derive(Debug, Args)]
#[group(multiple = true)]
pub struct Truth {
    /// Float checkpoint that the container was made from; of a network of the Stockfish family its .nnue file, if any
    #[arg(long, value_name = "C")]
    pub checkpoint: Option<PathBuf>,
    /// Outputs of the training framework, a safetensors file; of a graph: batches with `batch.N.logits`
    #[arg(long, value_name = "FILE")]
    pub reference: Option<PathBuf>,
}
