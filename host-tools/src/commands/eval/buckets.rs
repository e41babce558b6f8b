//! `--buckets`: what every output bucket makes of a position, and which of them counts.

use super::Value;
use crate::table::{self, row};
use serde::Serialize;
use std::io::{self, Write};

/// Both parts of a position's value, each sixteen times what it adds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Parts {
    /// The piece-square part; 0 of a network without.
    pub psqt: i32,
    /// What the layers give.
    pub positional: i32,
}

/// One bucket's outputs for a position.
#[derive(Debug, Serialize)]
pub struct BucketValues {
    /// From 0.
    pub bucket: usize,
    /// Whether it is the one that counts for this position.
    pub used: bool,
    /// The outputs.
    pub values: Vec<Value>,
    /// The two parts of the value, of networks of the Stockfish family.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
}

/// A table a position.
///
/// # Errors
/// The writer's.
pub fn print(out: &mut dyn Write, positions: &[Vec<BucketValues>]) -> io::Result<()> {
    for (index, buckets) in positions.iter().enumerate() {
        let has_parts = buckets.iter().any(|bucket| bucket.parts.is_some());
        let mut rows = vec![if has_parts {
            row!["bucket", "value", "psqt", "positional", ""]
        } else {
            row!["bucket", "value", ""]
        }];
        for BucketValues { bucket, used, values, parts } in buckets {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            let mut row = row![bucket, values.join(" ")];
            row.extend(parts.iter().flat_map(|parts| [parts.psqt.to_string(), parts.positional.to_string()]));
            row.push(if *used { "used".to_owned() } else { String::new() });
            rows.push(row);
        }
        writeln!(out, "position {}", index + 1)?;
        table::print(out, &rows)?;
    }
    Ok(())
}
