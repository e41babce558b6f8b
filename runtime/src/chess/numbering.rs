//! Pieces as features of a perspective: what depends on its king is looked up once, and every piece is then three
//! numbers added up.

use bytemuck::{Pod, Zeroable};

/// Features of one king bucket where all pieces have planes: 2 colours, 6 types, 64 squares.
pub const FEATURES_PER_KING_BUCKET: u32 = 2 * 6 * 64;

/// Numbers of one colour's pieces.
pub(super) const COLOUR: u16 = 6 * 64;
/// Squares of a plane.
pub(super) const PLANE: u16 = 64;

/// Planes of one colour.
const KINDS: usize = 6;
/// The number of the king among a colour's planes.
pub(super) const KING: usize = 5;
/// The number of the other colour's king among all planes.
pub(super) const OTHER_KING: usize = KINDS + KING;

/// Whose eyes the board is seen through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Perspective {
    /// The side to move, as which the board is stored.
    SideToMove,
    /// Its opponent.
    Other,
}

impl Perspective {
    /// Both, in the order in which a network concatenates them.
    pub const BOTH: [Self; 2] = [Self::SideToMove, Self::Other];
}

/// The planes of 64 squares that a king bucket has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Planes {
    /// Twelve: own P N B R Q K, then the other side's.
    #[default]
    Both,
    /// Eleven: both kings share plane 5, so that own P N B R Q, the kings, then the other side's P N B R Q.
    Merged,
    /// Ten: own P N B R Q, then the other side's. Kings are no features, and the other side sees the board turned by
    /// half, `sq ^ 63`, not turned over, `sq ^ 56`. The two sides are then no mirror images: the board must be stored
    /// as white sees it whoever is to move, and [`Perspective::SideToMove`] stands for white, [`Perspective::Other`]
    /// for black.
    NoKings,
}

impl Planes {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Both, Self::Merged, Self::NoKings];

    /// Features of a king bucket: 768, 704 or 640.
    #[inline]
    pub const fn features_per_king_bucket(self) -> u32 {
        match self {
            Self::Both => FEATURES_PER_KING_BUCKET,
            Self::Merged => FEATURES_PER_KING_BUCKET - 64,
            Self::NoKings => FEATURES_PER_KING_BUCKET - 128,
        }
    }

    /// What a square becomes in the other side's view: exclusive or with this.
    pub(super) const fn turn(self) -> u8 {
        if matches!(self, Self::NoKings) { 63 } else { 56 }
    }
}

/// How a side numbers pieces, with all that depends on its king looked up once.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
pub struct Numbering {
    /// Of the king's bucket.
    first_feature: u32,
    /// What a square becomes in this view, mirrored or not: exclusive or with this.
    squares: u16,
    /// Where in [`FIRST`] its planes begin.
    planes: u16,
}

/// Places of [`FIRST`] for the planes of a side, as [`crate::chess::piece::Piece::plane`] counts them, of which four
/// are of no use.
const ROW: usize = 16;
/// Rows of [`FIRST`], of which two are of no use: so many that no place is out of range modulo all of them.
const ROWS: usize = 8;

/// A plane that is no feature: the kings, where those are none.
const NO_PLANE: i16 = i16::MIN;

/// Features of a bucket before those of a plane, less the pieces before it: by [`Planes`], then by [`Perspective`],
/// then by plane. With a piece's own number added, in which its square stands in the lowest bits, it is the feature.
static FIRST: [i16; ROWS * ROW] = {
    let mut all = [NO_PLANE; ROWS * ROW];
    let mut plane = 0;
    while plane < 2 * KINDS {
        let (kind, is_opponent) = (plane % KINDS, plane / KINDS);
        let pieces = (PLANE as usize * plane) as i16;
        let mut side = 0;
        while side < 2 {
            let colour = is_opponent ^ side;
            let first = (COLOUR as usize * colour + PLANE as usize * kind) as i16 - pieces;
            let is_king = kind == KING;
            all[(2 * Planes::Both as usize + side) * ROW + plane] = first;
            // Both kings have the own one's plane.
            let merged = if is_king { (COLOUR - PLANE) as i16 - pieces } else { first };
            all[(2 * Planes::Merged as usize + side) * ROW + plane] = merged;
            if !is_king {
                all[(2 * Planes::NoKings as usize + side) * ROW + plane] = first - (PLANE * colour as u16) as i16;
            }
            side += 1;
        }
        plane += 1;
    }
    all
};

