//! Where the pieces stand: twelve sets of squares, kept by make and unmake, from which any accumulator can be filled
//! anew.

use super::piece::{Colour, Kind, Piece};
use bytemuck::{Pod, Zeroable};

/// Sets of squares, a bit a square.
pub const PLANES: usize = 12;
/// Kinds of pieces, a plane each of both sides.
const KINDS: usize = Kind::ALL.len();

/// Where the pieces of both sides stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct Board {
    /// By [`Piece::plane`].
    pieces: [u64; PLANES],
    /// Squares of the kings, by colour; a1 for a side that has none.
    kings: [u8; 2],
    /// Pieces on the board.
    count: u16,
    padding: [u8; 4],
}

impl Board {
    /// Without a piece.
    pub const EMPTY: Self = Self { pieces: [0; PLANES], kings: [0; 2], count: 0, padding: [0; 4] };

    /// False, and nothing done, if it is there already, or another king of its colour.
    #[inline]
    #[must_use]
    pub fn add(&mut self, piece: Piece) -> bool {
        let (plane, bit) = (&mut self.pieces[piece.plane()], 1 << piece.square());
        let is_king = piece.is_king();
        let is_free = if is_king { *plane == 0 } else { *plane & bit == 0 };
        if is_free {
            *plane |= bit;
            self.count += 1;
            if is_king {
                self.kings[piece.colour().index()] = piece.square();
            }
        }
        is_free
    }

    /// False, and nothing done, if it is not there.
    #[inline]
    #[must_use]
    pub fn remove(&mut self, piece: Piece) -> bool {
        let (plane, bit) = (&mut self.pieces[piece.plane()], 1 << piece.square());
        let is_there = *plane & bit != 0;
        if is_there {
            *plane &= !bit;
            self.count -= 1;
        }
        is_there
    }

    /// Takes `removed` away, then puts `added` there. False, and nothing done, if one of those is not there or one of
    /// these is.
    #[inline]
    #[must_use]
    pub fn change(&mut self, added: &[Piece], removed: &[Piece]) -> bool {
        for (index, piece) in removed.iter().enumerate() {
            if !self.remove(*piece) {
                self.undo(&[], &removed[..index]);
                return false;
            }
        }
        for (index, piece) in added.iter().enumerate() {
            if !self.add(*piece) {
                self.undo(&added[..index], removed);
                return false;
            }
        }
        true
    }

    /// Why [`Board::change`] gave false: the first piece that it refuses, and whether it was to be added. `None` if it
    /// gives true.
    #[cold]
    pub fn refused(&self, added: &[Piece], removed: &[Piece]) -> Option<(Piece, bool)> {
        let mut board = *self;
        let missing = removed.iter().find(|piece| !board.remove(**piece)).map(|piece| (*piece, false));
        missing.or_else(|| added.iter().find(|piece| !board.add(**piece)).map(|piece| (*piece, true)))
    }

    /// Takes back a change that was made: what it added is there, and what it removed is not.
    #[inline]
    pub fn undo(&mut self, added: &[Piece], removed: &[Piece]) {
        for piece in added {
            self.toggle(*piece);
        }
        for piece in removed {
            self.toggle(*piece);
            // A king that goes and comes is where it was.
            if piece.is_king() {
                self.kings[piece.colour().index()] = piece.square();
            }
        }
        // As many as there were; none of these numbers is beyond what a board has.
        self.count = self.count.wrapping_add(removed.len() as u16).wrapping_sub(added.len() as u16);
    }

    #[inline]
    fn toggle(&mut self, piece: Piece) {
        self.pieces[piece.plane()] ^= 1 << piece.square();
    }

    /// Pieces on it.
    #[inline]
    pub const fn count(&self) -> usize {
        self.count as usize
    }

    /// Pieces of a side, by kind.
    pub fn counts(&self, colour: Colour) -> [usize; KINDS] {
        let [white, black] = self.pieces.as_chunks::<KINDS>().0 else { return [0; KINDS] };
        let planes = if colour == Colour::White { white } else { black };
        planes.map(len)
    }

    /// The square of a side's king as white sees it.
    #[inline]
    pub const fn king(&self, colour: Colour) -> u8 {
        self.kings[colour as usize]
    }

    /// The same of both sides, by colour.
    #[inline]
    pub const fn kings(&self) -> [u8; 2] {
        self.kings
    }

    /// The sets, by [`Piece::plane`].
    #[inline]
    pub const fn planes(&self) -> &[u64; PLANES] {
        &self.pieces
    }

    /// Squares with a piece.
    #[inline]
    pub fn occupied(&self) -> u64 {
        self.pieces.iter().fold(0, |all, set| all | set)
    }

