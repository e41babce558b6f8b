//! Sizes that a description may give.

use super::error::Cause;

/// The most elements of a value, so that sizes can be multiplied.
pub(super) const MAX_LEN: usize = 1 << 24;

/// Whether a size is one.
pub(super) fn size(place: &str, key: &'static str, found: usize) -> Result<(), Cause> {
    if (1..=MAX_LEN).contains(&found) { Ok(()) } else { Err(range(place, key, found, format!("1 to {MAX_LEN}"))) }
}

/// A value outside its range.
pub(super) fn range(place: &str, key: &'static str, found: impl ToString, expected: impl Into<String>) -> Cause {
    Cause::Range { place: place.to_owned(), key, found: found.to_string(), expected: expected.into() }
}
