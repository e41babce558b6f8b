//! The fixed-size records between header and tensors. A microcontroller reads them where they lie.

pub mod activation;
pub mod op;

use super::NONE;
use crate::features::ROWS;
use bytemuck::{Pod, Zeroable};

/// What goes into the network and what comes out, 64 bytes, right behind the header.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct InputRecord {
    /// One of `input_kind`.
    pub kind: u32,
    /// Number of features, or length of the dense input.
    pub size: u32,
    /// 1 or 2 accumulators (features); 0 (dense, sparse).
    pub perspectives: u32,
    /// Width of one accumulator; 0 (dense, sparse).
    pub hidden: u32,
    /// The most features active at once, in one perspective of features or in a sparse vector; 0 (dense).
    pub max_active: u32,
    /// Number of output buckets, at least 1.
    pub bucket_count: u32,
    /// One of `feature_set`.
    pub feature_set: u32,
    /// Tensor of 64 u8: the king bucket of every square; or none.
    pub king_table: u32,
    /// Tensor of 33 or 289 u8: the output bucket of every count of pieces; or none.
    pub bucket_table: u32,
    /// `element` of a dense input (u8, i8 or f32), or of a sparse one's values (i16; 0 where it has
    /// none); 0 (features).
    pub element: u32,
    /// The real value of one unit of a dense input, or of a sparse one's values; 0 where there are none (features).
    pub unit: f32,
    /// The value that is the network's output: the output of the last operation.
    pub output: u32,
    /// The real value of one unit of the output.
    pub output_unit: f32,
    /// `perspective_order`: whose accumulator comes first in the network's order.
    pub order: u32,
    /// 1 if a sparse vector has exactly `max_active` features, 0 if it may have fewer; 0 (features, dense).
    pub exact: u32,
    /// Which pieces a chess network's bucket table counts: a bit a kind, 0 all of them, and
    /// `feature_set::COUNTED_BY_SIDES`.
    pub counted: u32,
}

/// A run of features that share a weight tensor, 32 bytes. Blocks cover the features without gap or overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct BlockRecord {
    /// First feature index.
    pub first_feature: u32,
    /// Number of features.
    pub feature_count: u32,
    /// Tensor (i16 or i8), a row a feature, a column a hidden unit.
    pub weights: u32,
    /// Tensor (i16), a row a hidden unit, the accumulator's start; only in the first block, which must have one.
    pub bias: u32,
    /// `claim`s about the accumulator.
    pub claims: u32,
    /// Zero.
    pub reserved: [u32; 3],
}

/// A tensor, 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct TensorRecord {
    /// One of `element`.
    pub element: u16,
    /// [`super::Layout`] code.
    pub layout: u16,
    /// Matrices, one an output bucket, one behind the other; 1 when the tensor is not bucketed.
    pub banks: u32,
    /// Rows of one bank: outputs, or features.
    pub rows: u32,
    /// Columns of one bank: inputs, or hidden units. 1 for a vector.
    pub cols: u32,
    /// Elements from a row to the next (`Rows`), or rows of a column group (`K4`).
    pub stride: u32,
    /// Where the tensor starts in the file.
    pub offset_bytes: u32,
    /// Its length, without the zero padding to the next multiple of 64.
    pub len_bytes: u32,
    /// `claim`s about the weights.
    pub claims: u32,
}

/// A vector, or a map of features, that flows through the network, 16 bytes. Value 0 is the input and has no place in
/// the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct ValueRecord {
    /// One of `element`.
    pub element: u16,
    /// The integer that stands for 0; 0 of i32 and f32.
    pub zero: i16,
    /// Number of elements.
    pub len: u32,
    /// Where it lies in the workspace, a multiple of 64, and in the six bits that such a number leaves how many of its
    /// rows lie there at once, 0 for all of them; none for value 0.
    pub place: u32,
    /// Rows of pixels beyond the first, and pixels of a row beyond the first. A vector is one pixel: both are 0.
    pub extent: [u16; 2],
}

impl ValueRecord {
    /// One of `element`.
    #[inline]
    pub const fn element(&self) -> u32 {
        self.element as u32
    }

