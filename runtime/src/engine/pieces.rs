//! How the features of a chess network are found: from the pieces on a board, and from those that a move adds and
//! removes.

use super::network::AnyNetwork;
use super::ply::Ply;
use crate::accumulators::{Contents, Rows, Source};
use crate::chess::board::Board;
use crate::chess::numbering::Numbering;
use crate::chess::piece::{Colour, Piece};
use crate::kernels::Moved;
use crate::plan::Plan;
use bytemuck::{Pod, Zeroable};

/// A network, the board of the last position, and how each side numbers the pieces there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pieces<'p> {
    pub net: &'p AnyNetwork<'p>,
    pub board: &'p Board,
    pub numberings: [Numbering; 2],
}

/// How both sides number pieces, looked up anew when a king has moved.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
pub(super) struct Numberings {
    /// By colour.
    by_colour: [Numbering; 2],
    /// Squares of the kings for which they were looked up, by colour.
    kings: [u8; 2],
    padding: u16,
}

/// No square of a king.
const NOWHERE: u8 = 64;

impl Numberings {
    pub const UNKNOWN: Self = Self { by_colour: [Numbering::UNKNOWN; 2], kings: [NOWHERE; 2], padding: 0 };

    /// For the kings of a board. Of another network than before, and in memory that was zero, they must be
    /// [`Numberings::UNKNOWN`] first.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub fn of(&mut self, net: &AnyNetwork<'_>, board: &Board) -> [Numbering; 2] {
        if self.kings != board.kings() {
            self.look_up(net, board);
        }
        self.by_colour
    }

    /// The same, where they are known.
    #[cfg(short_ways)]
    #[inline(always)]
    pub fn known(&self, board: &Board) -> Option<&[Numbering; 2]> {
        (self.kings == board.kings()).then_some(&self.by_colour)
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, net: &AnyNetwork<'_>, board: &Board) {
        let by_colour = Colour::BOTH.map(|colour| net.numbering(colour, board.king(colour)));
        *self = Self { by_colour, kings: board.kings(), padding: 0 };
    }
}

impl Source for Pieces<'_> {
    type Ply = Ply;
    type Numbering = Numbering;

    #[inline]
    fn plan(&self) -> &Plan<'_> {
        self.net.plan()
    }

    #[inline]
    fn numbering(&self, side: usize) -> Numbering {
        self.numberings[side]
    }

    #[inline]
    fn is_whole(&self, ply: &Ply, side: usize) -> bool {
        let colour = Colour::BOTH[side];
        ply.king_move(colour).is_some_and(|(from, to)| self.net.key(colour, from) != self.net.key(colour, to))
    }

    #[inline]
    fn is_whole_for_any(&self, ply: &Ply) -> bool {
        ply.moves_any_king() && (self.is_whole(ply, 0) || self.is_whole(ply, 1))
    }

    #[inline]
    fn moved(&self, ply: &Ply, [white, black]: &[Numbering; 2]) -> Option<Moved> {
        if ply.moves_any_king() && !self.net.view().has_king_features() {
            return None;
        }
        let both = |piece: Piece| [white.feature(piece.index()), black.feature(piece.index())];
        match (ply.added(), ply.removed()) {
            (&[to], &[from]) => {
                let (to, from) = (both(to), both(from));
                Some(Moved::Quiet([[to[0], from[0]], [to[1], from[1]]]))
            }
            (&[to], &[from, taken]) => {
                let (to, from, taken) = (both(to), both(from), both(taken));
                Some(Moved::Capture([[to[0], from[0], taken[0]], [to[1], from[1], taken[1]]]))
            }
            _ => None,
        }
    }

    fn changes<'r>(&self, ply: &'r Ply, _: usize, numbering: &Numbering, rows: &'r mut [Rows; 2]) -> [&'r [u32]; 2] {
        for (rows, pieces) in rows.iter_mut().zip([ply.added(), ply.removed()]) {
            rows.extend(numbered(pieces.iter().copied(), numbering));
        }
        rows.each_ref().map(|rows| &rows[..])
    }
}

impl Contents for Board {
    const EMPTY: Self = Self::EMPTY;
    type Numbering = Numbering;

    fn distance(&self, other: &Self) -> usize {
        self.distance(other)
    }

    fn without(&self, other: &Self, numbering: &Numbering) -> impl Iterator<Item = u32> {
        numbered(self.without(other), numbering)
    }
}

/// The features of pieces, those that are features.
pub(super) fn numbered(pieces: impl Iterator<Item = Piece>, numbering: &Numbering) -> impl Iterator<Item = u32> {
    pieces.filter(|piece| numbering.has(piece.index())).map(|piece| numbering.feature(piece.index()))
}
