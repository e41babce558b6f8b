//! Where decisions come from: a seed, or the bytes of a fuzzer, whose every change of a byte is then a change of one
//! decision.

use crate::sample_models::Random;

/// Decisions, one after the other. Where bytes have run out, each is the first of its possibilities, so that everything
/// ends.
#[derive(Debug)]
pub struct Choices<'b> {
    bytes: Option<&'b [u8]>,
    random: Random,
}

impl<'b> Choices<'b> {
    /// From a seed.
    pub fn seeded(seed: u64) -> Self {
        Self { bytes: None, random: Random(seed) }
    }

    /// From a fuzzer's bytes.
    pub fn of_bytes(bytes: &'b [u8]) -> Self {
        Self { bytes: Some(bytes), random: Random(0) }
    }

    /// A number below `limit`, which is at least 1.
    pub fn below(&mut self, limit: usize) -> usize {
        let Some(bytes) = &mut self.bytes else { return (self.random.draw() >> 32) as usize % limit };
        let mut any = 0;
        for _ in 0..if limit <= 256 { 1 } else { 3 } {
            let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
            any = any << 8 | usize::from(*first);
            *bytes = rest;
        }
        any % limit
    }

    /// True once in `count` times.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) + 1 == count
    }

    /// One of a list that is not empty.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Numbers without end for the elements of a tensor: a byte an element would leave a fuzzer nothing for the shape
    /// of the network.
    pub fn numbers(&mut self) -> Random {
        Random(self.below(1 << 16) as u64)
    }
}
