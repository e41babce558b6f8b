//! What can be typed; what it means is in [`crate::commands`].

mod arrays;
mod batches;
mod core;
mod divide;
mod eval;
mod fit;
mod memory;
mod network;
mod parse;
mod scales;
mod unpack;
mod verify;

pub use self::core::Core;
pub use arrays::Arrays;
pub use batches::{BatchFormat, BatchType, Batches};
pub use divide::Divide;
pub use eval::{Eval, Positions};
pub use fit::Fit;
pub use memory::Memory;
pub use network::{Activations, Bits, Calibration, NetworkArgs, RangeMethod, Weights};
pub use parse::{parse, parse_from};
pub use scales::{Rows, Scales, Scaling};
pub use unpack::Unpack;
pub use verify::Verify;

use crate::status;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::num::NonZero;
use std::path::PathBuf;

/// Help is as wide as this, on a wider terminal, too.
const HELP_COLUMNS: usize = 80;
const EVERY_COMMAND: &str = "Options of every command";
/// Behind a help that leaves options out.
const MORE: &str = "More options, and more about these: --help-all";

/// Quantise, pack, inspect, evaluate and verify trained networks.
#[derive(Debug, Parser)]
#[command(
    name = "host-tools",
    version,
    disable_help_flag = true,
    max_term_width = HELP_COLUMNS,
    before_help = "Example: host-tools demo",
    after_help = status::EXPLAINED
)]
pub struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub common: Common,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Copy, Args)]
pub struct Common {
    /// Print help
    #[arg(long, short, global = true, action = ArgAction::HelpShort, help_heading = EVERY_COMMAND)]
    help: Option<bool>,
    /// Print help with every option
    #[arg(long, global = true, action = ArgAction::HelpLong, help_heading = EVERY_COMMAND)]
    help_all: Option<bool>,
    /// Print one JSON object instead of text
    ///
    /// Its `schema`, `tamis-<command>-<version>`, names its shape.
    #[arg(long, global = true, help_heading = EVERY_COMMAND)]
    pub json: bool,
    /// Use at most N threads; one a processor without it
    ///
    /// What comes out is the same for any number.
    #[arg(long, global = true, value_name = "N", help_heading = EVERY_COMMAND)]
    pub threads: Option<NonZero<usize>>,
    /// Show no progress
    #[arg(long, short, global = true, help_heading = EVERY_COMMAND)]
    pub quiet: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Turn a training checkpoint into a checked quantised.bin
    #[command(
        alias = "quantize",
        before_help = "\
Examples:
  host-tools quantise checkpoints/net-100 --arch net.toml -o quantised.bin
  host-tools quantise net.onnx --calibrate examples.npz -o net.bin",
        after_help = MORE
    )]
    Quantise(Quantise),
    /// Turn integers into a container: int8 TFLite or ONNX, .nnue
    #[command(
        before_help = "\
Examples:
  host-tools pack quantised.bin --arch net.toml -o net.bin
  host-tools pack net_int8.tflite -o net.bin",
        after_help = MORE
    )]
    Pack(Pack),
    /// Turn a container back into its quantised.bin or .nnue file
    #[command(before_help = "Example: host-tools unpack net.bin -o quantised.bin")]
    Unpack(Unpack),
    /// Say what is in a container, and prove its bounds again
    #[command(before_help = "Example: host-tools inspect net.bin")]
    Inspect(Inspect),
    /// Evaluate positions for the side to move, or a file of examples
    #[command(
        before_help = "\
Examples:
  host-tools eval net.bin --fen startpos
  host-tools eval net.bin --inputs test.npz --labels labels.npy",
        override_usage = "host-tools eval [OPTIONS] MODEL --fen FEN | --fens FILE |\n       \
                          --positions FILE | --feature-lists FILE | --inputs FILE",
        after_help = MORE
    )]
    Eval(Eval),
    /// Write a checkpoint or a container's integers as safetensors
    #[command(before_help = "Example: host-tools export net.tflite -o net.safetensors", after_help = MORE)]
    Export(Export),
    /// Print a description, to change and give back with --arch
    #[command(
        before_help = "Example: host-tools describe net.safetensors -o net.toml",
        after_help = MORE
    )]
    Describe(Describe),
    /// Write a Rust module that embeds a container, with its sizes
    #[command(before_help = "Example: host-tools codegen net.bin -o src/net.rs")]
    Codegen(Codegen),
    /// Hold a container against full precision, and name mistakes
    #[command(
        before_help = "\
Examples:
  host-tools verify net.bin --checkpoint checkpoints/net-100 --arch net.toml \\
      --positions positions.bf
  host-tools verify net.bin --checkpoint net.onnx --inputs test.npz",
        after_help = MORE
    )]
    Verify(Verify),
    /// Turn parallel text into padded batches, as OpenNMT-tf does
    #[command(
        before_help = "\
Example:
  host-tools batches --src a.en --tgt a.de --src-vocab en --tgt-vocab de \\
      --batch-type tokens --batch-size 4096 -o batches.safetensors",
        override_usage = "host-tools batches [OPTIONS] --src FILE --tgt FILE --src-vocab FILE\n       \
                          --tgt-vocab FILE --batch-size N -o OUT",
        after_help = MORE
    )]
    Batches(Batches),
    /// List what this machine can run, operation by operation
    Tiers,
    /// Do all of it on the networks that come with the program
    Demo,
    /// Print a shell's completions
    #[command(before_help = "Example: host-tools completions bash >> ~/.bash_completion")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual, or write a page for every command
    #[command(before_help = "Example: host-tools man -o man1")]
    Man {
        /// Folder for the pages
        #[arg(long, short, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Overwrite pages that exist
        #[arg(long, requires = "out")]
        force: bool,
    },
}

