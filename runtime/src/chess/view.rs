//! Feature sets that are planes of pieces on squares: which weight row a piece on a square is, seen by one side.
//!
//! A position is stored as the side to move sees it: its own pieces at ranks 1 and 2, a1 = 0. A piece is a byte, bits
//! 0 to 2 the type (pawn, knight, bishop, rook, queen, king = 0 to 5), bit 3 set for the opponent's. With c = 0 for a
//! piece of the viewing side and 1 for one of the other, t the type and sq the square *as the viewing side sees it*,
//!
//! ```text
//! plain     = 384·c + 64·t + sq                      the other side sees sq ^ 56, and c exchanged
//! feature   = 768·bucket[king] + (plain ^ flip)      flip = 7 if mirrored and the viewing side's king is on e..h
//! ```
//!
//! The flip may be applied to the whole number because 64·t and 384·c are multiples of 8. With a table of zeros and no
//! mirroring this is bullet's `Chess768`, with a table `ChessBuckets`, with both `ChessBucketsMirrored`.
//!
//! [`Planes`] says what else there is: king planes merged into one, 704 features a bucket, since a side's king is where
//! the bucket says and only the opponent's has to be told; and no king planes, 640, the oldest set, whose black sees
//! the board turned by half.
//!
//! Nothing here knows a rule of chess: an engine hands in lists of pieces, kings included, and gets feature indices.

use super::numbering::{self, COLOUR, Numbering, PLANE};
pub use super::numbering::{FEATURES_PER_KING_BUCKET, Perspective, Planes};

/// The type of a king in a piece's bits 0 to 2.
const KING: u8 = numbering::KING as u8;

/// Bit 3 of a piece: set for the opponent of the side to move.
pub const OPPONENT: u8 = 8;

/// A chess feature set: what of the own king's square matters.
///
/// ```
/// use tamis_runtime::raw::chess::{ChessView, OPPONENT, Perspective, Planes};
///
/// const KING: u8 = 5;
/// let plain = ChessView { planes: Planes::Both, mirrored: false, king_table: &[0; 64] };
/// // Own king on e1, the opponent's on e8; e8 is e1 (4) as the opponent sees it.
/// let pieces = [(KING, 4), (KING | OPPONENT, 60)];
/// assert!(plain.features(pieces, 4, 4, Perspective::SideToMove).eq([64 * 5 + 4, 384 + 64 * 5 + 60]));
/// // The opponent sees the same two pieces with the colours exchanged.
/// assert!(plain.features(pieces, 4, 4, Perspective::Other).eq([384 + 64 * 5 + 60, 64 * 5 + 4]));
///
/// // Mirrored, a king on e1 counts as one on d1, and all squares with it.
/// let mirrored = ChessView { mirrored: true, ..plain };
/// assert_eq!(mirrored.feature(Perspective::SideToMove, KING, 4, 4), 64 * 5 + 3);
///
/// // With merged planes the opponent's king has the own king's plane.
/// let merged = ChessView { planes: Planes::Merged, ..plain };
/// assert!(merged.features(pieces, 4, 4, Perspective::SideToMove).eq([64 * 5 + 4, 64 * 5 + 60]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChessView<'a> {
    /// Which pieces have planes.
    pub planes: Planes,
    /// Mirror the board left to right while the viewing side's king stands on files e to h.
    pub mirrored: bool,
    /// The bucket of each square of the viewing side's king in its own view, a1, b1, … h8. With `mirrored`, a table
    /// whose two halves are not mirror images of each other still works, and tells the halves apart.
    pub king_table: &'a [u8; 64],
}

