//! What [`super::Model::parse`] demands, a module a part of the file. Each refuses with record, field, what was found and what
//! was expected; what one has checked the next relies on.

mod general;
mod input;
mod kinds;
mod ops;
mod places;
mod stockfish;
mod values;

pub(super) use input::input;
pub(super) use ops::ops;
pub(super) use places::places;
pub(super) use values::values;

use super::ParseError;

/// The most features, and the most elements of a vector: what a caller may have to allocate is bounded by this.
const MAX_LEN: u32 = 1 << 24;

/// Shorthand for the error that names a record's field.
fn field(place: &'static str, index: usize, found: u64, expected: &'static str) -> ParseError {
    ParseError::Field { place, index, found, expected }
}

/// Refuses a field that is not what it must be.
fn require(
    holds: bool,
    place: &'static str,
    index: usize,
    found: u64,
    expected: &'static str,
) -> Result<(), ParseError> {
    if holds { Ok(()) } else { Err(field(place, index, found, expected)) }
}
