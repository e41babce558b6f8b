//! What a container of a chess network sees of a position.

use crate::positions::Position;
use tamis_runtime::Plan;
use tamis_runtime::engine::{Colour, Kind, Piece};
use tamis_runtime::format::Model;
use tamis_runtime::kernels;
use tamis_runtime::raw::chess::{Board, OPPONENT, Perspective, RelationView};
use tamis_runtime::raw::{NONE, perspective_order};

/// The features of both perspectives, in the order in which the network puts them, and the output bucket; `None` if the
/// model's input is no chess board. The second list of a network of one perspective is empty.
#[must_use]
pub fn features_of(model: &Model<'_>, position: &Position) -> Option<([Vec<u32>; 2], usize)> {
    features_in(&Plan::new(*model, kernels::best()), position)
}

/// The same for who has a plan already, which takes longer to make than a position to read.
#[must_use]
pub fn features_in(plan: &Plan<'_>, position: &Position) -> Option<([Vec<u32>; 2], usize)> {
    let model = plan.model();
    let view = plan.chess_view()?;
    // Where the two sides see the board differently it is stored as white sees it.
    let turns = position.is_black && !view.has_king_features();
    let pieces: Vec<(u8, u8)> = match turns {
        false => position.pieces().to_vec(),
        true => position.pieces().iter().map(|(code, square)| (code ^ OPPONENT, square ^ 56)).collect(),
    };
    let king = |side: u8| {
        let king = pieces.iter().find(|(code, _)| *code == (KING | side));
        king.map(|(_, square)| *square).unwrap_or_else(|| unreachable!("a position has a king a side"))
    };
    let kings = [view.seen(Perspective::SideToMove, king(0)), view.seen(Perspective::Other, king(OPPONENT))];
    let list =
        |perspective| view.features(pieces.iter().copied(), kings[0], kings[1], perspective).collect::<Vec<u32>>();
    let mut stored = [list(Perspective::SideToMove), list(Perspective::Other)];
    if let Some((relations, first)) = plan.relations() {
        let board = board_of(&pieces);
        for (list, colour) in stored.iter_mut().zip(Colour::BOTH) {
            let side = RelationView::new(relations, first, colour, board.king(colour));
            list.extend(side.without(&board, &Board::EMPTY));
        }
    }
    let [mut own, mut other] = stored;
    if turns {
        std::mem::swap(&mut own, &mut other);
    }
    if model.input().perspectives != 2 {
        other.clear();
    }
    let [own_counts, other_counts] = position.counts();
    let bucket = match model.input().bucket_table {
        NONE => 0,
        _ => model
            .bucket_of(own_counts, other_counts)
            .unwrap_or_else(|| unreachable!("a position has as many pieces as a game")),
    };
    let other_first = model.input().order == perspective_order::OTHER_FIRST;
    Some((if other_first { [other, own] } else { [own, other] }, bucket))
}

/// The board with the side to move's pieces as white's.
fn board_of(pieces: &[(u8, u8)]) -> Board {
    let mut board = Board::EMPTY;
    for &(code, square) in pieces {
        let colour = if code & OPPONENT == 0 { Colour::White } else { Colour::Black };
        let is_new = board.add(Piece::new(colour, Kind::ALL[usize::from(code & 7)], square));
        debug_assert!(is_new, "a position has a piece a square");
    }
    board
}

const KING: u8 = 5;
