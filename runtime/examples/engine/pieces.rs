//! From the rules' words to the network's: a board as pieces, and a move as the pieces that come and those that go.

use cozy_chess::{Board, Color, File, Move, Piece as RulesKind, Rank, Square};
use heapless::Vec;
use tamis_runtime::engine::{Colour, Kind, Piece};

/// Castling moves two pieces, a capture removes two; no move does more.
const MOST: usize = 2;

/// What a move changes.
#[derive(Debug, Default)]
pub struct Moved {
    pub added: Vec<Piece, MOST>,
    pub removed: Vec<Piece, MOST>,
}

/// Both number white 0 and black 1.
pub const fn colour(colour: Color) -> Colour {
    match colour {
        Color::White => Colour::White,
        Color::Black => Colour::Black,
    }
}

/// Both number pawn to king 0 to 5, and a1, b1, … h8 0 to 63.
const fn piece(owner: Color, kind: RulesKind, square: Square) -> Piece {
    Piece::new(colour(owner), Kind::ALL[kind as usize], square as u8)
}

/// Every piece on a board.
pub fn all(board: &Board) -> impl Iterator<Item = Piece> {
    Color::ALL.into_iter().flat_map(move |owner| {
        RulesKind::ALL.into_iter().flat_map(move |kind| {
            board.colored_pieces(owner, kind).into_iter().map(move |square| piece(owner, kind, square))
        })
    })
}

/// The pieces that a legal move adds and removes; the board is the one before it.
pub fn moved(board: &Board, mv: Move) -> Moved {
    let mut moved = Moved::default();
    let side = board.side_to_move();
    let Some(kind) = board.piece_on(mv.from) else { return moved };
    // cozy-chess writes castling as the king taking its own rook.
    if board.colors(side).has(mv.to) {
        let rank = Rank::First.relative_to(side);
        let (king, rook) = if mv.from.file() < mv.to.file() { (File::G, File::F) } else { (File::C, File::D) };
        let _ = moved.removed.extend_from_slice(&[piece(side, kind, mv.from), piece(side, RulesKind::Rook, mv.to)]);
        let (king, rook) = (Square::new(king, rank), Square::new(rook, rank));
        let _ = moved.added.extend_from_slice(&[piece(side, kind, king), piece(side, RulesKind::Rook, rook)]);
        return moved;
    }
    let _ = moved.removed.push(piece(side, kind, mv.from));
    let _ = moved.added.push(piece(side, mv.promotion.unwrap_or(kind), mv.to));
    if let Some(taken) = board.piece_on(mv.to) {
        let _ = moved.removed.push(piece(!side, taken, mv.to));
    } else if kind == RulesKind::Pawn && mv.from.file() != mv.to.file() {
        // En passant: the pawn that goes stands beside the square that the other came from.
        let _ = moved.removed.push(piece(!side, RulesKind::Pawn, Square::new(mv.to.file(), mv.from.rank())));
    }
    moved
}
