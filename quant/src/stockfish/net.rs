//! A `.nnue` file taken apart.

use super::division::Division;

/// Version number of files with [`FeatureSet::HalfKp`] (Stockfish 12 and 13).
pub const VERSION_HALF_KP: u32 = 0x7AF3_2F16;
/// Version number of files with king planes (Stockfish 14 to 17.1).
pub const VERSION_HALF_KA: u32 = 0x7AF3_2F20;
/// Output buckets of a network with king planes: as many stacks, and as many PSQT values a feature.
pub const PSQT_BUCKETS: usize = 8;
/// The activations of a perspective go from 0 to this.
pub const ACTIVATION_MAX: i32 = 127;
/// A sum of a hidden layer is shifted right by this many bits on its way to an activation.
pub const WEIGHT_SHIFT: u32 = 6;
/// Elements that a row of an affine layer is padded to a multiple of in the file.
pub const ROW_MULTIPLE: usize = 32;

/// A network of the family, in the order of its file.
///
/// The fields but the last are what the file says beyond its shape. Everything else in it (version and hashes) follows
/// from [`Net::shape`], so a network that was read can be written byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Net {
    /// The architecture: decides every length below.
    pub shape: Shape,
    /// The text of the header, byte for byte; no encoding is promised.
    pub description: Vec<u8>,
    /// The first layer, shared by all buckets.
    pub transformer: Transformer,
    /// The layers after it: [`Shape::stacks`] of them, one an output bucket.
    pub stacks: Vec<Stack>,
    /// How the two parts of a result become the value. No file says it: [`read`](super::read()) puts what
    /// [`decide`](super::decide) finds, and whoever knows better another.
    pub division: Division,
}

/// What an architecture of the family is: the numbers from which every length of a file follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// What the inputs are.
    pub features: FeatureSet,
    /// Elements of the accumulator of one perspective (L1), a multiple of [`ROW_MULTIPLE`].
    pub width: usize,
    /// What follows the accumulators.
    pub head: Head,
}

/// The inputs of a perspective. Each feature is a piece on a square together with the square of the perspective's own
/// king.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeatureSet {
    /// 641 a king square: index 0 unused, then ten planes (own and other P N B R Q in turn) of 64; kings are no
    /// features. Black sees the board turned by 180 degrees (`square ^ 63`). Stockfish 12 and 13.
    HalfKp,
    /// 704 a king square: eleven planes, both kings on the last one. Black sees the board upside down (`square ^ 56`).
    /// Stockfish 14.
    HalfKaV2,
    /// The same planes for 32 king squares: the board is also mirrored so that the own king stands on files e to h.
    /// Stockfish 14.1 to 17.1.
    HalfKaV2Hm,
}

impl FeatureSet {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::HalfKp, Self::HalfKaV2, Self::HalfKaV2Hm];

    /// Number of features of a perspective.
    #[must_use]
    pub const fn count(self) -> usize {
        match self {
            Self::HalfKp => 64 * 641,
            Self::HalfKaV2 => 64 * 704,
            Self::HalfKaV2Hm => 32 * 704,
        }
    }

    /// The name that the family gives it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HalfKp => "HalfKP",
            Self::HalfKaV2 => "HalfKAv2",
            Self::HalfKaV2Hm => "HalfKAv2_hm",
        }
    }

    /// The version number of files with these features.
    #[must_use]
    pub const fn version(self) -> u32 {
        match self {
            Self::HalfKp => VERSION_HALF_KP,
            Self::HalfKaV2 | Self::HalfKaV2Hm => VERSION_HALF_KA,
        }
    }

    /// Output buckets, chosen by the number of pieces: `(pieces - 1) / 4` of 8, or one.
    #[must_use]
    pub const fn buckets(self) -> usize {
        match self {
            Self::HalfKp => 1,
            Self::HalfKaV2 | Self::HalfKaV2Hm => PSQT_BUCKETS,
        }
    }

    /// Whether each feature also has a value a bucket that goes to the result directly.
    #[must_use]
    pub const fn has_psqt(self) -> bool {
        !matches!(self, Self::HalfKp)
    }
}

/// How the accumulators of both perspectives become one number.
///
/// Throughout, `clip(x) = min(max(x, 0), 127)`, the side to move's half comes first, and a layer's sums become the next
/// layer's inputs by `clip(sum >> 6)`. The last layer has one output, which is not clipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Head {
    /// `2 * width` inputs `clip(acc)` → `first` → 32 → 1. Stockfish 12 and 13 have 32 as `first`, 14 has 16, 14.1 has
    /// 8.
    Clipped {
        /// Outputs of the first layer.
        first: usize,
    },
    /// `width` inputs `clip(acc[i]) * clip(acc[i + width / 2]) >> 7` → 15 + 1 → 32 → 1. Output 15 of the
    /// first layer skips the others: `sum * 9600 / (127 * 64)`, towards zero, is added to the result.
    Pairwise {
        /// Whether the second layer reads the 15 squares `min(127, (sum * sum) >> 19)` and then the 15 clipped
        /// (30 inputs; Stockfish 15.1 to 17.1), or the 15 clipped only (Stockfish 15).
        squares: bool,
    },
}

