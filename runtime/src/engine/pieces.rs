//! How the features of a chess network are found: from the pieces on a board, and from those that a move adds and
//! removes.

use super::network::AnyNetwork;
use super::ply::Ply;
use crate::accumulators::{Contents, Rows, Source};
use crate::chess::board::Board;
use crate::chess::piece::{Colour, Piece};
use crate::chess::view::Numbering;
use crate::kernels::Moved;
use crate::plan::Plan;

/// A network, and the board of the last position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pieces<'p> {
    pub net: &'p AnyNetwork<'p>,
    pub board: &'p Board,
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
        let colour = Colour::BOTH[side];
        self.net.numbering(colour, self.board.king(colour))
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
fn numbered(pieces: impl Iterator<Item = Piece>, numbering: &Numbering) -> impl Iterator<Item = u32> {
    pieces.filter(|piece| numbering.has(piece.index())).map(|piece| numbering.feature(piece.index()))
}
