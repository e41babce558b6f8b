//! Relations between pieces (section 7.1), each pair of squares looked at.

use super::Container;

/// A piece as white sees the board: type 0 to 5, black's or white's, square.
pub type OnSquare = (u32, bool, u32);

/// The features of white's view or of black's that are relations, in no promised order.
pub fn relations(net: &Container, pieces: &[OnSquare], for_black: bool) -> Vec<u32> {
    let set = net.input.feature_set;
    let threats = match set {
        6 => 79_856,
        7 => 59_808,
        _ => return Vec::new(),
    };
    let first = net.input.size - threats - if set == 7 { 4_560 } else { 0 };
    let turned = if for_black { 56 } else { 0 };
    let king = pieces.iter().find(|(kind, is_black, _)| *kind == 5 && *is_black == for_black);
    let Some((_, _, king)) = king else { panic!("a board of relations without a king of a side") };
    let mirrored = if king % 8 >= 4 { 7 } else { 0 };
    // (type, c, square), each as this side sees it.
    let seen: Vec<(u32, u32, u32)> = pieces
        .iter()
        .map(|(kind, is_black, square)| (*kind, u32::from(*is_black != for_black), square ^ turned ^ mirrored))
        .collect();
    let is_empty = |square: u32| seen.iter().all(|piece| piece.2 != square);
    let mut found = Vec::new();
    for &(kind, colour, from) in &seen {
        for &(target, other, to) in &seen {
            let targets: &[u32] = match (set, kind) {
                (6, 0) => &[0, 1, 3],
                (6, 1 | 4) => &[0, 1, 2, 3, 4, 5],
                (6, 2 | 3) => &[0, 1, 2, 3, 5],
                (7, 0) => &[1, 3],
                (7, 1 | 4) => &[0, 1, 2, 3, 4],
                (7, 5) => &[],
                _ => &[0, 1, 2, 3],
            };
            let Some(class) = targets.iter().position(|kind| *kind == target) else { continue };
            let line = reaches(kind, colour, from, to);
            let Some(between) = line.filter(|between| between.iter().all(|square| is_empty(*square))) else { continue };
            drop(between);
            let is_defended_pawn = kind == 0 && colour == other;
            if kind == target && from < to && !is_defended_pawn {
                continue;
            }
            let class = class as u32 + other * targets.len() as u32;
            let attacks = |from: u32| (0..64).filter(move |to| reaches(kind, colour, from, *to).is_some());
            let before: usize = (0..from).map(|square| attacks(square).count()).sum();
            let below = attacks(from).filter(|square| *square < to).count();
            let rows = |kind: u32| 2 * targets_of(set, kind) * REACH[kind as usize];
            let base = (0..kind).map(rows).sum::<u32>() + colour * threats / 2;
            found.push(first + base + class * REACH[kind as usize] + before as u32 + below as u32);
        }
    }
    if set == 7 {
        let pawns = seen.iter().filter(|(kind, _, square)| *kind == 0 && (8..56).contains(square));
        let pawns: Vec<(u32, u32)> = pawns.map(|(_, colour, square)| (48 * colour + square - 8, square % 8)).collect();
        for (low, low_file) in &pawns {
            for (high, _) in pawns.iter().filter(|(high, file)| high > low && file.abs_diff(*low_file) < 2) {
                found.push(first + threats + high * (high - 1) / 2 + low);
            }
        }
    }
    found
}

const REACH: [u32; 6] = [84, 336, 560, 896, 1456, 420];

fn targets_of(set: u32, kind: u32) -> u32 {
    let counts = if set == 6 { [3, 6, 5, 5, 6, 4] } else { [2, 5, 4, 4, 5, 0] };
    counts[kind as usize]
}

/// The squares between two, where a piece attacks the one from the other on an empty board.
fn reaches(kind: u32, colour: u32, from: u32, to: u32) -> Option<Vec<u32>> {
    let [(file, rank), (to_file, to_rank)] = [from, to].map(|square| ((square % 8) as i32, (square / 8) as i32));
    let (across, up) = (to_file - file, to_rank - rank);
    let (wide, high) = (across.abs(), up.abs());
    let is_line = wide != 0 && wide == high;
    let is_straight = (wide == 0) != (high == 0);
    let attacks = match kind {
        0 => wide == 1 && up == if colour == 0 { 1 } else { -1 } && (1..7).contains(&rank),
        1 => (wide, high) == (1, 2) || (wide, high) == (2, 1),
        2 => is_line,
        3 => is_straight,
        4 => is_line || is_straight,
        _ => wide.max(high) == 1,
    };
    let steps = if matches!(kind, 2..=4) { wide.max(high) } else { 1 };
    let between = (1..steps).map(|step| (8 * (rank + step * up.signum()) + file + step * across.signum()) as u32);
    attacks.then(|| between.collect())
}