    /// Whether another piece stands on a piece's square.
    pub fn shares_square(&self, piece: Piece) -> bool {
        self.pieces.iter().filter(|set| *set >> piece.square() & 1 != 0).count() > 1
    }

    /// Squares on which two boards differ.
    #[inline]
    pub fn changed(&self, other: &Self) -> u64 {
        self.pieces.iter().zip(&other.pieces).fold(0, |all, (here, there)| all | (here ^ there))
    }

    /// The set of the piece on a square.
    #[inline]
    pub fn plane_at(&self, square: u8) -> Option<usize> {
        self.pieces.iter().position(|set| set >> (square % 64) & 1 != 0)
    }

    /// Pieces that are on one of two boards and not on the other.
    pub fn distance(&self, other: &Self) -> usize {
        self.pieces.iter().zip(&other.pieces).map(|(here, there)| len(here ^ there)).sum()
    }

    /// The pieces that are here and not on another board.
    pub fn without(&self, other: &Self) -> impl Iterator<Item = Piece> {
        let sets = core::array::from_fn::<u64, PLANES, _>(|plane| self.pieces[plane] & !other.pieces[plane]);
        sets.into_iter().enumerate().flat_map(|(plane, set)| Squares(set).map(move |square| piece_of(plane, square)))
    }
}

#[cfg(short_ways)]
impl Board {
    /// [`Board::change`] of a piece that goes to another square and perhaps takes one. False, and nothing done, where
    /// that is refused, and where a king moves or is taken, the piece becomes another, or takes one of its own plane.
    #[inline(always)]
    #[must_use]
    pub fn relocate(&mut self, to: Piece, from: Piece, taken: Option<Piece>) -> bool {
        let plane = from.plane();
        let Some(set) = self.pieces.get(plane) else { return false };
        let both = bits(to, from);
        // If `to` is where `from` is, nothing is left of both.
        let is_fit = to.plane() == plane && !from.is_king() && set & both == 1 << from.square();
        if !is_fit {
            return false;
        }
        let changed = set ^ both;
        if let Some(taken) = taken {
            let bit = 1 << taken.square();
            let Some(set) = self.pieces.get_mut(taken.plane()) else { return false };
            if taken.plane() == plane || taken.is_king() || *set & bit == 0 {
                return false;
            }
            *set ^= bit;
            self.count = self.count.wrapping_sub(1);
        }
        self.pieces[plane] = changed;
        true
    }

    /// Takes back what [`Board::relocate`] did.
    #[inline(always)]
    pub fn relocate_back(&mut self, to: Piece, from: Piece, taken: Option<Piece>) {
        if let Some(set) = self.pieces.get_mut(from.plane()) {
            *set ^= bits(to, from);
        }
        if let Some(taken) = taken
            && let Some(set) = self.pieces.get_mut(taken.plane())
        {
            *set ^= 1 << taken.square();
            self.count = self.count.wrapping_add(1);
        }
    }
}

/// Both pieces' squares; none if they are one.
#[cfg(short_ways)]
#[inline(always)]
const fn bits(to: Piece, from: Piece) -> u64 {
    (1 << from.square()) ^ (1 << to.square())
}

/// Squares of a set. Small cores have no instruction for it, and what stands for one is 70 to 120 bytes: there it is
/// called, where a loop over all sets would have it twelve times.
#[cfg_attr(target_os = "none", inline(never))]
fn len(set: u64) -> usize {
    set.count_ones() as usize
}

fn piece_of(plane: usize, square: u8) -> Piece {
    let colour = if plane < PLANES / 2 { Colour::White } else { Colour::Black };
    Piece::new(colour, Kind::ALL[plane % Kind::ALL.len()], square)
}

/// The squares of a set, a1 first.
pub struct Squares(pub u64);

impl Iterator for Squares {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let square = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (square < u64::BITS).then_some(square as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::Board;
    use crate::chess::piece::{Colour, Kind, Piece};

    #[test]
    fn what_was_added_is_there_once() {
        let mut board = Board::EMPTY;
        let king = Piece::new(Colour::Black, Kind::King, 60);
        let pawn = Piece::new(Colour::White, Kind::Pawn, 12);
        assert!(board.add(king) && board.add(pawn));
        assert!(!board.add(pawn));
        assert_eq!((board.count(), board.king(Colour::Black)), (2, 60));
        assert!(board.without(&Board::EMPTY).eq([pawn, king]));
        assert!(board.remove(pawn) && !board.remove(pawn));
        assert!(board.without(&Board::EMPTY).eq([king]));
    }
}
