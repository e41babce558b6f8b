//! How partitions lie in a matrix, and in their files.

use std::collections::BTreeMap;

use super::super::error::AngelError;
use super::super::format::Record;
use super::{Meta, Partition};

/// Whether the partitions are a grid: blocks of rows, each cut into columns that follow one another from the first
/// column to the last. Blocks of rows may be missing, since a matrix is saved without the rows that an optimiser keeps
/// beside the weights.
pub(super) fn check_grid(meta: &Meta) -> Result<(), AngelError> {
    let hashed = meta.partitions.iter().filter(|partition| partition.cols.is_none()).count();
    let no_ids = |why: String| Err(AngelError::NoColumnIds { format: meta.format.name, why });
    if meta.format.record == Record::Value {
        if hashed > 0 {
            return no_ids("columns that are spread by a hash (startCol and endCol are 0) are in no order".to_owned());
        }
        if !meta.row_type.dense {
            return no_ids("a sparse row does not store every column".to_owned());
        }
    }
    if hashed == meta.partitions.len() {
        return Ok(());
    }
    // A hashed partition among others comes first and overlaps them all, as an empty range at column 0.
    let range = Partition::written_cols;
    let mut sorted: Vec<&Partition> = meta.partitions.iter().collect();
    sorted.sort_unstable_by_key(|partition| (partition.rows.start, range(partition).start, partition.id));
    let known = meta.cols.map(|cols| i64::try_from(cols).unwrap_or(i64::MAX));
    let gap = |start: i64, end: i64, partition: &Partition| AngelError::Gap {
        start,
        end: end - 1,
        rows: format!("{} to {}", partition.rows.start, partition.rows.end - 1),
    };
    let mut previous: Option<&Partition> = None;
    for partition in sorted {
        let begins_block = previous.is_none_or(|previous| previous.rows.end <= partition.rows.start);
        match (begins_block, previous) {
            (false, Some(previous)) => {
                let (left, right) = (range(previous), range(partition));
                if previous.rows != partition.rows || left.end > right.start || left.is_empty() {
                    let words =
                        |partition: &Partition| format!("rows {:?}, columns {:?}", partition.rows, range(partition));
                    let found = format!("{} and {}", words(previous), words(partition));
                    return Err(AngelError::Overlap { first: previous.id, second: partition.id, found });
                }
                if left.end < right.start {
                    return Err(gap(left.end, right.start, partition));
                }
            }
            (_, previous) => {
                if let (Some(previous), Some(cols)) = (previous, known) {
                    ends_at(previous, cols).map_err(|end| gap(end, cols, previous))?;
                }
                if known.is_some() && range(partition).start > 0 {
                    return Err(gap(0, range(partition).start, partition));
                }
            }
        }
        previous = Some(partition);
    }
    if let (Some(last), Some(cols)) = (previous, known) {
        ends_at(last, cols).map_err(|end| gap(end, cols, last))?;
    }
    Ok(())
}

fn ends_at(partition: &Partition, cols: i64) -> Result<(), i64> {
    let end = partition.written_cols().end;
    if end == cols { Ok(()) } else { Err(end) }
}

/// Whether the pieces of every file lie one behind the other and fill it: no holes, no overlap, nothing behind the
/// last.
pub(in crate::import::angel) fn check_files(meta: &Meta, files: &BTreeMap<String, Vec<u8>>) -> Result<(), AngelError> {
    let mut sorted: Vec<&Partition> = meta.partitions.iter().collect();
    sorted.sort_unstable_by_key(|partition| (&partition.file, partition.offset, partition.len_bytes, partition.id));
    for pieces in sorted.chunk_by(|a, b| a.file == b.file) {
        let Some(first) = pieces.first() else { continue };
        let extent = |offset, found: String, expected: String| {
            Err(AngelError::Extent { file: first.file.clone(), offset, found, expected })
        };
        let Some(bytes) = files.get(&first.file) else {
            return Err(AngelError::NoDataFile { file: first.file.clone(), partition: first.id });
        };
        let len = bytes.len() as u64;
        let mut end = 0;
        for piece in pieces {
            if piece.offset != end {
                return extent(end, format!("partition {} begins at byte {}", piece.id, piece.offset), end.to_string());
            }
            // No overflow: `Meta` has bounded both.
            end = piece.offset + piece.len_bytes;
            if end > len {
                let expected = format!("byte {end}, where partition {} ends", piece.id);
                return extent(piece.offset, format!("the file ends at byte {len}"), expected);
            }
        }
        if end != len {
            return extent(end, format!("{} bytes behind the last partition", len - end), "the end".to_owned());
        }
    }
    Ok(())
}
