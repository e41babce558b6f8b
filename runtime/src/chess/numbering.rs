//! Pieces as features: what depends on a king is looked up once, and every piece is then three numbers added up.

use super::view::{COLOUR, KING, PLANE, Perspective, Planes};
use bytemuck::{Pod, Zeroable};

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
    while plane < 12 {
        let (kind, is_opponent) = (plane % 6, plane / 6);
        let mut side = 0;
        while side < 2 {
            let colour = is_opponent ^ side;
            let first = (COLOUR as usize * colour + PLANE as usize * kind) as u16;
            let is_king = kind == KING as usize;
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