impl ChessView<'_> {
    /// The feature of one piece.
    ///
    /// `piece` and `square` as the board stores them (the side to move's view); `king_square` is that of
    /// `perspective`'s own king *in its own view*, see [`ChessView::seen`].
    ///
    /// Never panics. Squares count modulo 64. A `piece` of type 6 or 7, which is none, and a king where
    /// [`ChessView::has_king_features`] is false give an index of some other piece or past the end, which only the
    /// network's own check can refuse.
    #[must_use]
    #[inline]
    pub fn feature(&self, perspective: Perspective, piece: u8, square: u8, king_square: u8) -> u32 {
        let colour = if piece & OPPONENT == 0 { 0 } else { COLOUR };
        let index = colour + PLANE * u16::from(piece & 7) + u16::from(square & 63);
        self.numbering(perspective, king_square).feature(index)
    }

    /// How `perspective` numbers pieces while its king stands on `king_square`, in its own view.
    #[must_use]
    #[inline]
    pub fn numbering(&self, perspective: Perspective, king_square: u8) -> Numbering {
        let bucket = u32::from(self.king_table[usize::from(king_square & 63)]);
        let squares = u16::from(self.seen(perspective, 0)) ^ self.flip(king_square);
        Numbering::new(self.planes, perspective, self.planes.features_per_king_bucket() * bucket, squares)
    }

    /// A square as a side sees it: as it is stored for [`Perspective::SideToMove`], `^ 56` for [`Perspective::Other`],
    /// `^ 63` with [`Planes::NoKings`]. Twice the same is the square itself.
    #[must_use]
    #[inline]
    pub const fn seen(&self, perspective: Perspective, square: u8) -> u8 {
        match perspective {
            Perspective::SideToMove => square & 63,
            Perspective::Other => (square & 63) ^ self.planes.turn(),
        }
    }

    /// Whether kings are features. Where they are not, a king's move that keeps its [`ChessView::refresh_key`] changes
    /// nothing.
    #[must_use]
    #[inline]
    pub const fn has_king_features(&self) -> bool {
        !matches!(self.planes, Planes::NoKings)
    }

    /// The features of a list of `(piece, square)`, in the order of the list; kings only where they are features.
    ///
    /// `own_king` is the side to move's king square; `opponent_king` is the other king's in *its* view
    /// ([`ChessView::seen`]), as BulletFormat keeps it.
    pub fn features(
        &self,
        pieces: impl IntoIterator<Item = (u8, u8)>,
        own_king: u8,
        opponent_king: u8,
        perspective: Perspective,
    ) -> impl Iterator<Item = u32> {
        let view = *self;
        let king_square = match perspective {
            Perspective::SideToMove => own_king,
            Perspective::Other => opponent_king,
        };
        let pieces = pieces.into_iter().filter(move |(piece, _)| view.has_king_features() || piece & 7 != KING);
        pieces.map(move |(piece, square)| view.feature(perspective, piece, square, king_square))
    }

    /// What a king's square decides about all features of its side: equal keys, comparable accumulators.
    ///
    /// Twice the bucket, plus one when the board is mirrored. A king's move between two squares of equal keys changes
    /// only the king's own feature; any other king's move refreshes that side's accumulator.
    #[must_use]
    #[inline]
    pub fn refresh_key(&self, king_square: u8) -> u32 {
        let bucket = self.king_table[usize::from(king_square & 63)];
        2 * u32::from(bucket) + u32::from(self.flip(king_square) != 0)
    }

    /// 7 turns files a..h into h..a.
    #[inline]
    fn flip(&self, king_square: u8) -> u16 {
        if self.mirrored && king_square & 7 > 3 { 7 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::{ChessView, KING, OPPONENT, Perspective, Planes};

    const PLAIN: ChessView<'static> = ChessView { planes: Planes::Both, mirrored: false, king_table: &[0; 64] };

    #[test]
    fn chess768_is_the_published_formula() {
        for (colour, t, square) in all_pieces() {
            let piece = t | if colour == 1 { OPPONENT } else { 0 };
            let (c, t, sq) = (u32::from(colour), u32::from(t), u32::from(square));
            let stm = PLAIN.feature(Perspective::SideToMove, piece, square, 0);
            let ntm = PLAIN.feature(Perspective::Other, piece, square, 0);
            assert_eq!(stm, 384 * c + 64 * t + sq);
            assert_eq!(ntm, 384 * (1 - c) + 64 * t + (sq ^ 56));
        }
    }

    /// The definition with a plane a type and colour, for all planes, kings and views.
    #[test]
    fn a_feature_is_bucket_plane_and_square() {
        let king_table = core::array::from_fn(|square| (square / 5) as u8);
        for planes in Planes::ALL {
            for mirrored in [false, true] {
                let view = ChessView { planes, mirrored, king_table: &king_table };
                for (king, (colour, t, square)) in (0..64).flat_map(|king| all_pieces().map(move |piece| (king, piece)))
                {
                    for (side, c) in [(Perspective::SideToMove, colour), (Perspective::Other, 1 - colour)] {
                        let plane = match planes {
                            Planes::Both => 6 * c + t,
                            Planes::Merged if t == KING => KING,
                            Planes::Merged => 6 * c + t,
                            Planes::NoKings if t == KING => continue,
                            Planes::NoKings => 5 * c + t,
                        };
                        let flip = if mirrored && king % 8 > 3 { 7 } else { 0 };
                        let bucket = planes.features_per_king_bucket() * u32::from(king / 5);
                        let expected = bucket + 64 * u32::from(plane) + u32::from(view.seen(side, square) ^ flip);
                        let piece = t | (colour * OPPONENT);
                        assert_eq!(view.feature(side, piece, square, king), expected, "{view:?} {side:?} {king}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_view_is_a_bijection_for_every_king_square() {
        let mut table = [0; 64];
        for (square, bucket) in table.iter_mut().enumerate() {
            *bucket = (square / 8) as u8;
        }
        for (planes, mirrored) in [
            (Planes::Both, false),
            (Planes::Both, true),
            (Planes::Merged, false),
            (Planes::Merged, true),
            (Planes::NoKings, false),
        ] {
            let view = ChessView { planes, mirrored, king_table: &table };
            let (size, kings) = (planes.features_per_king_bucket(), view.has_king_features());
            for king in 0..64 {
                for perspective in Perspective::BOTH {
                    let mut seen = [0; 768];
                    for (colour, t, square) in all_pieces().filter(|(_, t, _)| kings || *t != KING) {
                        let feature = view.feature(perspective, t | (colour * OPPONENT), square, king);
                        seen[(feature - size * u32::from(king / 8)) as usize] += 1;
                    }
                    // The kings' plane has two features a square where it is merged.
                    let shared = |at| planes == Planes::Merged && (320..384).contains(&at);
                    let expected = |at: usize| if at >= size as usize { 0 } else { 1 + usize::from(shared(at)) };
                    assert!((0..768).all(|at| seen[at] == expected(at)), "{planes:?} {mirrored} king {king}");
                }
            }
        }
    }

    /// HalfKP's published numbering, of a piece that is neither side's king; its index starts at 1 and interleaves the
    /// colours.
    #[test]
    fn without_kings_black_sees_the_board_turned_by_half() {
        let mut table = [0; 64];
        table.iter_mut().zip(0..).for_each(|(bucket, square)| *bucket = square);
        let view = ChessView { planes: Planes::NoKings, mirrored: false, king_table: &table };
        let (white_king, black_king) = (4, 60);
        let pieces = [(KING, white_king), (KING | OPPONENT, black_king), (1, 18), (OPPONENT, 52)];
        let seen = |perspective| {
            let [own, other] = [white_king, view.seen(Perspective::Other, black_king)];
            let mut list = view.features(pieces, own, other, perspective);
            [list.next(), list.next(), list.next()]
        };
        assert_eq!(seen(Perspective::SideToMove), [Some(640 * 4 + 64 + 18), Some(640 * 4 + 320 + 52), None]);
        assert_eq!(seen(Perspective::Other), [Some(640 * 3 + 320 + 64 + 45), Some(640 * 3 + 11), None]);
    }

    #[test]
    fn a_mirrored_board_has_the_same_features() {
        let mut table = [0; 64];
        for (square, bucket) in table.iter_mut().enumerate() {
            let file = square % 8;
            *bucket = if file < 4 { file } else { 7 - file } as u8;
        }
        let view = ChessView { mirrored: true, king_table: &table, ..PLAIN };
        for king in 0..64 {
            for (colour, t, square) in all_pieces() {
                let piece = t | (colour * OPPONENT);
                for perspective in Perspective::BOTH {
                    let here = view.feature(perspective, piece, square, king);
                    assert_eq!(here, view.feature(perspective, piece, square ^ 7, king ^ 7));
                }
            }
        }
    }

    #[test]
    fn refresh_keys_tell_halves_and_buckets_apart() {
        let mut table = [0; 64];
        table[8..].fill(3);
        let mirrored = ChessView { mirrored: true, king_table: &table, ..PLAIN };
        assert_eq!(mirrored.refresh_key(3), 0);
        assert_eq!(mirrored.refresh_key(4), 1);
        assert_eq!(mirrored.refresh_key(8), 6);
        assert_eq!(mirrored.refresh_key(63), 7);
        assert_eq!(PLAIN.refresh_key(63), 0);
    }

    #[test]
    fn no_byte_panics() {
        let view = ChessView { mirrored: true, king_table: &[255; 64], ..PLAIN };
        for byte in 0..=255 {
            for perspective in Perspective::BOTH {
                let _ = view.feature(perspective, byte, byte, byte);
            }
        }
    }

    fn all_pieces() -> impl Iterator<Item = (u8, u8, u8)> {
        (0..2).flat_map(|colour| (0..6).flat_map(move |t| (0..64).map(move |square| (colour, t, square))))
    }
}
