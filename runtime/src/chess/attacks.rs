//! The squares that pieces attack: on an empty board from tables, on a board with pieces along rays up to the first.

/// What moves alike: pawns of the viewing side, knight, bishop, rook, queen, king, pawns of the other side.
pub const PATTERNS: usize = 7;
const OWN_PAWN: usize = 0;
pub const KNIGHT: usize = 1;
pub const BISHOP: usize = 2;
pub const ROOK: usize = 3;
pub const QUEEN: usize = 4;
pub const KING: usize = 5;
pub const OTHER_PAWN: usize = 6;

/// Squares on which pawns stand.
pub const PAWN_SQUARES: u64 = 0x00FF_FFFF_FFFF_FF00;

/// Steps of a file and a rank: the four whose squares ascend first, then their opposites in the same order.
const RAYS: [(i8, i8); 8] = [(1, 0), (-1, 1), (0, 1), (1, 1), (-1, 0), (1, -1), (0, -1), (-1, -1)];
/// Numbers of [`RAYS`].
const STRAIGHT: [usize; 4] = [0, 2, 4, 6];
const DIAGONAL: [usize; 4] = [1, 3, 5, 7];
const ASCENDING: usize = 4;

/// The squares from each square on along each ray.
static ALONG: [[u64; 64]; 8] = {
    let mut all = [[0; 64]; 8];
    let mut ray = 0;
    while ray < 8 {
        let mut square = 0;
        while square < 64 {
            all[ray][square] = steps(square, RAYS[ray], true);
            square += 1;
        }
        ray += 1;
    }
    all
};

/// What each pattern attacks on an empty board. A pawn on the first or the last rank attacks nothing.
static EMPTY: [[u64; 64]; PATTERNS] = {
    let mut all = [[0; 64]; PATTERNS];
    let mut square = 0;
    while square < 64 {
        if PAWN_SQUARES >> square & 1 != 0 {
            all[OWN_PAWN][square] = steps(square, (-1, 1), false) | steps(square, (1, 1), false);
            all[OTHER_PAWN][square] = steps(square, (-1, -1), false) | steps(square, (1, -1), false);
        }
        let mut ray = 0;
        while ray < 8 {
            let slides = steps(square, RAYS[ray], true);
            let kind = if ray % 2 == 0 { ROOK } else { BISHOP };
            all[kind][square] |= slides;
            all[QUEEN][square] |= slides;
            all[KING][square] |= steps(square, RAYS[ray], false);
            let (across, up) = RAYS[ray];
            // A step along a file or a rank and one along a diagonal beside it.
            if ray % 2 == 0 {
                let (jump, other) =
                    if across == 0 { ((1, 2 * up), (-1, 2 * up)) } else { ((2 * across, 1), (2 * across, -1)) };
                all[KNIGHT][square] |= steps(square, jump, false) | steps(square, other, false);
            }
            ray += 1;
        }
        square += 1;
    }
    all
};

/// The squares that a pattern attacks on an empty board from all squares below one, counted.
static BEFORE: [[u16; 64]; PATTERNS] = {
    let mut all = [[0; 64]; PATTERNS];
    let mut pattern = 0;
    while pattern < PATTERNS {
        let mut square = 1;
        while square < 64 {
            all[pattern][square] = all[pattern][square - 1] + EMPTY[pattern][square - 1].count_ones() as u16;
            square += 1;
        }
        pattern += 1;
    }
    all
};

/// A step from a square, or all of them up to the edge.
const fn steps(square: usize, (across, up): (i8, i8), slides: bool) -> u64 {
    let (mut file, mut rank, mut found) = ((square % 8) as i8 + across, (square / 8) as i8 + up, 0);
    while file >= 0 && file < 8 && rank >= 0 && rank < 8 {
        found |= 1 << (8 * rank + file);
        if !slides {
            break;
        }
        (file, rank) = (file + across, rank + up);
    }
    found
}

/// What a pattern attacks on an empty board.
#[inline]
pub fn on_empty(pattern: usize, square: u8) -> u64 {
    EMPTY[pattern % PATTERNS][usize::from(square % 64)]
}

/// Numbers an attack among all of a pattern's on an empty board: those from lower squares, then from this one on lower
/// squares.
#[inline]
pub fn ordinal(pattern: usize, from: u8, to: u8) -> u32 {
    let below = on_empty(pattern, from) & ((1 << (to % 64)) - 1);
    u32::from(BEFORE[pattern % PATTERNS][usize::from(from % 64)]) + below.count_ones()
}

/// Attacks of a pattern from all squares of an empty board together.
pub const fn reach(pattern: usize) -> u32 {
    BEFORE[pattern][63] as u32 + EMPTY[pattern][63].count_ones()
}

/// What a pattern attacks on a board: along a ray up to the first piece, that included.
#[inline]
pub fn on_board(pattern: usize, square: u8, occupied: u64) -> u64 {
    match pattern {
        BISHOP => slides(DIAGONAL, square, occupied),
        ROOK => slides(STRAIGHT, square, occupied),
        QUEEN => slides(DIAGONAL, square, occupied) | slides(STRAIGHT, square, occupied),
        pattern => on_empty(pattern, square),
    }
}

#[inline]
fn slides(rays: [usize; 4], square: u8, occupied: u64) -> u64 {
    let square = usize::from(square % 64);
    let mut found = 0;
    for ray in rays {
        let along = ALONG[ray][square];
        let pieces = along & occupied;
        // The nearest; where there is none the last square of the board, behind which no ray goes on.
        let nearest =
            if ray < ASCENDING { (pieces | 1 << 63).trailing_zeros() } else { 63 - (pieces | 1).leading_zeros() };
        found |= along & !ALONG[ray][nearest as usize % 64];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reaches_are_the_well_known_ones() {
        let found: [u32; PATTERNS] = core::array::from_fn(reach);
        assert_eq!(found, [84, 336, 560, 896, 1456, 420, 84]);
    }

    /// Every slider on every square, with the pieces that a simple generator puts on the board, step by step.
    #[test]
    fn rays_end_at_the_first_piece() {
        let mut occupied = 0x0123_4567_89AB_CDEFu64;
        for _ in 0..200 {
            occupied = occupied.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let sparse = occupied & occupied.rotate_left(17);
            for square in 0..64u8 {
                for (pattern, rays) in [(BISHOP, DIAGONAL), (ROOK, STRAIGHT)] {
                    let mut expected = 0;
                    for ray in rays {
                        let (across, up) = RAYS[ray];
                        let (mut file, mut rank) = ((square % 8) as i8 + across, (square / 8) as i8 + up);
                        while (0..8).contains(&file) && (0..8).contains(&rank) {
                            let bit = 1u64 << (8 * rank + file);
                            expected |= bit;
                            if sparse & bit != 0 {
                                break;
                            }
                            (file, rank) = (file + across, rank + up);
                        }
                    }
                    assert_eq!(on_board(pattern, square, sparse), expected, "{square}, {sparse:#x}");
                }
            }
        }
    }
}
