//! Features that are relations between two pieces: threats, and pairs of pawns.
//!
//! A threat is an ordered pair: a piece that attacks an occupied square, and the piece there, whichever side's. Its
//! number is that of FORMAT.md, section 7: where the rows of this attacker on this target begin, and the attack's
//! number among all of the attacker's on an empty board. Both sides see the same relations under other numbers: the
//! board turned, and mirrored so that the own king stands on files a to d. Nothing else of the king matters.
//!
//! What differs between two boards is found without looking at all of either: only attackers that stand on a changed
//! square, or attack one, can have other threats, and only changed pawns other partners.

use super::attacks::{self, OTHER_PAWN, PAWN_SQUARES, on_board};
use super::board::{Board, Squares};
use super::piece::Colour;

/// Which relations a set has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Relations {
    /// Threats of and on all pieces, kings too: Stockfish 18.
    Threats,
    /// Threats without kings and without pawns on pawns, and behind them pairs of pawns: Stockfish 19.
    ThreatsAndPairs,
}

/// Kinds of a side.
const KINDS: usize = 6;
/// Kinds of both: the viewing side's, then the other's.
const PLANES: usize = 2 * KINDS;
const PAWN: usize = 0;
/// A kind that is no target.
const NO: u8 = u8::MAX;
/// Pairs of 2 · 48 pawns.
const PAIRS: u32 = 96 * 95 / 2;

/// The class of a target, by attacker and target.
type Classes = [[u8; KINDS]; KINDS];

const WITH_KINGS: Classes = [
    [0, 1, NO, 2, NO, NO],
    [0, 1, 2, 3, 4, 5],
    [0, 1, 2, 3, NO, 4],
    [0, 1, 2, 3, NO, 4],
    [0, 1, 2, 3, 4, 5],
    [0, 1, 2, 3, NO, NO],
];
const WITHOUT_KINGS: Classes = [
    [NO, 0, NO, 1, NO, NO],
    [0, 1, 2, 3, 4, NO],
    [0, 1, 2, 3, NO, NO],
    [0, 1, 2, 3, NO, NO],
    [0, 1, 2, 3, 4, NO],
    [NO; KINDS],
];

/// Where the rows of an attacker on a target begin, by their planes; [`NONE`] where they have none. Last, the number of
/// all rows.
struct Firsts {
    of: [[u32; PLANES]; PLANES],
    count: u32,
}

const NONE: u32 = u32::MAX;

static FIRSTS: [Firsts; 2] = [firsts(&WITH_KINGS), firsts(&WITHOUT_KINGS)];

const fn firsts(classes: &Classes) -> Firsts {
    let (mut of, mut count, mut attacker) = ([[NONE; PLANES]; PLANES], 0, 0);
    while attacker < PLANES {
        let (kind, mut targets, mut target) = (attacker % KINDS, 0, 0);
        while target < KINDS {
            targets += (classes[kind][target] != NO) as u32;
            target += 1;
        }
        let reach = attacks::reach(kind);
        while target > 0 {
            target -= 1;
            let class = classes[kind][target];
            if class != NO {
                of[attacker][target] = count + class as u32 * reach;
                of[attacker][target + KINDS] = count + (targets + class as u32) * reach;
            }
        }
        count += 2 * targets * reach;
        attacker += 1;
    }
    Firsts { of, count }
}

impl Relations {
    /// Number of rows.
    #[must_use]
    pub const fn count(self) -> u32 {
        match self {
            Self::Threats => FIRSTS[0].count,
            Self::ThreatsAndPairs => FIRSTS[1].count + PAIRS,
        }
    }

    /// The rows in blocks: threats, and pairs of pawns if there are any.
    #[must_use]
    pub const fn blocks(self) -> [u32; 2] {
        match self {
            Self::Threats => [FIRSTS[0].count, 0],
            Self::ThreatsAndPairs => [FIRSTS[1].count, PAIRS],
        }
    }

