//! Features that are relations between two pieces: threats, and pairs of pawns.
//!
//! A perspective sees its own pieces at the ranks 1 and 2, and the board mirrored so that its king stands on files a to
//! d: the other way round than [`FeatureSet::HalfKaV2Hm`](super::FeatureSet::HalfKaV2Hm). A threat is an ordered pair,
//! a piece that attacks an occupied square, whichever side's, as the pieces stand; a pawn attacks the squares where it
//! would take. A pair of pawns is any two whose files differ by at most one. Each relation numbers its own rows from 0:
//!
//! ```text
//! threat = base[attacker, its side] + (class of the target + classes if it is the other side's) * reach
//!        + attacks of the attacker's kind from all squares below its own + those below the target
//! pair   = hi * (hi - 1) / 2 + lo        of a pawn's square - 8, + 48 if it is the other side's
//! ```
//!
//! with the attacks of an empty board in the numbers, and reach those of a kind from all squares together. Of two
//! pieces of one kind only the one on the higher square counts, but that a pawn that defends its own pawn always does.

/// A kind of relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Threats of and on all pieces, kings too. Stockfish 18.
    Threats,
    /// Threats without kings and without pawns on pawns. Stockfish 19.
    FewerThreats,
    /// Two pawns on one file or on neighbouring ones. Stockfish 19.
    PawnPairs,
}

/// A piece as a perspective sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    /// P N B R Q K = 0 to 5.
    pub kind: u8,
    /// Whether it is the perspective's.
    pub is_own: bool,
    /// Turned and mirrored.
    pub square: u8,
}

/// Pawns of a side stand on so many squares.
const PAWN_SQUARES: usize = 48;
const KINDS: u8 = 6;
const PAWN: u8 = 0;
const KING: u8 = 5;

impl Relation {
    /// Number of rows.
    #[must_use]
    pub fn count(self) -> usize {
        match self {
            Self::Threats | Self::FewerThreats => (0..KINDS).map(|kind| 2 * self.of_attacker(kind)).sum(),
            Self::PawnPairs => PAWN_SQUARES * (2 * PAWN_SQUARES - 1),
        }
    }

    /// The most of them that come together. Of threats it is a bound: two pieces that see each other along a line give
    /// one at most, without kings of 30 pieces, which stand on at least 11 ranks, 11 files and 11 diagonals either way;
    /// knights jump from at most 120 squares to others. Of pairs, 16 pawns on neighbouring files, it is reached.
    #[must_use]
    pub const fn max_active(self) -> usize {
        match self {
            // 104 pairs on lines, 16 more of kings beside rooks and bishops, 128 jumps.
            Self::Threats => 248,
            // 98 pairs on lines, 120 jumps.
            Self::FewerThreats => 218,
            Self::PawnPairs => 96,
        }
    }

    /// `threats` or `pairs of pawns`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Threats | Self::FewerThreats => "threats",
            Self::PawnPairs => "pairs of pawns",
        }
    }

    /// The kinds that an attacker's threats are counted on, in the order of their rows.
    const fn targets(self, attacker: u8) -> &'static [u8] {
        match (self, attacker) {
            (Self::PawnPairs, _) => &[],
            (Self::Threats, 0) => &[0, 1, 3],
            (Self::Threats, 1 | 4) => &[0, 1, 2, 3, 4, 5],
            (Self::Threats, 2 | 3) => &[0, 1, 2, 3, 5],
            (Self::FewerThreats, 0) => &[1, 3],
            (Self::FewerThreats, 1 | 4) => &[0, 1, 2, 3, 4],
            (Self::FewerThreats, KING) => &[],
            (Self::Threats | Self::FewerThreats, _) => &[0, 1, 2, 3],
        }
    }

    /// Rows of one kind of attacker of one side.
    fn of_attacker(self, attacker: u8) -> usize {
        2 * self.targets(attacker).len() * reach(attacker)
    }

    /// The rows that are active on a board, in no promised order.
    pub(super) fn active(self, pieces: &[Seen]) -> Vec<usize> {
        match self {
            Self::Threats | Self::FewerThreats => self.threats(pieces),
            Self::PawnPairs => pairs(pieces),
        }
    }

    fn threats(self, pieces: &[Seen]) -> Vec<usize> {
        let at = |square: u8| pieces.iter().find(|piece| piece.square == square);
        let mut rows = Vec::new();
        for attacker in pieces {
            let squares = attacked(attacker.kind, attacker.is_own, attacker.square, |square| at(square).is_some());
            rows.extend(squares.into_iter().filter_map(at).filter_map(|target| self.threat(attacker, target)));
        }
        rows
    }

    /// The row of one threat, if it is a feature.
    fn threat(self, attacker: &Seen, target: &Seen) -> Option<usize> {
        let targets = self.targets(attacker.kind);
        let class = targets.iter().position(|&kind| kind == target.kind)?;
        let defends_a_pawn = attacker.kind == PAWN && attacker.is_own == target.is_own;
        if attacker.kind == target.kind && !defends_a_pawn && attacker.square < target.square {
            return None;
        }
        let of_side: usize = (0..KINDS).map(|kind| self.of_attacker(kind)).sum();
        let base = (0..attacker.kind).map(|kind| self.of_attacker(kind)).sum::<usize>()
            + if attacker.is_own { 0 } else { of_side };
        let class = class + if target.is_own { 0 } else { targets.len() };
        let from = |square: u8| attacked(attacker.kind, attacker.is_own, square, |_| false);
        let before: usize = (0..attacker.square).map(|square| from(square).len()).sum();
        let below = from(attacker.square).into_iter().filter(|&square| square < target.square).count();
        Some(base + class * reach(attacker.kind) + before + below)
    }
}

