//! Which of several architectures a file with threats is: they share their hashes and differ in the number of rows.
//!
//! The rows are bytes without a length in front of them, and what follows them in every published file is compressed.
//! So the number of rows is that behind which the compressed block starts.

use super::cursor::Cursor;
use super::error::NnueError;
use super::file_part::Place;
use super::hashes::stack_hash_of;
use super::leb128::{MAGIC, read_block};
use super::net::WIDE_FIRST;
use super::relations::Relation;

/// Threats of the architectures between Stockfish 18 and 19.
const UNRELEASED: [(usize, &str); 3] = [(66_864, "SFNNv11"), (60_144, "SFNNv12"), (60_720, "SFNNv14")];
/// As many threats as the second of those, with a wider first layer.
const SFNN_V13: &str = "SFNNv13";

/// That the rows are those of Stockfish 18. cursor: behind the transformer's hash.
pub(super) fn check(cursor: &Cursor<'_>, width: usize, header: u32) -> Result<(), NnueError> {
    let mut cursor = cursor.clone();
    let transformer = super::net::FeatureSet::Threats.hash() ^ (2 * width) as u32;
    let is_wide = header ^ transformer == stack_hash_of(WIDE_FIRST, width);
    read_block::<i16>(&mut cursor, width, Place::TransformerBiases)?;
    let is_behind = |rows: usize| cursor.rest().get(rows * width..).is_some_and(|rest| rest.starts_with(MAGIC));
    let expected = Relation::Threats.count();
    if is_behind(expected) {
        return Ok(());
    }
    if let Some(&(rows, name)) = UNRELEASED.iter().find(|(rows, _)| is_behind(*rows)) {
        let name = if is_wide && name == "SFNNv12" { SFNN_V13 } else { name };
        return Err(NnueError::Unreleased { name, rows: Some(rows) });
    }
    let offset_bytes = cursor.offset_bytes();
    cursor.take(expected * width, Place::RelationWeights(Relation::Threats))?;
    Err(NnueError::ThreatRows { offset_bytes, expected, end: cursor.offset_bytes() })
}
