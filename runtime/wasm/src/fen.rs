//! A FEN as the runtime's pieces: the board and the side to move, which are all that a network sees.
//!
//! As strict as the reader of `host-tools eval`, to which the tests hold it: castling, en passant and counters may be
//! missing, and are looked at only enough to notice that something else stands there. It is a reader of its own since
//! the runtime reads no text, and `host-tools` reads more than a page needs (EPD, scores, results, places in files),
//! for which the module has no room.

use core::fmt;
use tamis_runtime::engine::{Colour, Kind, Piece};

/// The letters of the kinds, in the order of their numbers.
const LETTERS: [char; 6] = ['p', 'n', 'b', 'r', 'q', 'k'];
/// The most pieces of a game.
const MAX_PIECES: usize = 32;
/// The most of a side, its king included; sums are proved for boards that have no more.
const MAX_OF_A_SIDE: usize = 16;

/// A board with one king a side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// Rank 8 first, from file a on.
    pub pieces: Vec<Piece>,
    pub to_move: Colour,
}

/// Why a text is no position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FenError {
    Missing(&'static str),
    Field { field: &'static str, found: String, expected: &'static str },
    Ranks(usize),
    Character { rank: u8, found: char },
    Width { rank: u8, found: u8 },
    Pieces(usize),
    Kings { colour: Colour, found: usize },
    Side { colour: Colour, found: usize },
}

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(field) => write!(f, "the FEN has no {field}; it starts like `8/8/8/4k3/8/8/8/4K3 w`"),
            Self::Field { field, found, expected } => write!(f, "the {field} `{found}` is not {expected}"),
            Self::Ranks(found) => write!(f, "the board has {found} ranks, expected 8, with / between them"),
            Self::Character { rank, found } => {
                write!(f, "rank {rank}: '{found}' is neither a piece (PNBRQKpnbrqk) nor 1 to 8 empty squares")
            }
            Self::Width { rank, found } => write!(f, "rank {rank} has {found} squares, expected 8"),
            Self::Pieces(found) => write!(f, "{found} pieces are on the board, at most {MAX_PIECES} can be"),
            Self::Kings { colour, found } => write!(f, "{} has {found} kings, expected 1", name(*colour)),
            Self::Side { colour, found } => {
                write!(f, "{} has {found} pieces, at most {MAX_OF_A_SIDE} can be", name(*colour))
            }
        }
    }
}

impl core::error::Error for FenError {}

const fn name(colour: Colour) -> &'static str {
    match colour {
        Colour::White => "white",
        Colour::Black => "black",
    }
}

/// The letter of a piece, white's a capital.
pub fn letter(piece: Piece) -> char {
    let [p, n, b, r, q, k] = LETTERS;
    let letter = match piece.kind() {
        Kind::Pawn => p,
        Kind::Knight => n,
        Kind::Bishop => b,
        Kind::Rook => r,
        Kind::Queen => q,
        Kind::King => k,
    };
    if piece.colour() == Colour::White { letter.to_ascii_uppercase() } else { letter }
}

/// Reads a FEN.
pub fn read(fen: &str) -> Result<Position, FenError> {
    let mut fields = fen.split_ascii_whitespace();
    let board = fields.next().ok_or(FenError::Missing("board"))?;
    let to_move = match fields.next() {
        Some("w") => Colour::White,
        Some("b") => Colour::Black,
        Some(other) => return Err(wrong("side to move", other, "w or b")),
        None => return Err(FenError::Missing("side to move")),
    };
    let pieces = pieces(board)?;
    rest(fields)?;
    if pieces.len() > MAX_PIECES {
        return Err(FenError::Pieces(pieces.len()));
    }
    for colour in [to_move, to_move.other()] {
        let is_king = |piece: &&Piece| piece.kind() == Kind::King && piece.colour() == colour;
        let found = pieces.iter().filter(is_king).count();
        if found != 1 {
            return Err(FenError::Kings { colour, found });
        }
        let found = pieces.iter().filter(|piece| piece.colour() == colour).count();
        if found > MAX_OF_A_SIDE {
            return Err(FenError::Side { colour, found });
        }
    }
    Ok(Position { pieces, to_move })
}

