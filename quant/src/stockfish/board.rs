//! A board with colours, and the features that the family makes of it.

use super::net::FeatureSet;
use super::relations::Seen;
use crate::positions::{Position, PositionError};

/// A colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// White.
    White,
    /// Black.
    Black,
}

impl Side {
    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }
}

/// A position with its colours. They matter for [`FeatureSet::HalfKp`], where black sees a board turned by 180 degrees;
/// of the other feature sets, a position and its mirror image with colours exchanged have the same features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    /// Type, P N B R Q K = 0 to 5, colour, and square, a1 = 0.
    pieces: Vec<(u8, Side, u8)>,
    to_move: Side,
}

impl Board {
    /// A position, which is in the side to move's view, with that side's colour.
    #[must_use]
    pub fn new(position: &Position, to_move: Side) -> Self {
        let turned = if to_move == Side::White { 0 } else { 56 };
        let piece = |&(code, square): &(u8, u8)| {
            let colour = if code & 8 == 0 { to_move } else { to_move.other() };
            (code & 7, colour, square ^ turned)
        };
        Self { pieces: position.pieces().iter().map(piece).collect(), to_move }
    }

    /// Reads a FEN.
    ///
    /// # Errors
    /// As [`Position::from_fen`].
    pub fn from_fen(fen: &str) -> Result<Self, PositionError> {
        let position = Position::from_fen(fen)?;
        let is_black = fen.split_ascii_whitespace().nth(1) == Some("b");
        Ok(Self::new(&position, if is_black { Side::Black } else { Side::White }))
    }

    /// The side to move.
    #[must_use]
    pub fn to_move(&self) -> Side {
        self.to_move
    }

    /// Number of pieces, kings included.
    #[must_use]
    pub fn count(&self) -> usize {
        self.pieces.len()
    }

    /// The active features of a perspective as the file numbers their rows: the pieces on squares in the order of the
    /// pieces, at most 32, and behind them the relations, whose rows stand behind all of those.
    #[must_use]
    pub fn active(&self, features: FeatureSet, perspective: Side) -> Vec<usize> {
        let is_own_king = |&&(kind, colour, _): &&(u8, Side, u8)| kind == KING && colour == perspective;
        let king = self.pieces.iter().find(is_own_king).map(|&(_, _, square)| square);
        let king = king.unwrap_or_else(|| unreachable!("a position has a king a side"));
        let piece = |&(kind, colour, square): &(u8, Side, u8)| {
            feature(features, perspective, king, kind, colour == perspective, square)
        };
        let mut active: Vec<usize> = self.pieces.iter().filter_map(piece).collect();
        let seen = self.seen(perspective, king);
        let mut first = features.piece_count();
        for relation in features.relations() {
            active.extend(relation.active(&seen).into_iter().map(|row| first + row));
            first += relation.count();
        }
        active
    }

    /// The pieces as relations see them: mirrored so that the own king stands on files a to d.
    fn seen(&self, perspective: Side, king: u8) -> Vec<Seen> {
        let turned = if perspective == Side::White { 0 } else { 56 };
        let mirrored = if king % 8 < 4 { 0 } else { 7 };
        let seen = |&(kind, colour, square): &(u8, Side, u8)| Seen {
            kind,
            is_own: colour == perspective,
            square: square ^ turned ^ mirrored,
        };
        self.pieces.iter().map(seen).collect()
    }
}

const KING: u8 = 5;

/// The feature of one piece, or none for a king in HalfKP. Squares are absolute.
fn feature(features: FeatureSet, perspective: Side, king: u8, kind: u8, is_own: bool, square: u8) -> Option<usize> {
    let turned = match (features, perspective) {
        (_, Side::White) => 0,
        (FeatureSet::HalfKp, Side::Black) => 63,
        (_, Side::Black) => 56,
    };
    // The planes in order: own pawns, other pawns, own knights, … other queens, and one for both kings.
    let plane = match kind {
        KING => 10,
        _ => 2 * usize::from(kind) + usize::from(!is_own),
    };
    let king = king ^ turned;
    match features {
        FeatureSet::HalfKp if kind == KING => None,
        FeatureSet::HalfKp => Some(641 * usize::from(king) + 1 + 64 * plane + usize::from(square ^ turned)),
        FeatureSet::HalfKaV2 => Some(704 * usize::from(king) + 64 * plane + usize::from(square ^ turned)),
        FeatureSet::PHm => {
            let plane = usize::from(kind) + if is_own { 0 } else { 6 };
            let mirrored = if king % 8 < 4 { 7 } else { 0 };
            Some(64 * plane + usize::from(square ^ turned ^ mirrored))
        }
        FeatureSet::HalfKaV2Hm | FeatureSet::Threats | FeatureSet::ThreatsAndPairs => {
            let (rank, file) = (king / 8, king % 8);
            let mirrored = if file < 4 { 7 } else { 0 };
            let bucket = usize::from((7 - rank) * 4 + file.min(7 - file));
            Some(704 * bucket + 64 * plane + usize::from(square ^ turned ^ mirrored))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Board, FeatureSet, Side};

    /// White Ka1, Pb2, black Kh8, Qd5; indices worked out by hand.
    #[test]
    fn features_of_four_pieces() {
        let board = Board::from_fen("7k/8/8/3q4/8/8/1P6/K7 b").unwrap();
        let active = |features, side| {
            let mut active = board.active(features, side);
            active.sort_unstable();
            active
        };
        // White king on square 0, pawn 9, queen 35 on plane 9.
        assert_eq!(active(FeatureSet::HalfKp, Side::White), [10, 1 + 9 * 64 + 35]);
        // Turned by 180 degrees: king 0, own queen 28 on plane 8, the pawn 54 on plane 1.
        assert_eq!(active(FeatureSet::HalfKp, Side::Black), [1 + 64 + 54, 1 + 8 * 64 + 28]);
        assert_eq!(active(FeatureSet::HalfKaV2, Side::White), [9, 9 * 64 + 35, 640, 640 + 63]);
        // Upside down: own king on 7, the other on 56, queen 27, pawn 49.
        let h1 = 7 * 704;
        assert_eq!(
            active(FeatureSet::HalfKaV2, Side::Black),
            [h1 + 64 + 49, h1 + 8 * 64 + 27, h1 + 640 + 7, h1 + 640 + 56]
        );
        // Both kings in a corner, bucket 28; only white's stands on the left and is mirrored.
        let corner = 28 * 704;
        assert_eq!(
            active(FeatureSet::HalfKaV2Hm, Side::White),
            [corner + 14, corner + 9 * 64 + 36, corner + 640 + 7, corner + 640 + 56]
        );
        assert_eq!(
            active(FeatureSet::HalfKaV2Hm, Side::Black),
            [corner + 64 + 49, corner + 8 * 64 + 27, corner + 640 + 7, corner + 640 + 56]
        );
    }

    #[test]
    fn no_feature_is_out_of_range_and_the_last_is_reached() {
        for features in FeatureSet::ALL {
            let mut largest = 0;
            for square in 0..64 {
                for king in (0..64).filter(|&king| king != square) {
                    for (side, kind, is_own) in
                        [(Side::White, 4, false), (Side::Black, 4, false), (Side::White, 5, false)]
                    {
                        let index = super::feature(features, side, king, kind, is_own, square);
                        largest = largest.max(index.unwrap_or(0));
                    }
                }
            }
            let count = features.piece_count();
            assert!(largest < count && largest + 3 > count, "{features:?}: {largest}");
        }
    }
}
