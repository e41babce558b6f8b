//! What is fuzzed: a row for everything that reads what comes from outside, and for what runs it.
//!
//! A target takes any bytes. It returns whether they were accepted, and panics where something does not hold that must:
//! what is accepted means the same when it is written and read again, or when somebody else reads it. Memory and time
//! are watched by whoever runs it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a target fails by panicking")]

mod angel;
mod boards;
mod c_library;
mod containers;
mod corpora;
mod data;
mod engine;
pub mod memory;
pub mod mutation;
mod networks;
mod positions;
mod programs;
mod tensors;

use memory::Budget;

/// Something that reads bytes.
pub struct Target {
    /// Its name, and that of its folder of the corpus.
    pub name: &'static str,
    /// Takes any bytes; whether they were accepted.
    pub run: fn(&[u8]) -> bool,
    /// Longer inputs show nothing new.
    pub max_len_bytes: usize,
    /// What its inputs are made of.
    pub form: Form,
    /// The memory that one of them may take.
    pub budget: Budget,
    /// Inputs that are made rather than kept, beside those of the corpus.
    pub made: fn() -> Vec<Vec<u8>>,
}

/// What mutation knows of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Bytes with lengths and offsets among them.
    Binary,
    /// Words that are made of words: the words that it has.
    Text(&'static [&'static str]),
    /// A decision a byte, so that random bytes are as good as any.
    Choices,
}

const fn none() -> Vec<Vec<u8>> {
    Vec::new()
}

const fn row(name: &'static str, run: fn(&[u8]) -> bool, max_len_bytes: usize, form: Form) -> Target {
    Target { name, run, max_len_bytes, form, budget: BUDGET, made: none }
}

/// What most readers keep: numbers are widened, names copied, and an error quotes a little.
const BUDGET: Budget = Budget { fixed_bytes: 64 << 10, per_byte: 64 };

/// What unpacks whatever it is given, however it begins: what unpacking takes is allowed any input, as others are where
/// it begins as packed.
const fn packed(target: Target) -> Target {
    within(target, 192 << 10, 64)
}

/// What runs networks is no reader: the second reader's values and each tier's workspace come to it, and a network of
/// the engine's, which are made once.
const fn running(target: Target) -> Target {
    within(target, 16 << 20, 64)
}

/// Where weights are rounded together, two square matrices of the 1,536 inputs that a layer may have for it come to
/// that: what the samples' inputs have in common, and its inverse's root.
const fn rounding(target: Target) -> Target {
    within(target, (16 << 20) + 2 * 8 * 1536 * 1536, 64)
}

/// Another budget: a corpus has buffers for its files.
const fn within(target: Target, fixed_bytes: usize, per_byte: usize) -> Target {
    Target { budget: Budget { fixed_bytes, per_byte }, ..target }
}

const fn made(target: Target, made: fn() -> Vec<Vec<u8>>) -> Target {
    Target { made, ..target }
}

/// Every target.
pub const TARGETS: [Target; 43] = [
    running(made(row("loader", containers::loader, 16384, Form::Binary), containers::models)),
    running(row("containers", containers::containers, 4096, Form::Choices)),
    running(row("containers-briefly", containers::briefly, 512, Form::Choices)),
    running(made(row("unpack", containers::unpack, 16384, Form::Binary), containers::models)),
    rounding(row("quantised", programs::quantised, 64, Form::Choices)),
    running(row("engine", engine::calls, 1024, Form::Choices)),
    running(row("c-library", c_library::calls, 1024, Form::Choices)),
    row("description", networks::description, 4096, Form::Text(words::DESCRIPTION)),
    row("bare", networks::bare, 1024, Form::Binary),
    row("checkpoint", networks::checkpoint, 1024, Form::Binary),
    made(row("nnue", networks::nnue, 16384, Form::Binary), networks::nnue_files),
    row("nnue-description", networks::nnue_description, 1024, Form::Text(words::NNUE)),
    row("graph-description", networks::graph_description, 4096, Form::Text(words::GRAPH)),
    row("chain", networks::chain, 256, Form::Text(words::CHAIN)),
    row("datacode", networks::datacode, 2048, Form::Binary),
    row("lattice-checkpoint", networks::lattice_checkpoint, 2048, Form::Text(words::JSON)),
    row("lattice-json", networks::lattice_json, 2048, Form::Text(words::JSON)),
    row("fann", networks::fann, 2048, Form::Binary),
    made(row("tflite", networks::tflite, 8192, Form::Binary), networks::tflite_files),
    made(row("tflite-quantised", networks::tflite_quantised, 8192, Form::Binary), networks::tflite_files),
    row("onnx", networks::onnx, 4096, Form::Binary),
    row("onnx-quantised", networks::onnx_quantised, 4096, Form::Binary),
    row("safetensors", tensors::safetensors, 2048, Form::Binary),
    row("npy", tensors::npy, 1024, Form::Binary),
    packed(row("npz", tensors::npz, 2048, Form::Binary)),
    packed(row("gz", tensors::gz, 1024, Form::Binary)),
    row("tensor-network", tensors::network, 2048, Form::Binary),
    row("idx", data::inputs, 1024, Form::Binary),
    row("libsvm", data::inputs, 1024, Form::Text(words::LIBSVM)),
    row("dummy-rows", data::inputs, 1024, Form::Text(words::LIBSVM)),
    row("labels", data::labels, 1024, Form::Text(words::LIBSVM)),
    row("feature-lists", data::feature_lists, 512, Form::Text(words::LISTS)),
    row("batches-file", data::inputs, 4096, Form::Binary),
    row("reference", data::reference, 2048, Form::Binary),
    row("part", data::part, 4096, Form::Binary),
    row("limits", data::limits, 512, Form::Text(words::LIMITS)),
    row("angel-matrix", angel::matrix, 2048, Form::Binary),
    row("angel-graph", angel::graph_json, 2048, Form::Text(words::JSON)),
    row("angel-folder", angel::folder, 4096, Form::Binary),
    row("fen", positions::fen, 256, Form::Text(words::FEN)),
    row("bulletformat", positions::bulletformat, 256, Form::Binary),
    row("alignment", corpora::alignment, 256, Form::Text(words::ALIGNMENT)),
    within(row("corpus", corpora::corpus, 1024, Form::Text(words::CORPUS)), 512 << 10, 64),
];

