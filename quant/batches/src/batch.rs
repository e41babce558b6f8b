//! Padded tensors.

use super::vocabulary::{END, PAD, START};
use super::windows::{Rows, Window};
use std::ops::Range;

/// The most elements of a batch's tensor.
pub(super) const MAX_ELEMENTS: u64 = 1 << 28;

/// Examples that are computed together.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The bucket of its lengths, 0 without buckets.
    pub bucket: u64,
    /// (rows,): line numbers, from 0.
    pub lines: Vec<u32>,
    /// The source side.
    pub source: Padded,
    /// The target side.
    pub target: Target,
    /// (rows, target tokens, source tokens), padded with zeros.
    pub alignment: Option<Dense>,
}

/// Ids of rows with different lengths, padded with [`PAD`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Padded {
    /// Elements of a row.
    pub width: usize,
    /// (rows, width)
    pub ids: Vec<u32>,
    /// (rows,): without padding.
    pub length: Vec<u32>,
}

/// Target rows, which a decoder reads shifted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Elements of a row.
    pub width: usize,
    /// (rows, width): `<s>`, then the tokens.
    pub ids: Vec<u32>,
    /// (rows, width): the tokens, then `</s>`.
    pub ids_out: Vec<u32>,
    /// (rows,): the tokens and one.
    pub length: Vec<u32>,
}

/// A matrix for each row of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    /// Target tokens of a matrix.
    pub rows: usize,
    /// Source tokens of a matrix.
    pub columns: usize,
    /// (batch rows, rows, columns)
    pub values: Vec<f32>,
}

/// The widths that a batch of a window's rows has.
pub(super) struct Shape {
    source: usize,
    target: usize,
    /// Without the mark.
    matrix_rows: usize,
}

impl Shape {
    /// As wide as the longest of the rows, or as `padded`.
    pub fn of(window: &Window, rows: Range<usize>, padded: Option<u64>) -> Self {
        let longest = |side: &Rows| rows.clone().map(|row| side.row(row).len()).max().unwrap_or(0);
        match padded {
            Some(length) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                Self { source: length, target: length, matrix_rows: length }
            }
            None => {
                let target = longest(&window.target);
                Self { source: longest(&window.source), target: target + 1, matrix_rows: target }
            }
        }
    }

    /// Elements of the largest tensor.
    pub fn elements(&self, rows: usize, aligned: bool) -> u64 {
        let wide = self.source.max(self.target) as u64;
        let row = if aligned { wide.max((self.matrix_rows as u64).saturating_mul(self.source as u64)) } else { wide };
        row.saturating_mul(rows as u64)
    }
}

/// The batch of some rows of a window.
pub(super) fn batch(bucket: u64, window: &Window, rows: Range<usize>, shape: &Shape) -> Batch {
    let lines = window.lines[rows.clone()].to_vec();
    let count = lines.len();
    let mut source = Padded {
        width: shape.source,
        ids: Vec::with_capacity(count * shape.source),
        length: Vec::with_capacity(count),
    };
    let room = || Vec::with_capacity(count * shape.target);
    let mut target = Target { width: shape.target, ids: room(), ids_out: room(), length: Vec::with_capacity(count) };
    for (place, row) in rows.clone().enumerate() {
        let (words, others) = (window.source.row(row), window.target.row(row));
        source.ids.extend_from_slice(words);
        source.ids.resize((place + 1) * shape.source, PAD);
        source.length.push(words.len() as u32);
        target.ids.push(START);
        target.ids.extend_from_slice(others);
        target.ids.resize((place + 1) * shape.target, PAD);
        target.ids_out.extend_from_slice(others);
        target.ids_out.push(END);
        target.ids_out.resize((place + 1) * shape.target, PAD);
        target.length.push(others.len() as u32 + 1);
    }
    let alignment = (!window.alignments.is_empty()).then(|| {
        let (rows_of, columns) = (shape.matrix_rows, shape.source);
        let mut values = vec![0.0; count * rows_of * columns];
        let each = (rows_of * columns).max(1);
        let alignments = &window.alignments[rows];
        for (alignment, matrix) in alignments.iter().zip(values.chunks_exact_mut(each)) {
            alignment.fill(columns, matrix);
        }
        Dense { rows: rows_of, columns, values }
    });
    Batch { bucket, lines, source, target, alignment }
}
