//! A ply: which pieces it moves.

use crate::accumulators::{self, Mark};
use crate::chess::piece::{Colour, Kind, Piece};
use crate::workspace::range;
use bytemuck::{Pod, Zeroable};

/// Pieces that one ply adds at most, and pieces that it removes at most: castling moves two.
pub(super) const PIECES: usize = 4;

#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
pub(super) struct Ply {
    pieces: [[Piece; PIECES]; 2],
    lens: [u8; 2],
    /// A bit a colour: whether the king moves.
    moves_king: u8,
    /// One of [`form`].
    form: u8,
    mark: Mark,
}

/// What the short ways of [`super::quick`] need not ask of a ply.
mod form {
    /// Any move.
    pub const ANY: u8 = 0;
    /// A piece that is no king goes and stays what it is, and no null move follows.
    #[cfg(short_ways)]
    pub const QUIET: u8 = 1;
    /// The same, and takes a piece of another plane, no king.
    #[cfg(short_ways)]
    pub const CAPTURE: u8 = 2;
}

/// A piece that goes from one square to another and perhaps takes one: the commonest moves.
#[cfg(short_ways)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Relocation {
    pub to: Piece,
    pub from: Piece,
    pub taken: Option<Piece>,
}

impl accumulators::Ply for Ply {
    const EMPTY: Self = Self {
        pieces: [[Piece::new(Colour::White, Kind::Pawn, 0); PIECES]; 2],
        lens: [0; 2],
        moves_king: 0,
        form: form::ANY,
        mark: Mark::EMPTY,
    };

    #[inline]
    fn mark(&self) -> &Mark {
        &self.mark
    }

    #[inline]
    fn mark_mut(&mut self) -> &mut Mark {
        &mut self.mark
    }
}

impl Ply {
    /// `None` if a list is longer than [`PIECES`].
    #[inline]
    pub fn new(added: &[Piece], removed: &[Piece]) -> Option<Self> {
        let mut ply = <Self as accumulators::Ply>::EMPTY;
        if added.len().max(removed.len()) > PIECES {
            return None;
        }
        for (list, pieces) in [added, removed].into_iter().enumerate() {
            for (place, piece) in ply.pieces[list].iter_mut().zip(pieces) {
                *place = *piece;
                ply.moves_king |= u8::from(piece.is_king()) << piece.colour().index();
            }
            ply.lens[list] = pieces.len() as u8;
        }
        Some(ply)
    }

    /// A move without the pieces that it both adds and removes; `None` if there are none.
    pub fn difference(added: &[Piece], removed: &[Piece]) -> Option<Self> {
        // Of a piece that is in one list more often than in the other, so many are left.
        let without = |list: &[Piece], other: &[Piece]| {
            let mut left = heapless::Vec::<Piece, PIECES>::new();
            for (index, piece) in list.iter().enumerate() {
                let count = |pieces: &[Piece]| pieces.iter().filter(|same| *same == piece).count();
                if count(range(list, 0..index)) >= count(other) {
                    left.push(*piece).ok()?;
                }
            }
            Some(left)
        };
        let (comes, goes) = (without(added, removed)?, without(removed, added)?);
        if goes.len() == removed.len() { None } else { Self::new(&comes, &goes) }
    }

    #[inline]
    pub fn added(&self) -> &[Piece] {
        range(&self.pieces[0], 0..self.lens[0].into())
    }

    #[inline]
    pub fn removed(&self) -> &[Piece] {
        range(&self.pieces[1], 0..self.lens[1].into())
    }

    #[inline]
    pub fn moves_any_king(&self) -> bool {
        self.moves_king != 0
    }

    #[inline]
    const fn moves_king_of(&self, colour: Colour) -> bool {
        self.moves_king >> colour.index() & 1 != 0
    }

    /// The colour of a king that comes without going, or goes without coming.
    #[inline]
    pub fn lone_king(&self) -> Option<Colour> {
        if !self.moves_any_king() {
            return None;
        }
        let is_lone = |colour: &Colour| self.moves_king_of(*colour) && self.king_move(*colour).is_none();
        Colour::BOTH.into_iter().find(is_lone)
    }

