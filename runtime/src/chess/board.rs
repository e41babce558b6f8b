//! Where the men stand: twelve sets of squares, kept by make and unmake, from which any accumulator can be filled anew.

use super::man::{Colour, Kind, Man};
use bytemuck::{Pod, Zeroable};

/// Sets of squares, a bit a square.
pub const PLANES: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct Board {
    /// By [`Man::plane`].
    men: [u64; PLANES],
    /// Squares of the kings, by colour; a1 for a side that has none.
    kings: [u8; 2],
    /// Men on the board.
    count: u16,
    padding: [u8; 4],
}

impl Board {
    pub const EMPTY: Self = Self { men: [0; PLANES], kings: [0; 2], count: 0, padding: [0; 4] };

    /// False, and nothing done, if it is there already, or another king of its colour.
    #[inline]
    #[must_use]
    pub fn add(&mut self, man: Man) -> bool {
        let (plane, bit) = (&mut self.men[man.plane()], 1 << man.square());
        let is_king = man.kind() == Kind::King;
        let is_free = if is_king { *plane == 0 } else { *plane & bit == 0 };
        if is_free {
            *plane |= bit;
            self.count += 1;
            if is_king {
                self.kings[man.colour().index()] = man.square();
            }
        }
        is_free
    }

    /// False, and nothing done, if it is not there.
    #[inline]
    #[must_use]
    pub fn remove(&mut self, man: Man) -> bool {
        let (plane, bit) = (&mut self.men[man.plane()], 1 << man.square());
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
    pub fn change(&mut self, added: &[Man], removed: &[Man]) -> bool {
        for (index, man) in removed.iter().enumerate() {
            if !self.remove(*man) {
                self.undo(&[], &removed[..index]);
                return false;
            }
        }
        for (index, man) in added.iter().enumerate() {
            if !self.add(*man) {
                self.undo(&added[..index], removed);
                return false;
            }
        }
        true
    }

    /// Why [`Board::change`] gave false: the first man that it refuses, and whether he was to be added. `None` if it
    /// gives true.
    #[cold]
    pub fn refused(&self, added: &[Man], removed: &[Man]) -> Option<(Man, bool)> {
        let mut board = *self;
        let missing = removed.iter().find(|man| !board.remove(**man)).map(|man| (*man, false));
        missing.or_else(|| added.iter().find(|man| !board.add(**man)).map(|man| (*man, true)))
    }

    /// Takes a change back. What was removed is put back last, so that a king's square ends as what it was.
    #[inline]
    pub fn undo(&mut self, added: &[Man], removed: &[Man]) {
        for man in added {
            let _ = self.remove(*man);
        }
        for man in removed {
            let _ = self.add(*man);
        }
    }

    #[inline]
    pub const fn count(&self) -> usize {
        self.count as usize
    }

    /// The square of a side's king as white sees it.
    #[inline]
    pub const fn king(&self, colour: Colour) -> u8 {
        self.kings[colour as usize]
    }

    /// Men that are on one of two boards and not on the other.
    pub fn distance(&self, other: &Self) -> usize {
        self.men.iter().zip(&other.men).map(|(here, there)| (here ^ there).count_ones() as usize).sum()
    }

    /// The men that are here and not on another board.
    pub fn without(&self, other: &Self) -> impl Iterator<Item = Man> {
        let sets = core::array::from_fn::<u64, PLANES, _>(|plane| self.men[plane] & !other.men[plane]);
        sets.into_iter().enumerate().flat_map(|(plane, set)| Squares(set).map(move |square| man_of(plane, square)))
    }
}

fn man_of(plane: usize, square: u8) -> Man {
    let colour = if plane < PLANES / 2 { Colour::White } else { Colour::Black };
    Man::new(colour, Kind::ALL[plane % Kind::ALL.len()], square)
}

/// The squares of a set, a1 first.
struct Squares(u64);

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
    use crate::chess::man::{Colour, Kind, Man};

    #[test]
    fn what_was_added_is_there_once() {
        let mut board = Board::EMPTY;
        let king = Man::new(Colour::Black, Kind::King, 60);
        let pawn = Man::new(Colour::White, Kind::Pawn, 12);
        assert!(board.add(king) && board.add(pawn));
        assert!(!board.add(pawn));
        assert_eq!((board.count(), board.king(Colour::Black)), (2, 60));
        assert!(board.without(&Board::EMPTY).eq([pawn, king]));
        assert!(board.remove(pawn) && !board.remove(pawn));
        assert!(board.without(&Board::EMPTY).eq([king]));
    }
}