/// Where a command writes, and whether it may.
#[derive(Debug, Clone, Args)]
pub struct Target {
    /// File to write; `-` for standard output
    ///
    /// Written whole or not at all.
    #[arg(short, long, value_name = "OUT")]
    pub out: PathBuf,
    /// Overwrite it if it exists
    #[arg(long)]
    pub force: bool,
}

/// A Rust module beside the container.
#[derive(Debug, Clone, Args)]
pub struct Module {
    /// Also write a Rust module that embeds it
    ///
    /// By its path from there: sizes as constants, a typed wrapper. --force overwrites it, too.
    #[arg(long = "codegen", value_name = "FILE.rs")]
    pub codegen: Option<PathBuf>,
    /// Say the flash and RAM to expect on this microcontroller only, not on all that were measured
    #[arg(hide_short_help = true, long, value_enum, value_name = "CORE", requires = "codegen")]
    pub core: Option<Core>,
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
    /// Reorder neurons for a sparse int8 layer
    ///
    /// It skips more, since more of its inputs are zero four at a time on these positions, BulletFormat or lines of
    /// FEN; the outputs stay the same integers.
    #[arg(long = "permute", value_name = "POSITIONS.bf")]
    pub positions: Option<PathBuf>,
    /// Sample N of the positions, spread over the file: every second one chooses the order, the others measure it
    #[arg(
        long = "permute-limit",
        hide_short_help = true,
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
    pub network: NetworkArgs,
    /// Form of the file
    #[arg(long, value_enum, default_value_t = Form::Container)]
    pub form: Form,
    /// Where scales come from.
    #[command(flatten)]
    pub scaling: Scaling,
    /// Positions to fit to.
    #[command(flatten)]
    pub fit: Fit,
    /// Another order of the neurons.
    #[command(flatten)]
    pub permute: Permute,
    /// Where to.
    #[command(flatten)]
    pub target: Target,
    /// A Rust module beside it.
    #[command(flatten)]
    pub module: Module,
    /// The workspace.
    #[command(flatten)]
    pub memory: Memory,
    /// Write the network even if an accumulator can overflow
    #[arg(hide_short_help = true, long)]
    pub unproved: bool,
    /// Take weights, layers, examples or outputs that are the same everywhere
    ///
    /// Without it they are refused by name.
    #[arg(hide_short_help = true, long)]
    pub allow_constant: bool,
    /// How a graph becomes integers; last, since its heading would be that of what follows.
    #[command(flatten)]
    pub calibration: Calibration,
}

/// `pack`
#[derive(Debug, Args)]
pub struct Pack {
    /// A .tflite or .onnx file that is quantised already, the trainer's quantised.bin, or a .nnue file
    pub bare: PathBuf,
    /// Architecture description of a quantised.bin; the others need none
    #[arg(long, value_name = "A.toml")]
    pub arch: Option<PathBuf>,
    /// Positions to fit to.
    #[command(flatten)]
    pub fit: Fit,
    /// The float checkpoint that a quantised.bin is fitted to
    #[arg(long, hide_short_help = true, value_name = "NET", requires = "fit")]
    pub fit_checkpoint: Option<PathBuf>,
    /// Another order of the neurons.
    #[command(flatten)]
    pub permute: Permute,
    /// Where to.
    #[command(flatten)]
    pub target: Target,
    /// A Rust module beside it.
    #[command(flatten)]
    pub module: Module,
    /// The workspace.
    #[command(flatten)]
    pub memory: Memory,
    /// Write the network even if an accumulator can overflow
    #[arg(long)]
    pub unproved: bool,
    /// Take weights, layers, examples or outputs that are the same everywhere
    ///
    /// Without it they are refused by name.
    #[arg(hide_short_help = true, long)]
    pub allow_constant: bool,
    /// A rule of the Stockfish family.
    #[command(flatten)]
    pub divide: Divide,
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

/// `export`
#[derive(Debug, Args)]
pub struct Export {
    /// Checkpoint of a graph, a file or a folder; or a graph's container
    pub checkpoint: PathBuf,
    /// What the checkpoint does not say.
    #[command(flatten)]
    pub network: NetworkArgs,
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
    pub network: NetworkArgs,
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

/// `codegen`
#[derive(Debug, Args)]
pub struct Codegen {
    /// Container that the module embeds, by its path from there
    pub model: PathBuf,
    /// Say the flash and RAM to expect on this microcontroller only, not on all that were measured
    #[arg(long, value_enum, value_name = "CORE")]
    pub core: Option<Core>,
    /// Where to.
    #[command(flatten)]
    pub target: Target,
}
