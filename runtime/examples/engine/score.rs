//! Scores: centipawns, and above them mates by their distance.

use crate::MAX_PLY;
use std::fmt;

/// More than any score.
pub const INFINITE: i32 = 31_000;
/// A mate on the board; a mate in n plies is n less.
pub const MATE: i32 = 30_000;
/// From here on a score is a mate, down to the deepest that a search sees.
pub const MATE_BOUND: i32 = MATE - MAX_PLY as i32;

/// A network's centipawns, kept apart from mates.
pub fn of_network(centipawns: i32) -> i32 {
    centipawns.clamp(1 - MATE_BOUND, MATE_BOUND - 1)
}

/// Mated where the line is `ply` long.
pub const fn mated(ply: usize) -> i32 {
    ply as i32 - MATE
}

/// As a table keeps it: a mate counted from the node, not from the root.
pub const fn from_node(score: i32, ply: usize) -> i32 {
    if score >= MATE_BOUND {
        score + ply as i32
    } else if score <= -MATE_BOUND {
        score - ply as i32
    } else {
        score
    }
}

/// The inverse of [`from_node`].
pub const fn from_root(score: i32, ply: usize) -> i32 {
    if score >= MATE_BOUND {
        score - ply as i32
    } else if score <= -MATE_BOUND {
        score + ply as i32
    } else {
        score
    }
}

/// As UCI writes it: `cp 31`, `mate 2` in moves, negative for the side that is mated.
pub struct Shown(pub i32);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plies = MATE - self.0.abs();
        if self.0.abs() < MATE_BOUND {
            write!(f, "cp {}", self.0)
        } else if self.0 > 0 {
            write!(f, "mate {}", (plies + 1) / 2)
        } else {
            write!(f, "mate -{}", plies / 2)
        }
    }
}