impl Numbering {
    /// Of a perspective whose king's bucket begins at a feature, and whose squares are exchanged.
    #[inline]
    pub(super) const fn new(planes: Planes, perspective: Perspective, first_feature: u32, squares: u16) -> Self {
        let side = matches!(perspective, Perspective::Other) as u16;
        Self { first_feature, squares, planes: (2 * planes as u16 + side) * ROW as u16 }
    }

    /// Of no king.
    pub const UNKNOWN: Self = Self { first_feature: 0, squares: 0, planes: 0 };

    /// Whether a piece is a feature at all: all but kings where those are none.
    #[must_use]
    #[inline(always)]
    pub fn has(&self, piece: u16) -> bool {
        self.first_of_plane(piece) != NO_PLANE
    }

    /// The feature of a piece, which is given as the board stores it: `384·c + 64·t + sq`. A king where kings are no
    /// features has no such number, and what comes back means nothing.
    #[must_use]
    #[inline(always)]
    pub fn feature(&self, piece: u16) -> u32 {
        self.of_plane(self.first_of_plane(piece), piece)
    }

    /// The features of two pieces of one plane.
    #[cfg(short_ways)]
    #[must_use]
    #[inline(always)]
    pub fn features_of_plane(&self, [one, other]: [u16; 2]) -> [u32; 2] {
        let first = self.first_of_plane(one);
        [self.of_plane(first, one), self.of_plane(first, other)]
    }

    #[inline(always)]
    fn of_plane(&self, first: i16, piece: u16) -> u32 {
        // A bucket's first feature and a plane's are multiples of 64.
        self.first_feature.wrapping_add_signed(first.into()).wrapping_add(piece.into()) ^ u32::from(self.squares)
    }

    #[inline(always)]
    fn first_of_plane(&self, piece: u16) -> i16 {
        FIRST[(usize::from(self.planes) + usize::from(piece / PLANE)) % FIRST.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::{COLOUR, KINDS, KING, NO_PLANE, Numbering, PLANE, Perspective, Planes};

    /// Of every form, in an early bucket and a late one, with squares that are exchanged and not.
    #[test]
    fn a_feature_is_its_bucket_its_plane_and_its_square() {
        for planes in Planes::ALL {
            for (side, perspective) in Perspective::BOTH.into_iter().enumerate() {
                for (first, squares) in [(0, 0), (64 * 700, 56), (64 * 704, 63), (64, 7)] {
                    let numbering = Numbering::new(planes, perspective, first, squares);
                    for piece in 0..2 * COLOUR {
                        let (plane, square) = (usize::from(piece / PLANE), piece % PLANE);
                        let (kind, is_opponent) = (plane % KINDS, plane / KINDS != side);
                        let place = match planes {
                            Planes::NoKings if kind == KING => {
                                assert!(!numbering.has(piece) && numbering.first_of_plane(piece) == NO_PLANE);
                                continue;
                            }
                            Planes::Merged if kind == KING => KING,
                            Planes::NoKings => kind + (KINDS - 1) * usize::from(is_opponent),
                            _ => kind + KINDS * usize::from(is_opponent),
                        };
                        let expected = first + 64 * place as u32 + u32::from(square ^ squares);
                        assert!(numbering.has(piece));
                        assert_eq!(numbering.feature(piece), expected);
                        #[cfg(short_ways)]
                        assert_eq!(
                            numbering.features_of_plane([piece, piece ^ 9]),
                            [expected, { first + 64 * place as u32 + u32::from(square ^ 9 ^ squares) }]
                        );
                    }
                }
            }
        }
    }
}
