//! The order in which lines are taken.

use super::options::Shuffle;
use std::convert::Infallible;
use std::ops::Range;

/// Where the shards of a shuffle start; each has at most `size` lines.
///
/// With `compat` as OpenNMT-tf has them: evenly spread in double precision, `floor(k · (total / n))`, so that shards
/// overlap unless `size` divides `total`, and the lines of the overlap come twice.
///
/// ```
/// use tamis_batches::shard_starts;
/// assert_eq!(shard_starts(250, 50, false), [0, 50, 100, 150, 200]);
/// assert_eq!(shard_starts(370, 50, false), [0, 50, 100, 150, 200, 250, 300, 350]);
/// assert_eq!(shard_starts(370, 50, true), [0, 46, 92, 138, 185, 231, 277, 323]);
/// ```
#[must_use]
pub fn shard_starts(total: u32, size: u32, compat: bool) -> Vec<u32> {
    let count = total.div_ceil(size.max(1));
    // Two roundings of the division and the product, which sometimes end just below a whole number, are part of the
    // contract.
    let step = f64::from(total) / f64::from(count.max(1));
    let start = |shard: u32| if compat { (f64::from(shard) * step).floor() as u32 } else { shard * size };
    (0..count).map(start).collect()
}

/// The order in which lines come, an epoch after the other.
///
/// `T` is what waits in the buffer for a line: its number, or what was read of it when its turn came.
pub struct Order<T = u32> {
    total: u32,
    shuffle: Shuffle,
    compat: bool,
    random: SplitMix,
    /// Shards that are still to come, the next one last.
    shards: Vec<u32>,
    /// What is left of the shard that is being taken.
    shard: Range<u32>,
    /// Lines one of which comes next.
    buffer: Vec<T>,
}

impl<T> Order<T> {
    /// The order of a corpus of `total` lines; [`Order::start_with`] begins an epoch.
    #[must_use]
    pub const fn new(total: u32, shuffle: Shuffle, seed: u64, compat: bool) -> Self {
        let random = SplitMix(seed);
        Self { total, shuffle, compat, random, shards: Vec::new(), shard: 0..0, buffer: Vec::new() }
    }

    /// Begins an epoch, which has an order of its own: takes as many lines as the buffer has room for, each by its
    /// number.
    ///
    /// # Errors
    /// What `take` says.
    pub fn start_with<E>(&mut self, mut take: impl FnMut(u32) -> Result<T, E>) -> Result<(), E> {
        self.shards.clear();
        self.shard = 0..self.total;
        let size = self.size();
        if let Shuffle::Buffer(_) = self.shuffle
            && size < self.total
        {
            self.shard = 0..0;
            self.shards = shard_starts(self.total, size, self.compat);
            for last in (1..self.shards.len()).rev() {
                let other = self.random.below(last as u32 + 1) as usize;
                self.shards.swap(last, other);
            }
        }
        self.buffer.clear();
        while self.buffer.len() < size as usize {
            let Some(line) = self.next_taken() else { break };
            self.buffer.push(take(line)?);
        }
        Ok(())
    }

    /// Draws a line from the buffer and takes the next one into its place: no line comes earlier than a buffer's length
    /// before its turn. None at the end of the epoch.
    ///
    /// # Errors
    /// What `take` says.
    pub fn next_with<E>(&mut self, take: impl FnOnce(u32) -> Result<T, E>) -> Result<Option<T>, E> {
        let len = self.buffer.len() as u32;
        let place = if len > 1 { self.random.below(len) as usize } else { 0 };
        if self.buffer.is_empty() {
            return Ok(None);
        }
        Ok(Some(match self.next_taken() {
            Some(line) => std::mem::replace(&mut self.buffer[place], take(line)?),
            None => self.buffer.swap_remove(place),
        }))
    }

    /// Lines that one epoch takes.
    #[must_use]
    pub fn epoch_len(&self) -> u64 {
        match self.shuffle {
            Shuffle::Buffer(size) if self.compat && size < self.total => {
                let starts = shard_starts(self.total, size, true);
                starts.iter().map(|start| u64::from(size.min(self.total - start))).sum()
            }
            _ => self.total.into(),
        }
    }

    /// Lines of the buffer.
    fn size(&self) -> u32 {
        match self.shuffle {
            Shuffle::None => 1,
            Shuffle::Whole => self.total,
            Shuffle::Buffer(size) => size.min(self.total),
        }
    }

    /// The next line as the shards have them.
    fn next_taken(&mut self) -> Option<u32> {
        loop {
            if let Some(line) = self.shard.next() {
                return Some(line);
            }
            let start = self.shards.pop()?;
            self.shard = start..start.saturating_add(self.size()).min(self.total);
        }
    }
}

impl Order {
    /// Begins an epoch of numbers.
    pub fn start(&mut self) {
        let Ok(()) = self.start_with(Ok::<_, Infallible>);
    }
}

impl Iterator for Order {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let Ok(next) = self.next_with(Ok::<_, Infallible>);
        next
    }
}

/// SplitMix64, with its state: numbers that a seed alone decides.
#[derive(Debug, Clone)]
struct SplitMix(u64);

impl SplitMix {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `limit`, 0 if that is 0.
    fn below(&mut self, limit: u32) -> u32 {
        (self.draw() >> 32) as u32 % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epoch(order: &mut Order) -> Vec<u32> {
        order.start();
        order.collect()
    }

    #[test]
    fn every_line_comes_once_in_each_epoch_in_an_order_of_its_own() {
        for shuffle in [Shuffle::None, Shuffle::Whole, Shuffle::Buffer(1), Shuffle::Buffer(7), Shuffle::Buffer(500)] {
            for total in [0, 1, 2, 49, 50, 100] {
                let mut order = Order::new(total, shuffle, 5, false);
                let (first, second) = (epoch(&mut order), epoch(&mut order));
                let sorted = |mut lines: Vec<u32>| {
                    lines.sort_unstable();
                    lines
                };
                let expected: Vec<u32> = (0..total).collect();
                if total > 2 {
                    assert_eq!(first == second, shuffle == Shuffle::None, "{shuffle:?} {total}");
                }
                assert_eq!(order.epoch_len(), u64::from(total));
                assert_eq!((sorted(first), sorted(second)), (expected.clone(), expected), "{shuffle:?} {total}");
            }
        }
    }

    #[test]
    fn a_seed_is_an_order() {
        let lines = |seed| epoch(&mut Order::new(1000, Shuffle::Whole, seed, false));
        assert_eq!(lines(1), lines(1));
        assert_ne!(lines(1), lines(2));
        assert_eq!(
            lines(1)[..8],
            [436, 571, 634, 57, 420, 818, 490, 182],
            "the same on every machine, in every release"
        );
    }

    /// numpy.linspace(0, 474, num=14, endpoint=False, dtype=int64): 7 · (474 / 14) is just below 237.
    #[test]
    fn compatible_shards_round_as_double_precision_does() {
        let starts = shard_starts(474, 36, true);
        assert_eq!(starts, [0, 33, 67, 101, 135, 169, 203, 236, 270, 304, 338, 372, 406, 440]);
    }
}
