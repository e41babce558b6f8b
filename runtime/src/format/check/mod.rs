//! What [`super::Model::parse`] demands, a module a part of the file. Each refuses with record, field, what was found and what
//! was expected; what one has checked the next relies on.
//!
//! A demand that is not met is noted, and the first that was is the error. Checking goes on meanwhile to the end of a part, or to where
//! what follows would rely on it: a branch behind every demand would be a third of the loader's code on a small microcontroller. So
//! nothing here may panic, loop for long or overflow on numbers that a demand above it has found wrong.

mod accumulators;
mod general;
mod input;
mod kinds;
mod ops;
mod places;
mod reals;
mod stockfish;
mod values;

use super::{Model, ParseError};
use crate::built::MESSAGES;
use core::cell::Cell;

/// The most features, and the most elements of a vector: what a caller may have to allocate is bounded by this.
const MAX_LEN: u32 = 1 << 24;

/// Refuses a model whose tables are read and of which nothing else is known; they end at `tables_end`.
pub(super) fn check(model: &Model<'_>, tables_end: usize) -> Result<(), ParseError> {
    let checker = Checker { model, index: Cell::new(0), fault: Cell::new(None) };
    let _ = checker.all(tables_end);
    checker.fault.get().map_or(Ok(()), Err)
}

/// The model, which record of its table is looked at, and the first thing that was wrong.
struct Checker<'m, 'a> {
    model: &'m Model<'a>,
    index: Cell<usize>,
    fault: Cell<Option<ParseError>>,
}

/// Something is wrong, and the checker has noted what.
struct Refused(());

impl Checker<'_, '_> {
    fn all(&self, tables_end: usize) -> Result<(), Refused> {
        self.places(tables_end)?;
        self.so_far()?;
        self.at(0);
        self.input()?;
        self.so_far()?;
        self.at(0);
        self.values()?;
        self.so_far()?;
        self.at(0);
        self.ops()
    }

    /// Turns to another record of a table.
    fn at(&self, index: usize) {
        self.index.set(index);
    }

    /// What follows relies on all that was demanded.
    fn so_far(&self) -> Result<(), Refused> {
        if self.fault.get().is_none() { Ok(()) } else { Err(Refused(())) }
    }

    fn note(&self, fault: ParseError) -> Refused {
        if self.fault.get().is_none() {
            self.fault.set(Some(fault));
        }
        Refused(())
    }

    /// A field that is not what it must be. Its words, without `messages`, are dropped here, before they are handed on.
    #[inline(always)]
    fn fault(&self, place: &'static str, found: u32, expected: &'static str) -> Refused {
        if MESSAGES { self.note_field(place, found, expected) } else { self.note_field("", found, "") }
    }

    /// Demands that a field is what it must be.
    #[inline(always)]
    fn need(&self, holds: bool, place: &'static str, found: u32, expected: &'static str) {
        if MESSAGES {
            self.note_unless(holds, place, found, expected);
        } else {
            self.note_unless(holds, "", found, "");
        }
    }

    /// A field that asks for what this build leaves out.
    fn missing(&self, place: &'static str, found: u32, feature: &'static str) -> Refused {
        let place = if MESSAGES { place } else { "" };
        self.note(ParseError::Feature { place, index: self.index.get(), found: found.into(), feature })
    }

    fn note_unless(&self, holds: bool, place: &'static str, found: u32, expected: &'static str) {
        if !holds {
            let _ = self.note_field(place, found, expected);
        }
    }

    fn note_field(&self, place: &'static str, found: u32, expected: &'static str) -> Refused {
        self.note(ParseError::Field { place, index: self.index.get(), found: found.into(), expected })
    }
}
