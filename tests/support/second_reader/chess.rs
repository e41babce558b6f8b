//! Chess feature sets and bucket tables (section 7).

use super::Container;

/// The feature of a piece (type 0 to 5 on `square`, `opponents` or own, all as the board is stored), in the view in
/// which the board is stored or in the other, whose own king stands on `king` in its own view.
pub fn feature(net: &Container, other_view: bool, kind: u32, opponents: bool, square: u32, king: u32) -> u32 {
    let set = net.input.feature_set;
    let turned = if set == 5 { 63 } else { 56 };
    let (colour, square) =
        if other_view { (u32::from(!opponents), square ^ turned) } else { (u32::from(opponents), square) };
    let mirrored = [2, 4, 6, 7].contains(&set) && king % 8 >= 4;
    let square = if mirrored { square ^ 7 } else { square };
    let bucket = net.tensor(net.input.king_table).unwrap().bytes[king as usize];
    let (features, plane) = match set {
        1 | 2 => (768, 6 * colour + kind),
        3 | 4 | 6 | 7 if kind == 5 => (704, 5),
        3 | 4 | 6 | 7 => (704, 6 * colour + kind),
        5 => (640, 5 * colour + kind),
        other => panic!("feature set {other}"),
    };
    features * u32::from(bucket) + 64 * plane + square
}

/// The output bucket of a number of pieces.
pub fn bucket_of_piece_count(net: &Container, pieces: usize) -> u32 {
    u32::from(net.tensor(net.input.bucket_table).unwrap().bytes[pieces])
}

/// The output bucket of a board's pieces: of each its type, and whether it is the side to move's opponent's.
pub fn bucket_of(net: &Container, pieces: &[(u32, bool)]) -> u32 {
    let (kinds, by_sides) = (net.input.counted & 63, net.input.counted & 64 != 0);
    let (mut own, mut other) = (0, 0);
    for (kind, is_opponents) in pieces {
        if kinds == 0 || kinds & (1 << kind) != 0 {
            if *is_opponents { other += 1 } else { own += 1 }
        }
    }
    bucket_of_piece_count(net, if by_sides { 17 * own + other } else { own + other })
}
