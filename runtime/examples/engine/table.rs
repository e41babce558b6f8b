//! The transposition table: what was found out about a position, by its hash.

use crate::score;
use cozy_chess::Move;

/// What a score says about the true one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

#[derive(Debug, Clone, Copy)]
pub struct Entry {
    key: u64,
    pub best: Option<Move>,
    /// Mates count from the node.
    score: i16,
    /// Zero for an entry that was never written.
    depth: u8,
    bound: Bound,
}

const EMPTY: Entry = Entry { key: 0, best: None, score: 0, depth: 0, bound: Bound::AtMost };

impl Entry {
    /// The score, if the entry settles the question whether it is within `alpha..beta`.
    pub fn settles(&self, depth: i32, ply: usize, alpha: i32, beta: i32) -> Option<i32> {
        let score = score::from_root(self.score.into(), ply);
        let is_settled = match self.bound {
            Bound::Exact => true,
            Bound::AtLeast => score >= beta,
            Bound::AtMost => score <= alpha,
        };
        (i32::from(self.depth) > depth.max(0) && is_settled).then_some(score)
    }
}

pub struct Table {
    entries: Vec<Entry>,
}

impl Table {
    /// A table of so many megabytes, or the reason why there is none.
    pub fn new(megabytes: usize) -> Result<Self, String> {
        let count = megabytes.saturating_mul(1 << 20) / size_of::<Entry>();
        let mut entries = Vec::new();
        entries
            .try_reserve_exact(count.max(1))
            .map_err(|_| format!("no memory for a table of {megabytes} MB; set Hash to less"))?;
        entries.resize(count.max(1), EMPTY);
        Ok(Self { entries })
    }

    pub fn clear(&mut self) {
        self.entries.fill(EMPTY);
    }

    /// Its length times the hash as a fraction.
    fn index(&self, key: u64) -> usize {
        ((u128::from(key) * self.entries.len() as u128) >> 64) as usize
    }

    pub fn get(&self, key: u64) -> Option<Entry> {
        let entry = self.entries[self.index(key)];
        (entry.key == key && entry.depth > 0).then_some(entry)
    }

    /// The newest entry stays, except that a shallow search does not push out a deep one of the same position.
    pub fn put(&mut self, key: u64, best: Option<Move>, score: i32, ply: usize, depth: i32, bound: Bound) {
        let index = self.index(key);
        let entry = &mut self.entries[index];
        let depth = (depth.max(0) + 1).min(u8::MAX.into()) as u8;
        let is_same = entry.key == key && entry.depth > 0;
        if is_same && bound != Bound::Exact && depth + 3 < entry.depth {
            return;
        }
        let best = best.or(if is_same { entry.best } else { None });
        *entry = Entry { key, best, score: score::from_node(score, ply) as i16, depth, bound };
    }

    /// How full it is, in thousandths, from a sample.
    pub fn permille(&self) -> usize {
        let sample = &self.entries[..self.entries.len().min(1000)];
        sample.iter().filter(|entry| entry.depth > 0).count() * 1000 / sample.len().max(1)
    }
}
