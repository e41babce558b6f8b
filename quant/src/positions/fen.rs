//! FEN, strict where it matters: the board and the side to move. The fields after them decide nothing that a network
//! sees; they may be missing, and are looked at only enough to notice that something else stands there.

use super::error::PositionError;
use super::position::Position;

/// Longer words are cut in messages.
const SHOWN_LEN: usize = 32;

impl Position {
    /// Reads a FEN, with or without castling, en passant and counters. With black to move the board is turned round:
    /// a position is always in the side to move's view.
    ///
    /// # Errors
    /// [`PositionError`] if the board is not 8 by 8, has something else than pieces on it or not one king a side, or
    /// if a later field cannot be one.
    ///
    /// ```
    /// use tamis_quant::positions::Position;
    ///
    /// let white = Position::from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")?;
    /// let black = Position::from_fen("4k3/4p3/8/8/8/8/8/4K3 b")?;
    /// assert_eq!(white.pieces(), black.pieces());
    /// assert!(black.is_black && !white.is_black);
    /// # Ok::<(), tamis_quant::positions::PositionError>(())
    /// ```
    pub fn from_fen(fen: &str) -> Result<Self, PositionError> {
        let mut fields = fen.split_ascii_whitespace();
        let board = fields.next().ok_or(PositionError::MissingField { field: "board" })?;
        let black_moves = match fields.next() {
            Some("w") => false,
            Some("b") => true,
            Some(other) => return Err(bad_field("side to move", other, "w or b")),
            None => return Err(PositionError::MissingField { field: "side to move" }),
        };
        let mut pieces = read_board(board)?;
        check_rest(fields)?;
        if black_moves {
            for (code, square) in &mut pieces {
                (*code, *square) = (*code ^ 8, *square ^ 56);
            }
        }
        pieces.sort_unstable_by_key(|&(_, square)| square);
        let mut position = Self::new(&pieces)?;
        position.is_black = black_moves;
        Ok(position)
    }

    /// The board and the side to move as a FEN; what a position does not hold, castling and the like, is left open. A
    /// record of BulletFormat does not say who moves, and is written as white's.
    ///
    /// ```
    /// use tamis_quant::positions::Position;
    ///
    /// let fen = "4k3/4p3/8/8/8/8/8/4K2R b - - 0 1";
    /// assert_eq!(Position::from_fen(fen)?.to_fen(), fen);
    /// # Ok::<(), tamis_quant::positions::PositionError>(())
    /// ```
    #[must_use]
    pub fn to_fen(&self) -> String {
        let mut board = [None; 64];
        for (code, square) in self.pieces() {
            let (code, square) = if self.is_black { (code ^ 8, square ^ 56) } else { (*code, *square) };
            let letter = char::from(b"pnbrqk"[usize::from(code & 7)]);
            board[usize::from(square)] = Some(if code & 8 == 0 { letter.to_ascii_uppercase() } else { letter });
        }
        let rank = |squares: &[Option<char>]| {
            let (mut text, mut empty) = (String::new(), 0);
            for square in squares {
                if square.is_some() && empty > 0 {
                    text.push_str(&std::mem::take(&mut empty).to_string());
                }
                match square {
                    Some(letter) => text.push(*letter),
                    None => empty += 1,
                }
            }
            if empty > 0 { text + &empty.to_string() } else { text }
        };
        let ranks: Vec<String> = board.chunks(8).rev().map(rank).collect();
        format!("{} {} - - 0 1", ranks.join("/"), if self.is_black { "b" } else { "w" })
    }
}

/// `(code, square)` of each piece, white's without bit 3, from rank 8 down.
fn read_board(board: &str) -> Result<Vec<(u8, u8)>, PositionError> {
    let found = board.split('/').count();
    if found != 8 {
        return Err(PositionError::Ranks { found });
    }
    let mut pieces = Vec::with_capacity(64);
    for (rank, squares) in (0u8..8).rev().zip(board.split('/')) {
        let shown_rank = usize::from(rank) + 1;
        let bad = |found| PositionError::BoardCharacter { rank: shown_rank, found };
        let mut file = 0u8;
        let mut after_number = false;
        for character in squares.chars() {
            match character {
                '1'..='8' if !after_number => {
                    file += character as u8 - b'0';
                    after_number = true;
                }
                _ => {
                    let code = piece_code(character).ok_or_else(|| bad(character))?;
                    pieces.push((code, 8 * rank + (file & 7)));
                    file += 1;
                    after_number = false;
                }
            }
            if file > 8 {
                return Err(PositionError::RankWidth { rank: shown_rank, found: 9 });
            }
        }
        if file != 8 {
            return Err(PositionError::RankWidth { rank: shown_rank, found: usize::from(file) });
        }
    }
    Ok(pieces)
}

fn piece_code(character: char) -> Option<u8> {
    let kind = ['p', 'n', 'b', 'r', 'q', 'k'].iter().position(|&letter| letter == character.to_ascii_lowercase())?;
    let colour = if character.is_ascii_lowercase() { 8 } else { 0 };
    Some(kind as u8 | colour)
}

