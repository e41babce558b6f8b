//! What became of a corpus.

use super::batch::Batch;
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts over all epochs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Summary {
    /// Lines that were taken.
    pub lines: u64,
    /// Rows of batches.
    pub rows: u64,
    /// Batches.
    pub batches: u64,
    /// Source tokens of lines that passed the filter.
    pub source_tokens: u64,
    /// Those of them that the vocabulary does not have.
    pub source_unknown: u64,
    /// The same of the target, without marks.
    pub target_tokens: u64,
    /// The same of the target.
    pub target_unknown: u64,
    /// Lines that are in no batch.
    pub dropped: Dropped,
    /// In ascending order of length.
    pub buckets: Vec<BucketSummary>,
    #[serde(skip)]
    places: BTreeMap<u64, usize>,
}

/// Lines that are in no batch, each counted where it was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Dropped {
    /// A source line without tokens.
    pub source_empty: u64,
    /// A source line above its maximum.
    pub source_too_long: u64,
    /// A target line above its maximum, its source within its own.
    pub target_too_long: u64,
    /// Rows of batches that cannot be dealt out evenly.
    pub irregular: u64,
    /// Rows of batches that were not full at the end, where lines are padded to boundaries.
    pub incomplete: u64,
}

/// The batches of one bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct BucketSummary {
    /// The shortest length of a longer side that falls into it.
    pub from: u64,
    /// The longest; none without buckets.
    pub to: Option<u64>,
    /// Batches.
    pub batches: u64,
    /// Rows.
    pub rows: u64,
    /// Source ids that are tokens.
    pub source_ids: u64,
    /// Source ids that pad.
    pub source_padding: u64,
    /// Target ids that are tokens or marks.
    pub target_ids: u64,
    /// Target ids that pad.
    pub target_padding: u64,
}

impl BucketSummary {
    /// The share of all ids that pads, 0 to 1.
    #[must_use]
    pub fn waste(&self) -> f64 {
        let padding = self.source_padding + self.target_padding;
        share(padding, padding + self.source_ids + self.target_ids)
    }

    /// Counts another bucket's batches as this one's, which then reaches as far.
    fn take_in(&mut self, other: &Self) {
        self.to = other.to;
        self.batches += other.batches;
        self.rows += other.rows;
        self.source_ids += other.source_ids;
        self.source_padding += other.source_padding;
        self.target_ids += other.target_ids;
        self.target_padding += other.target_padding;
    }
}

impl Summary {
    /// Counts a batch that is handed out; `limit` is the longest line of its bucket.
    pub(super) fn count(&mut self, batch: &Batch, limit: Option<u64>, width: u64) {
        let rows = batch.lines.len() as u64;
        self.rows += rows;
        self.batches += 1;
        let of = |length: &[u32], width: usize| {
            let ids: u64 = length.iter().map(|len| u64::from(*len)).sum();
            (ids, rows * width as u64 - ids)
        };
        let (source_ids, source_padding) = of(&batch.source.length, batch.source.width);
        let (target_ids, target_padding) = of(&batch.target.length, batch.target.width);
        let from = limit.map_or(1, |limit| limit - width + 1);
        let counted =
            BucketSummary { from, to: limit, batches: 1, rows, source_ids, source_padding, target_ids, target_padding };
        if let Some(bucket) = self.places.get(&batch.bucket).and_then(|place| self.buckets.get_mut(*place)) {
            bucket.take_in(&counted);
        } else {
            self.places.insert(batch.bucket, self.buckets.len());
            self.buckets.push(counted);
        }
    }

    /// Puts the buckets in order.
    pub(super) fn finish(&mut self) {
        self.buckets.sort_by_key(|bucket| bucket.from);
        self.places.clear();
    }

    /// All buckets together.
    #[must_use]
    pub fn total(&self) -> BucketSummary {
        let mut total =
            BucketSummary { from: self.buckets.first().map_or(1, |bucket| bucket.from), ..Default::default() };
        self.buckets.iter().for_each(|bucket| total.take_in(bucket));
        total
    }

    /// At most so many buckets: neighbours together where there are more.
    #[must_use]
    pub fn coarse(&self, most: usize) -> Vec<BucketSummary> {
        let together = self.buckets.len().div_ceil(most.max(1)).max(1);
        let merge = |buckets: &[BucketSummary]| {
            let mut merged =
                BucketSummary { from: buckets.first().map_or(1, |bucket| bucket.from), ..Default::default() };
            buckets.iter().for_each(|bucket| merged.take_in(bucket));
            merged
        };
        self.buckets.chunks(together).map(merge).collect()
    }

    /// The share of the source's tokens that the vocabulary does not have, 0 to 1.
    #[must_use]
    pub fn source_unknown_share(&self) -> f64 {
        share(self.source_unknown, self.source_tokens)
    }

    /// The same of the target.
    #[must_use]
    pub fn target_unknown_share(&self) -> f64 {
        share(self.target_unknown, self.target_tokens)
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
