//! The same games in Rust, through `engine::State`.

use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{Colour, Expected, Features, Kind, Network, Piece, State};

/// The moves that `game.c` plays when it is given none.
pub const OPERA: [&str; 33] = [
    "e2e4", "e7e5", "g1f3", "d7d6", "d2d4", "c8g4", "d4e5", "g4f3", "d1f3", "d6e5", "f1c4", "g8f6", "f3b3", "d8e7",
    "b1c3", "c7c6", "c1g5", "b7b5", "c3b5", "c6b5", "c4b5", "b8d7", "e1c1", "a8d8", "d1d7", "d8d7", "h1d1", "e7e6",
    "b5d7", "f6d7", "b3b8", "d7b8", "d1d8",
];

/// En passant, and promotions with and without capture, to each kind; castling to both sides by both colours.
pub const OTHERS: [&[&str]; 3] = [
    &["e2e4", "a7a6", "e4e5", "d7d5", "e5d6", "a6a5", "d6c7", "a5a4", "c7d8q", "e8d8", "b2b4", "a4b3", "e1e2"],
    &["e2e4", "e7e5", "g1f3", "g8f6", "f1c4", "f8c5", "e1g1", "e8g8"],
    &[
        "a2a4", "b7b5", "a4b5", "a7a6", "b5a6", "c8b7", "a6b7", "d7d5", "b7a8n", "d5d4", "c2c4", "d4c3", "d2d3",
        "c3b2", "c1e3", "b2a1r", "e3d4", "b8c6", "b1c3", "d8d7", "c3e4", "e8c8",
    ],
];

type Board = [Option<(Colour, Kind)>; 64];

/// The tier that a program says it ran on, and a number for each position.
pub fn numbers(printed: &str) -> (String, Vec<(String, i32)>) {
    let mut lines = printed.lines();
    let tier = lines.next().unwrap().strip_prefix("tier ").unwrap().split(',').next().unwrap();
    let numbers = lines.by_ref().map_while(|line| {
        let (position, number) = line.split_once(' ')?;
        Some((position.to_owned(), number.parse().ok()?))
    });
    (tier.to_owned(), numbers.collect())
}

fn start() -> Board {
    use Kind::{Bishop, King, Knight, Pawn, Queen, Rook};
    let mut board = [None; 64];
    for (file, kind) in [Rook, Knight, Bishop, Queen, King, Bishop, Knight, Rook].into_iter().enumerate() {
        board[file] = Some((Colour::White, kind));
        board[8 + file] = Some((Colour::White, Pawn));
        board[48 + file] = Some((Colour::Black, Pawn));
        board[56 + file] = Some((Colour::Black, kind));
    }
    board
}

fn pieces(board: &Board) -> Vec<Piece> {
    let pieces = board.iter().enumerate();
    pieces.filter_map(|(square, piece)| piece.map(|(colour, kind)| Piece::new(colour, kind, square as u8))).collect()
}

fn square(text: &str) -> usize {
    let text = text.as_bytes();
    usize::from(text[0] - b'a') + 8 * usize::from(text[1] - b'1')
}

/// The board after a move.
fn after(board: &Board, text: &str) -> Board {
    let (from, to) = (square(&text[..2]), square(&text[2..4]));
    let mut next = *board;
    let (colour, mut kind) = board[from].unwrap();
    match kind {
        Kind::Pawn if from % 8 != to % 8 && board[to].is_none() => next[from / 8 * 8 + to % 8] = None,
        Kind::King if to == from + 2 => next.swap(from + 3, from + 1),
        Kind::King if to + 2 == from => next.swap(from - 4, from - 1),
        _ => {}
    }
    match text.get(4..) {
        Some("n") => kind = Kind::Knight,
        Some("b") => kind = Kind::Bishop,
        Some("r") => kind = Kind::Rook,
        Some("q") => kind = Kind::Queen,
        _ => {}
    }
    next[from] = None;
    next[to] = Some((colour, kind));
    next
}

/// What `game.c` must print: each position, then the last one with the other side to move.
pub fn expected<const HIDDEN: usize>(file: &AlignedBytes, moves: &[&str]) -> Vec<(String, i32)> {
    let expected = Expected { features: Features::CHESS_768, output_buckets: 8, outputs: 1 };
    let net = Network::<HIDDEN>::load(file.as_ref(), &expected).unwrap();
    let mut state = Box::new(State::<HIDDEN, 64>::new());
    let mut board = start();
    state.refresh(&net, pieces(&board)).unwrap();
    let mut to_move = Colour::White;
    let mut numbers = vec![("start".to_owned(), state.evaluate(&net, to_move).unwrap())];
    for text in moves {
        let next = after(&board, text);
        let (old, new) = (pieces(&board), pieces(&next));
        let difference =
            |a: &[Piece], b: &[Piece]| a.iter().filter(|piece| !b.contains(piece)).copied().collect::<Vec<_>>();
        state.push(&net, &difference(&new, &old), &difference(&old, &new)).unwrap();
        (board, to_move) = (next, to_move.other());
        numbers.push(((*text).to_owned(), state.evaluate(&net, to_move).unwrap()));
    }
    numbers.push(("null".to_owned(), state.evaluate(&net, to_move.other()).unwrap()));
    numbers
}
