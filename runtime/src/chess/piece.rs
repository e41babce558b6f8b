//! A piece on a square: what an engine adds and removes when it makes a move.

use super::numbering::{KING, OTHER_KING};
use bytemuck::{Pod, Zeroable};
use core::fmt;

/// Whose a piece is, and whose eyes a board is seen through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Colour {
    /// Moves first.
    White,
    /// Moves second.
    Black,
}

impl Colour {
    /// Both, in the order of their numbers.
    pub const BOTH: [Self; 2] = [Self::White, Self::Black];

    /// 0 for white, 1 for black.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The opponent.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }
}

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Kind {
    /// ♙
    Pawn,
    /// ♘
    Knight,
    /// ♗
    Bishop,
    /// ♖
    Rook,
    /// ♕
    Queen,
    /// ♔
    King,
}

impl Kind {
    /// All six, in the order of their numbers.
    pub const ALL: [Self; 6] = [Self::Pawn, Self::Knight, Self::Bishop, Self::Rook, Self::Queen, Self::King];
}

/// Squares of a board.
const SQUARES: u16 = 64;
/// Numbers of one colour's pieces.
const COLOUR: u16 = 6 * SQUARES;

/// A piece of a colour and a kind on a square, in two bytes: `384·colour + 64·kind + square`, white = 0, pawn to king =
/// 0 to 5, a1, b1, … h8 = 0 to 63.
///
/// ```
/// use tamis_runtime::engine::{Colour, Kind, Piece};
/// let knight = Piece::new(Colour::Black, Kind::Knight, 57);
/// assert_eq!((knight.colour(), knight.kind(), knight.square()), (Colour::Black, Kind::Knight, 57));
/// assert_eq!(knight.index(), 384 + 64 + 57);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Zeroable, Pod)]
#[repr(transparent)]
pub struct Piece(u16);

impl Piece {
    /// How many there are.
    pub const COUNT: u16 = 2 * COLOUR;

    /// `square` counts modulo 64.
    #[must_use]
    pub const fn new(colour: Colour, kind: Kind, square: u8) -> Self {
        Self(COLOUR * colour as u16 + SQUARES * kind as u16 + (square as u16 & (SQUARES - 1)))
    }

    /// The piece with a number; `None` from [`Piece::COUNT`] on.
    #[must_use]
    pub const fn from_index(index: u16) -> Option<Self> {
        if index < Self::COUNT { Some(Self(index)) } else { None }
    }

    /// Its number, see the type.
    #[must_use]
    pub const fn index(self) -> u16 {
        self.0
    }

    /// Whose it is.
    #[must_use]
    pub const fn colour(self) -> Colour {
        if self.0 < COLOUR { Colour::White } else { Colour::Black }
    }

    /// What it is.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self.0 / SQUARES % 6 {
            0 => Kind::Pawn,
            1 => Kind::Knight,
            2 => Kind::Bishop,
            3 => Kind::Rook,
            4 => Kind::Queen,
            _ => Kind::King,
        }
    }

    /// Where it stands.
    #[must_use]
    pub const fn square(self) -> u8 {
        (self.0 % SQUARES) as u8
    }

    /// The same piece elsewhere.
    #[must_use]
    pub const fn at(self, square: u8) -> Self {
        Self((self.0 & !(SQUARES - 1)) | (square as u16 & (SQUARES - 1)))
    }

    /// Whether it is a king.
    #[must_use]
    #[inline]
    pub const fn is_king(self) -> bool {
        matches!(self.plane(), KING | OTHER_KING)
    }

    /// Its number of twelve: colour, then kind.
    #[inline]
    pub const fn plane(self) -> usize {
        (self.0 / SQUARES) as usize
    }

    /// As in `nb1`: the letter of FEN, then the square.
    fn written(self) -> [char; 3] {
        const LETTERS: [char; 12] = ['P', 'N', 'B', 'R', 'Q', 'K', 'p', 'n', 'b', 'r', 'q', 'k'];
        let letter = LETTERS.get(self.plane()).copied().unwrap_or('?');
        [letter, char::from(b'a' + self.square() % 8), char::from(b'1' + self.square() / 8)]
    }
}

/// The piece of number 0, a white pawn on a1: for arrays that are filled later.
impl Default for Piece {
    fn default() -> Self {
        Self::new(Colour::White, Kind::Pawn, 0)
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [letter, file, rank] = self.written();
        write!(f, "{letter}{file}{rank}")
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Piece {
    fn format(&self, f: defmt::Formatter<'_>) {
        let [letter, file, rank] = self.written();
        defmt::write!(f, "{=char}{=char}{=char}", letter, file, rank);
    }
}

#[cfg(test)]
mod tests {
    use super::{Colour, Kind, Piece};

    #[test]
    fn a_piece_is_its_colour_kind_and_square() {
        let mut number = 0;
        for colour in Colour::BOTH {
            for kind in Kind::ALL {
                for square in 0..64 {
                    let piece = Piece::new(colour, kind, square);
                    assert_eq!(piece.index(), number);
                    assert_eq!((piece.colour(), piece.kind(), piece.square()), (colour, kind, square));
                    assert_eq!(Piece::from_index(number), Some(piece));
                    assert_eq!(piece.at(63 - square), Piece::new(colour, kind, 63 - square));
                    number += 1;
                }
            }
        }
        assert_eq!(Piece::from_index(number), None);
    }
}
