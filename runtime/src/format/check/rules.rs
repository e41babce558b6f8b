//! Fields that must be one of a few consecutive numbers, as tables: a row is a fifth of what a branch for it is in code.

use super::{Checker, Refused};
use crate::format::Words;
use bytemuck::Pod;

/// What a rule counts from, as an index of what [`Checker::rules`] hands it: three constants, then the caller's numbers.
pub(super) const ZERO: u8 = 0;
pub(super) const ONE: u8 = 1;
/// [`crate::format::NONE`].
pub(super) const NOTHING: u8 = 2;
/// The caller's two numbers.
pub(super) const FIRST: u8 = 3;
pub(super) const SECOND: u8 = 4;

/// In place of [`Rule::bits`]: the bits of a positive number in f32.
pub(super) const POSITIVE: u8 = u8::MAX;
/// How many those are.
const POSITIVES: u32 = f32::MAX.to_bits();

/// One of the `2^bits` numbers from a known one on.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    /// Which word of the record.
    word: u8,
    from: u8,
    bits: u8,
    words: Words,
}

impl Rule {
    pub(super) const fn new(
        offset_bytes: usize,
        from: u8,
        bits: u8,
        place: &'static str,
        expected: &'static str,
    ) -> Self {
        Self { word: (offset_bytes / 4) as u8, from, bits, words: Words::new(place, expected) }
    }
}

/// A record as its words.
pub(super) fn words<T: Pod>(record: &T) -> &[u32] {
    bytemuck::try_cast_slice(core::slice::from_ref(record)).unwrap_or(&[])
}

impl Checker<'_, '_> {
    /// Demands what `rules` say of the record whose words these are.
    #[inline(never)]
    pub(super) fn rules(&self, words: &[u32], rules: &[Rule], first: u32, second: u32) -> Result<(), Refused> {
        let known = [0, 1, crate::format::NONE, first, second];
        for rule in rules {
            let found = words.get(usize::from(rule.word)).copied().unwrap_or(0);
            let from = known.get(usize::from(rule.from)).copied().unwrap_or(0);
            let most = match rule.bits {
                POSITIVE => POSITIVES - 1,
                bits => (1u32 << (bits % 32)) - 1,
            };
            if found.wrapping_sub(from) > most {
                return Err(self.refuse(rule.words, found, "", 0));
            }
        }
        Ok(())
    }
}
