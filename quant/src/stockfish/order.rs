//! The family's numbering of features and of piece-square values, and the container's.
//!
//! The container numbers features as the runtime's [`ChessView`](tamis_runtime::raw::chess::ChessView) does, so that
//! an engine needs no tables of its own: own P N B R Q (K), then the other side's, the king's bucket in front. The
//! family interleaves the sides, own P, other P, own N and so on, and puts the kings last; HalfKP starts each king
//! square with a row that no feature has; HalfKAv2_hm mirrors the board so that the king stands on files e to h where
//! the container has it on a to d, which is the same board seen in a mirror, `square ^ 7`.
//!
//! Piece-square values are 32 bits wide, an accumulator's elements 16, so each becomes digits of 2^10, the lowest of
//! −512 to 511, which add up element by element like any weight; of 2^7 where relations are features, so that they fit
//! the relations' rows of bytes.

use super::net::{FeatureSet, PSQT_BUCKETS, Transformer};
use tamis_runtime::raw::feature_set::{self, BUCKET_TABLE_LEN, KING_TABLE_LEN};
use tamis_runtime::raw::op::{DIGIT_BITS, MAX_DIGITS};

/// Squares of a plane.
const SQUARES: usize = 64;
/// i16 of a row's 64 bytes.
const ROW_ELEMENTS: usize = 32;
/// The container's plane of both kings.
const KINGS: usize = 5;
/// The most that the highest digit may be: 32 of them fit i16.
const LEADING_MAX: u32 = 1023;
/// Bits of a digit where relations are features.
const RELATED_BITS: u32 = 7;
/// The most that the highest digit may then be, of a piece on a square and of a relation.
const RELATED_LEADING_MAX: u32 = 255;
const RELATION_LEADING_MAX: u32 = 63;

impl FeatureSet {
    /// Its code in the container.
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::HalfKp => feature_set::NO_KINGS,
            Self::HalfKaV2 => feature_set::MERGED,
            Self::HalfKaV2Hm => feature_set::MERGED_MIRRORED,
            Self::PHm => feature_set::CHESS_MIRRORED,
            Self::Threats => feature_set::THREATS,
            Self::ThreatsAndPairs => feature_set::THREATS_AND_PAIRS,
        }
    }

    /// Features of a king bucket in the container.
    #[must_use]
    pub const fn per_king_bucket(self) -> usize {
        match self {
            Self::HalfKp => 10 * SQUARES,
            Self::HalfKaV2 | Self::HalfKaV2Hm | Self::Threats | Self::ThreatsAndPairs => 11 * SQUARES,
            Self::PHm => 12 * SQUARES,
        }
    }

    /// King buckets.
    #[must_use]
    pub const fn king_buckets(self) -> usize {
        match self {
            Self::HalfKp | Self::HalfKaV2 => SQUARES,
            Self::HalfKaV2Hm | Self::Threats | Self::ThreatsAndPairs => SQUARES / 2,
            Self::PHm => 1,
        }
    }

    /// Features of the container: those of the file that a piece on a board can have, and behind them the relations.
    #[must_use]
    pub fn used(self) -> usize {
        self.used_pieces() + self.count() - self.piece_count()
    }

    /// Those of them that are pieces on squares.
    #[must_use]
    pub const fn used_pieces(self) -> usize {
        self.king_buckets() * self.per_king_bucket()
    }

    /// The most pieces that are features at once.
    #[must_use]
    pub const fn max_pieces(self) -> usize {
        match self {
            Self::HalfKp => 30,
            _ => 32,
        }
    }

    /// The most features at once, relations included.
    #[must_use]
    pub fn max_active(self) -> usize {
        self.max_pieces() + self.relations().iter().map(|relation| relation.max_active()).sum::<usize>()
    }

    /// The file's row of one of the container's features, below [`FeatureSet::used`]. Relations have the same numbers.
    #[must_use]
    pub const fn row_of(self, feature: usize) -> usize {
        if feature >= self.used_pieces() {
            return feature - self.used_pieces() + self.piece_count();
        }
        let (bucket, within) = (feature / self.per_king_bucket(), feature % self.per_king_bucket());
        let (plane, square) = (within / SQUARES, within % SQUARES);
        match self {
            Self::HalfKp => bucket * (10 * SQUARES + 1) + 1 + interleaved(plane, 5) * SQUARES + square,
            Self::HalfKaV2 => bucket * self.per_king_bucket() + merged(plane) * SQUARES + square,
            Self::HalfKaV2Hm | Self::Threats | Self::ThreatsAndPairs => {
                bucket * self.per_king_bucket() + merged(plane) * SQUARES + (square ^ 7)
            }
            Self::PHm => feature ^ 7,
        }
    }

    /// The file's rows that no feature has.
    #[must_use]
    pub fn unused_rows(self) -> Vec<usize> {
        match self {
            Self::HalfKp => (0..SQUARES).map(|king| king * (10 * SQUARES + 1)).collect(),
            _ => Vec::new(),
        }
    }

    /// The king bucket of every square of the own king, in its own view.
    #[must_use]
    pub fn king_table(self) -> [u8; KING_TABLE_LEN] {
        std::array::from_fn(|square| {
            let (rank, file) = (square / 8, square % 8);
            match self {
                Self::HalfKp | Self::HalfKaV2 => square as u8,
                Self::HalfKaV2Hm | Self::Threats | Self::ThreatsAndPairs => ((7 - rank) * 4 + file.min(7 - file)) as u8,
                Self::PHm => 0,
            }
        })
    }

    /// The output bucket of every number of pieces.
    #[must_use]
    pub fn bucket_table(self) -> [u8; BUCKET_TABLE_LEN] {
        std::array::from_fn(|pieces| if self.buckets() == 1 { 0 } else { (pieces.saturating_sub(1) / 4) as u8 })
    }
}

