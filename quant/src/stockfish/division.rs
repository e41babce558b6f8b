//! By which of two rules the parts of a result become the value.
//!
//! Up to Stockfish 16.1 an engine adds the parts and divides once, from 17 on it divides each part.

/// The head's result and the PSQT part are this many times the evaluation.
pub const OUTPUT_SCALE: i32 = 16;

/// The two parts of a bucket's result, each [`OUTPUT_SCALE`] times its share of the evaluation, of which
/// [`Division`] makes the value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts {
    /// Half the difference of the perspectives' PSQT sums, towards zero; 0 without PSQT.
    pub psqt: i32,
    /// What the layers give.
    pub positional: i32,
}

/// How the parts of a result, each [`OUTPUT_SCALE`] times its share, become the value. `/` is towards zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Division {
    /// `(psqt + positional) / 16`: the engines up to Stockfish 16.1.
    Once,
    /// `psqt / 16 + positional / 16`: from Stockfish 17 on.
    Twice,
}

impl Division {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Once, Self::Twice];

    /// `once` or `twice`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Twice => "twice",
        }
    }

    /// From [`Division::word`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|division| division.word() == word)
    }

    /// The rule as a formula.
    #[must_use]
    pub const fn formula(self) -> &'static str {
        match self {
            Self::Once => "(psqt + positional) / 16",
            Self::Twice => "psqt / 16 + positional / 16",
        }
    }

    /// The value of a bucket, in the engine's internal units, without an engine's later adjustments. The sum before one
    /// division wraps at 32 bits.
    ///
    /// # Examples
    /// ```
    /// use tamis_quant::stockfish::{Division, Parts};
    ///
    /// let parts = Parts { psqt: -17, positional: 31 };
    /// assert_eq!(Division::Once.value(parts), 0); // 14 / 16
    /// assert_eq!(Division::Twice.value(parts), 0); // -1 + 1
    /// let parts = Parts { psqt: -15, positional: -15 };
    /// assert_eq!(Division::Once.value(parts), -1); // -30 / 16
    /// assert_eq!(Division::Twice.value(parts), 0); // 0 + 0
    /// ```
    #[must_use]
    pub const fn value(self, parts: Parts) -> i32 {
        match self {
            Self::Once => parts.psqt.wrapping_add(parts.positional) / OUTPUT_SCALE,
            Self::Twice => parts.psqt / OUTPUT_SCALE + parts.positional / OUTPUT_SCALE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn parts(psqt: i32, positional: i32) -> Parts {
        Parts { psqt, positional }
    }

    /// Worked out by hand: psqt, positional, the value by one division, by two.
    #[test]
    fn values_by_both_rules() {
        for (psqt, positional, once, twice) in [
            (0, 0, 0, 0),
            (16, -16, 0, 0),
            (15, 15, 1, 0),
            (-15, -15, -1, 0),
            (8, 8, 1, 0),
            (7, 8, 0, 0),
            (33, -1, 2, 2),
            (32, -1, 1, 2),
            (-32, 1, -1, -2),
            (-31, 47, 1, 1),
            (-33, 31, 0, -1),
            (-17, -31, -3, -2),
            (i32::MAX, 1, i32::MIN / 16, i32::MAX / 16),
            (i32::MAX, i32::MAX, 0, 2 * (i32::MAX / 16)),
            (i32::MIN, i32::MIN, 0, -(1 << 28)),
        ] {
            assert_eq!(Division::Once.value(parts(psqt, positional)), once, "{psqt} {positional}");
            assert_eq!(Division::Twice.value(parts(psqt, positional)), twice, "{psqt} {positional}");
        }
    }

    /// Over all remainders and signs.
    #[test]
    fn the_rules_differ_by_one_at_most() {
        let mut differing = 0;
        for psqt in -64..64 {
            for positional in -64..64 {
                let [once, twice] = Division::ALL.map(|division| division.value(parts(psqt, positional)));
                assert!((once - twice).abs() <= 1, "{psqt} {positional}");
                differing += u32::from(once != twice);
            }
        }
        assert!((6_000..8_192).contains(&differing), "somewhat less than half of 16384: {differing}");
    }

    #[test]
    fn words() {
        for division in Division::ALL {
            assert_eq!(Division::from_word(division.word()), Some(division));
        }
        assert_eq!(Division::from_word("thrice"), None);
    }
}
