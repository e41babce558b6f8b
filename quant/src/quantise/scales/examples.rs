//! Examples without data: boards that look a little like those of games, and lists of features.
//!
//! A board starts as every game does. Pieces are taken off in pairs, more or fewer, so that material is nearly even;
//! what is left stands where it began or somewhere else, pawns ahead on their files. The same numbers every time.

use crate::arch::{Architecture, InputKind};
use crate::float::{Example, example};
use crate::positions::Position;
use tamis_runtime::testing::SplitMix;

/// Codes of pieces.
const PAWN: u8 = 0;
const KING: u8 = 5;
const OPPONENT: u8 = 8;
/// Of the first rank, from the a-file on.
const BACK: [u8; 8] = [3, 1, 2, 4, 5, 2, 1, 3];
/// Of a game's beginning to its end: the share of pieces that are left, in 1/256.
const LEAST_LEFT: u32 = 40;

/// Below `end`, which a multiplication spreads evenly.
fn below(random: &mut SplitMix, end: u32) -> u32 {
    (((random.draw() >> 32) * u64::from(end)) >> 32) as u32
}

/// With a chance in 256.
fn chance(random: &mut SplitMix, of: u32) -> bool {
    below(random, 256) < of
}

/// What the examples are for: each use has others.
#[derive(Debug, Clone, Copy)]
pub enum Use {
    /// How far candidates are from the float network.
    Errors,
    /// How far accumulators reach.
    Reach,
}

impl Use {
    const fn seed(self) -> u64 {
        self as u64
    }

    const fn count(self) -> usize {
        match self {
            Self::Errors => 1024,
            Self::Reach => 8192,
        }
    }
}

/// Examples for a network of accumulators.
pub fn draw(arch: &Architecture, of: Use) -> Vec<Example> {
    let mut random = SplitMix(of.seed());
    if arch.input.kind == InputKind::Chess {
        let boards = std::iter::repeat_with(|| board(&mut random)).take(of.count());
        return boards.filter_map(|position| example(arch, &position?).ok()).collect();
    }
    std::iter::repeat_with(|| lists(arch, &mut random)).take(of.count()).collect()
}

fn board(random: &mut SplitMix) -> Option<Position> {
    let left = LEAST_LEFT + below(random, 257 - LEAST_LEFT);
    let moved = 320u32.saturating_sub(left);
    let mut taken = [false; 64];
    let mut pieces = Vec::with_capacity(32);
    let mut put = |code: u8, square: u32| {
        let is_free = !std::mem::replace(&mut taken[square as usize], true);
        if is_free {
            pieces.push((code, square as u8));
        }
        is_free
    };
    for (file, piece) in (0u32..).zip(BACK) {
        let is_there = piece == KING || chance(random, left);
        for side in [0, OPPONENT] {
            let (home, code) = (if side == 0 { file } else { 56 + file }, piece + side);
            if is_there != (piece != KING && chance(random, 16)) {
                let wanted = if chance(random, moved) { below(random, 64) } else { home };
                // Somewhere there is a place.
                let _ = (0..64).any(|step| put(code, (wanted + step) % 64));
            }
        }
    }
    for file in 0..8 {
        let is_there = chance(random, left.saturating_add(64));
        for side in [0, OPPONENT] {
            if is_there != chance(random, 24) {
                let ahead = 8 * [0, 0, 0, 1, 1, 2, 2, 3, 4][below(random, 9) as usize];
                put(PAWN + side, if side == 0 { 8 + file + ahead } else { 48 + file - ahead });
            }
        }
    }
    Position::new(&pieces).ok()
}

fn lists(arch: &Architecture, random: &mut SplitMix) -> Example {
    let (features, most) = (arch.feature_count(), arch.max_active());
    let most = most.min(features) as u32;
    let mut list = || -> Vec<u32> {
        let count = most / 2 + below(random, most - most / 2 + 1);
        let mut list: Vec<u32> = (0..count).map(|_| below(random, features as u32)).collect();
        list.sort_unstable();
        list.dedup();
        list
    };
    let lists = if arch.perspectives() == 2 { [list(), list()] } else { [list(), Vec::new()] };
    Example::Features { lists, bucket: below(random, arch.bucket_count() as u32) as usize }
}
