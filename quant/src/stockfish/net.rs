//! A `.nnue` file taken apart.

use super::division::Division;
use super::relations::Relation;

/// Version number of files with [`FeatureSet::HalfKp`] (Stockfish 12 and 13).
pub const VERSION_HALF_KP: u32 = 0x7AF3_2F16;
/// Version number of files with king planes (Stockfish 14 to 18).
pub const VERSION_HALF_KA: u32 = 0x7AF3_2F20;
/// Version number of files with the wide head (Stockfish 19).
pub const VERSION_WIDE: u32 = 0x6A44_8AFA;
/// Output buckets of a network with king planes: as many stacks, and as many PSQT values a feature.
pub const PSQT_BUCKETS: usize = 8;
/// Activations go from 0 to this.
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
/// king; of the two sets with threats also a relation between two pieces, see [`FeatureSet::relations`].
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
    /// 768: own P N B R Q K, then the other side's, mirrored like the former, without king buckets. The lite network of
    /// Stockfish 19.
    PHm,
    /// [`FeatureSet::HalfKaV2Hm`] and threats. Stockfish 18.
    Threats,
    /// [`FeatureSet::HalfKaV2Hm`], other threats and pairs of pawns. Stockfish 19.
    ThreatsAndPairs,
}

impl FeatureSet {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::HalfKp, Self::HalfKaV2, Self::HalfKaV2Hm, Self::PHm, Self::Threats, Self::ThreatsAndPairs];

    /// Number of features of a perspective: pieces on squares, and behind them the relations.
    #[must_use]
    pub fn count(self) -> usize {
        self.piece_count() + self.relations().iter().map(|relation| relation.count()).sum::<usize>()
    }

    /// Features that are pieces on squares.
    #[must_use]
    pub const fn piece_count(self) -> usize {
        match self {
            Self::HalfKp => 64 * 641,
            Self::HalfKaV2 => 64 * 704,
            Self::HalfKaV2Hm | Self::Threats | Self::ThreatsAndPairs => 32 * 704,
            Self::PHm => 12 * 64,
        }
    }

    /// The relations between pieces that are features, in the order of their rows in the file.
    #[must_use]
    pub const fn relations(self) -> &'static [Relation] {
        match self {
            Self::HalfKp | Self::HalfKaV2 | Self::HalfKaV2Hm | Self::PHm => &[],
            Self::Threats => &[Relation::Threats],
            Self::ThreatsAndPairs => &[Relation::FewerThreats, Relation::PawnPairs],
        }
    }

    /// The name that the family gives it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HalfKp => "HalfKP",
            Self::HalfKaV2 => "HalfKAv2",
            Self::HalfKaV2Hm => "HalfKAv2_hm",
            Self::PHm => "P_hm",
            Self::Threats => "Full_Threats+HalfKAv2_hm",
            Self::ThreatsAndPairs => "Full_Threats+PP_3Wide+HalfKAv2_hm",
        }
    }

    /// The version number of files with these features.
    #[must_use]
    pub const fn version(self) -> u32 {
        match self {
            Self::HalfKp => VERSION_HALF_KP,
            Self::HalfKaV2 | Self::HalfKaV2Hm | Self::Threats => VERSION_HALF_KA,
            Self::PHm | Self::ThreatsAndPairs => VERSION_WIDE,
        }
    }

    /// Output buckets, chosen by the number of pieces: `(pieces - 1) / 4` of 8, or one.
    #[must_use]
    pub const fn buckets(self) -> usize {
        match self {
            Self::HalfKp => 1,
            _ => PSQT_BUCKETS,
        }
    }

    /// Whether each feature also has a value a bucket that goes to the result directly.
    #[must_use]
    pub const fn has_psqt(self) -> bool {
        !matches!(self, Self::HalfKp)
    }

    /// Whether the file has the piece-square values of all features in one block, those of the relations first. If not,
    /// each relation's stand behind its rows.
    #[must_use]
    pub const fn joins_psqt(self) -> bool {
        matches!(self, Self::Threats)
    }

    /// What a clipped accumulator's element is at most.
    #[must_use]
    pub const fn clip(self) -> i32 {
        match self {
            Self::HalfKp | Self::HalfKaV2 | Self::HalfKaV2Hm => ACTIVATION_MAX,
            Self::PHm | Self::Threats | Self::ThreatsAndPairs => 255,
        }
    }

    /// By how many bits a product of two of them is shifted right on its way to an activation.
    #[must_use]
    pub const fn product_shift(self) -> u32 {
        match self {
            Self::HalfKp | Self::HalfKaV2 | Self::HalfKaV2Hm => 7,
            Self::PHm | Self::Threats | Self::ThreatsAndPairs => 9,
        }
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
    /// `width` inputs `clip(acc[i]) * clip(acc[i + width / 2]) >> 7` → 15 + 1 → 32 → 1. Output 15 of the first layer
    /// skips the others: `sum * 9600 / (127 * 64)`, towards zero, is added to the result. Behind threats the
    /// accumulators' clip is 255 and the shift 9.
    Pairwise {
        /// Whether the second layer reads the 15 squares `min(127, (sum * sum) >> 19)` and then the 15 clipped
        /// (30 inputs; Stockfish 15.1 to 17.1), or the 15 clipped only (Stockfish 15).
        squares: bool,
    },
    /// `width` inputs `min(max(acc[i], 0), 255) * min(max(acc[i + width / 2], 0), 255) >> 9` → 32 → 32 → 1. The second
    /// layer reads the first's 32 squares `min(127, (sum * sum) >> 21)` and 32 clips `clip(sum >> 7)`; the last reads
    /// the same 64 and the second's squares, `>> 19`, and clips, `>> 6`. The result is `(output + sum[30] - sum[31]) *
    /// 9600 / 16384`, towards zero, of the first layer's sums. Stockfish 19.
    Wide,
}