    /// Height and width; 1 and 1 of a vector.
    #[inline]
    pub const fn pixels(&self) -> [u32; 2] {
        [self.extent[0] as u32 + 1, self.extent[1] as u32 + 1]
    }

    /// Where it lies in the workspace.
    #[inline]
    pub const fn offset_bytes(&self) -> u32 {
        if ROWS { self.place & !MOST_ROWS } else { self.place }
    }

    /// How many of its rows lie in the workspace at once; 0 for all of them.
    #[inline]
    pub const fn rows_held(&self) -> u32 {
        if ROWS && self.place != NONE { self.place & MOST_ROWS } else { 0 }
    }

    /// Elements that its place holds.
    #[inline]
    pub const fn len_held(&self) -> u32 {
        match self.rows_held() {
            0 => self.len,
            // Rows divide a length, as the loader has checked, and what lies there is a part of it.
            rows => (self.len / self.pixels()[0]).saturating_mul(rows),
        }
    }
}

/// The most rows of a value that lies in the workspace a few rows at a time: what a multiple of 64 leaves.
pub const MOST_ROWS: u32 = 63;

/// An operation, 64 bytes. FORMAT.md defines the arithmetic of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct OpRecord {
    /// One of `op`.
    pub kind: u32,
    /// Value that is read.
    pub input: u32,
    /// First element that is read of it.
    pub input_start: u32,
    /// Number of elements that are read of it.
    pub input_len: u32,
    /// Second value that is read; or none.
    pub second: u32,
    /// First element that is read of the second value.
    pub second_start: u32,
    /// Value that is written, whole.
    pub output: u32,
    /// Weight tensor; or none.
    pub weights: u32,
    /// Bias tensor; or none.
    pub bias: u32,
    /// Tensor of i32 multipliers (requantise) or features (trees); or none.
    pub multipliers: u32,
    /// Tensor of u8 shifts (requantise); or none.
    pub shifts: u32,
    /// `activation` code; or 0.
    pub activation: u32,
    /// Integers or f32 bits, as the kind says; unused ones are 0.
    pub params: [u32; 4],
}

const _: () = assert!(size_of::<InputRecord>() == 64);
const _: () = assert!(size_of::<BlockRecord>() == 32);
const _: () = assert!(size_of::<TensorRecord>() == 32);
const _: () = assert!(size_of::<ValueRecord>() == 16);
const _: () = assert!(size_of::<OpRecord>() == 64);

/// Codes of [`InputRecord::kind`].
pub mod input_kind {
    /// Lists of active features.
    pub const FEATURES: u32 = 1;
    /// A vector of small integers, or of reals.
    pub const DENSE: u32 = 2;
    /// A vector of which most elements are zero: the others' numbers in ascending order, with or without values.
    pub const SPARSE: u32 = 3;

    /// A code's word; `None` for a code that is not defined.
    pub const fn word(code: u32) -> Option<&'static str> {
        match code {
            FEATURES => Some("features"),
            DENSE => Some("dense"),
            SPARSE => Some("sparse"),
            _ => None,
        }
    }
}

/// Codes of [`InputRecord::feature_set`], and the tables that go with them.
pub mod feature_set {
    pub use crate::chess::sets::{
        ALL, CHESS, CHESS_MIRRORED, CUSTOM, FeatureSet, LAST, MERGED, MERGED_MIRRORED, NO_KINGS, THREATS,
        THREATS_AND_PAIRS, code, of, per_king_bucket, relation_count,
    };

    /// Entries of a king table, one a square.
    pub const KING_TABLE_LEN: usize = 64;
    /// Entries of a bucket table, one for every number of pieces from 0 to 32.
    pub const BUCKET_TABLE_LEN: usize = 33;
    /// The bit of [`super::InputRecord::counted`] by which the table has an entry for each pair of counts, the side to
    /// move's and the other's.
    pub const COUNTED_BY_SIDES: u32 = 64;
    /// Counts of a side, 0 to 16.
    pub const SIDE_COUNTS: usize = 17;
    /// Kinds of pieces.
    const KINDS: usize = 6;