/// A field's name, whether a word can be it, and what it should be.
type FieldRule<'a> = (&'static str, &'a dyn Fn(&str) -> bool, &'static str);

/// Castling, en passant, half-move clock, move number, and then nothing.
fn check_rest<'a>(mut fields: impl Iterator<Item = &'a str>) -> Result<(), PositionError> {
    // Shredder-FEN names the rooks' files.
    let castles = |word: &str| {
        word.len() <= 4 && word.chars().all(|c| matches!(c, 'K' | 'Q' | 'k' | 'q' | 'A'..='H' | 'a'..='h'))
    };
    let is_square = |word: &str| matches!(word.as_bytes(), [b'a'..=b'h', b'1'..=b'8']);
    let is_number = |word: &str| word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_digit());
    let checks: [FieldRule<'_>; 4] = [
        ("castling field", &|word| word == "-" || castles(word), "- or up to four letters such as KQkq"),
        ("en passant field", &|word| word == "-" || is_square(word), "- or a square"),
        ("half-move clock", &is_number, "a number"),
        ("move number", &is_number, "a number"),
    ];
    for (field, check, expected) in checks {
        match fields.next() {
            Some(word) if !check(word) => return Err(bad_field(field, word, expected)),
            Some(_) => {}
            None => return Ok(()),
        }
    }
    match fields.next() {
        Some(word) => Err(PositionError::TrailingField { found: shown(word) }),
        None => Ok(()),
    }
}

pub(super) fn bad_field(field: &'static str, found: &str, expected: &'static str) -> PositionError {
    PositionError::Field { field, found: shown(found), expected }
}

pub(super) fn shown(word: &str) -> String {
    word.chars().take(SHOWN_LEN).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::Position;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

    #[test]
    fn the_start_position() {
        let position = Position::from_fen(&format!("{START} w KQkq - 0 1")).unwrap();
        let codes: Vec<u8> = position.pieces().iter().map(|&(code, _)| code).collect();
        assert_eq!(codes[..8], [3, 1, 2, 4, 5, 2, 1, 3]);
        assert_eq!(codes[8..16], [0; 8]);
        assert_eq!(codes[16..24], [8; 8]);
        assert_eq!(codes[24..], [11, 9, 10, 12, 13, 10, 9, 11]);
        let squares: Vec<u8> = position.pieces().iter().map(|&(_, square)| square).collect();
        assert_eq!(squares, (0..16).chain(48..64).collect::<Vec<u8>>());
        // The board is symmetric, so the other side sees the same.
        let black = Position::from_fen(&format!("{START} b")).unwrap();
        assert_eq!((black.is_black, black.pieces()), (true, position.pieces()));
    }

    #[test]
    fn later_fields_may_be_missing_but_not_wrong() {
        for rest in ["w", " w ", "w -", "w KQkq", "w HAha -", "w - e3", "w - - 12", "b KQkq e3 0 1"] {
            Position::from_fen(&format!("{START} {rest}")).unwrap();
        }
        for (rest, expected) in [
            ("", "the FEN has no side to move"),
            ("white", "the side to move `white` is not w or b"),
            ("w KQkqK", "the castling field"),
            ("w e4", "the castling field `e4`"),
            ("w - 0", "the en passant field `0`"),
            ("w - - -", "the half-move clock `-`"),
            ("w - - 0 1e3", "the move number `1e3`"),
            ("w - - 0 1 bm", "`bm` follows the FEN"),
            ("w - - 0 \u{1b}[2J", "the move number `\\u{1b}[2J`"),
        ] {
            let message = Position::from_fen(&format!("{START} {rest}")).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{rest}: {message}");
        }
    }

    #[test]
    fn boards_that_are_none_are_refused() {
        for (board, expected) in [
            ("8/8", "the board field has 2 ranks"),
            ("8/8/8/8/8/8/8/8/8", "the board field has 9 ranks"),
            ("8/8/8/8/8/8/8/", "rank 1 has 0 squares"),
            ("8/8/8/8/8/8/8/7", "rank 1 has 7 squares"),
            ("8/8/8/8/8/8/8/8P", "rank 1 has 9 squares"),
            ("8/44/8/8/8/8/8/8", "rank 7: '4' is neither"),
            ("9/8/8/8/8/8/8/8", "rank 8: '9' is neither"),
            ("0p7/8/8/8/8/8/8/8", "rank 8: '0' is neither"),
            ("x7/8/8/8/8/8/8/8", "rank 8: 'x' is neither"),
            ("é7/8/8/8/8/8/8/8", "rank 8: 'é' is neither"),
            ("8/8/8/8/8/8/8/8", "the side to move has 0 kings"),
            ("k7/8/8/8/8/8/8/8", "the side to move has 0 kings"),
            ("kK6/K7/8/8/8/8/8/8", "the side to move has 2 kings"),
            ("kKPPPPPP/PPPPPPPP/PPPPPPPP/PPPPPPPP/P7/8/8/8", "33 pieces"),
        ] {
            let message = Position::from_fen(&format!("{board} w")).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{board}: {message}");
        }
        assert!(Position::from_fen("").is_err());
        assert!(Position::from_fen(&"P".repeat(100_000)).is_err());
    }
}
