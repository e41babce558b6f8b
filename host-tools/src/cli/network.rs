//! What several commands take about checkpoints, and how a graph is quantised.

use super::Arrays;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use tamis_quant::graph::Activation;
use tamis_quant::import::angel::Kind;
use tamis_quant::import::chain::activation_from_word;
use tamis_quant::import::datacode::Orientation;
use tamis_quant::import::importers::NetworkForm;

/// What is known about a checkpoint that it does not say itself.
#[derive(Debug, Args)]
pub struct NetworkArgs {
    /// Form of the checkpoint, where its content is not to decide
    #[arg(hide_short_help = true, long, value_name = "FORM", value_parser = forms())]
    pub from: Option<NetworkForm>,
    /// Description of layers or of a graph, or a chain, 784:relu128:linear10
    ///
    /// Layers start with `schema = 1`, a graph with `graph = 1`. A chain says the layers of lattice-tune's checkpoints,
    /// as do a .fann and a network JSON, and of safetensors and npz, whose matrices it takes by their shapes and the
    /// order of their names.
    #[arg(long, value_name = "A.toml")]
    pub arch: Option<OsString>,
    /// What the leaves of trees are multiplied by, which no file of Angel says
    #[arg(hide_short_help = true, long, value_name = "RATE")]
    pub learning_rate: Option<f64>,
    /// Which model a folder of Angel is, where its files are not to decide
    #[arg(hide_short_help = true, long, value_name = "MODEL", value_parser = kinds())]
    pub kind: Option<Kind>,
    /// Number of features, where the checkpoint does not know it
    #[arg(hide_short_help = true, long, value_name = "N")]
    pub features: Option<usize>,
    /// Number of fields, each with one active feature, where the checkpoint does not know it
    #[arg(hide_short_help = true, long, value_name = "N")]
    pub fields: Option<usize>,
    /// The most features that are active at once, where they are not fields
    #[arg(hide_short_help = true, long, value_name = "N")]
    pub max_active: Option<usize>,
    /// What stands between the fields of text matrices: tab, space, comma, or the character itself
    #[arg(hide_short_help = true, long, value_name = "SEPARATOR")]
    pub separator: Option<String>,
    /// What a layer of DataCode's computes, whose writer turns many into ReLU: relu, leaky, leaky@0.2, sigmoid, tanh,
    /// softmax, or linear for nothing; may be given again
    #[arg(hide_short_help = true, long = "activation", value_name = "LAYER=WORD", value_parser = layer_activation)]
    pub activation_of: Vec<(String, Option<Activation>)>,
    /// How weights lie, where the file leaves it open
    #[arg(hide_short_help = true, long, value_name = "ORDER", value_parser = orientations())]
    pub orientation: Option<Orientation>,
}

fn forms() -> impl TypedValueParser<Value = NetworkForm> {
    let parser = PossibleValuesParser::new(NetworkForm::ALL.map(NetworkForm::word));
    parser.try_map(|word| NetworkForm::ALL.into_iter().find(|form| form.word() == word).ok_or("no form of checkpoint"))
}

fn kinds() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::word))
        .try_map(|word| Kind::from_word(&word).ok_or("no model of Angel"))
}

fn layer_activation(text: &str) -> Result<(String, Option<Activation>), String> {
    let known = text.split_once('=').and_then(|(layer, word)| Some((layer.to_owned(), activation_from_word(word)?)));
    known.ok_or_else(|| "expected LAYER=WORD, `layer1=leaky@0.01` for instance".to_owned())
}

fn orientations() -> impl TypedValueParser<Value = Orientation> {
    let words = [Orientation::OutIn, Orientation::InOut].map(Orientation::word);
    PossibleValuesParser::new(words).try_map(|word| Orientation::from_word(&word).ok_or("no orientation"))
}