    /// Where a colour's king goes from and to, if it moves.
    #[inline]
    pub fn king_move(&self, colour: Colour) -> Option<(u8, u8)> {
        if !self.moves_king_of(colour) {
            return None;
        }
        let king = |pieces: &[Piece]| pieces.iter().find(|piece| piece.colour() == colour && piece.is_king()).copied();
        Some((king(self.removed())?.square(), king(self.added())?.square()))
    }
}

/// Bytes of [`Ply::note`].
#[cfg(short_ways)]
const NOTE: usize = size_of::<u64>();
/// [`Ply::note`] as [`Ply::relocate`] leaves it, with one piece gone and with two.
#[cfg(short_ways)]
const QUIET_AHEAD: u64 = u64::from_ne_bytes([1, 1, 0, form::QUIET, 0, 0, 0, 0]);
#[cfg(short_ways)]
const CAPTURE_AHEAD: u64 = u64::from_ne_bytes([1, 2, 0, form::CAPTURE, 0, 0, 0, 0]);

#[cfg(short_ways)]
impl Ply {
    /// A ply of no king's move, which [`crate::chess::board::Board::relocate`] has made.
    #[inline(always)]
    pub fn relocate(&mut self, Relocation { to, from, taken }: Relocation) {
        self.pieces[0][0] = to;
        self.pieces[1][0] = from;
        // Each whole, which is one store of constants.
        match taken {
            None => (self.lens, self.moves_king, self.form, self.mark) = ([1, 1], 0, form::QUIET, Mark::EMPTY),
            Some(taken) => {
                self.pieces[1][1] = taken;
                (self.lens, self.moves_king, self.form, self.mark) = ([1, 2], 0, form::CAPTURE, Mark::EMPTY);
            }
        }
    }

    /// The move, where it is one that [`Ply::relocate`] noted, without a null move behind it.
    #[inline(always)]
    pub const fn relocation(&self) -> Option<Relocation> {
        // The last is asked for first.
        match self.form {
            form::CAPTURE => Some(self.capture()),
            form::QUIET => Some(self.quiet()),
            _ => None,
        }
    }

    /// The same, where nothing of the position behind the move is computed either.
    #[inline(always)]
    pub fn relocation_ahead(&self) -> Option<Relocation> {
        match self.note() {
            CAPTURE_AHEAD => Some(self.capture()),
            QUIET_AHEAD => Some(self.quiet()),
            _ => None,
        }
    }

    #[inline(always)]
    const fn quiet(&self) -> Relocation {
        Relocation { to: self.pieces[0][0], from: self.pieces[1][0], taken: None }
    }

    #[inline(always)]
    const fn capture(&self) -> Relocation {
        Relocation { taken: Some(self.pieces[1][1]), ..self.quiet() }
    }

    /// All that is noted but the pieces, as one number.
    #[inline(always)]
    fn note(&self) -> u64 {
        let [_, _, note] = bytemuck::must_cast_ref::<Self, [[u8; NOTE]; 3]>(self);
        u64::from_ne_bytes(*note)
    }

    /// Notes that a null move follows.
    #[inline(always)]
    pub const fn forget_relocation(&mut self) {
        self.form = form::ANY;
    }
}

#[cfg(all(test, short_ways))]
mod tests {
    use super::{Ply, Relocation};
    use crate::accumulators::Ply as _;
    use crate::chess::piece::{Colour, Kind, Piece};

    /// Of plies that held other moves before, too.
    #[test]
    fn a_relocation_is_told_until_a_side_is_computed_or_a_null_move_follows() {
        let pawn = Piece::new(Colour::White, Kind::Pawn, 12);
        let king = Piece::new(Colour::White, Kind::King, 4);
        for taken in [None, Some(Piece::new(Colour::Black, Kind::Rook, 28))] {
            let mut ply = Ply::new(&[king; 4], &[king; 3]).unwrap();
            assert!(ply.relocation().is_none() && ply.relocation_ahead().is_none());
            ply.relocate(Relocation { to: pawn.at(28), from: pawn, taken });
            for found in [ply.relocation(), ply.relocation_ahead()] {
                let Relocation { to, from, taken: found } = found.unwrap();
                assert_eq!((to, from, found), (pawn.at(28), pawn, taken));
            }
            ply.mark_mut().set_computed(1);
            assert!(ply.relocation().is_some() && ply.relocation_ahead().is_none());
            ply.forget_relocation();
            assert!(ply.relocation().is_none());
        }
    }
}
