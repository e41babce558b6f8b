//! Batches that `tamis_batches` wrote, as examples for a network with two bags of embeddings.
//!
//! A row becomes a sparse input: source id `i` is feature `i`, target id `i` feature `S + i`, with `S` the number of
//! source ids, and the network has as many features as both vocabularies have ids. The value of a feature is how often
//! the id stands in its row, by the row's length, padding excepted: a layer that sums the features' rows then sums two
//! means, that of the source and that of the target as a decoder reads it, `<s>` in front. A file may also hold
//! `batch.N.labels`, a class a row, and `batch.N.logits`, what another framework computed for a row.

use super::error::DataError;
use super::inputs::{Inputs, Outputs, Rows};
use super::tokens::{Row, Tokens};
use crate::import::tensors::{TensorFileError, metadata_value};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use tamis_batches::names;
use tamis_batches::printable;

/// Whether a file of tensors holds batches.
pub(super) fn is_batches(bytes: &[u8]) -> bool {
    metadata_value(bytes, names::FORMAT_KEY).is_some_and(|format| format == names::FORMAT)
}

/// Every row of every batch, in order.
pub(super) fn read(bytes: &[u8]) -> Result<Inputs, DataError> {
    let fault = |error: safetensors::SafeTensorError| DataError::File(TensorFileError::Safetensors(error.to_string()));
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(fault)?;
    let number = |key: &'static str| {
        let found = header.metadata().as_ref().and_then(|metadata| metadata.get(key));
        let number = found.and_then(|text| text.parse::<u32>().ok()).filter(|number| *number <= i32::MAX as u32);
        number.ok_or_else(|| DataError::Metadata {
            key,
            found: found.map_or_else(|| "nothing".to_owned(), |found| format!("`{}`", printable(found))),
        })
    };
    let file = SafeTensors::deserialize(bytes).map_err(fault)?;
    let (source_ids, target_ids) = (number(names::SOURCE_VOCABULARY_KEY)?, number(names::TARGET_VOCABULARY_KEY)?);
    let mut tokens = Tokens { source_ids, target_ids, rows: Vec::new() };
    let (mut labels, mut logits, mut width) = (Vec::new(), Vec::new(), None);
    for batch in 0..number(names::BATCHES_KEY)? as usize {
        let batch = Batch { file: &file, batch };
        let before = tokens.rows.len();
        batch.read(&mut tokens)?;
        let rows = tokens.rows.len() - before;
        if let Ok(found) = batch.view(names::LABELS) {
            let bytes = batch.of_type(&found, names::LABELS, Dtype::U8, &[rows])?;
            labels.extend(bytes.iter().map(|label| f64::from(*label)));
        }
        if let Ok(found) = batch.view(names::LOGITS) {
            let [_, columns] = *found.shape() else {
                return Err(batch.wrong(names::LOGITS, format!("{} dimensions, expected 2", found.shape().len())));
            };
            let columns = *width.get_or_insert(columns);
            let bytes = batch.of_type(&found, names::LOGITS, Dtype::F32, &[rows, columns])?;
            logits.extend(bytes.as_chunks().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))));
        }
    }
    let count = tokens.rows.len();
    let outputs = width.filter(|width| count.checked_mul(*width) == Some(logits.len()) && *width > 0);
    Ok(Inputs {
        labels: (labels.len() == count).then_some(labels),
        outputs: outputs.map(|columns| Outputs { columns, values: logits }),
        rows: Rows::Tokens(tokens),
        array: None,
    })
}

/// The tensors of one batch.
#[derive(Clone, Copy)]
struct Batch<'f> {
    file: &'f SafeTensors<'f>,
    batch: usize,
}

impl<'f> Batch<'f> {
    /// Its rows.
    fn read(&self, tokens: &mut Tokens) -> Result<(), DataError> {
        let lines = self.words(names::LINES, None)?.1;
        let count = lines.len();
        let sides = [
            (names::SOURCE_IDS, names::SOURCE_LENGTH, tokens.source_ids, 0),
            (names::TARGET_IDS, names::TARGET_LENGTH, tokens.target_ids, tokens.source_ids),
        ];
        let start = tokens.rows.len();
        for (row, line) in lines.into_iter().enumerate() {
            tokens.rows.push(Row { batch: self.batch, row, line, features: Vec::new() });
        }
        for (ids_name, length_name, limit, first) in sides {
            let (width, ids) = self.words(ids_name, Some(count))?;
            let (_, lengths) = self.words(length_name, None)?;
            if lengths.len() != count {
                return Err(self.wrong(length_name, format!("{} lengths for {count} rows", lengths.len())));
            }
            for (row, length) in tokens.rows[start..].iter_mut().zip(&lengths) {
                let all = &ids[row.row * width..][..width];
                let there = all.get(..*length as usize).ok_or_else(|| DataError::Row {
                    place: row.place(),
                    why: format!("length {length} of a row of {width} ids"),
                })?;
                if let Some(id) = there.iter().find(|id| **id >= limit) {
                    let side = if first == 0 { "source" } else { "target" };
                    let why =
                        format!("{side} id {id} of a vocabulary of {limit} ids, 0 to {}", limit.saturating_sub(1));
                    return Err(DataError::Row { place: row.place(), why });
                }
                pool(there, first, &mut row.features);
            }
        }
        Ok(())
    }

    fn view(&self, part: &str) -> Result<TensorView<'f>, DataError> {
        self.file.tensor(&names::of(self.batch, part)).map_err(|_| self.wrong(part, "is missing".to_owned()))
    }

    /// The bytes of a tensor that has to be of this type and shape.
    fn of_type(&self, view: &TensorView<'f>, part: &str, dtype: Dtype, shape: &[usize]) -> Result<&'f [u8], DataError> {
        if view.dtype() == dtype && view.shape() == shape {
            return Ok(view.data());
        }
        Err(self.wrong(part, format!("{:?} {:?}, expected {dtype:?} {shape:?}", view.dtype(), view.shape())))
    }

    /// A vector, or a matrix of so many rows, of i32 that are not negative: its width and elements.
    fn words(&self, part: &str, rows: Option<usize>) -> Result<(usize, Vec<u32>), DataError> {
        let view = self.view(part)?;
        let (shape, width) = match (rows, view.shape()) {
            (Some(rows), [_, columns, ..]) => (vec![rows, *columns], *columns),
            (None, [len, ..]) => (vec![*len], *len),
            (rows, found) => {
                let expected = if rows.is_some() { "two dimensions" } else { "one dimension" };
                return Err(self.wrong(part, format!("{:?} {found:?}, expected {expected}", view.dtype())));
            }
        };
        let bytes = self.of_type(&view, part, Dtype::I32, &shape)?;
        let words = bytes.as_chunks().0.iter().map(|bytes| u32::try_from(i32::from_le_bytes(*bytes)));
        let words = words.collect::<Result<_, _>>().map_err(|_| self.wrong(part, "a negative number".to_owned()))?;
        Ok((width, words))
    }

    fn wrong(&self, part: &str, why: String) -> DataError {
        DataError::Batch { tensor: names::of(self.batch, part), why }
    }
}

/// Appends each id once, in ascending order, with its share of the row.
fn pool(ids: &[u32], first: u32, features: &mut Vec<(u32, f64)>) {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    for same in sorted.chunk_by(|a, b| a == b) {
        if let Some(id) = same.first() {
            features.push((first + id, same.len() as f64 / ids.len() as f64));
        }
    }
}
