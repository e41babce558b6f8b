//! What can be wrong with a `.nnue` file, and where.

use thiserror::Error;

use super::file_part::Place;
use super::net::{FeatureSet, Shape, VERSION_HALF_KA, VERSION_HALF_KP, VERSION_WIDE};
use crate::error_kind::ErrorKind;

/// Why a file is not a network that can be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NnueError {
    /// The file ends too early.
    #[error("byte {offset_bytes}, {place}: {needed} bytes are needed and {left} are left; is the file cut off?")]
    CutOff {
        /// What was to be read.
        place: Place,
        /// Where it starts.
        offset_bytes: usize,
        /// Its length.
        needed: usize,
        /// What the file has from there.
        left: usize,
    },
    /// The first number of the file is none of the family's.
    #[error(
        "version {found:#010x}: a .nnue file of the Stockfish family starts with {VERSION_HALF_KP:#010x} (HalfKP), \
         {VERSION_HALF_KA:#010x} (king planes) or {VERSION_WIDE:#010x} (Stockfish 19); is this a \
         network of another engine?"
    )]
    Version {
        /// What it is.
        found: u32,
    },
    /// A version that says other features than the transformer's hash.
    #[error(
        "version {found:#010x} with {} features, which come with {:#010x}; {}",
        features.name(),
        features.version(),
        if *found == VERSION_HALF_KP { "shogi networks of the YaneuraOu family look like this, and are not supported" }
        else { "the version is damaged, or the file was put together by hand" }
    )]
    VersionOfFeatures {
        /// The file's version.
        found: u32,
        /// What the hash of the transformer says.
        features: FeatureSet,
    },
    /// A network of an architecture between Stockfish 18 and 19, which no release had.
    #[error(
        "this is a network of {name}, {}, which no release of Stockfish had and which is not supported; those of \
         Stockfish 18 (SFNNv10) and 19 (SFNNv16) are",
        match rows {
            Some(rows) => format!("by its {rows} rows of threats"),
            None => "by the hash of its transformer".to_owned(),
        }
    )]
    Unreleased {
        /// Stockfish's name of it.
        name: &'static str,
        /// Rows of threats, where they tell.
        rows: Option<usize>,
    },
    /// Rows of threats that do not end where the next block starts.
    #[error(
        "byte {offset_bytes}, rows of threats: behind {expected} rows, at byte {end}, no compressed block starts, nor \
         behind as many as any other known architecture has; the file is damaged, or of an architecture that is not \
         supported"
    )]
    ThreatRows {
        /// Where the rows start.
        offset_bytes: usize,
        /// How many Stockfish 18 has.
        expected: usize,
        /// Where they would end.
        end: usize,
    },
    /// A shogi network, which has the hashes of a chess network.
    #[error(
        "{features} features by the length of the file, and not {expected}: this is a shogi network of the YaneuraOu \
         family, which is not supported"
    )]
    Shogi {
        /// How many features the file has.
        features: usize,
        /// How many the chess network with the same hashes has.
        expected: usize,
    },
    /// The transformer's hash is unknown and does not go with the header's.
    #[error(
        "hash of the transformer: found {found:#010x}, expected {:#010x}, since the header's {:#010x} is that of \
         {shape}; \
         one of the two is damaged",
        shape.transformer_hash(),
        shape.header_hash()
    )]
    TransformerHash {
        /// What stands in the file.
        found: u32,
        /// The architecture of the header's hash.
        shape: Shape,
    },
    /// The header's hash does not go with the two others.
    #[error(
        "hash of the header: found {found:#010x}, expected {:#010x}, since the hashes of transformer and stack 0 are \
         those \
         of {shape}; the header is damaged or was written by hand",
        shape.header_hash()
    )]
    HeaderHash {
        /// What stands in the file.
        found: u32,
        /// The architecture of the other hashes.
        shape: Shape,
    },
    /// A stack's hash does not go with the two others.
    #[error(
        "byte {offset_bytes}, hash of stack {stack}: found {found:#010x}, expected {:#010x} of {shape}, which the \
         hashes of \
         header and transformer say; the file is damaged here, or its blocks have other lengths (another number of \
         features?)",
        shape.stack_hash()
    )]
    StackHash {
        /// Which stack, from 0.
        stack: usize,
        /// Where.
        offset_bytes: usize,
        /// What stands in the file.
        found: u32,
        /// The architecture of the other hashes.
        shape: Shape,
    },
    /// Header and transformer are of no known architecture.
    #[error(
        "the hashes {header:#010x} (header) and {transformer:#010x} (transformer) are those of no architecture that \
         can be read: HalfKP, HalfKAv2, HalfKAv2_hm, P_hm or threats with an accumulator of 32 to 8192; is this a \
         variant's or another engine's network?"
    )]
    Unknown {
        /// The header's hash.
        header: u32,
        /// The transformer's hash.
        transformer: u32,
    },
    /// Known inputs, but layers that are not.
    #[error(
        "byte {offset_bytes}, hash of stack 0: {found:#010x} is that of no layers that can be read behind {} of \
         {width}; the \
         nearest, {nearest}, has {:#010x}; the header's hash {}",
        features.name(),
        nearest.stack_hash(),
        if *agrees { "agrees with the file's, so the layers are others" }
        else { "does not agree with it either, so the file is damaged or its blocks have other lengths" }
    )]
    UnknownStack {
        /// Where.
        offset_bytes: usize,
        /// What stands in the file.
        found: u32,
        /// The features.
        features: FeatureSet,
        /// The accumulator's elements.
        width: usize,
        /// A known architecture with these inputs.
        nearest: Shape,
        /// Whether the header's hash is the two others' XOR.
        agrees: bool,
    },
    /// The stacks have another length than any architecture with these hashes.
    #[error(
        "byte {offset_bytes}: {found} bytes from the first stack on, and {}; {}",
        lengths(expected),
        match expected.iter().filter(|(_, expected)| found > expected).count() {
            0 => "is the file cut off?",
            longer if longer == expected.len() => "what follows the last stack?",
            _ => "does something follow the last stack, or is the file cut off?",
        }
    )]
    StacksLength {
        /// Where the first stack starts.
        offset_bytes: usize,
        /// How many bytes there are.
        found: usize,
        /// The architectures with these hashes, and how many bytes each has.
        expected: Vec<(Shape, usize)>,
    },
    /// Hashes and length of two architectures, and weights that neither leaves so.
    #[error(
        "{found} of {count} weights in columns 15 to 29 of the second layers are not 0: without squares all are \
         padding and \
         0, with squares nearly none is; hashes and length do not tell the two apart"
    )]
    SquaresUnclear {
        /// How many are not zero.
        found: usize,
        /// How many there are.
        count: usize,
    },
    /// A compressed block that cannot hold so many elements.
    #[error("{place}: {found} bytes of LEB128 for {count} elements of at least one byte")]
    Leb128Short {
        /// The tensor.
        place: Place,
        /// Elements by the architecture.
        count: usize,
        /// Bytes by the block's length.
        found: usize,
    },
    /// A compressed block that ends within an element.
    #[error("{place}: the block of LEB128 ends within element {index} of {count}")]
    Leb128CutOff {
        /// The tensor.
        place: Place,
        /// The element.
        index: usize,
        /// Elements by the architecture.
        count: usize,
    },
    /// A compressed block with more than its elements.
    #[error("{place}: {left} bytes of LEB128 are left after {count} elements")]
    Leb128Left {
        /// The tensor.
        place: Place,
        /// Elements by the architecture.
        count: usize,
        /// Bytes after them.
        left: usize,
    },
    /// A number with needless bytes: written again it would be shorter.
    #[error("byte {offset_bytes}, {place}, element {index}: not the shortest LEB128 of its value")]
    Leb128Longer {
        /// The tensor.
        place: Place,
        /// The element.
        index: usize,
        /// Where it starts.
        offset_bytes: usize,
    },
    /// A number that its type does not hold.
    #[error(
        "{place}, element {index}: {} does not fit {element}",
        value.map_or_else(|| "a number of more than 63 bits".to_owned(), |value| value.to_string())
    )]
    Range {
        /// The tensor.
        place: Place,
        /// The element.
        index: usize,
        /// Its value, if it fits an i64.
        value: Option<i64>,
        /// The type's name.
        element: &'static str,
    },
}

