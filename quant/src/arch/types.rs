//! What a training script knows and no checkpoint of bullet says: the architecture description.
//!
//! The TOML a person writes is decoded into these types and nothing else; see [`super::parse`] for what is
//! checked beyond their shape. `quantised.bin` carries the description (as canonical TOML) so that a file can be
//! unpacked, explained and compared long after the training script is gone.

use serde::{Deserialize, Serialize};

/// The only schema number there is; a description says it first so that a later one can be told apart.
pub const SCHEMA: u32 = 1;

/// A whole architecture description.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// Always [`SCHEMA`].
    pub schema: u32,
    /// What reports call the network.
    pub name: String,
    /// What goes in.
    pub input: Input,
    /// Output buckets; absent means that every layer has one set of weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buckets: Option<Buckets>,
    /// What comes out.
    #[serde(default)]
    pub output: Output,
    /// Piece-square values beside the layers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub psqt: Option<Psqt>,
    /// What stands around the tensors in the bare file.
    #[serde(default)]
    pub file: BareFile,
    /// The layers in order; the first one is the feature transformer of a chess network.
    #[serde(rename = "layer")]
    pub layers: Vec<Layer>,
    /// The tensors in the order of `raw.bin` and of the bare `quantised.bin`.
    #[serde(rename = "tensor")]
    pub tensors: Vec<TensorSpec>,
}

/// The kind of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputKind {
    /// Piece-square features, 768 a king bucket, or 704 with merged kings, in bullet's order.
    Chess,
    /// Feature indices that only the caller understands.
    Features,
    /// A vector of quantised reals.
    Dense,
}

/// The integer type of a dense network's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DenseType {
    /// 0..=127, for inputs that are never negative.
    U7,
    /// −127..=127.
    I8,
}

/// What goes into the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// See [`InputKind`].
    pub kind: InputKind,
    /// `features` and `dense`: number of features or of vector elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// `chess` and `features`: 2 (side to move first, the usual) or 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub perspectives: Option<usize>,
    /// `chess`: the other side's accumulator comes first in the second layer's inputs; bullet puts the side to move
    /// first.
    #[serde(default)]
    pub other_first: bool,
    /// `chess`: mirror the board left to right while the perspective's own king stands on files e to h.
    #[serde(default)]
    pub mirrored: bool,
    /// `chess`: both kings share a plane of features, the own king's, so that there are 704 a king bucket.
    #[serde(default)]
    pub merged_kings: bool,
    /// `chess`: the king bucket of each square of the perspective's own king, a1, b1, … h8 (64 entries), or, with
    /// `mirrored`, of files a to d only (32 entries, a1 b1 c1 d1 a2 …). Absent: one bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub king_buckets: Option<Vec<u8>>,
    /// `chess` and `features`: the most features active at once in one perspective; stored in the file, used by the
    /// overflow proof and enforced by the runtime. 32 for `chess`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_active: Option<usize>,
    /// `dense`: the integer type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<DenseType>,
    /// `dense`: the real input that becomes 127.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

/// The rule that picks an output bucket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buckets {
    /// How many.
    pub count: usize,
    /// The bucket of every number of pieces on the board, 0 to 32 (33 entries). Absent for `chess`: bullet's
    /// material count, `(pieces − 2) / ceil(32 / count)`. Meaningless for other inputs: their caller names the bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_piece_count: Option<Vec<u8>>,
    /// Letters of FEN of the pieces that a table counts, both sides'. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<String>,
    /// The bucket of every pair of counts, the side to move's 0 to 16 and, within, the other side's (289 entries), in
    /// the place of `by_piece_count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_side_counts: Option<Vec<u8>>,
}

impl Buckets {
    /// So many, by bullet's material count.
    #[must_use]
    pub const fn of(count: usize) -> Self {
        Self { count, by_piece_count: None, counted: None, by_side_counts: None }
    }
}

/// The function between a layer's sum and the next layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// x
    Identity,
    /// max(x, 0)
    Relu,
    /// clamp(x, 0, 1)
    Crelu,
    /// clamp(x, 0, 1)²
    Screlu,
    /// max(x, 0)², no upper clip
    Sqrrelu,
    /// clamp(x\[i\], 0, 1) · clamp(x\[i + n/2\], 0, 1): halves the width, separately for each perspective
    PairwiseCrelu,
    /// clamp(x, 0, 1) followed by clamp(x², 0, 1): doubles the width
    DualCrelu,
    /// x · clamp(x + 3, 0, 6) / 6, of reals
    HardSwish,
    /// 1 / (1 + exp(−x)), of reals
    Sigmoid,
    /// x / (1 + exp(−x)), of reals
    Swish,
}

