//! What [`super::Model::parse`] demands, a module a part of the file. Each refuses with record, field, what was found
//! and what was expected; what one has checked the next relies on.
//!
//! What is wrong is written down where the checker lies, and the functions here return no more than that something is:
//! an error is too large to be handed up from call to call on a small microcontroller, whose loader this is as well.
//! Demands are branches to one place in each function there; those of single numbers are tables.

mod accumulators;
mod by_rows;
mod general;
mod header;
mod input;
mod kinds;
mod layers;
mod maps;
mod offsets;
mod ops;
mod reals;
mod refusal;
mod rules;
mod shapes;
mod stockfish;
mod tables;
mod values;

use super::{Model, ParseError, Words};
use bytemuck::{Pod, must_cast_slice};
use core::cell::Cell;
use core::slice;
pub(super) use header::words;
use refusal::Refusal;

/// The most features, and the most elements of a vector: what a caller may have to allocate is bounded by this.
const MAX_LEN: u32 = 1 << MAX_LEN_BITS;
const MAX_LEN_BITS: u8 = 24;

impl<'a> Model<'a> {
    /// Checks everything and copies nothing: header, checksum, every record, every padding byte.
    ///
    /// `bytes` must start at a multiple of 64 in memory ([`crate::include_model!`] sees to it; a memory map has it).
    ///
    /// # Errors
    /// The first thing that is wrong, as a [`ParseError`].
    ///
    /// # Examples
    /// ```
    /// use tamis_runtime::format::{Model, ParseError};
    /// assert!(matches!(Model::parse(&[]), Err(ParseError::TooShort { .. } | ParseError::Misaligned { .. })));
    /// ```
    #[inline(never)]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let words = words(bytes)?;
        let mut checker = Checker::new(words, bytes.len());
        checker.read_tables();
        match checker.all() {
            Ok(()) => Ok(checker.model),
            Err(Refused(())) => Err(checker.error(bytes)),
        }
    }
}

/// Which of the errors it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A field that is not what it must be.
    Field,
    /// One that asks for a feature which this build leaves out.
    Accumulators,
    Reals,
    General,
    Convolutions,
    Maps,
    /// A byte that is not zero; the checker's index is then where it stands.
    Padding,
    /// Fields of the header that have an error of their own.
    ByteOrder,
    Version,
    RequiredFlags,
    Length,
    Checksum,
}

/// The model, which record of its table is looked at and its words, what the rules know, and what is wrong once
/// something is.
struct Checker<'a> {
    model: Model<'a>,
    index: Cell<usize>,
    record: Cell<&'a [u32]>,
    refusal: Cell<Refusal>,
    known: [Cell<u32>; rules::KNOWN_COUNT],
}

/// Something is wrong, and the checker holds what.
struct Refused(());

impl<'a> Checker<'a> {
    fn all(&self) -> Result<(), Refused> {
        self.header()?;
        self.places()?;
        self.vectors()?;
        self.ops()
    }

    /// What goes in, and what flows through the network: one call, because two take more code.
    #[inline(never)]
    fn vectors(&self) -> Result<(), Refused> {
        self.input()?;
        self.values()
    }

    /// Turns to a record, by its number in its table.
    #[inline(always)]
    fn turn<T: Pod>(&self, index: usize, record: &'a T) {
        self.index.set(index);
        self.record.set(must_cast_slice(slice::from_ref(record)));
    }

    /// Turns to the header.
    #[cfg_attr(target_os = "none", inline(never))]
    fn turn_to_header(&self) {
        self.turn(0, self.model.header());
    }

    /// Demands that a field is what it must be.
    #[inline(always)]
    fn need(&self, holds: bool, place: &'static str, found: u32, expected: &'static str) -> Result<(), Refused> {
        if holds { Ok(()) } else { Err(self.fault(place, found, expected)) }
    }

    /// Demands that nothing was found.
    #[inline(always)]
    fn need_none(&self, found: Option<u32>, place: &'static str, expected: &'static str) -> Result<(), Refused> {
        match found {
            None => Ok(()),
            Some(found) => Err(self.fault(place, found, expected)),
        }
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
