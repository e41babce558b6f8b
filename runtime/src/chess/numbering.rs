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
    /// Which of [`FIRST`].
    planes: u16,
}

/// Features of a bucket before those of a plane, as [`crate::chess::piece::Piece::plane`] counts them; four more, so
/// that no index is out of range.
type Firsts = [u16; 16];

/// A plane that is no feature: the kings, where those are none.
const NO_PLANE: u16 = u16::MAX;

/// By [`Planes`], then by [`Perspective`]; two more, as above.
static FIRST: [Firsts; 8] = {
    let mut all = [[NO_PLANE; 16]; 8];
    let mut plane = 0;
    while plane < 2 * KINDS {
        let (kind, is_opponent) = (plane % KINDS, plane / KINDS);
        let mut side = 0;
        while side < 2 {
            let colour = is_opponent ^ side;
            let first = (COLOUR as usize * colour + PLANE as usize * kind) as u16;
            let is_king = kind == KING;
            all[2 * Planes::Both as usize + side][plane] = first;
            // Both kings have the own one's plane.
            all[2 * Planes::Merged as usize + side][plane] = if is_king { COLOUR - PLANE } else { first };
            if !is_king {
                all[2 * Planes::NoKings as usize + side][plane] = first - PLANE * colour as u16;
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
        Self { first_feature, squares, planes: 2 * planes as u16 + side }
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
        let square = (piece ^ self.squares) % PLANE;
        self.first_feature + u32::from(self.first_of_plane(piece)) + u32::from(square)
    }

    #[inline(always)]
    fn first_of_plane(&self, piece: u16) -> u16 {
        FIRST[usize::from(self.planes % 8)][usize::from(piece / PLANE % 16)]
    }
}