/// A target by its name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Target> {
    const { &TARGETS }.iter().find(|target| target.name == name)
}

/// What texts are made of.
mod words {
    pub const DESCRIPTION: &[&str] = &[
        "schema = 1",
        "[input]",
        "[network]",
        "kind = ",
        "\"features\"",
        "\"dense\"",
        "king_buckets",
        "[buckets]",
        "hidden = ",
        "[[layer]]",
        "activation = ",
        "\"screlu\"",
        "\"crelu\"",
        "scale",
        "= -1\n",
        "= 18446744073709551616\n",
        "[]",
    ];
    pub const NNUE: &[&str] =
        &["nnue = 1", "features = ", "width = ", "head = ", "\"pairwise\"", "squares = true", "divide = ", "\"once\""];
    pub const GRAPH: &[&str] = &[
        "graph = 1",
        "[[node]]",
        "[input]",
        "name = ",
        "op = ",
        "\"affine\"",
        "\"convolution\"",
        "\"relu\"",
        "\"concat\"",
        "inputs = ",
        "shape = ",
        "[1, 2]",
        "= -1\n",
        "= 4294967296\n",
        "max_active",
        "\"softmax\"",
        "\"pool\"",
        "stride = ",
        "padding = ",
    ];
    pub const CHAIN: &[&str] = &["2:", "relu", "linear", "leaky", "sigmoid", "tanh", "4294967296", ":", "0", "softmax"];
    pub const JSON: &[&str] = &[
        "null",
        "true",
        "[]",
        "{}",
        "-1",
        "1e308",
        "1e999",
        "\"\"",
        "[[[[",
        "\\u0000",
        "18446744073709551616",
        ":",
        ",",
    ];
    pub const LIBSVM: &[&str] =
        &["1:", "4294967296:", "-1", "+1", "nan", "inf", "1e999", "0x1", ",", "\t", " ", "\r\n", "#", "qid:1", "0:0.5"];
    pub const LISTS: &[&str] = &["/", "|", " ", ",", "\n", "#", "99", "-1", "4294967296", "0 3 9"];
    pub const LIMITS: &[&str] = &[
        "max_mean = ",
        "max_rms = ",
        "max_error = ",
        "min_sqnr_db = ",
        "min_top1_agreement = ",
        "max_accuracy_loss = ",
        "nan",
        "inf",
        "-1",
        "\n",
    ];
    pub const FEN: &[&str] = &[
        "k", "K", "8", "/", " w ", " b ", "KQkq", "-", "e3", "0 1", "|", "1.0", "0-1", "c9", ";", "ce 12", "\n",
        "startpos",
    ];
    pub const ALIGNMENT: &[&str] = &["0-0", "1-", "-", " ", "\t", "4294967296", "18446744073709551616", "00", "+1"];
    pub const CORPUS: &[&str] = &["a", "b", " ", "\n", "\u{1}", "<s>", "</s>", "<blank>", "<unk>", "\r", "0-0", "zzz"];
}