/// One affine layer and the activation after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// Name; the tensors are called `<name>w` and `<name>b` unless said otherwise.
    pub name: String,
    /// Number of outputs (of one perspective, of one bucket).
    pub outputs: usize,
    /// The activation after the affine part; only the last layer may leave it out (identity).
    #[serde(default = "identity")]
    pub activation: Activation,
    /// Whether the activation's values are multiplied with the other half of the outputs: half as many come out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub gated: bool,
    /// Whether each output bucket has rows of its own.
    #[serde(default)]
    pub bucketed: bool,
    /// How many of the last outputs skip the activation and all later layers and are added to the network's output.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skip: usize,
    /// First layer: the tensor of shape (outputs, 768), or 704 with merged kings, that is added to the rows of every
    /// king bucket before rounding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factoriser: Option<String>,
    /// Dense int8 networks: the real activation that becomes 127.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation_max: Option<f64>,
    /// Pairwise activation in integers: the product of two activations is shifted right by this; bullet engines use 9.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product_shift: Option<u32>,
    /// Whether that shift rounds to nearest, halves upward. No trainer's arithmetic.
    #[serde(default, skip_serializing_if = "is_false")]
    pub product_rounded: bool,
    /// Activations in integers that are no products: how far they are shifted right, accumulators behind their clip and
    /// sums before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation_shift: Option<u32>,
    /// Weight tensor, if not `<name>w`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// Bias tensor, if not `<name>b`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<String>,
}

/// Values of features that are added to the network's outputs, past all layers: piece-square values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Psqt {
    /// The tensor of shape (outputs of the network · buckets, features).
    #[serde(default = "psqt_weights")]
    pub weights: String,
    /// The tensor of as many rows that each perspective's values start with. Absent: zeros.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<String>,
    /// What is made of both perspectives. Absent: their difference, and with one perspective its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<PsqtOf>,
    /// Whether each output bucket has rows of its own.
    #[serde(default)]
    pub bucketed: bool,
}

/// What is made of the piece-square values of both perspectives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PsqtOf {
    /// The side to move's less the other's.
    Difference,
    /// Half of that, as the Stockfish family has it.
    HalfDifference,
    /// The side to move's.
    Own,
}

/// What comes out of the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// The reported value is this times the network's output: 400 makes centipawns of a bullet network. 1 otherwise.
    #[serde(default = "one")]
    pub scale: i32,
    /// How an integer head behind a squared activation divides.
    #[serde(default)]
    pub divide: HeadDivision,
}

/// How often an integer head behind SCReLU or SqrReLU divides. The first two truncate, and differ by rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeadDivision {
    /// `(sum / QA + bias) · scale / (QA · QB)`, as bullet's examples have it.
    #[default]
    Twice,
    /// `(sum + bias · QA) · scale / (QA · QA · QB)`, as Patricia has it.
    Once,
    /// Behind SCReLU: products are rounded at 15 bits, `sum = Σ ((clip · w + 2¹⁴) >> 15) · clip`, and
    /// `(sum + bias) · scale · 2¹⁵ / (QA · QA · QB)` is rounded once, to nearest. No trainer's arithmetic.
    Rounded,
}

/// How a value leaves the reals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// Half away from zero: bullet's `.round()`.
    #[default]
    Nearest,
    /// Toward zero: bullet's default.
    Truncate,
}

/// Element type of a stored tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ElementType {
    /// 8-bit integer.
    I8,
    /// 16-bit integer.
    I16,
    /// 32-bit integer.
    I32,
    /// IEEE single, stored as it is.
    F32,
}

/// How a tensor is quantised and stored in the bare file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorSpec {
    /// Name in `weights.bin`, and in messages.
    pub name: String,
    /// Stored type.
    pub r#type: ElementType,
    /// Multiplier before rounding. Left out for `f32`, and for dense int8 layers, whose scales come from the weights
    /// (per output channel) and the activation ranges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<i32>,
    /// Rounding of the product.
    #[serde(default)]
    pub rounding: Rounding,
    /// In the bare file: false is bullet's own order (column-major, for each input the outputs in a row); true is
    /// after `.transpose()`, for each output the inputs in a row. `raw.bin` is never transposed.
    #[serde(default)]
    pub transposed: bool,
}

/// What follows the last tensor in a bare file whose length is not yet a multiple of 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tail {
    /// The letters `bulletbullet…`.
    #[default]
    Bullet,
    /// Zeros.
    Zeros,
    /// Nothing: the file ends with the last tensor.
    None,
}

/// What stands around the tensors in the bare file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BareFile {
    /// Bytes before the first tensor.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub header_len_bytes: usize,
    /// ASCII that the header must start with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_magic: Option<String>,
    /// The header itself in hexadecimal, for writing a bare file from a float checkpoint; `pack` keeps the header it
    /// read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_hex: Option<String>,
    /// See [`Tail`].
    #[serde(default)]
    pub tail: Tail,
}

impl Default for Output {
    fn default() -> Self {
        Self { scale: one(), divide: HeadDivision::default() }
    }
}

fn psqt_weights() -> String {
    "pstw".to_owned()
}

fn one() -> i32 {
    1
}

fn identity() -> Activation {
    Activation::Identity
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

fn is_false(is: &bool) -> bool {
    !is
}
