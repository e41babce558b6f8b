//! Chess feature sets and bucket tables (section 7).

use super::Container;

/// The feature of a piece (type 0 to 5 on `square`, `opponents` or own, all as the side to move sees them), in the view
/// of the side to move or of the other side, whose own king stands on `king` in its own view.
pub fn feature(net: &Container, other_view: bool, kind: u32, opponents: bool, square: u32, king: u32) -> u32 {
    let (colour, square) =
        if other_view { (u32::from(!opponents), square ^ 56) } else { (u32::from(opponents), square) };
    let mirrored = net.input.feature_set == 2 && king % 8 >= 4;
    let square = if mirrored { square ^ 7 } else { square };
    let bucket = net.tensor(net.input.king_table).unwrap().bytes[king as usize];
    768 * u32::from(bucket) + 384 * colour + 64 * kind + square
}

/// The output bucket of a number of pieces.
pub fn bucket_of_piece_count(net: &Container, pieces: usize) -> u32 {
    u32::from(net.tensor(net.input.bucket_table).unwrap().bytes[pieces])
}