    /// The entry of a bucket table for so many pieces of each kind, pawn to king, of the side to move and of the other;
    /// `None` for more than a game has.
    pub fn bucket_place(counted: u32, own: [usize; KINDS], other: [usize; KINDS]) -> Option<usize> {
        let kinds = counted % COUNTED_BY_SIDES;
        let count = |pieces: [usize; KINDS]| -> usize {
            let is_counted = |kind: &(usize, usize)| kinds == 0 || (kinds >> kind.0) & 1 == 1;
            pieces.into_iter().enumerate().filter(is_counted).map(|(_, count)| count).sum()
        };
        let (own, other) = (count(own), count(other));
        if counted < COUNTED_BY_SIDES {
            return Some(own + other).filter(|place| *place < BUCKET_TABLE_LEN);
        }
        (own < SIDE_COUNTS && other < SIDE_COUNTS).then_some(SIDE_COUNTS * own + other)
    }
}

/// Codes of [`InputRecord::order`].
pub mod perspective_order {
    /// The side to move's accumulator is first: the rule.
    pub const OWN_FIRST: u32 = 0;
    /// The other side's is.
    pub const OTHER_FIRST: u32 = 1;
}

/// Codes of element types.
pub mod element {
    /// Unsigned byte.
    pub const U8: u32 = 1;
    /// Signed byte.
    pub const I8: u32 = 2;
    /// 16-bit integer.
    pub const I16: u32 = 3;
    /// 32-bit integer.
    pub const I32: u32 = 4;
    /// IEEE single.
    pub const F32: u32 = 5;

    /// Bytes of one element; `None` for an unknown code.
    pub const fn len_bytes(code: u32) -> Option<usize> {
        match code {
            U8..=F32 => Some(1 << shift(code)),
            _ => None,
        }
    }

    /// A code's word; `None` for a code that is not defined.
    pub const fn word(code: u32) -> Option<&'static str> {
        match code {
            U8 => Some("u8"),
            I8 => Some("i8"),
            I16 => Some("i16"),
            I32 => Some("i32"),
            F32 => Some("f32"),
            _ => None,
        }
    }

    /// How often the length of an element of this code doubles that of a byte.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(crate) const fn shift(code: u32) -> u32 {
        (code >= I16) as u32 + (code >= I32) as u32
    }
}

/// Bits of the `claims` fields: what the quantiser proved. A wrong claim gives wrong numbers, never undefined
/// behaviour; `inspect` and `verify` derive them again.
pub mod claim {
    /// Feature block: no list of distinct features within `max_active` takes an accumulator out of i16.
    pub const ACCUMULATOR_FITS: u32 = 1;
    /// Weights: no input takes a sum out of i32.
    pub const SUM_FITS: u32 = 2;
    /// Weights: |w| · activation maximum ≤ 32767, so that the product fits i16.
    pub const PRODUCT_FITS_I16: u32 = 4;
    /// Weights in `K4`: of every row and every pair of column groups 2j, 2j + 1, the positive weights of columns 0 and
    /// 1 of both groups sum up to at most [`QUAD_LIMIT`], the negative ones to at least its negative, and likewise for
    /// columns 2 and 3. With inputs up to 127 those four products then fit i16 together. The loader checks this one.
    pub const QUADS_FIT_I16: u32 = 8;
    /// Every bit that is defined.
    pub const ALL: u32 = 15;

    /// Each bit and its word.
    pub const WORDS: [(u32, &str); 4] = [
        (ACCUMULATOR_FITS, "accumulator-fits"),
        (SUM_FITS, "sum-fits"),
        (PRODUCT_FITS_I16, "product-fits-i16"),
        (QUADS_FIT_I16, "quads-fit-i16"),
    ];

    /// 32767 / 127.
    pub const QUAD_LIMIT: i32 = 258;
}

/// What [`FEATURE_SUMS`](crate::raw::op::FEATURE_SUMS) makes of both perspectives, the one that comes first in value 0
/// being the first.
pub mod feature_sums {
    /// The first one's.
    pub const FIRST: u32 = 0;
    /// The second one's.
    pub const SECOND: u32 = 1;
    /// The first one's less the second one's.
    pub const FIRST_LESS_SECOND: u32 = 2;
    /// The second one's less the first one's.
    pub const SECOND_LESS_FIRST: u32 = 3;
}
