//! What [`super::Model::parse`] demands, a module a part of the file. Each refuses with record, field, what was found and what
//! was expected; what one has checked the next relies on.
//!
//! What is wrong is written down where the checker lies, and the functions here return no more than that something is: an error is too
//! large to be handed up from call to call on a small microcontroller, whose loader this is as well. Demands are branches to one
//! place in each function there; those of single fields are tables.

mod accumulators;
mod general;
mod input;
mod kinds;
mod ops;
mod places;
mod reals;
mod rules;
mod stockfish;
mod values;

use super::{Model, ParseError, Words};
use core::cell::Cell;

/// The most features, and the most elements of a vector: what a caller may have to allocate is bounded by this.
const MAX_LEN: u32 = 1 << MAX_LEN_BITS;
const MAX_LEN_BITS: u8 = 24;

/// Refuses a model whose tables are read and of which nothing else is known; they end at `tables_end`.
pub(super) fn check(model: &Model<'_>, tables_end: usize) -> Result<(), ParseError> {
    let fault = Fault { words: Words::new("", ""), feature: "", found: 0, offset_bytes: 0 };
    let checker = Checker { model, index: Cell::new(0), fault: Cell::new(fault) };
    checker.all(tables_end).map_err(|Refused(())| checker.error())
}

/// The model, which record of its table is looked at, and what is wrong once something is.
struct Checker<'m, 'a> {
    model: &'m Model<'a>,
    index: Cell<usize>,
    fault: Cell<Fault>,
}

/// What an error is made of.
#[derive(Clone, Copy)]
struct Fault {
    words: Words,
    /// What this build leaves out; empty if it is something else.
    feature: &'static str,
    found: u32,
    /// Of a byte that is not zero, which stands behind the header; otherwise 0.
    offset_bytes: usize,
}

/// Something is wrong, and the checker holds what.
struct Refused(());

impl Checker<'_, '_> {
    fn all(&self, tables_end: usize) -> Result<(), Refused> {
        self.places(tables_end)?;
        self.input()?;
        self.values()?;
        self.ops()
    }

    /// Turns to another record of a table.
    fn at(&self, index: usize) {
        self.index.set(index);
    }

    /// Demands that a field is what it must be.
    #[inline(always)]
    fn need(&self, holds: bool, place: &'static str, found: u32, expected: &'static str) -> Result<(), Refused> {
        if holds { Ok(()) } else { Err(self.fault(place, found, expected)) }
    }

    /// A field that is not what it must be.
    #[inline(always)]
    fn fault(&self, place: &'static str, found: u32, expected: &'static str) -> Refused {
        self.refuse(Words::new(place, expected), found, "", 0)
    }

    /// A field that asks for what this build leaves out.
    fn missing(&self, place: &'static str, found: u32, feature: &'static str) -> Refused {
        self.refuse(Words::new(place, ""), found, feature, 0)
    }

    #[cold]
    #[inline(never)]
    fn refuse(&self, words: Words, found: u32, feature: &'static str, offset_bytes: usize) -> Refused {
        self.fault.set(Fault { words, feature, found, offset_bytes });
        Refused(())
    }

    fn error(&self) -> ParseError {
        let Fault { words, feature, found, offset_bytes } = self.fault.get();
        let ([place, expected], index) = (words.texts(), self.index.get());
        if offset_bytes != 0 {
            return ParseError::Padding { offset_bytes, found: found as u8 };
        }
        if feature.is_empty() {
            return ParseError::Field { place, index, found: found.into(), expected };
        }
        ParseError::Feature { place, index, found: found.into(), feature }
    }
}
