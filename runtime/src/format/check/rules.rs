//! Demands on single numbers, as tables: a row is a fifth of what a branch for it is in code.
//!
//! A rule speaks of a word of the record that the checker has turned to, or of a number that was worked out before and
//! left with [`Checker::know`]. It demands that this is one of the `2^bits` numbers from another one on, or at most or
//! at least that. The rules of a table are held in order, and the first that fails is what the file is refused for.

use super::{Checker, Kind};
use crate::format::Words;
use crate::sure::sure;
use core::cell::Cell;

/// In place of [`Rule::from`]: [`crate::format::NONE`].
pub(super) const NOTHING: i8 = -1;
/// In place of [`Rule::bits`]: at most the number, or at least.
pub(super) const AT_MOST: u8 = 0x20;
pub(super) const AT_LEAST: u8 = 0x40;
/// With [`Rule::bits`]: the last rule of its table.
pub(super) const LAST: u8 = 0x80;

/// Numbers that are worked out, in place of a word or of [`Rule::from`]. Each module has names of its own for them, and
/// what one leaves no other reads, but for those here and `TO` of `ops`.
pub(super) const A: i8 = KNOWN;
pub(super) const B: i8 = KNOWN + 1;
pub(super) const C: i8 = KNOWN + 2;
pub(super) const D: i8 = KNOWN + 3;
pub(super) const E: i8 = KNOWN + 4;
pub(super) const F: i8 = KNOWN + 5;
pub(super) const G: i8 = KNOWN + 6;
/// The next place in the file and how many bytes follow it: `places` leaves them, also for `shapes`.
pub(super) const PLACE: i8 = A;
pub(super) const REST: i8 = G;
/// The checksum of the bytes, in halves: `header` leaves it, for the error.
pub(super) const SUM_LOW: i8 = A;
pub(super) const SUM_HIGH: i8 = B;
/// How many of them there are.
pub(super) const KNOWN_COUNT: usize = 7;
/// The first; what is below stands for itself.
const KNOWN: i8 = 64;
/// The first word of a record.
const WORD: i8 = 96;

/// A field at an offset of its record, also in place of [`Rule::from`].
pub(super) const fn word(offset_bytes: usize) -> i8 {
    WORD + (offset_bytes / 4) as i8
}

/// Where a table begins among all rules; `tables` names them.
#[derive(Clone, Copy)]
pub(super) struct Table(u8);

impl Table {
    pub const fn at(first: usize) -> Self {
        Self(first as u8)
    }

    pub const fn first(self) -> usize {
        self.0 as usize
    }
}

/// What a number must be.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    /// A word of the record, or one of the known numbers.
    pub what: i8,
    /// A small number, [`NOTHING`], one of the known numbers or a word of the record.
    pub from: i8,
    pub bits: u8,
    /// What it is if it fails.
    pub kind: Kind,
    pub words: Words,
}

impl Rule {
    /// A field at an offset of its record.
    pub const fn new(offset_bytes: usize, from: i8, bits: u8, place: &'static str, expected: &'static str) -> Self {
        Self::known(word(offset_bytes), from, bits, place, expected)
    }

    /// A number that is known, in place of the field from which it was worked out.
    pub const fn known(what: i8, from: i8, bits: u8, place: &'static str, expected: &'static str) -> Self {
        Self { what, from, bits, kind: Kind::Field, words: Words::new(place, expected) }
    }

    /// The same, but what is wrong then is of another kind.
    pub const fn of(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// The same at the end of a table.
    pub const fn last(self) -> Self {
        Self { bits: self.bits | LAST, ..self }
    }
}

impl Checker<'_> {
    /// Leaves a number for the rules.
    #[inline(always)]
    pub(super) fn know(&self, which: i8, number: u32) {
        if let Some(known) = self.known.get((which as usize).wrapping_sub(KNOWN as usize)) {
            known.set(number);
        }
    }

    /// A number that was left with [`Checker::know`].
    #[inline(always)]
    pub(super) fn left(&self, which: i8) -> u32 {
        sure(self.known.get((which as usize).wrapping_sub(KNOWN as usize)).map(Cell::get))
    }

    /// A word of the record, a number that was left, or what stands for itself.
    #[inline(never)]
    pub(super) fn number(&self, which: i8) -> u32 {
        let after = |first: i8| (which as usize).wrapping_sub(first as usize);
        if let Some(known) = self.known.get(after(KNOWN)) {
            return known.get();
        }
        self.record.get().get(after(WORD)).copied().unwrap_or(i32::from(which) as u32)
    }
}
