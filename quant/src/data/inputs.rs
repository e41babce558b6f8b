//! Examples in memory, and one of them as a graph takes it.

use super::batches::{self, Tokens};
use super::encoding::{ByteType, Encoding, channels_last, check_axes};
use super::error::DataError;
use super::{arrays, idx, text, unpacked};
use crate::arch::suggest::printable;
use crate::graph::{Input, Sample, Shape};
use crate::import::tensors::{is_npy, is_npz, is_safetensors};

/// Which part of a file is read.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Selection<'s> {
    /// The array, in a file of several.
    pub array: Option<&'s str>,
    /// The first so many examples only.
    pub limit: Option<usize>,
    /// What the bytes of an array stand for; of other files nothing.
    pub encoding: Option<Encoding>,
    /// Whether the examples of an array are (channels, height, width), to be put in order.
    pub channels_first: bool,
}

/// Examples, and their labels where the file has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs {
    pub(super) rows: Rows,
    pub(super) labels: Option<Vec<f64>>,
    pub(super) outputs: Option<Outputs>,
}

/// What another framework computed for the examples: (n, columns), before the last sigmoid or softmax.
#[derive(Debug, Clone, PartialEq)]
pub struct Outputs {
    /// Outputs of an example.
    pub columns: usize,
    /// An example after the other.
    pub values: Vec<f64>,
}

/// As compact as their file gives them.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Rows {
    /// (n, axes), of bytes perhaps, and what they stand for, if that is known.
    Reals { axes: Vec<usize>, values: Vec<f64>, bytes: Option<ByteType>, encoding: Option<Encoding> },
    /// (n, axes), to be divided by 255.
    Pixels { axes: Vec<usize>, values: Vec<u8> },
    /// Each with its line.
    Features(Vec<(usize, Vec<(u32, f64)>)>),
    /// Ids of two sides.
    Tokens(Tokens),
}

impl Inputs {
    /// Reads a file of any of the forms, told apart by content.
    ///
    /// # Errors
    /// [`DataError`] naming the place.
    pub fn read(bytes: &[u8], selection: Selection<'_>) -> Result<Self, DataError> {
        let bytes = unpacked(bytes)?;
        let mut inputs = if idx::is_idx(&bytes) {
            Self { rows: idx::read_images(&bytes)?, labels: None, outputs: None }
        } else if is_safetensors(&bytes) && batches::is_batches(&bytes) {
            if let Some(array) = selection.array {
                let why = format!("no array `{}` of examples", printable(array));
                return Err(DataError::Choice { why, present: "batches, all of which are read".to_owned() });
            }
            batches::read(&bytes)?
        } else if is_npy(&bytes) || is_npz(&bytes) || is_safetensors(&bytes) {
            arrays::read_inputs(&bytes, selection.array)?
        } else {
            text::read_rows(&bytes, selection.limit.unwrap_or(usize::MAX))?
        };
        inputs.truncate(selection.limit.unwrap_or(usize::MAX));
        if selection.channels_first {
            match &mut inputs.rows {
                Rows::Reals { axes, values, .. } => channels_last(axes, values)?,
                Rows::Pixels { axes, values } => channels_last(axes, values)?,
                _ => return Err(DataError::ChannelsFirst { found: "a list of features".to_owned() }),
            }
        }
        if let Some(encoding) = selection.encoding {
            inputs.encode(encoding);
        }
        if inputs.is_empty() && selection.limit != Some(0) { Err(DataError::Empty) } else { Ok(inputs) }
    }

    fn truncate(&mut self, count: usize) {
        match &mut self.rows {
            Rows::Reals { axes, values, .. } => values.truncate(count.saturating_mul(columns(axes))),
            Rows::Pixels { axes, values } => values.truncate(count.saturating_mul(columns(axes))),
            Rows::Features(rows) => rows.truncate(count),
            Rows::Tokens(tokens) => tokens.rows.truncate(count),
        }
        if let Some(labels) = &mut self.labels {
            labels.truncate(count);
        }
        if let Some(Outputs { columns, values }) = &mut self.outputs {
            values.truncate(count.saturating_mul(*columns));
        }
    }

    fn encode(&mut self, given: Encoding) {
        match &mut self.rows {
            Rows::Reals { bytes: Some(_), encoding, .. } => *encoding = Some(given),
            Rows::Pixels { axes, values } => {
                let (axes, values) = (std::mem::take(axes), values.iter().copied().map(f64::from).collect());
                self.rows = Rows::Reals { axes, values, bytes: Some(ByteType::U8), encoding: Some(given) };
            }
            _ => {}
        }
    }

