//! Where the men stand: twelve sets of squares, kept by make and unmake, from which any accumulator can be filled anew.

use super::man::{Colour, Kind, Man};
use bytemuck::{Pod, Zeroable};

/// Sets of squares, a bit a square.
pub(super) const PLANES: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub(super) struct Board {
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

    /// False, and nothing done, if it is there already.
    #[inline]
    #[must_use]
    pub fn add(&mut self, man: Man) -> bool {
        let (plane, bit) = (&mut self.men[man.plane()], 1 << man.square());
        let is_free = *plane & bit == 0;
        if is_free {
            *plane |= bit;
            self.count += 1;
            if man.kind() == Kind::King {
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

    #[inline]
    pub const fn count(&self) -> usize {
        self.count as usize
    }

    /// The square of a side's king as white sees it.
    #[inline]
    pub const fn king(&self, colour: Colour) -> u8 {
        self.kings[colour as usize]
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
    use crate::engine::man::{Colour, Kind, Man};

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
