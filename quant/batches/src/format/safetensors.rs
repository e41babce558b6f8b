//! Batches as one safetensors file, written in two parts: the tensors as they come, and the header, which stands in
//! front of them but is known last. Only the shapes of batches are kept in between.
//!
//! ```python
//! with safe_open("batches.safetensors", "pt") as file:
//!     for n in range(int(file.metadata()["batches"])):
//!         ids, length = file.get_tensor(f"batch.{n}.src.ids"), file.get_tensor(f"batch.{n}.src.length")
//! ```

use super::names;
use crate::batch::Batch;
use std::io::{self, Write};
use thiserror::Error;

/// The longest header that readers of safetensors take.
pub const MAX_HEADER_LEN_BYTES: usize = 100_000_000;
/// Both element types have as many.
const ELEMENT_LEN_BYTES: u64 = 4;
/// The header's length is a multiple of this, so that the tensors behind it are aligned.
const ALIGNMENT: usize = 8;

/// Why a file of batches could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The writer's refusal.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A header that no reader takes.
    #[error(
        "a safetensors file holds about {batches} batches of this kind, since its header is at most \
         {MAX_HEADER_LEN_BYTES} bytes long"
    )]
    TooManyBatches {
        /// How many fit.
        batches: usize,
    },
}

/// The shapes of the batches that were written.
#[derive(Debug, Clone, Default)]
pub struct SafetensorsParts {
    shapes: Vec<Shape>,
    /// Of the header, without what stands around the tensors' entries.
    entries_len_bytes: usize,
    /// Behind the last tensor.
    end_bytes: u64,
}

/// A batch's dimensions; all are below 2^28.
#[derive(Debug, Clone, Copy)]
struct Shape {
    rows: u32,
    source: u32,
    target: u32,
    /// (target tokens, source tokens)
    matrix: Option<(u32, u32)>,
}

/// One tensor of a batch.
struct Entry {
    part: &'static str,
    element: &'static str,
    dims: [u32; 3],
    rank: usize,
}

impl Shape {
    fn entries(self) -> impl Iterator<Item = Entry> {
        let Self { rows, source, target, matrix } = self;
        let list = |part| Entry { part, element: "I32", dims: [rows, 0, 0], rank: 1 };
        let table = |part, width| Entry { part, element: "I32", dims: [rows, width, 0], rank: 2 };
        let matrix = matrix.map(|(target, source)| Entry {
            part: names::ALIGNMENT,
            element: "F32",
            dims: [rows, target, source],
            rank: 3,
        });
        [
            list(names::LINES),
            table(names::SOURCE_IDS, source),
            list(names::SOURCE_LENGTH),
            table(names::TARGET_IDS, target),
            table(names::TARGET_IDS_OUT, target),
            list(names::TARGET_LENGTH),
        ]
        .into_iter()
        .chain(matrix)
    }
}

impl Entry {
    fn dims(&self) -> &[u32] {
        self.dims.get(..self.rank).unwrap_or_default()
    }

    fn len_bytes(&self) -> u64 {
        self.dims().iter().map(|dim| u64::from(*dim)).product::<u64>() * ELEMENT_LEN_BYTES
    }

    /// `,"batch.0.lines":{"dtype":"I32","shape":[3],"data_offsets":[0,12]}`
    fn write(&self, batch: usize, start: u64, out: &mut impl Write) -> io::Result<()> {
        let Self { part, element, .. } = self;
        write!(out, ",\"batch.{batch}.{part}\":{{\"dtype\":\"{element}\",\"shape\":[")?;
        for (place, dim) in self.dims().iter().enumerate() {
            write!(out, "{}{dim}", if place == 0 { "" } else { "," })?;
        }
        write!(out, "],\"data_offsets\":[{start},{}]}}", start + self.len_bytes())
    }
}

impl SafetensorsParts {
    /// Writes a batch's tensors behind those of the batches before it.
    ///
    /// # Errors
    /// [`WriteError`]
    pub fn write(&mut self, batch: &Batch, out: &mut impl Write) -> Result<(), WriteError> {
        let shape = Shape {
            rows: batch.lines.len() as u32,
            source: batch.source.width as u32,
            target: batch.target.width as u32,
            matrix: batch.alignment.as_ref().map(|dense| (dense.rows as u32, dense.columns as u32)),
        };
        let mut counted = Counted(0);
        self.end_bytes = write_entries(shape, self.shapes.len(), self.end_bytes, &mut counted)?;
        self.entries_len_bytes += counted.0;
        self.shapes.push(shape);
        // Room for the metadata.
        if self.entries_len_bytes > MAX_HEADER_LEN_BYTES - 4096 {
            return Err(WriteError::TooManyBatches { batches: self.shapes.len() - 1 });
        }
        let parts: [&[u32]; 6] = [
            &batch.lines,
            &batch.source.ids,
            &batch.source.length,
            &batch.target.ids,
            &batch.target.ids_out,
            &batch.target.length,
        ];
        for part in parts {
            write_words(part, |word| *word, out)?;
        }
        if let Some(alignment) = &batch.alignment {
            write_words(&alignment.values, |value| value.to_bits(), out)?;
        }
        Ok(())
    }

    /// Writes what stands in front of all tensors. `vocabularies`: the sizes of source and target.
    ///
    /// # Errors
    /// The writer's.
    pub fn write_header(&self, vocabularies: (u32, u32), out: &mut impl Write) -> io::Result<()> {
        let start = format!(
            "{{\"__metadata__\":{{\"{}\":\"{}\",\"{}\":\"{}\",\"{}\":\"{}\",\"{}\":\"{}\"}}",
            names::BATCHES_KEY,
            self.shapes.len(),
            names::FORMAT_KEY,
            names::FORMAT,
            names::SOURCE_VOCABULARY_KEY,
            vocabularies.0,
            names::TARGET_VOCABULARY_KEY,
            vocabularies.1,
        );
        let len = start.len() + self.entries_len_bytes + 1;
        let padded = len.next_multiple_of(ALIGNMENT);
        out.write_all(&(padded as u64).to_le_bytes())?;
        out.write_all(start.as_bytes())?;
        let mut at = 0;
        for (batch, shape) in self.shapes.iter().enumerate() {
            at = write_entries(*shape, batch, at, out)?;
        }
        write!(out, "}}{:1$}", "", padded - len)
    }
}

/// The entries of a batch whose first tensor starts at `at`; returns where its last one ends.
fn write_entries(shape: Shape, batch: usize, mut at: u64, out: &mut impl Write) -> io::Result<u64> {
    for entry in shape.entries() {
        entry.write(batch, at, out)?;
        at += entry.len_bytes();
    }
    Ok(at)
}

/// Four bytes each, little-endian. Ids and numbers of lines are below 2^31, so that they are the same as i32.
fn write_words<T>(values: &[T], bits: impl Fn(&T) -> u32, out: &mut impl Write) -> io::Result<()> {
    let mut bytes = [0; 4096];
    for chunk in values.chunks(bytes.len() / 4) {
        let (places, _) = bytes.as_chunks_mut::<4>();
        for (place, value) in places.iter_mut().zip(chunk) {
            *place = bits(value).to_le_bytes();
        }
        out.write_all(bytes.get(..4 * chunk.len()).unwrap_or_default())?;
    }
    Ok(())
}

/// Counts what is written.
struct Counted(usize);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
