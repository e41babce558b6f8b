//! Demands on single numbers, as tables: a row is a fifth of what a branch for it is in code.
//!
//! A rule speaks of a word of a record, or of a number that was worked out before and left with [`Checker::know`]. It demands
//! that this is one of the `2^bits` numbers from another one on, or at most that. The rules of a table are held in order, and the first
//! that fails is what the file is refused for.

use super::{Checker, Kind, Refused};
use crate::format::Words;
use bytemuck::Pod;
use core::cell::Cell;

/// In place of [`Rule::from`]: [`crate::format::NONE`].
pub(super) const NOTHING: i8 = -1;
/// In place of [`Rule::bits`], more of them than there are: at most the number.
pub(super) const AT_MOST: u8 = u8::MAX;

/// Numbers that are worked out, in place of a word or of [`Rule::from`]. Each module has names of its own for them, and what one leaves no
/// other reads, but for [`PLACE`] and [`REST`].
pub(super) const A: i8 = KNOWN;
pub(super) const B: i8 = KNOWN + 1;
pub(super) const C: i8 = KNOWN + 2;
pub(super) const D: i8 = KNOWN + 3;
pub(super) const E: i8 = KNOWN + 4;
pub(super) const F: i8 = KNOWN + 5;
pub(super) const G: i8 = KNOWN + 6;
pub(super) const H: i8 = KNOWN + 7;
pub(super) const I: i8 = KNOWN + 8;
/// The next place in the file and how many bytes follow it: `places` leaves them for `shapes`.
pub(super) const PLACE: i8 = A;
pub(super) const REST: i8 = I;
/// How many of them there are.
pub(super) const KNOWN_COUNT: usize = 9;
/// The first; what is below stands for itself.
const KNOWN: i8 = 64;

/// What a number must be.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    /// Which word of the record, or which of the known numbers.
    what: i8,
    /// A small number, [`NOTHING`], or which of the known numbers.
    from: i8,
    bits: u8,
    /// What it is if it fails.
    kind: Kind,
    words: Words,
}

impl Rule {
    /// A field at an offset of its record.
    pub const fn new(offset_bytes: usize, from: i8, bits: u8, place: &'static str, expected: &'static str) -> Self {
        Self::known((offset_bytes / 4) as i8, from, bits, place, expected)
    }

    /// A number that is known, in place of the field from which it was worked out.
    pub const fn known(what: i8, from: i8, bits: u8, place: &'static str, expected: &'static str) -> Self {
        Self { what, from, bits, kind: Kind::Field, words: Words::new(place, expected) }
    }

    /// The same, but what is wrong then is of another kind.
    pub const fn of(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }
}

/// A record as its words.
pub(super) fn words<T: Pod>(record: &T) -> &[u32] {
    bytemuck::try_cast_slice(core::slice::from_ref(record)).unwrap_or(&[])
}

impl Checker<'_, '_> {
    /// Leaves a number for the rules.
    #[inline(always)]
    pub(super) fn know(&self, which: i8, number: u32) {
        if let Some(known) = self.known.get((which as usize).wrapping_sub(KNOWN as usize)) {
            known.set(number);
        }
    }

    /// A number that was left; `None` for what stands for itself.
    #[inline(always)]
    pub(super) fn known(&self, which: i8) -> Option<u32> {
        self.known.get((which as usize).wrapping_sub(KNOWN as usize)).map(Cell::get)
    }

    /// Demands what `rules` say of the record whose words these are.
    #[inline(never)]
    pub(super) fn rules(&self, words: &[u32], rules: &[Rule]) -> Result<(), Refused> {
        for rule in rules {
            let found = words.get(rule.what as usize).copied().or_else(|| self.known(rule.what)).unwrap_or(0);
            let from = self.known(rule.from).unwrap_or(i32::from(rule.from) as u32);
            let (from, most) = match 1u32.checked_shl(rule.bits.into()) {
                Some(count) => (from, count - 1),
                None => (0, from),
            };
            if found.wrapping_sub(from) > most {
                return Err(self.refuse(rule.words, found, rule.kind));
            }
        }
        Ok(())
    }
}
