//! Examples that wait until there are enough of their length.

use super::alignment::Alignment;
use super::buckets::Buckets;
use std::collections::BTreeMap;

/// Examples of one bucket, in the order of their arrival.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// (n,), from 0.
    pub lines: Vec<u32>,
    pub source: Rows,
    /// Without start and end.
    pub target: Rows,
    /// (n,), or nothing where there are no alignments.
    pub alignments: Vec<Alignment>,
}

/// Rows of different lengths, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub ids: Vec<u32>,
    /// (n,): where a row ends in `ids`.
    pub ends: Vec<usize>,
}

impl Rows {
    /// Appends a row.
    pub fn push(&mut self, row: &[u32]) {
        self.ids.extend_from_slice(row);
        self.ends.push(self.ids.len());
    }

    /// Row `row`, which has to be there.
    pub fn row(&self, row: usize) -> &[u32] {
        // The first row begins where the ids do.
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.ids[start..self.ends[row]]
    }
}

/// The windows that are not full.
pub(super) struct Windows {
    buckets: Buckets,
    open: BTreeMap<u64, Window>,
}

impl Windows {
    pub const fn new(buckets: Buckets) -> Self {
        Self { buckets, open: BTreeMap::new() }
    }

    /// The window of a bucket, for one more row.
    pub fn of(&mut self, bucket: u64) -> &mut Window {
        self.open.entry(bucket).or_default()
    }

    /// The window, if the row that was just put in fills it.
    pub fn take_full(&mut self, bucket: u64) -> Option<Window> {
        let is_full = self.open.get(&bucket)?.lines.len() as u64 >= self.buckets.window(bucket);
        if is_full { self.open.remove(&bucket) } else { None }
    }

    /// At the end of the corpus: the window of the shortest lines that are left.
    pub fn take_shortest(&mut self) -> Option<(u64, Window)> {
        self.open.pop_first()
    }
}