impl NnueError {
    /// [`ErrorKind::Unsupported`] for networks of another architecture, else [`ErrorKind::Malformed`].
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        match self {
            Self::Unreleased { .. }
            | Self::Shogi { .. }
            | Self::Unknown { .. }
            | Self::UnknownStack { agrees: true, .. } => ErrorKind::Unsupported,
            _ => ErrorKind::Malformed,
        }
    }

    /// What to do next, where the message does not say it.
    #[must_use]
    pub const fn advice(&self) -> Option<&'static str> {
        match self {
            Self::CutOff { .. }
            | Self::TransformerHash { .. }
            | Self::HeaderHash { .. }
            | Self::StackHash { .. }
            | Self::StacksLength { .. }
            | Self::ThreatRows { .. }
            | Self::Leb128Short { .. }
            | Self::Leb128CutOff { .. }
            | Self::Leb128Left { .. }
            | Self::Leb128Longer { .. }
            | Self::Range { .. } => Some("copy or download it again, in binary mode"),
            _ => None,
        }
    }
}

/// "`shape` has 3 or `shape` has 4"
fn lengths(expected: &[(Shape, usize)]) -> String {
    let each: Vec<String> = expected.iter().map(|(shape, len_bytes)| format!("{shape} has {len_bytes}")).collect();
    each.join(" or ")
}