/// Outputs of the first layer of a [`Head::Pairwise`] that other layers read.
pub const PAIRWISE_FIRST: usize = 15;
/// Outputs of the first layer of a [`Head::Wide`].
pub const WIDE_FIRST: usize = 32;
/// The first layer's sums of a [`Head::Wide`] that also go to the result: this one added, the next taken away.
pub const WIDE_SKIP: usize = 30;
/// A first layer's sum of a [`Head::Wide`] is shifted right by this many bits on its way to an activation.
pub const WIDE_SHIFT: u32 = 7;
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
        let (inputs, first, second_inputs, last_inputs) = match self.head {
            Head::Clipped { first } => (2 * self.width, first, first, SECOND),
            Head::Pairwise { squares: false } => (self.width, PAIRWISE_FIRST + 1, PAIRWISE_FIRST, SECOND),
            Head::Pairwise { squares: true } => (self.width, PAIRWISE_FIRST + 1, 2 * PAIRWISE_FIRST, SECOND),
            Head::Wide => (self.width, WIDE_FIRST, 2 * WIDE_FIRST, 2 * WIDE_FIRST + 2 * SECOND),
        };
        [(inputs, first), (second_inputs, SECOND), (last_inputs, 1)]
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
            Head::Wide => write!(f, "wide {width}→32→[sqr32, clip32]→{SECOND}→[both, sqr32, clip32]→1")?,
        }
        write!(f, ", x{}", self.stacks())
    }
}

/// The first layer: an accumulator of a perspective is the biases plus the rows of its active features, those of
/// relations widened from i8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transformer {
    /// `width` elements, in units of 1/127; where the clip is 255, of 1/255.
    pub biases: Block<i16>,
    /// `[feature][width]` of the pieces on squares, in the same unit.
    pub weights: Block<i16>,
    /// `[feature][8]`; half the difference of the two perspectives' sums is the PSQT part of the result, 16 times the
    /// evaluation. There if [`FeatureSet::has_psqt`].
    pub psqt: Option<Block<i32>>,
    /// The rows of [`FeatureSet::relations`], in their order.
    pub relations: Vec<RelationRows>,
}

impl Transformer {
    /// The file's row of a feature that is a relation, and its piece-square values; `None` for a piece on a square.
    #[must_use]
    pub fn relation(&self, features: FeatureSet, feature: usize, width: usize) -> Option<(&[i8], &[i32])> {
        let mut row = feature.checked_sub(features.piece_count())?;
        for (relation, rows) in features.relations().iter().zip(&self.relations) {
            if row < relation.count() {
                let values = &rows.psqt.values[row * PSQT_BUCKETS..(row + 1) * PSQT_BUCKETS];
                return Some((&rows.weights[row * width..(row + 1) * width], values));
            }
            row -= relation.count();
        }
        None
    }
}

/// The rows of one [`Relation`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationRows {
    /// `[row][width]`, in the unit of the pieces' rows; bytes in the file, without a length in front.
    pub weights: Vec<i8>,
    /// `[row][8]`, as [`Transformer::psqt`].
    pub psqt: Block<i32>,
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
