//! From the rules' words to the network's: a board as men, and a move as the men that come and those that go.

use cozy_chess::{Board, Color, File, Move, Piece, Rank, Square};
use heapless::Vec;
use tamis_runtime::engine::{Colour, Kind, Man};

/// Castling moves two men, a capture removes two; no move does more.
const MOST: usize = 2;

/// What a move changes.
#[derive(Debug, Default)]
pub struct Moved {
    pub added: Vec<Man, MOST>,
    pub removed: Vec<Man, MOST>,
}

/// Both number white 0 and black 1.
pub const fn colour(colour: Color) -> Colour {
    match colour {
        Color::White => Colour::White,
        Color::Black => Colour::Black,
    }
}

/// Both number pawn to king 0 to 5, and a1, b1, … h8 0 to 63.
const fn man(owner: Color, piece: Piece, square: Square) -> Man {
    Man::new(colour(owner), Kind::ALL[piece as usize], square as u8)
}

/// Every man on a board.
pub fn all(board: &Board) -> impl Iterator<Item = Man> {
    Color::ALL.into_iter().flat_map(move |owner| {
        Piece::ALL.into_iter().flat_map(move |piece| {
            board.colored_pieces(owner, piece).into_iter().map(move |square| man(owner, piece, square))
        })
    })
}

/// The men that a legal move adds and removes; the board is the one before it.
pub fn moved(board: &Board, mv: Move) -> Moved {
    let mut moved = Moved::default();
    let side = board.side_to_move();
    let Some(piece) = board.piece_on(mv.from) else { return moved };
    // cozy-chess writes castling as the king taking its own rook.
    if board.colors(side).has(mv.to) {
        let rank = Rank::First.relative_to(side);
        let (king, rook) = if mv.from.file() < mv.to.file() { (File::G, File::F) } else { (File::C, File::D) };
        let _ = moved.removed.extend_from_slice(&[man(side, piece, mv.from), man(side, Piece::Rook, mv.to)]);
        let (king, rook) = (Square::new(king, rank), Square::new(rook, rank));
        let _ = moved.added.extend_from_slice(&[man(side, piece, king), man(side, Piece::Rook, rook)]);
        return moved;
    }
    let _ = moved.removed.push(man(side, piece, mv.from));
    let _ = moved.added.push(man(side, mv.promotion.unwrap_or(piece), mv.to));
    if let Some(taken) = board.piece_on(mv.to) {
        let _ = moved.removed.push(man(!side, taken, mv.to));
    } else if piece == Piece::Pawn && mv.from.file() != mv.to.file() {
        // En passant: the pawn that goes stands beside the square that the other came from.
        let _ = moved.removed.push(man(!side, Piece::Pawn, Square::new(mv.to.file(), mv.from.rank())));
    }
    moved
}