    /// Makes an array of bytes of this type the integers of an input with this encoding, where it was not said what
    /// they stand for. Pixels of idx stay what they are.
    pub fn as_stored(&mut self, of: ByteType, given: Encoding) {
        if let Rows::Reals { bytes: Some(bytes), encoding: encoding @ None, .. } = &mut self.rows
            && *bytes == of
        {
            *encoding = Some(given);
        }
    }

    /// The type of the bytes, if the examples are an array of bytes.
    #[must_use]
    pub const fn byte_type(&self) -> Option<ByteType> {
        match &self.rows {
            Rows::Reals { bytes, .. } => *bytes,
            Rows::Pixels { .. } => Some(ByteType::U8),
            _ => None,
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.rows {
            Rows::Reals { axes, values, .. } => values.len().checked_div(columns(axes)).unwrap_or(0),
            Rows::Pixels { axes, values } => values.len().checked_div(columns(axes)).unwrap_or(0),
            Rows::Features(rows) => rows.len(),
            Rows::Tokens(tokens) => tokens.rows.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The labels that the file has itself, as many as examples.
    #[must_use]
    pub fn labels(&self) -> Option<&[f64]> {
        self.labels.as_deref()
    }

    /// What another framework computed for the examples, where the file has it.
    #[must_use]
    pub const fn outputs(&self) -> Option<&Outputs> {
        self.outputs.as_ref()
    }

    /// Where an example stands in its file, in words: `line 7`, `record 7`.
    #[must_use]
    pub fn place(&self, index: usize) -> String {
        match &self.rows {
            Rows::Features(rows) => rows.get(index).map_or_else(String::new, |(line, _)| format!("line {line}")),
            Rows::Tokens(tokens) => tokens.rows.get(index).map_or_else(String::new, batches::Row::place),
            _ => format!("record {index}"),
        }
    }

    /// Example `index` for a network: features become a vector with zeros elsewhere, the elements of a vector that are
    /// not zero become features, where the network takes the other.
    ///
    /// # Errors
    /// [`DataError`] with its place, if it does not fit; whether it fits in every other way,
    /// [`crate::graph::Graph::check_sample`] says.
    ///
    /// # Panics
    /// If there is no such example.
    pub fn sample(&self, index: usize, input: Input) -> Result<Sample, DataError> {
        let vector = match &self.rows {
            Rows::Reals { axes, values, encoding, .. } => {
                check_axes(index, axes, shape(input))?;
                let values = &values[index * columns(axes)..][..columns(axes)];
                match encoding {
                    Some(encoding) => values.iter().map(|byte| encoding.real(*byte)).collect(),
                    None => values.to_vec(),
                }
            }
            Rows::Pixels { axes, values } => {
                check_axes(index, axes, shape(input))?;
                let pixels = &values[index * columns(axes)..][..columns(axes)];
                pixels.iter().map(|pixel| f64::from(*pixel) / 255.0).collect()
            }
            Rows::Features(rows) => {
                let (line, features) = &rows[index];
                let Input::Dense { shape } = input else { return Ok(Sample::Sparse(features.clone())) };
                let mut vector = vec![0.0; shape.len()];
                for (feature, value) in features {
                    let slot = vector.get_mut(*feature as usize).ok_or_else(|| DataError::Line {
                        line: *line,
                        why: {
                            let len = shape.len();
                            format!("feature {feature} for a network of {len} inputs, 0 to {}", len.saturating_sub(1))
                        },
                    })?;
                    *slot = *value;
                }
                return Ok(Sample::Dense(vector));
            }
            Rows::Tokens(tokens) => {
                let features = shape(input).len();
                let active = tokens.features(index, features)?;
                if let Input::Sparse { .. } = input {
                    return Ok(Sample::Sparse(active));
                }
                let mut vector = vec![0.0; features];
                for (feature, value) in active {
                    if let Some(slot) = vector.get_mut(feature as usize) {
                        *slot = value;
                    }
                }
                vector
            }
        };
        if let Input::Dense { .. } = input {
            return Ok(Sample::Dense(vector));
        }
        let features = (0..).zip(vector).filter(|(_, value)| *value != 0.0);
        Ok(Sample::Sparse(features.collect()))
    }
}

/// What goes in; of features a vector of them.
const fn shape(input: Input) -> Shape {
    match input {
        Input::Dense { shape } => shape,
        Input::Sparse { features, .. } => Shape::vector(features),
    }
}

/// Elements of an example.
fn columns(axes: &[usize]) -> usize {
    axes.iter().product()
}
