//! Positions as boards, in plain SVG: which they are is seen sooner than read.

use super::accuracy::Worst;
use std::fmt::Write;

/// Units of a square's side.
const SQUARE: usize = 24;
/// Boards that are shown.
const SHOWN: usize = 6;

/// The positions of the largest errors, each with both values; nothing where the examples are no positions.
pub fn worst_positions(worst: &[Worst], unit: &str) -> String {
    let mut page = String::new();
    let positions = worst.iter().filter_map(|worst| worst.fen.as_deref().map(|fen| (worst, fen)));
    for (worst, fen) in positions.take(SHOWN) {
        let Some(board) = board(fen) else { continue };
        let mover = if fen.split(' ').nth(1) == Some("b") { "black" } else { "white" };
        let Worst { example, float, integer, .. } = worst;
        let _ = writeln!(
            page,
            "<figure>{board}<figcaption>example {example}, {mover} to move: float {float:.1}, integer {integer:.1}, \
             error {:+.1} {unit}<br><code>{fen}</code></figcaption></figure>",
            integer - float
        );
    }
    if page.is_empty() { page } else { format!("<div class=\"boards\">\n{page}</div>\n") }
}

/// The pieces of a FEN, rank 8 on top; none if they do not fill eight ranks of eight.
fn board(fen: &str) -> Option<String> {
    let side = 8 * SQUARE;
    let mut text =
        format!("<svg class=\"board\" viewBox=\"0 0 {side} {side}\" role=\"img\" aria-label=\"the position\">\n");
    let ranks: Vec<&str> = fen.split(' ').next()?.split('/').collect();
    if ranks.len() != 8 {
        return None;
    }
    for (row, rank) in ranks.into_iter().enumerate() {
        let mut file = 0;
        for letter in rank.chars() {
            let (pieces, width) = match letter.to_digit(10) {
                Some(empty) => (None, empty as usize),
                None => (Some(letter), 1),
            };
            for column in file..(file + width).min(8) {
                let (x, y) = (column * SQUARE, row * SQUARE);
                let shade = if (row + column).is_multiple_of(2) { "light" } else { "dark" };
                let _ = writeln!(
                    text,
                    "<rect class=\"{shade}\" x=\"{x}\" y=\"{y}\" width=\"{SQUARE}\" height=\"{SQUARE}\"/>"
                );
            }
            if let Some(letter) = pieces {
                let class = if letter.is_ascii_uppercase() { "white" } else { "black" };
                let (x, y) = (file * SQUARE + SQUARE / 2, row * SQUARE + SQUARE - 5);
                // The selector keeps pictures in colour away.
                let _ = writeln!(
                    text,
                    "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{}\u{fe0e}</text>",
                    figure(letter)?
                );
            }
            file += width;
        }
        if file != 8 {
            return None;
        }
    }
    text.push_str("</svg>");
    Some(text)
}

/// The filled figure of a piece, whoever's it is.
fn figure(letter: char) -> Option<char> {
    Some(match letter.to_ascii_lowercase() {
        'k' => '♚',
        'q' => '♛',
        'r' => '♜',
        'b' => '♝',
        'n' => '♞',
        'p' => '♟',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_square_and_every_piece_is_drawn() {
        let drawn = board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1").unwrap();
        assert_eq!(drawn.matches("<rect").count(), 64);
        assert_eq!((drawn.matches("\"white\"").count(), drawn.matches("\"black\"").count()), (16, 16));
        // The pawn on e4: fifth column, fifth row from above.
        assert!(drawn.contains("<text class=\"white\" x=\"108\" y=\"115\" text-anchor=\"middle\">♟"), "{drawn}");
        for bad in ["", "8/8/8", "9/8/8/8/8/8/8/8 w", "7/8/8/8/8/8/8/8 w", "x7/8/8/8/8/8/8/8 w"] {
            assert_eq!(board(bad), None, "{bad}");
        }
    }
}
