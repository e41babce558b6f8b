//! The feature sets of chess that a file can name, a row each: code, planes, whether the board is mirrored.
//!
//! The loader, the engine interface, the quantiser and its proofs go by these rows and list no sets themselves. What a
//! set has beside planes of pieces on squares is a column here: relations between pieces, [`super::relations`].

use super::relations::Relations;
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
    /// Features behind all those of pieces on squares.
    pub relations: Option<Relations>,
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $planes:ident, mirrored: $mirrored:literal,
        relations: $relations:expr;)*) => {
        $($(#[$doc])* pub const $name: u32 = $code;)*

        /// All rows, by ascending codes from 1.
        pub const ALL: &[FeatureSet] =
            &[$(FeatureSet {
                code: $code, planes: Planes::$planes, mirrored: $mirrored, relations: $relations
            },)*];

        /// The row of a code; `None` for [`CUSTOM`] and for codes without one.
        pub const fn of(code: u32) -> Option<FeatureSet> {
            match code {
                $($code => Some(FeatureSet {
                    code: $code, planes: Planes::$planes, mirrored: $mirrored, relations: $relations
                }),)*
                _ => None,
            }
        }
    };
}

/// No set of chess: feature indices mean something to the caller only.
pub const CUSTOM: u32 = 0;

rows! {
    /// Piece-square features, 768 a king bucket.
    CHESS = 1, Both, mirrored: false, relations: None;
    /// The same, mirrored.
    CHESS_MIRRORED = 2, Both, mirrored: true, relations: None;
    /// Piece-square features whose two kings share a plane, 704 a king bucket.
    MERGED = 3, Merged, mirrored: false, relations: None;
    /// The same, mirrored.
    MERGED_MIRRORED = 4, Merged, mirrored: true, relations: None;
    /// Piece-square features without kings, 640 a king bucket, black's board turned by half: HalfKP.
    NO_KINGS = 5, NoKings, mirrored: false, relations: None;
    /// [`MERGED_MIRRORED`] and threats of all pieces: those of Stockfish 18.
    THREATS = 6, Merged, mirrored: true, relations: Some(Relations::Threats);
    /// [`MERGED_MIRRORED`], threats without kings and pairs of pawns: those of Stockfish 19.
    THREATS_AND_PAIRS = 7, Merged, mirrored: true, relations: Some(Relations::ThreatsAndPairs);
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

/// Features of a code that are relations between pieces; 0 of codes without.
pub const fn relation_count(code: u32) -> u32 {
    match of(code) {
        Some(FeatureSet { relations: Some(relations), .. }) => relations.count(),
        _ => 0,
    }
}

/// The code of the set with these planes and nothing else; `None` where no file can name it.
pub fn code(planes: Planes, mirrored: bool) -> Option<u32> {
    let is_same = |set: &&FeatureSet| (set.planes, set.mirrored, set.relations) == (planes, mirrored, None);
    ALL.iter().find(is_same).map(|set| set.code)
}

#[cfg(test)]
mod tests {
    use super::{ALL, CUSTOM, LAST, code, of, per_king_bucket};

    #[test]
    fn codes_are_numbers_in_a_row_and_name_one_set_each() {
        for (set, number) in ALL.iter().zip(1..) {
            assert_eq!((set.code, of(number)), (number, Some(*set)));
            assert_eq!(code(set.planes, set.mirrored) == Some(number), set.relations.is_none());
            assert!(per_king_bucket(number).is_some_and(|features| features % 64 == 0));
        }
        assert_eq!((of(CUSTOM), of(LAST + 1), per_king_bucket(LAST + 1)), (None, None, None));
    }
}
