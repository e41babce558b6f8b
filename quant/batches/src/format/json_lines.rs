//! A batch a line:
//! `{"lines":[0],"src":{"ids":[[3]],"length":[1]},
//! "tgt":{"ids":[[1,3]],"ids_out":[[3,2]],"length":[2]},"alignment":[[[1]]]}`,
//! the last key with alignments only.

use crate::batch::{Batch, Dense};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use std::io::{self, Write};

/// Writes batches as lines of JSON.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonLines;

impl JsonLines {
    /// Writes one line.
    ///
    /// # Errors
    /// The writer's.
    pub fn write(batch: &Batch, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, &Line(batch))?;
        out.write_all(b"\n")
    }
}

struct Line<'b>(&'b Batch);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Batch { lines, source, target, alignment, .. } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("lines", lines)?;
        let sides = [Some(("ids", &source.ids)), None];
        map.serialize_entry("src", &Side { width: source.width, ids: sides, length: &source.length })?;
        let sides = [Some(("ids", &target.ids)), Some(("ids_out", &target.ids_out))];
        map.serialize_entry("tgt", &Side { width: target.width, ids: sides, length: &target.length })?;
        if let Some(alignment) = alignment {
            map.serialize_entry("alignment", &Matrices(alignment))?;
        }
        map.end()
    }
}

struct Side<'b> {
    width: usize,
    ids: [Option<(&'static str, &'b Vec<u32>)>; 2],
    length: &'b [u32],
}

impl Serialize for Side<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, ids) in self.ids.iter().flatten() {
            map.serialize_entry(name, &Rows { width: self.width, values: ids })?;
        }
        map.serialize_entry("length", self.length)?;
        map.end()
    }
}

struct Rows<'b> {
    width: usize,
    values: &'b [u32],
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.values.chunks(self.width.max(1)))
    }
}

struct Matrices<'b>(&'b Dense);

impl Serialize for Matrices<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Dense { rows, columns, values } = self.0;
        let mut seq = serializer.serialize_seq(None)?;
        for matrix in values.chunks((rows * columns).max(1)) {
            // 0 and 1, which need no point.
            let rows: Vec<Vec<u8>> = matrix
                .chunks((*columns).max(1))
                .map(|row| row.iter().map(|value| u8::from(*value != 0.0)).collect())
                .collect();
            seq.serialize_element(&rows)?;
        }
        seq.end()
    }
}