fn pieces(board: &str) -> Result<Vec<Piece>, FenError> {
    let ranks = board.split('/').count();
    if ranks != 8 {
        return Err(FenError::Ranks(ranks));
    }
    let mut pieces = Vec::new();
    for (rank, squares) in (1u8..=8).rev().zip(board.split('/')) {
        let mut file = 0;
        let mut is_after_number = false;
        for found in squares.chars() {
            match found {
                '1'..='8' if !is_after_number => {
                    file += found as u8 - b'0';
                    is_after_number = true;
                }
                _ => {
                    let kind = LETTERS.iter().zip(Kind::ALL).find(|(letter, _)| **letter == found.to_ascii_lowercase());
                    let (_, kind) = kind.ok_or(FenError::Character { rank, found })?;
                    let colour = if found.is_ascii_lowercase() { Colour::Black } else { Colour::White };
                    pieces.push(Piece::new(colour, kind, 8 * (rank - 1) + (file & 7)));
                    file += 1;
                    is_after_number = false;
                }
            }
            if file > 8 {
                return Err(FenError::Width { rank, found: 9 });
            }
        }
        if file != 8 {
            return Err(FenError::Width { rank, found: file });
        }
    }
    Ok(pieces)
}

/// A field's name, whether a word can be it, and what it should be.
type Rule = (&'static str, fn(&str) -> bool, &'static str);

/// Castling, en passant, half-move clock, move number, and then nothing.
fn rest<'a>(mut fields: impl Iterator<Item = &'a str>) -> Result<(), FenError> {
    // Shredder-FEN names the rooks' files.
    let castles: fn(&str) -> bool = |word| {
        let is_right = |c| matches!(c, 'K' | 'Q' | 'k' | 'q' | 'A'..='H' | 'a'..='h');
        word == "-" || (word.len() <= 4 && word.chars().all(is_right))
    };
    let square: fn(&str) -> bool = |word| word == "-" || matches!(word.as_bytes(), [b'a'..=b'h', b'1'..=b'8']);
    let number: fn(&str) -> bool = |word| word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_digit());
    let rules: [Rule; 4] = [
        ("castling field", castles, "- or up to four letters such as KQkq"),
        ("en passant field", square, "- or a square"),
        ("half-move clock", number, "a number"),
        ("move number", number, "a number"),
    ];
    for (field, is_right, expected) in rules {
        match fields.next() {
            Some(word) if !is_right(word) => return Err(wrong(field, word, expected)),
            Some(_) => {}
            None => return Ok(()),
        }
    }
    fields.next().map_or(Ok(()), |word| Err(wrong("end of the FEN", word, "empty")))
}

/// Longer words are cut in messages.
const SHOWN_LEN: usize = 32;

fn wrong(field: &'static str, found: &str, expected: &'static str) -> FenError {
    FenError::Field { field, found: found.chars().take(SHOWN_LEN).collect(), expected }
}

#[cfg(test)]
mod tests {
    use super::{Colour, Kind, Piece, letter, read};

    #[test]
    fn pieces_stand_where_they_are_written() {
        let position = read("4k3/8/8/8/8/8/P7/4K2r b").unwrap();
        let piece = |colour, kind, square| Piece::new(colour, kind, square);
        let (white, black) = (Colour::White, Colour::Black);
        assert_eq!(position.to_move, black);
        assert_eq!(
            position.pieces,
            [
                piece(black, Kind::King, 60),
                piece(white, Kind::Pawn, 8),
                piece(white, Kind::King, 4),
                piece(black, Kind::Rook, 7)
            ]
        );
        let letters: String = position.pieces.iter().map(|piece| letter(*piece)).collect();
        assert_eq!(letters, "kPKr");
    }

    #[test]
    fn what_is_no_position_says_why() {
        for (fen, expected) in [
            ("", "the FEN has no board"),
            ("8/8/8/4k3/8/8/8/4K3", "the FEN has no side to move"),
            ("8/8 w", "the board has 2 ranks"),
            ("8/44/8/8/8/8/8/8 w", "rank 7: '4' is neither"),
            ("é7/8/8/8/8/8/8/8 w", "rank 8: 'é' is neither"),
            ("8/8/8/8/8/8/8/7 w", "rank 1 has 7 squares"),
            ("8/8/8/8/8/8/8/8P w", "rank 1 has 9 squares"),
            ("4k3/8/8/8/8/8/8/8 b", "white has 0 kings"),
            ("4k3/8/8/8/8/8/8/4K3 x", "the side to move `x` is not w or b"),
            ("4k3/8/8/8/8/8/8/4K3 w KQkqK", "the castling field"),
            ("4k3/8/8/8/8/8/8/4K3 w - e9", "the en passant field"),
            ("4k3/8/8/8/8/8/8/4K3 w - - x", "the half-move clock"),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 bm", "the end of the FEN `bm`"),
            ("kKPPPPPP/PPPPPPPP/PPPPPPPP/PPPPPPPP/P7/8/8/8 w", "33 pieces"),
            ("kKQQQQQQ/QQQQQQQQ/QQ6/8/8/8/8/8 w", "white has 17 pieces"),
            ("Kkqqqqqq/qqqqqqqq/qq6/8/8/8/8/8 w", "black has 17 pieces"),
        ] {
            let message = read(fen).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{fen}: {message}");
        }
    }
}
