//! Examples in memory, and one of them as a graph takes it.

use super::encoding::{ByteType, Encoding, check_axes};
use super::error::DataError;
use super::tokens::{Row, Tokens};
use crate::graph::{Input, Sample, Shape};

/// Examples, and their labels where the file has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs {
    pub(super) rows: Rows,
    pub(super) labels: Option<Vec<f64>>,
    pub(super) outputs: Option<Outputs>,
    /// The array that was read, of a file of several.
    pub(super) array: Option<String>,
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
    /// Leaves the first so many.
    pub(super) fn truncate(&mut self, count: usize) {
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

    /// Says what the bytes of an array stand for.
    pub(super) fn encode(&mut self, given: Encoding) {
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

    /// The name of the array that was read, where a file names its arrays.
    #[must_use]
    pub fn array(&self) -> Option<&str> {
        self.array.as_deref()
    }

    /// What the bytes of an array stand for, where that was said.
    #[must_use]
    pub const fn encoding(&self) -> Option<Encoding> {
        match &self.rows {
            Rows::Reals { encoding, .. } => *encoding,
            _ => None,
        }
    }

    /// The type of an array of bytes that are the real numbers that they are, 200 as 200.0, because nobody said what
    /// they stand for.
    #[must_use]
    pub const fn bytes_as_reals(&self) -> Option<ByteType> {
        match &self.rows {
            Rows::Reals { bytes, encoding: None, .. } => *bytes,
            _ => None,
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.rows {
            Rows::Reals { axes, values, .. } => examples(values.len(), axes),
            Rows::Pixels { axes, values } => examples(values.len(), axes),
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
            Rows::Tokens(tokens) => tokens.rows.get(index).map_or_else(String::new, Row::place),
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

/// How many examples so many elements are; none where an example has no element.
fn examples(elements: usize, axes: &[usize]) -> usize {
    match columns(axes) {
        0 => 0,
        columns => elements / columns,
    }
}

/// Elements of an example.
fn columns(axes: &[usize]) -> usize {
    axes.iter().product()
}