/// How a graph becomes integers. Layers of a bullet network say it in their description.
#[derive(Debug, Args)]
pub struct Calibration {
    /// Examples that show which values occur: idx, npy, npz, safetensors, libsvm or dummy rows
    #[arg(long, value_name = "DATA", help_heading = GRAPHS)]
    pub calibrate: Option<PathBuf>,
    /// Calibrate with the first N examples only
    #[arg(hide_short_help = true, long, value_name = "N", requires = "calibrate", help_heading = GRAPHS)]
    pub calibrate_limit: Option<usize>,
    /// How the examples lie. A unit and a zero are also those of the container's input.
    #[command(flatten, next_help_heading = GRAPHS)]
    pub arrays: Arrays,
    /// How a range follows from what was seen
    ///
    /// Without it mean-square. Balanced channels (see --no-equalise) have theirs from the balance.
    #[arg(hide_short_help = true, long, value_enum, help_heading = GRAPHS)]
    pub method: Option<RangeMethod>,
    /// Per cent of the values that the range of `--method percentile` holds; 99.99 without it
    #[arg(hide_short_help = true, long, value_name = "P", help_heading = GRAPHS)]
    pub percentile: Option<f64>,
    /// Which weights share a unit; per-channel without it
    #[arg(hide_short_help = true, long, value_enum, help_heading = GRAPHS)]
    pub weights: Option<Weights>,
    /// Bits of weights, 8 without it; 16 with `--activations i16` only
    #[arg(hide_short_help = true, long, value_enum, help_heading = GRAPHS)]
    pub weight_bits: Option<Bits>,
    /// Integers between layers
    ///
    /// Without it i8 for maps and for TFLite and ONNX files, u7 for others.
    #[arg(long, value_enum, value_name = "TYPE", help_heading = GRAPHS)]
    pub activations: Option<Activations>,
    /// Keep the map that a layer makes in i16; may be given again; `auto` finds the maps that gain most, by measuring
    #[arg(hide_short_help = true, long, value_name = "auto|LAYER", help_heading = GRAPHS)]
    pub sixteen: Vec<String>,
    /// The most maps that `--sixteen auto` chooses; 3 without it
    #[arg(
        hide_short_help = true,
        long,
        value_name = "N",
        requires = "sixteen",
        help_heading = GRAPHS
    )]
    pub sixteen_maps: Option<usize>,
    /// The most bytes of workspace that the network may need with the maps that `--sixteen auto` chooses
    #[arg(hide_short_help = true, long, value_name = "BYTES", requires = "sixteen", help_heading = GRAPHS)]
    pub sixteen_workspace: Option<usize>,
    /// How many per cent of the products may read 16-bit maps, which take about twice the time, with `--sixteen auto`
    #[arg(hide_short_help = true, long, value_name = "P", requires = "sixteen", help_heading = GRAPHS)]
    pub sixteen_macs: Option<f64>,
    /// Ends of the input, `0..1` for instance, where no examples say them
    #[arg(
        hide_short_help = true,
        long,
        value_name = "LOW..HIGH",
        allow_hyphen_values = true,
        value_parser = range,
        help_heading = GRAPHS
    )]
    pub input_range: Option<(f64, f64)>,
    /// Ends of what a node makes, where neither calibration nor the description is to say; may be repeated
    #[arg(
        hide_short_help = true,
        long,
        value_name = "NODE=LOW..HIGH",
        value_parser = range_of_node,
        help_heading = GRAPHS
    )]
    pub range: Vec<(String, (f64, f64))>,
    /// Round each weight to nearest, not those of a row together for the least error of their sum on the calibration
    /// examples
    #[arg(hide_short_help = true, long, help_heading = GRAPHS)]
    pub round_each: bool,
    /// Leave biases as they are, whatever mean error the calibration examples show
    #[arg(hide_short_help = true, long, help_heading = GRAPHS)]
    pub no_bias_correction: bool,
    /// Do not balance channels between two linear layers, nor give channels of maps units of their own
    #[arg(hide_short_help = true, long, help_heading = GRAPHS)]
    pub no_equalise: bool,
    /// Keep a layer in f32; may be given again; `all` keeps every layer
    #[arg(hide_short_help = true, long, value_name = "LAYER", help_heading = GRAPHS)]
    pub keep_f32: Vec<String>,
    /// Search for the layers to keep in f32: as accurate as so many bytes of parameters allow
    #[arg(
        hide_short_help = true,
        long,
        value_name = "BYTES",
        requires = "calibrate",
        conflicts_with = "sqnr_budget",
        help_heading = GRAPHS
    )]
    pub size_budget: Option<usize>,
    /// Search for the layers to keep in f32: as small as so much signal to noise of the raw scores, in decibels, allows
    #[arg(hide_short_help = true, long, value_name = "DB", requires = "calibrate", help_heading = GRAPHS)]
    pub sqnr_budget: Option<f64>,
}

const GRAPHS: &str = "Options for graphs";

/// [`tamis_quant::calibrate::Method`] as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RangeMethod {
    /// All that was seen
    MinMax,
    /// So many per cent of the values
    Percentile,
    /// The least mean square error
    MeanSquare,
    /// The least Kullback-Leibler divergence
    Entropy,
}

/// [`tamis_quant::quantise::graph::Granularity`] as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Weights {
    /// Those of one output
    PerChannel,
    /// All of a layer
    PerTensor,
}

/// [`tamis_quant::quantise::graph::WeightBits`] as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Bits {
    /// −127 to 127
    #[value(name = "8")]
    Eight,
    /// −32767 to 32767, fewer where sums would not fit
    #[value(name = "16")]
    Sixteen,
}

/// [`tamis_quant::quantise::graph::Activations`] as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Activations {
    /// 0 to 127 where values are not negative, else −127 to 127
    U7,
    /// 0 to 255 with a zero point
    U8,
    /// −128 to 127 with a zero point
    I8,
    /// −32767 to 32767, fewer where sums would not fit
    I16,
}

fn range_of_node(text: &str) -> Result<(String, (f64, f64)), String> {
    match text.rsplit_once('=') {
        Some((node, ends)) => Ok((node.to_owned(), range(ends)?)),
        None => Err("expected a node and its ends, such as fc1.relu=0..6".to_owned()),
    }
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let ends = text.split_once("..").and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    match ends {
        Some((low, high)) if f64::is_finite(low) && f64::is_finite(high) && low <= 0.0 && 0.0 <= high && low < high => {
            Ok((low, high))
        }
        _ => Err("expected two numbers with 0 between them or at an end, such as 0..1".to_owned()),
    }
}
