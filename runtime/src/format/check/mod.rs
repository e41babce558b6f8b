//! What [`super::Model::parse`] demands, a module a part of the file. Each refuses with record, field, what was found and what
//! was expected; what one has checked the next relies on.
//!
//! What is wrong is written down where the checker lies, and the functions here return no more than that something is: an error is too
//! large to be handed up from call to call on a small microcontroller, whose loader this is as well. Demands are branches to one
//! place in each function there; those of single numbers are tables.

mod accumulators;
mod fault;
mod general;
mod header;
mod input;
mod kinds;
mod layers;
mod ops;
mod places;
mod reals;
mod rules;
mod shapes;
mod stockfish;
mod values;

use super::{Model, ParseError, Words};
use core::cell::Cell;
use fault::{Fault, Kind};

/// The most features, and the most elements of a vector: what a caller may have to allocate is bounded by this.
const MAX_LEN: u32 = 1 << MAX_LEN_BITS;
const MAX_LEN_BITS: u8 = 24;

/// A model whose tables are read and of which nothing else is known, if all is right with it.
pub(super) fn check<'a>(model: &Model<'a>) -> Result<Model<'a>, ParseError> {
    let checker = Checker { model, index: Cell::new(0), fault: Fault::none(), known: header::known(model) };
    match checker.all() {
        Ok(()) => Ok(*model),
        Err(Refused(())) => Err(checker.error()),
    }
}

/// The model, which record of its table is looked at, what the rules know, and what is wrong once something is.
struct Checker<'m, 'a> {
    model: &'m Model<'a>,
    index: Cell<usize>,
    fault: Cell<Fault>,
    known: [Cell<u32>; rules::KNOWN_COUNT],
}

/// Something is wrong, and the checker holds what.
struct Refused(());

impl Checker<'_, '_> {
    fn all(&self) -> Result<(), Refused> {
        self.header()?;
        self.places()?;
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
        self.refuse(Words::new(place, expected), found, Kind::Field)
    }

    /// A field that asks for what this build leaves out.
    fn missing(&self, place: &'static str, found: u32, feature: Kind) -> Refused {
        self.refuse(Words::new(place, ""), found, feature)
    }
}