/// Outputs of the first layer of a [`Head::Pairwise`] that other layers read.
pub const PAIRWISE_FIRST: usize = 15;
/// Outputs of every second layer.
pub const SECOND: usize = 32;

impl Shape {
    /// Number of stacks.
    #[must_use]
    pub const fn stacks(&self) -> usize {
        self.features.buckets()
    }

    /// `(inputs, outputs)` of the three layers of a stack, padding not counted.
    #[must_use]
    pub const fn layers(&self) -> [(usize, usize); 3] {
        let (inputs, first, second_inputs) = match self.head {
            Head::Clipped { first } => (2 * self.width, first, first),
            Head::Pairwise { squares: false } => (self.width, PAIRWISE_FIRST + 1, PAIRWISE_FIRST),
            Head::Pairwise { squares: true } => (self.width, PAIRWISE_FIRST + 1, 2 * PAIRWISE_FIRST),
        };
        [(inputs, first), (second_inputs, SECOND), (SECOND, 1)]
    }
}

impl std::fmt::Display for Shape {
    /// As in `HalfKAv2_hm 22528→128, pairwise 128→15+1→[sqr15, clip15]→32→1, x8`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { features, width, head } = self;
        write!(f, "{} {}→{width}, ", features.name(), features.count())?;
        match head {
            Head::Clipped { first } => write!(f, "clipped {}→{first}→{SECOND}→1", 2 * width)?,
            Head::Pairwise { squares: false } => write!(f, "pairwise {width}→15+1→clip15→{SECOND}→1")?,
            Head::Pairwise { squares: true } => write!(f, "pairwise {width}→15+1→[sqr15, clip15]→{SECOND}→1")?,
        }
        write!(f, ", x{}", self.stacks())
    }
}

/// The first layer: an accumulator of a perspective is the biases plus the rows of its active features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transformer {
    /// `width` elements, in units of 1/127.
    pub biases: Block<i16>,
    /// `[feature][width]`, in units of 1/127.
    pub weights: Block<i16>,
    /// `[feature][8]`; half the difference of the two perspectives' sums is the PSQT part of the result, 16 times the
    /// evaluation. There if [`FeatureSet::has_psqt`].
    pub psqt: Option<Block<i32>>,
}

/// A tensor of the transformer and how the file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block<T> {
    /// The elements.
    pub values: Vec<T>,
    /// How they are written.
    pub encoding: Encoding,
}

/// How a file has the elements of a [`Block`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Little-endian, each its full width.
    Raw,
    /// A magic, the number of bytes, then each element as signed LEB128 of minimal length (since Stockfish 16).
    Leb128,
}

/// The layers of one output bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// Reads the activations of the accumulators.
    pub first: Affine,
    /// Reads the first layer's.
    pub second: Affine,
    /// Reads the second layer's; has one output.
    pub output: Affine,
}

impl Stack {
    /// The three layers in order.
    #[must_use]
    pub fn layers(&self) -> [&Affine; 3] {
        [&self.first, &self.second, &self.output]
    }
}

/// `sum[o] = bias[o] + Σ_i weight[o][i] * x[i]`, exact in i32, with x in 0 to 127.
///
/// The file pads each row to a multiple of 32 weights. No input stands behind the padding, so it never enters a sum;
/// but it is not zero in every file (tuners of single weights have been at it), so it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Affine {
    /// Inputs, padding not counted.
    pub inputs: usize,
    /// Outputs.
    pub outputs: usize,
    /// One an output, in units of 1/(127 * 64) for hidden layers.
    pub biases: Vec<i32>,
    /// `[output][padded input]`, in units of 1/64 for hidden layers; see [`Affine::row_len`].
    pub weights: Vec<i8>,
}

impl Affine {
    /// Weights of a row, padding included.
    #[must_use]
    pub const fn row_len(&self) -> usize {
        self.inputs.next_multiple_of(ROW_MULTIPLE)
    }

    /// The weights of an output, one an input, without the padding.
    #[must_use]
    pub fn row(&self, output: usize) -> &[i8] {
        let start = output * self.row_len();
        &self.weights[start..start + self.inputs]
    }
}
