//! Which lines share a batch, and how many of them.

use super::options::{BatchType, Options};

/// The bucket of a length, from 0: bucket `b` holds the lengths `b · width + 1` to `(b + 1) · width`, and bucket 0 also
/// length 0.
///
/// A width of 0, which checked options do not have, makes one bucket.
#[must_use]
pub const fn bucket_of(length: u64, width: u64) -> u64 {
    if width == 0 { 0 } else { length.div_ceil(width).saturating_sub(1) }
}

/// Rows that are gathered before a batch of a bucket is made: `size` tokens divided by the bucket's longest line, down
/// to a multiple, at least one multiple.
///
/// ```
/// use tamis_batches::window_size;
/// assert_eq!((window_size(100, 4, 1, 1), window_size(100, 4, 1, 8)), (20, 16));
/// ```
#[must_use]
pub const fn window_size(size: u64, bucket: u64, width: u64, multiple: u64) -> u64 {
    let rows = match size.checked_div((bucket + 1).saturating_mul(width)) {
        Some(rows) => rows,
        None => size,
    };
    down_to_multiple(rows, multiple)
}

const fn down_to_multiple(rows: u64, multiple: u64) -> u64 {
    let multiple = if multiple == 0 { 1 } else { multiple };
    let down = rows / multiple * multiple;
    if down < multiple { multiple } else { down }
}

/// The first length of every bucket but the first, where lines are padded to boundaries; a length from the last one on
/// has no bucket.
#[must_use]
pub fn boundaries(max_length: u64, width: u64) -> Vec<u64> {
    (1..=max_length.div_ceil(width.max(1)) + 1).map(|bucket| bucket * width + 1).collect()
}

/// The rule of a set of options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buckets {
    kind: BatchType,
    size: u64,
    width: Option<u64>,
    multiple: u64,
    boundary: bool,
}

impl Buckets {
    /// The rule of checked options.
    #[must_use]
    pub const fn new(options: &Options) -> Self {
        Self {
            kind: options.batch_type,
            size: options.scaled_size(),
            width: options.length_bucket_width,
            multiple: options.batch_size_multiple,
            boundary: options.pad_to_bucket_boundary,
        }
    }

    /// The bucket of a line whose longer side has this length.
    #[must_use]
    pub fn bucket(&self, length: u64) -> u64 {
        self.width.map_or(0, |width| bucket_of(length, width))
    }

    /// Rows that are gathered before a bucket's batches are made.
    #[must_use]
    pub fn window(&self, bucket: u64) -> u64 {
        match (self.kind, self.width) {
            (BatchType::Tokens, Some(width)) => window_size(self.size, bucket, width, self.multiple),
            _ if self.boundary => down_to_multiple(self.size, self.multiple),
            _ => self.size,
        }
    }

    /// The most rows of one batch: a window may hold more, where the multiple is larger than the size.
    #[must_use]
    pub fn most_rows(&self, bucket: u64) -> u64 {
        if self.boundary { self.window(bucket) } else { self.size }
    }

    /// The length to which a bucket's rows are padded, where it is not that of the longest.
    #[must_use]
    pub fn padded_length(&self, bucket: u64) -> Option<u64> {
        self.width.filter(|_| self.boundary).map(|width| self.longest(bucket, width))
    }

    /// The longest line of a bucket; `None` without buckets.
    #[must_use]
    pub fn limit(&self, bucket: u64) -> Option<u64> {
        self.width.map(|width| self.longest(bucket, width))
    }

    const fn longest(&self, bucket: u64, width: u64) -> u64 {
        (bucket + 1).saturating_mul(width)
    }
}
