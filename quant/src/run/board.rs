//! What a container of a chess network sees of a position.

use crate::positions::Position;
use tamis_runtime::Plan;
use tamis_runtime::format::Model;
use tamis_runtime::kernels;
use tamis_runtime::raw::chess::{OPPONENT, Perspective};
use tamis_runtime::raw::{NONE, perspective_order};

/// The features of both perspectives, in the order in which the network puts them, and the output bucket; `None` if the
/// model's input is no chess board. The second list of a network of one perspective is empty.
#[must_use]
pub fn features_of(model: &Model<'_>, position: &Position) -> Option<([Vec<u32>; 2], usize)> {
    let view = Plan::new(*model, kernels::best()).chess_view()?;
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
    let stored = [list(Perspective::SideToMove), list(Perspective::Other)];
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

const KING: u8 = 5;