/// The family's plane of a side's pieces, the sides in turn.
const fn interleaved(plane: usize, types: usize) -> usize {
    2 * (plane % types) + plane / types
}

/// The same with the kings' plane, which is the family's last.
const fn merged(plane: usize) -> usize {
    match plane {
        KINGS => 2 * KINGS,
        own if own < KINGS => interleaved(own, KINGS),
        other => interleaved(other - 1, KINGS),
    }
}

/// How piece-square values become digits: how many there are, and of how many bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digits {
    /// 0 of a network without piece-square values.
    pub count: u32,
    /// Of each digit.
    pub bits: u32,
}

impl Digits {
    /// Those that every piece-square value of a network fits: ten bits, and seven where relations are features, whose
    /// rows are of bytes and whose lists are long.
    ///
    /// All sums of digits fit i16. Of ten bits, 32 pieces have digits up to 1023. Of seven, there are at most 346
    /// features with digits from −64 to 63, but for the highest of the pieces, which go up to 255.
    #[must_use]
    pub fn of(transformer: &Transformer) -> Self {
        let related = !transformer.relations.is_empty();
        let bits = if related { RELATED_BITS } else { DIGIT_BITS };
        let Some(psqt) = &transformer.psqt else { return Self { count: 0, bits } };
        let most = if related { RELATED_LEADING_MAX } else { LEADING_MAX };
        let fits = |count: u32, values: &[i32], most: u32| {
            let ends = values.iter().fold([0, 0], |[least, greatest], value| [least.min(*value), greatest.max(*value)]);
            let digits = Self { count, bits };
            ends.into_iter().all(|end| digits.digit(end, count - 1).unsigned_abs() <= most)
        };
        let all = |count: &u32| {
            let mut relations = transformer.relations.iter();
            fits(*count, &psqt.values, most)
                && relations.all(|rows| fits(*count, &rows.psqt.values, RELATION_LEADING_MAX))
        };
        // Five digits of seven bits hold every i32, and so do four of ten.
        Self { count: (1..=MAX_DIGITS).find(all).unwrap_or(MAX_DIGITS), bits }
    }

    /// One digit of a value, the lowest first: what is left where it is the highest, else −2^(bits − 1) to 2^(bits − 1)
    /// − 1.
    #[must_use]
    pub const fn digit(self, value: i32, place: u32) -> i32 {
        let half = 1i64 << (self.bits - 1);
        let mut rest = value as i64;
        let mut at = 0;
        while at < place {
            rest = (rest + half) >> self.bits;
            at += 1;
        }
        if place + 1 >= self.count { rest as i32 } else { (((rest + half) & (2 * half - 1)) - half) as i32 }
    }

    /// The value of digits, the lowest first; `None` if it does not fit.
    #[must_use]
    pub fn value(self, digits: impl DoubleEndedIterator<Item = i16>) -> Option<i32> {
        let value = digits.rev().fold(0i64, |value, digit| (value << self.bits) + i64::from(digit));
        i32::try_from(value).ok()
    }
}

/// Elements of a container's accumulator behind the file's: the digits last, and in front of them as many zeros as make
/// rows a whole number of vectors of every kind. A row is padded to 64 bytes anyway, so that they cost nothing in the
/// file.
#[must_use]
pub const fn digit_columns(digits: Digits) -> usize {
    columns_of(digits, PSQT_BUCKETS)
}

/// The same for so many numbers.
#[must_use]
pub const fn columns_of(digits: Digits, numbers: usize) -> usize {
    (digits.count as usize * numbers).next_multiple_of(ROW_ELEMENTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stockfish::{Block, Encoding, RelationRows};

    #[test]
    fn every_row_of_a_file_is_one_feature_or_unused() {
        for set in FeatureSet::ALL {
            let mut rows: Vec<usize> = (0..set.used()).map(|feature| set.row_of(feature)).collect();
            rows.extend(set.unused_rows());
            rows.sort_unstable();
            assert!(rows.into_iter().eq(0..set.count()), "{}", set.name());
            assert!(set.king_table().iter().all(|bucket| usize::from(*bucket) < set.king_buckets()));
        }
    }

    #[test]
    fn digits_add_up() {
        let ends = [0, 1, -1, 511, 512, -512, -513, 1023, 1 << 20, -(1 << 20), i32::MAX, i32::MIN, i32::MIN + 513];
        let block = |values| Block { values, encoding: Encoding::Raw };
        for (value, is_related) in ends.into_iter().flat_map(|value| [(value, false), (value, true)]) {
            let rows = RelationRows { weights: Vec::new(), psqt: block(vec![value]) };
            let transformer = Transformer {
                biases: Block { values: vec![], encoding: Encoding::Raw },
                weights: Block { values: vec![], encoding: Encoding::Raw },
                psqt: Some(block(vec![value])),
                relations: if is_related { vec![rows] } else { Vec::new() },
            };
            let digits = Digits::of(&transformer);
            let (half, most) = if is_related { (64, 63) } else { (512, 1023) };
            let found: Vec<i16> =
                (0..digits.count).map(|place| i16::try_from(digits.digit(value, place)).unwrap()).collect();
            assert!(found.iter().rev().skip(1).all(|digit| (-half..half).contains(digit)), "{value}: {found:?}");
            assert!(found.last().unwrap().abs() <= most, "{value}: {found:?}");
            assert_eq!(digits.value(found.into_iter()), Some(value));
        }
        assert_eq!(Digits { count: 4, bits: 10 }.value([0, 0, 0, 30_000].into_iter()), None);
    }
}
