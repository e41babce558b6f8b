//! The family's numbering of features and of piece-square values, and the container's.
//!
//! The container numbers features as the runtime's [`ChessView`](tamis_runtime::raw::chess::ChessView) does, so that
//! an engine needs no tables of its own: own P N B R Q (K), then the other side's, the king's bucket in front. The
//! family interleaves the sides, own P, other P, own N and so on, and puts the kings last; HalfKP starts each king
//! square with a row that no feature has; HalfKAv2_hm mirrors the board so that the king stands on files e to h where
//! the container has it on a to d, which is the same board seen in a mirror, `square ^ 7`.
//!
//! Piece-square values are 32 bits wide, an accumulator's elements 16, so each becomes digits of 2^10, the lowest of
//! −512 to 511, which add up element by element like any weight.

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

impl FeatureSet {
    /// Its code in the container.
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::HalfKp => feature_set::NO_KINGS,
            Self::HalfKaV2 => feature_set::MERGED,
            Self::HalfKaV2Hm => feature_set::MERGED_MIRRORED,
        }
    }

    /// Features of a king bucket in the container.
    #[must_use]
    pub const fn per_king_bucket(self) -> usize {
        match self {
            Self::HalfKp => 10 * SQUARES,
            Self::HalfKaV2 | Self::HalfKaV2Hm => 11 * SQUARES,
        }
    }

    /// King buckets.
    #[must_use]
    pub const fn king_buckets(self) -> usize {
        match self {
            Self::HalfKp | Self::HalfKaV2 => SQUARES,
            Self::HalfKaV2Hm => SQUARES / 2,
        }
    }

    /// Features of the container: those of the file that a piece on a board can have.
    #[must_use]
    pub const fn used(self) -> usize {
        self.king_buckets() * self.per_king_bucket()
    }

    /// The most pieces that are features at once.
    #[must_use]
    pub const fn max_active(self) -> usize {
        match self {
            Self::HalfKp => 30,
            Self::HalfKaV2 | Self::HalfKaV2Hm => 32,
        }
    }

    /// The file's row of one of the container's features, below [`FeatureSet::used`].
    #[must_use]
    pub const fn row_of(self, feature: usize) -> usize {
        let (bucket, within) = (feature / self.per_king_bucket(), feature % self.per_king_bucket());
        let (plane, square) = (within / SQUARES, within % SQUARES);
        match self {
            Self::HalfKp => bucket * (10 * SQUARES + 1) + 1 + interleaved(plane, 5) * SQUARES + square,
            Self::HalfKaV2 => bucket * self.per_king_bucket() + merged(plane) * SQUARES + square,
            Self::HalfKaV2Hm => bucket * self.per_king_bucket() + merged(plane) * SQUARES + (square ^ 7),
        }
    }

    /// The file's rows that no feature has.
    #[must_use]
    pub fn unused_rows(self) -> Vec<usize> {
        match self {
            Self::HalfKp => (0..SQUARES).map(|king| king * (10 * SQUARES + 1)).collect(),
            Self::HalfKaV2 | Self::HalfKaV2Hm => Vec::new(),
        }
    }

    /// The king bucket of every square of the own king, in its own view.
    #[must_use]
    pub fn king_table(self) -> [u8; KING_TABLE_LEN] {
        std::array::from_fn(|square| {
            let (rank, file) = (square / 8, square % 8);
            match self {
                Self::HalfKp | Self::HalfKaV2 => square as u8,
                Self::HalfKaV2Hm => ((7 - rank) * 4 + file.min(7 - file)) as u8,
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

/// Digits that every piece-square value of a network fits; 0 of a network without.
#[must_use]
pub fn digits(transformer: &Transformer) -> usize {
    let Some(psqt) = &transformer.psqt else { return 0 };
    let ends = psqt.values.iter().fold([0, 0], |[least, greatest], value| [least.min(*value), greatest.max(*value)]);
    let leading = |value: i32, count: u32| digit(value, count - 1, count).unsigned_abs();
    let fits = |count: &u32| ends.into_iter().all(|end| leading(end, *count) <= LEADING_MAX);
    (1..=MAX_DIGITS).find(fits).unwrap_or(MAX_DIGITS) as usize
}

/// Digit `place` of `count`: what is left of the value where it is the highest, else −512 to 511.
#[must_use]
pub const fn digit(value: i32, place: u32, count: u32) -> i32 {
    let half = 1i64 << (DIGIT_BITS - 1);
    let mut rest = value as i64;
    let mut at = 0;
    while at < place {
        rest = (rest + half) >> DIGIT_BITS;
        at += 1;
    }
    if place + 1 >= count { rest as i32 } else { (((rest + half) & (2 * half - 1)) - half) as i32 }
}

/// The value of digits, the lowest first; `None` if it does not fit.
#[must_use]
pub fn from_digits(digits: impl DoubleEndedIterator<Item = i16>) -> Option<i32> {
    let value = digits.rev().fold(0i64, |value, digit| (value << DIGIT_BITS) + i64::from(digit));
    i32::try_from(value).ok()
}

/// Elements of a container's accumulator behind the file's: the digits last, and in front of them as many zeros as make
/// rows a whole number of vectors of every kind. A row is padded to 64 bytes anyway, so that they cost nothing in the
/// file.
#[must_use]
pub const fn digit_columns(digits: usize) -> usize {
    (digits * PSQT_BUCKETS).next_multiple_of(ROW_ELEMENTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stockfish::{Block, Encoding};

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
        for value in ends {
            let transformer = |value| Transformer {
                biases: Block { values: vec![], encoding: Encoding::Raw },
                weights: Block { values: vec![], encoding: Encoding::Raw },
                psqt: Some(Block { values: vec![value], encoding: Encoding::Raw }),
            };
            let count = digits(&transformer(value)) as u32;
            let found: Vec<i16> = (0..count).map(|place| i16::try_from(digit(value, place, count)).unwrap()).collect();
            assert!(found.iter().rev().skip(1).all(|digit| (-512..512).contains(digit)), "{value}: {found:?}");
            assert!(found.last().unwrap().abs() <= 1023, "{value}: {found:?}");
            assert_eq!(from_digits(found.into_iter()), Some(value));
        }
        assert_eq!(from_digits([0, 0, 0, 30_000].into_iter()), None);
    }
}
