//! Positions from all over a file, of which only those are read: a training file may be larger than memory, and its
//! neighbours are often of one game.

use super::positions::{PositionFile, is_lines};
use crate::error::{CliError, Explain};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use tamis_quant::import;
use tamis_quant::positions::{Position, PositionError, RECORD_LEN_BYTES, lines};

/// At most `limit` positions of a file, lines or BulletFormat, evenly spread, in their order; all of a shorter file.
///
/// # Errors
/// [`CliError`] naming the file and the record.
pub fn sample_positions(path: &Path, limit: u32) -> Result<Vec<Position>, CliError> {
    if is_lines(path)? {
        return sample_lines(path, limit);
    }
    let (_, len_bytes) = import::read_file_start(path, 0).explain()?;
    if !len_bytes.is_multiple_of(RECORD_LEN_BYTES as u64) {
        let len_bytes = usize::try_from(len_bytes).unwrap_or(usize::MAX);
        return Err(PositionError::PartialRecord { len_bytes }).explain_at(path);
    }
    let io = |error| CliError::io("read", path, &error);
    let mut file = File::open(path).map_err(io)?;
    let mut positions = Vec::new();
    for record in spread(len_bytes / RECORD_LEN_BYTES as u64, limit.into()) {
        let mut bytes = [0; RECORD_LEN_BYTES];
        file.seek(SeekFrom::Start(record * RECORD_LEN_BYTES as u64)).map_err(io)?;
        file.read_exact(&mut bytes).map_err(io)?;
        let position = Position::from_record(&bytes).map_err(|cause| PositionError::AtRecord {
            record: usize::try_from(record).unwrap_or(usize::MAX),
            cause: Box::new(cause),
        });
        positions.push(position.explain_at(path)?);
    }
    Ok(positions)
}

/// A text is read whole; only the lines that are taken have to be positions.
fn sample_lines(path: &Path, limit: u32) -> Result<Vec<Position>, CliError> {
    let PositionFile::Lines(_, text) = PositionFile::read_lines(path)? else { return Ok(Vec::new()) };
    let all: Vec<_> = lines(&text).collect();
    let taken = spread(all.len() as u64, limit.into()).filter_map(|at| all.get(usize::try_from(at).ok()?).cloned());
    taken.map(|position| position.explain_at(path)).collect()
}

/// At most `limit` of 0 to `count` − 1, evenly spread: `floor(i · count / limit)`.
fn spread(count: u64, limit: u64) -> impl Iterator<Item = u64> {
    let picks = limit.min(count);
    // In two parts, neither of which leaves u64.
    (0..picks).map(move |at| at * (count / picks) + at * (count % picks) / picks)
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn a_sample_reaches_over_the_whole_file() {
        let all = |count, limit| spread(count, limit).collect::<Vec<_>>();
        assert!(all(0, 4).is_empty());
        assert_eq!(all(3, 4), [0, 1, 2]);
        assert_eq!(all(4, 4), [0, 1, 2, 3]);
        assert_eq!(all(10, 4), [0, 2, 5, 7]);
        assert_eq!(all(u64::MAX, 2), [0, u64::MAX / 2]);
    }
}