    /// The most features of each block that a board gives; FORMAT.md, section 7.
    #[must_use]
    pub const fn most(self) -> [u32; 2] {
        match self {
            Self::Threats => [248, 0],
            Self::ThreatsAndPairs => [218, 96],
        }
    }

    const fn firsts(self) -> &'static Firsts {
        &FIRSTS[self as usize]
    }
}

/// How a side numbers the relations of a board.
#[derive(Debug, Clone, Copy)]
pub struct RelationView {
    relations: Relations,
    /// Of the first relation.
    first_feature: u32,
    /// The other side's plane of a piece is as many further.
    side: usize,
    /// What a square becomes: exclusive or with this.
    squares: u8,
}

/// An attacker on a target; planes as [`super::piece::Piece::plane`] counts them, squares as white sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Threat {
    attacker: usize,
    from: u8,
    target: usize,
    to: u8,
}

impl RelationView {
    /// Of a colour whose king stands on `king`, as white sees it; the relations' features begin at `first_feature`.
    #[must_use]
    #[inline]
    pub const fn new(relations: Relations, first_feature: u32, colour: Colour, king: u8) -> Self {
        let turned = if matches!(colour, Colour::White) { 0 } else { 56 };
        let mirrored = if king % 8 < 4 { 0 } else { 7 };
        Self { relations, first_feature, side: KINDS * colour as usize, squares: turned ^ mirrored }
    }

    /// The features that are here and not there. Both boards are seen alike, whichever squares their kings stand on.
    pub fn without(&self, here: &Board, there: &Board) -> impl Iterator<Item = u32> {
        let view = *self;
        let threats = Threats::new(here, there).filter_map(move |threat| view.threat(threat));
        let pairs = (self.relations == Relations::ThreatsAndPairs).then(|| Pairs::new(here, there));
        threats.chain(pairs.into_iter().flatten().map(move |pair| view.pair(pair)))
    }

    /// The feature of a threat, if it is one.
    #[inline]
    fn threat(&self, Threat { attacker, from, target, to }: Threat) -> Option<u32> {
        let seen = |plane: usize| (plane + self.side) % PLANES;
        let (attacker, target, from, to) = (seen(attacker), seen(target), from ^ self.squares, to ^ self.squares);
        let first = self.relations.firsts().of[attacker][target];
        // Two of a kind see each other; the one on the higher square counts. Only a pawn's own pawns do not look back.
        let looks_back = attacker % KINDS == target % KINDS && (attacker % KINDS != PAWN || attacker != target);
        if first == NONE || (looks_back && from < to) {
            return None;
        }
        Some(self.first_feature + first + attacks::ordinal(pattern(attacker), from, to))
    }

    /// The feature of a pair of pawns: each a square as white sees it, and whether it is black's.
    #[inline]
    fn pair(&self, pair: [(u8, bool); 2]) -> u32 {
        let [first, second] = pair.map(|(square, is_black)| {
            let is_other = is_black == (self.side == 0);
            u32::from((square ^ self.squares).wrapping_sub(8) % 48) + if is_other { 48 } else { 0 }
        });
        let (low, high) = if first < second { (first, second) } else { (second, first) };
        self.first_feature + self.relations.firsts().count + high * high.saturating_sub(1) / 2 + low
    }
}

/// The pattern of a plane.
#[inline]
const fn pattern(plane: usize) -> usize {
    if plane == KINDS { OTHER_PAWN } else { plane % KINDS }
}

/// The threats of one board that are not on another.
struct Threats {
    here: Board,
    there: Board,
    /// Squares on which they differ.
    changed: u64,
    occupied: [u64; 2],
    /// Squares of attackers that are to be looked at.
    attackers: u64,
    /// The one that is looked at, and its targets that are left.
    attacker: usize,
    from: u8,
    targets: u64,
}

