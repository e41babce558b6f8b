//! What can be wrong with a position, and where.

use thiserror::Error;

use crate::error_kind::ErrorKind;

/// Why something is not a position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PositionError {
    /// In a line of a text.
    #[error("line {line}: {cause}")]
    AtLine {
        /// Line, from 1.
        line: usize,
        /// What is wrong in it.
        cause: Box<PositionError>,
    },
    /// In a record of a file.
    #[error("record {record}: {cause}")]
    AtRecord {
        /// Record, from 0.
        record: usize,
        /// What is wrong in it.
        cause: Box<PositionError>,
    },
    /// A file that does not end with a record.
    #[error(
        "{len_bytes} bytes are {} records of 32 bytes and {} bytes more; is the file cut off, or no BulletFormat?",
        len_bytes / 32, len_bytes % 32
    )]
    PartialRecord {
        /// Length of the file.
        len_bytes: usize,
    },
    /// More pieces than a board has.
    #[error("{found} pieces are on the board, at most 32 can be")]
    TooManyPieces {
        /// How many.
        found: usize,
    },
    /// More pieces of a side than a game begins with.
    #[error("{side} has {found} pieces, at most 16 can be")]
    OneSide {
        /// "the side to move" or "the opponent".
        side: &'static str,
        /// How many.
        found: usize,
    },
    /// A piece code whose type is none of the six.
    #[error("the piece on {square} has code {code}; types (bits 0 to 2) go from 0 to 5, bit 3 is the opponent's")]
    NoSuchPiece {
        /// The square, in the side to move's view.
        square: Square,
        /// The code.
        code: u8,
    },
    /// Two pieces on one square, or a square off the board.
    #[error("square {square} is occupied twice or off the board")]
    BadSquare {
        /// The square's number.
        square: u8,
    },
    /// Not one king a side.
    #[error("{side} has {found} kings, expected 1")]
    Kings {
        /// "the side to move" or "the opponent".
        side: &'static str,
        /// How many.
        found: usize,
    },
    /// A record whose king square is not where its king stands.
    #[error("byte {byte} says that {side}'s king stands on {found}, and it stands on {expected}")]
    KingSquare {
        /// Offset in the record: 27 or 28.
        byte: usize,
        /// "the side to move" or "the opponent".
        side: &'static str,
        /// What the byte says.
        found: u8,
        /// Where it stands, in its own side's view.
        expected: u8,
    },
    /// A record with piece codes beyond its occupied squares.
    #[error("{pieces} pieces stand on the board, but nibble {nibble} after them is {found} and not 0")]
    UnusedNibble {
        /// How many pieces.
        pieces: usize,
        /// Index of the nibble.
        nibble: usize,
        /// Its value.
        found: u8,
    },
    /// A game's result that is none.
    #[error("result {found}: expected 0 (loss), 1 (draw) or 2 (win)")]
    Result {
        /// The byte.
        found: u8,
    },
    /// A FEN with a field missing.
    #[error("the FEN has no {field}; it starts `<board> <w or b>`, or is `startpos`")]
    MissingField {
        /// Which.
        field: &'static str,
    },
    /// A FEN with something after its six fields.
    #[error("`{found}` follows the FEN; its last field is the move number")]
    TrailingField {
        /// The first word after the FEN.
        found: String,
    },
    /// Something behind a FEN that is no operation of EPD.
    #[error("`{found}` follows the FEN; an operation of EPD is a name, operands and `;`")]
    Operation {
        /// It, or its beginning.
        found: String,
    },
    /// More than a score and a result.
    #[error("`{found}` follows the result; a line is `FEN | score | result`")]
    TrailingPart {
        /// The part.
        found: String,
    },
    /// A board field without eight ranks.
    #[error("the board field has {found} ranks, expected 8 between slashes")]
    Ranks {
        /// How many.
        found: usize,
    },
    /// A rank without eight squares.
    #[error("rank {rank} has {found} squares, expected 8")]
    RankWidth {
        /// The rank, 1 to 8.
        rank: usize,
        /// How many; 9 for any that are too many.
        found: usize,
    },
    /// A character that is no piece.
    #[error(
        "rank {rank}: {found:?} is neither a piece (PNBRQK, pnbrqk) nor a number of empty squares (1 to 8, not two in \
         a row)"
    )]
    BoardCharacter {
        /// The rank, 1 to 8.
        rank: usize,
        /// The character.
        found: char,
    },
    /// A field of a FEN that says nothing sensible.
    #[error("the {field} `{found}` is not {expected}")]
    Field {
        /// Which.
        field: &'static str,
        /// The word.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
}

impl PositionError {
    /// Always [`ErrorKind::Malformed`].
    #[must_use]
    pub fn class(&self) -> ErrorKind {
        ErrorKind::Malformed
    }
}

/// A square that prints its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Square(pub u8);

impl std::fmt::Display for Square {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let file = char::from(b'a' + (self.0 & 7));
        write!(f, "{file}{}", self.0 / 8 + 1)
    }
}
