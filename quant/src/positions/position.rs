//! A checked board, in the side to move's view.

use super::error::{PositionError, Square};

/// The most pieces on a board.
pub const MAX_PIECES: usize = 32;
/// The most pieces of a side, its king included; sums are proved for boards that have no more.
pub const MAX_OF_A_SIDE: usize = 16;

const OPPONENT: u8 = 8;
const KING: u8 = 5;
/// Turns a square into the same square as the other side sees it.
const OTHER_VIEW: u8 = 56;

/// A board with one king a side, as the side to move sees it: its own pieces come from ranks 1 and 2.
///
/// A piece is `(code, square)`: bits 0 to 2 of the code are the type, P N B R Q K = 0 to 5, bit 3 is set for the
/// opponent's; a1 = 0, b1 = 1, … h8 = 63.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    pieces: [(u8, u8); MAX_PIECES],
    count: usize,
    own_king: u8,
    opponent_king: u8,
    /// Whether the side to move is black, so that the board was turned over. Most networks cannot tell; a BulletFormat
    /// record does not say, and counts as white's.
    pub is_black: bool,
    /// Centipawns for the side to move, if known.
    pub score: Option<i16>,
    /// The game's result for the side to move, if known: 0 loss, 1 draw, 2 win.
    pub result: Option<u8>,
    /// The three bytes of a BulletFormat record that have no meaning, kept so that it can be written again.
    pub extra: [u8; 3],
}

impl Position {
    /// Checks a list of `(code, square)`. Score and result are left open.
    ///
    /// # Errors
    /// [`PositionError`] if there are more than 32 pieces or 16 of a side, a code or a square is none, a square is
    /// taken twice, or a side has not exactly one king.
    pub fn new(given: &[(u8, u8)]) -> Result<Self, PositionError> {
        if given.len() > MAX_PIECES {
            return Err(PositionError::TooManyPieces { found: given.len() });
        }
        let mut pieces = [(0, 0); MAX_PIECES];
        let mut occupied = 0u64;
        let (mut kings, mut counts) = ([0usize; 2], [0usize; 2]);
        let mut king_squares = [0; 2];
        for (piece, &(code, square)) in pieces.iter_mut().zip(given) {
            let bit = 1u64.checked_shl(u32::from(square)).filter(|bit| occupied & bit == 0);
            let Some(bit) = bit else {
                return Err(PositionError::BadSquare { square });
            };
            occupied |= bit;
            if code > (OPPONENT | KING) || code & 7 > KING {
                return Err(PositionError::NoSuchPiece { square: Square(square), code });
            }
            let side = usize::from(code / OPPONENT);
            counts[side] += 1;
            if code & 7 == KING {
                kings[side] += 1;
                king_squares[side] = square;
            }
            *piece = (code, square);
        }
        for ((side, kings), found) in ["the side to move", "the opponent"].into_iter().zip(kings).zip(counts) {
            if kings != 1 {
                return Err(PositionError::Kings { side, found: kings });
            }
            if found > MAX_OF_A_SIDE {
                return Err(PositionError::OneSide { side, found });
            }
        }
        Ok(Self {
            pieces,
            count: given.len(),
            own_king: king_squares[0],
            opponent_king: king_squares[1] ^ OTHER_VIEW,
            is_black: false,
            score: None,
            result: None,
            extra: [0; 3],
        })
    }

    /// The pieces, kings included, in the order in which they were given (readers give ascending squares).
    #[must_use]
    pub fn pieces(&self) -> &[(u8, u8)] {
        &self.pieces[..self.count]
    }

    /// How many pieces of each kind, pawn to king, the side to move and the other one have.
    #[must_use]
    pub fn counts(&self) -> [[usize; 6]; 2] {
        let mut counts = [[0; 6]; 2];
        for (code, _) in self.pieces() {
            counts[usize::from(code & OPPONENT != 0)][usize::from(code & 7)] += 1;
        }
        counts
    }

    /// The side to move's king's square.
    #[must_use]
    pub fn own_king(&self) -> u8 {
        self.own_king
    }

    /// The opponent's king's square *as the opponent sees it* (`^ 56`).
    #[must_use]
    pub fn opponent_king(&self) -> u8 {
        self.opponent_king
    }
}

#[cfg(test)]
mod tests {
    use super::super::PositionError;
    use super::Position;

    #[test]
    fn kings_are_found() {
        let position = Position::new(&[(5, 4), (13, 60), (0, 8)]).unwrap();
        assert_eq!((position.own_king(), position.opponent_king()), (4, 4));
        assert_eq!(position.pieces(), [(5, 4), (13, 60), (0, 8)]);
    }

    #[test]
    fn what_is_no_board_is_refused() {
        let refused = |pieces: &[(u8, u8)]| Position::new(pieces).unwrap_err();
        assert_eq!(refused(&[]).to_string(), "the side to move has 0 kings, expected 1");
        assert_eq!(refused(&[(5, 4)]).to_string(), "the opponent has 0 kings, expected 1");
        assert_eq!(refused(&[(5, 4), (5, 5), (13, 60)]).to_string(), "the side to move has 2 kings, expected 1");
        assert_eq!(refused(&[(5, 4), (13, 4)]), PositionError::BadSquare { square: 4 });
        for square in [64, 128, 255] {
            assert_eq!(refused(&[(5, square)]), PositionError::BadSquare { square });
        }
        for code in [6, 7, 14, 15, 16, 21, 255] {
            assert!(matches!(refused(&[(code, 9)]), PositionError::NoSuchPiece { .. }), "{code}");
        }
        assert_eq!(refused(&[(0, 0); 33]), PositionError::TooManyPieces { found: 33 });
        let many: Vec<(u8, u8)> = (8..24).map(|square| (0, square)).chain([(5, 4), (13, 60)]).collect();
        assert_eq!(refused(&many).to_string(), "the side to move has 17 pieces, at most 16 can be");
        assert!(Position::new(&many[1..]).is_ok());
        assert_eq!(refused(&[(7, 9)]).to_string().split(';').next(), Some("the piece on b2 has code 7"));
    }
}
