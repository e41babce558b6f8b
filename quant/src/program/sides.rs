//! What is made of numbers that features add to in both perspectives.

use tamis_runtime::raw::feature_sums;

/// Which perspectives' numbers are taken. The first is the one that comes first in value 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// The first one's.
    First,
    /// The second one's.
    Second,
    /// The first one's less the second one's.
    FirstLessSecond,
    /// The second one's less the first one's.
    SecondLessFirst,
}

impl Sides {
    /// The number in the file.
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::First => feature_sums::FIRST,
            Self::Second => feature_sums::SECOND,
            Self::FirstLessSecond => feature_sums::FIRST_LESS_SECOND,
            Self::SecondLessFirst => feature_sums::SECOND_LESS_FIRST,
        }
    }

    /// How often the first one's and the second one's are in it.
    #[must_use]
    pub const fn signs(self) -> [i64; 2] {
        match self {
            Self::First => [1, 0],
            Self::Second => [0, 1],
            Self::FirstLessSecond => [1, -1],
            Self::SecondLessFirst => [-1, 1],
        }
    }
}