impl Threats {
    #[inline]
    fn new(here: &Board, there: &Board) -> Self {
        let occupied = [here.occupied(), there.occupied()];
        let changed = here.changed(there);
        let mut attackers = changed & occupied[0];
        let planes = here.planes();
        let of = |kind: usize| planes[kind] | planes[KINDS + kind];
        let straight = of(attacks::ROOK) | of(attacks::QUEEN);
        let diagonal = of(attacks::BISHOP) | of(attacks::QUEEN);
        // Whoever attacks a changed square here, and more who do not: what differs is found for each of them.
        if changed.count_ones() > MANY {
            attackers = occupied[0];
        } else {
            let pawns = planes[PAWN] | planes[KINDS + PAWN];
            for square in Squares(changed) {
                attackers |= on_board(attacks::ROOK, square, occupied[0]) & straight
                    | on_board(attacks::BISHOP, square, occupied[0]) & diagonal
                    | on_board(attacks::KNIGHT, square, occupied[0]) & of(attacks::KNIGHT)
                    | on_board(attacks::KING, square, occupied[0]) & (pawns | of(attacks::KING));
            }
        }
        Self { here: *here, there: *there, changed, occupied, attackers, attacker: 0, from: 0, targets: 0 }
    }

    /// Turns to the next attacker; false where there is none.
    #[inline]
    fn turn(&mut self) -> bool {
        let Some(from) = Squares(self.attackers).next() else { return false };
        self.attackers &= self.attackers - 1;
        let Some(attacker) = self.here.plane_at(from) else { return true };
        let pattern = pattern(attacker);
        let mut targets = on_board(pattern, from, self.occupied[0]) & self.occupied[0];
        if self.there.planes()[attacker] & 1 << from != 0 {
            // What it attacks there too, where the same piece stands.
            targets &= !on_board(pattern, from, self.occupied[1]) | self.changed;
        }
        (self.attacker, self.from, self.targets) = (attacker, from, targets);
        true
    }
}

/// Changed squares beyond which all attackers are looked at.
const MANY: u32 = 12;

impl Iterator for Threats {
    type Item = Threat;

    #[inline]
    fn next(&mut self) -> Option<Threat> {
        loop {
            if let Some(to) = Squares(self.targets).next() {
                self.targets &= self.targets - 1;
                let Some(target) = self.here.plane_at(to) else { continue };
                return Some(Threat { attacker: self.attacker, from: self.from, target, to });
            }
            if !self.turn() {
                return None;
            }
        }
    }
}

/// The pairs of pawns of one board that are not on another.
struct Pairs {
    /// Pawns that may still be partners.
    pawns: u64,
    /// The black ones.
    black: u64,
    /// Those that are not there and have not been looked at.
    changed: u64,
    /// The one that is looked at, and its partners that are left.
    first: u8,
    partners: u64,
}

impl Pairs {
    #[inline]
    fn new(here: &Board, there: &Board) -> Self {
        let of = |board: &Board| [board.planes()[PAWN], board.planes()[KINDS + PAWN]].map(|set| set & PAWN_SQUARES);
        let ([white, black], [white_there, black_there]) = (of(here), of(there));
        let changed = white & !white_there | black & !black_there;
        Self { pawns: white | black, black, changed, first: 0, partners: 0 }
    }
}

/// The squares of a file and of its neighbours.
#[inline]
const fn band(square: u8) -> u64 {
    const FILE: u64 = 0x0101_0101_0101_0101;
    let file = square % 8;
    let own = FILE << file;
    own | if file > 0 { FILE << (file - 1) } else { 0 } | if file < 7 { FILE << (file + 1) } else { 0 }
}

impl Iterator for Pairs {
    type Item = [(u8, bool); 2];

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(second) = Squares(self.partners).next() {
                self.partners &= self.partners - 1;
                let is_black = |square: u8| self.black >> square & 1 != 0;
                return Some([self.first, second].map(|square| (square, is_black(square))));
            }
            self.first = Squares(self.changed).next()?;
            self.changed &= self.changed - 1;
            // A changed pawn is no partner of those behind it, so that no pair comes twice.
            self.pawns &= !(1 << self.first);
            self.partners = self.pawns & band(self.first);
        }
    }
}