fn pairs(pieces: &[Seen]) -> Vec<usize> {
    let pawns: Vec<&Seen> = pieces.iter().filter(|piece| piece.kind == PAWN && is_pawns(piece.square)).collect();
    let number = |pawn: &Seen| usize::from(pawn.square) - 8 + if pawn.is_own { 0 } else { PAWN_SQUARES };
    let mut rows = Vec::new();
    for (index, first) in pawns.iter().enumerate() {
        for second in &pawns[..index] {
            if (first.square % 8).abs_diff(second.square % 8) <= 1 {
                let (low, high) = (number(first).min(number(second)), number(first).max(number(second)));
                rows.push(high * (high - 1) / 2 + low);
            }
        }
    }
    rows
}

/// Whether pawns stand there: not on the first and the last rank.
const fn is_pawns(square: u8) -> bool {
    matches!(square, 8..56)
}

/// Squares that a kind attacks from all squares of an empty board together.
const fn reach(kind: u8) -> usize {
    match kind {
        PAWN => 84,
        1 => 336,
        2 => 560,
        3 => 896,
        4 => 1456,
        _ => 420,
    }
}

/// The squares that a piece attacks, ascending. Own pawns go up, the other side's down; none stands on the last ranks.
fn attacked(kind: u8, is_own: bool, square: u8, is_occupied: impl Fn(u8) -> bool) -> Vec<u8> {
    const KNIGHT: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
    const DIAGONAL: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];
    const STRAIGHT: [(i8, i8); 4] = [(1, 0), (0, -1), (-1, 0), (0, 1)];
    let every: Vec<(i8, i8)> = DIAGONAL.into_iter().chain(STRAIGHT).collect();
    let rank = if is_own { 1 } else { -1 };
    let (steps, slides): (Vec<(i8, i8)>, bool) = match kind {
        PAWN if is_pawns(square) => (vec![(-1, rank), (1, rank)], false),
        PAWN => (Vec::new(), false),
        1 => (KNIGHT.to_vec(), false),
        2 => (DIAGONAL.to_vec(), true),
        3 => (STRAIGHT.to_vec(), true),
        4 => (every, true),
        _ => (every, false),
    };
    let mut found = Vec::new();
    for (across, up) in steps {
        let (mut file, mut rank) = ((square % 8) as i8 + across, (square / 8) as i8 + up);
        while (0..8).contains(&file) && (0..8).contains(&rank) {
            let square = (8 * rank + file) as u8;
            found.push(square);
            if !slides || is_occupied(square) {
                break;
            }
            (file, rank) = (file + across, rank + up);
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_many_as_in_the_files() {
        let counts = [Relation::Threats, Relation::FewerThreats, Relation::PawnPairs].map(Relation::count);
        assert_eq!(counts, [79_856, 59_808, 4_560]);
        let counted = |kind: u8| (0..64).map(|square| attacked(kind, true, square, |_| false).len()).sum::<usize>();
        assert!((0..KINDS).all(|kind| reach(kind) == counted(kind)));
    }

    /// Every relation that a board can show has a row of its own: over all pairs of pieces on all pairs of squares.
    #[test]
    fn no_two_threats_have_one_row() {
        for relation in [Relation::Threats, Relation::FewerThreats] {
            let mut is_taken = vec![false; relation.count()];
            let mut count = 0;
            for attacker in 0..12u8 {
                for from in (0..64u8).filter(|square| attacker % 6 != PAWN || (8..56).contains(square)) {
                    let seen = |code: u8, square| Seen { kind: code % 6, is_own: code < 6, square };
                    let attacker = seen(attacker, from);
                    for to in attacked(attacker.kind, attacker.is_own, from, |_| false) {
                        for target in 0..12 {
                            if let Some(row) = relation.threat(&attacker, &seen(target, to)) {
                                assert!(!is_taken[row], "{relation:?}, row {row}");
                                is_taken[row] = true;
                                count += 1;
                            }
                        }
                    }
                }
            }
            assert!(count > relation.count() / 2 && count < relation.count(), "{count}: the lower of two of a kind");
        }
    }
}
