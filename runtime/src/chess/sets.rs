//! The feature sets of chess that a file can name, a row each: code, planes, whether the board is mirrored.
//!
//! The loader, the engine interface, the quantiser and its proofs go by these rows and list no sets themselves. A set
//! whose features are something else than planes of pieces on squares is a file beside [`super::view`] and a column
//! here.

use super::view::Planes;

/// A row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureSet {
    /// What the file says.
    pub code: u32,
    /// Which pieces have planes.
    pub planes: Planes,
    /// Whether the board is mirrored while the perspective's king stands on files e to h.
    pub mirrored: bool,
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $planes:ident, mirrored: $mirrored:literal;)*) => {
        $($(#[$doc])* pub const $name: u32 = $code;)*

        /// All rows, by ascending codes from 1.
        pub const ALL: &[FeatureSet] =
            &[$(FeatureSet { code: $code, planes: Planes::$planes, mirrored: $mirrored },)*];

        /// The row of a code; `None` for [`CUSTOM`] and for codes without one.
        pub const fn of(code: u32) -> Option<FeatureSet> {
            match code {
                $($code => Some(FeatureSet { code: $code, planes: Planes::$planes, mirrored: $mirrored }),)*
                _ => None,
            }
        }
    };
}

/// No set of chess: feature indices mean something to the caller only.
pub const CUSTOM: u32 = 0;

rows! {
    /// Piece-square features, 768 a king bucket.
    CHESS = 1, Both, mirrored: false;
    /// The same, mirrored.
    CHESS_MIRRORED = 2, Both, mirrored: true;
    /// Piece-square features whose two kings share a plane, 704 a king bucket.
    MERGED = 3, Merged, mirrored: false;
    /// The same, mirrored.
    MERGED_MIRRORED = 4, Merged, mirrored: true;
    /// Piece-square features without kings, 640 a king bucket, black's board turned by half: HalfKP.
    NO_KINGS = 5, NoKings, mirrored: false;
}

/// The last code that there is.
pub const LAST: u32 = ALL.len() as u32;

/// Features of one king bucket; `None` for codes without a row.
pub const fn per_king_bucket(code: u32) -> Option<u32> {
    match of(code) {
        Some(set) => Some(set.planes.features_per_king_bucket()),
        None => None,
    }
}

/// The code of the set with these planes; `None` where no file can name it.
pub fn code(planes: Planes, mirrored: bool) -> Option<u32> {
    ALL.iter().find(|set| (set.planes, set.mirrored) == (planes, mirrored)).map(|set| set.code)
}

#[cfg(test)]
mod tests {
    use super::{ALL, CUSTOM, LAST, code, of, per_king_bucket};

    #[test]
    fn codes_are_numbers_in_a_row_and_name_one_set_each() {
        for (set, number) in ALL.iter().zip(1..) {
            assert_eq!((set.code, of(number), code(set.planes, set.mirrored)), (number, Some(*set), Some(number)));
            assert!(per_king_bucket(number).is_some_and(|features| features % 64 == 0));
        }
        assert_eq!((of(CUSTOM), of(LAST + 1), per_king_bucket(LAST + 1)), (None, None, None));
    }
}
