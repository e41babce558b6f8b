//! From saved matrices to the tensors of a network: rows that are needed, zeros put in, optimiser state left out.

use std::collections::{BTreeMap, BTreeSet};

use super::error::AngelError;
use super::matrix::{Matrix, Row, Values};
use crate::float;
use crate::import::Remark;

/// Elements that a sparse matrix may grow to, however few it stores.
const MAX_EXPANDED: u64 = 1 << 24;

/// A matrix that stores more than one in so many elements may always have its zeros.
const MAX_GROWTH: u64 = 16;

/// The matrices of a model, by the names of their folders, and which were used.
pub(super) struct Tensors<'a> {
    matrices: &'a BTreeMap<String, Matrix>,
    used: BTreeSet<&'a str>,
    /// What decides which shapes are needed, for messages.
    decider: &'a str,
    /// Matrices of which an optimiser's rows were left out.
    dropped: Vec<String>,
}

impl<'a> Tensors<'a> {
    /// The matrices of a model; `decider` is what says which are needed.
    pub fn new(matrices: &'a BTreeMap<String, Matrix>, decider: &'a str) -> Self {
        Self { matrices, used: BTreeSet::new(), decider, dropped: Vec::new() }
    }

    /// A matrix by its name.
    pub fn matrix(&mut self, name: &str) -> Result<&'a Matrix, AngelError> {
        let Some((name, matrix)) = self.matrices.get_key_value(name) else {
            let hint = format!("; {} needs it, was the whole model copied?", self.decider);
            return Err(no_matrix(name, self.matrices, hint));
        };
        self.used.insert(name);
        Ok(matrix)
    }

    /// The first `count` rows as the outputs of an (outputs, inputs) matrix.
    pub fn outputs_by_inputs(&mut self, name: &str, count: usize) -> Result<float::Matrix<f64>, AngelError> {
        let matrix = self.matrix(name)?;
        let rows = self.first_rows(matrix, count)?;
        let cols = bounded_cols(matrix, count)?;
        let mut values = vec![0.0; count * cols];
        for (output, row) in rows.iter().enumerate() {
            for (column, value) in row.cells.iter() {
                // Every column of a matrix lies below its `cols`.
                values[output + count * column as usize] = value;
            }
        }
        Ok(float::Matrix { outputs: count, inputs: cols, values })
    }

    /// Row 0, of `len` elements.
    pub fn row(&mut self, name: &str, len: usize, meaning: &str) -> Result<Vec<f64>, AngelError> {
        let matrix = self.matrix(name)?;
        if matrix.cols != len as u64 {
            return Err(self.shape(name, format!("{} columns", matrix.cols), format!("{len}, {meaning}")));
        }
        let rows = self.first_rows(matrix, 1)?;
        let cols = bounded_cols(matrix, 1)?;
        Ok(rows[0].cells.expand(cols))
    }

    /// A matrix of row 0, which holds (inputs, outputs) one input after the other.
    pub fn flattened(&mut self, name: &str, inputs: usize, outputs: usize) -> Result<float::Matrix<f64>, AngelError> {
        let len = inputs.saturating_mul(outputs);
        let values = self.row(name, len, &format!("{inputs} inputs by {outputs} outputs"))?;
        Ok(float::Matrix { outputs, inputs, values })
    }

    /// The elements of a bias: as many as it has, in memory as many as it should have at most.
    pub fn bias(&mut self, name: &str) -> Result<Vec<f64>, AngelError> {
        let cols = bounded_cols(self.matrix(name)?, 1)?;
        self.row(name, cols, "one for each output")
    }

    /// What does not fit.
    pub fn shape(&self, matrix: &str, found: impl Into<String>, expected: impl Into<String>) -> AngelError {
        let (matrix, found, expected) = (matrix.to_owned(), found.into(), expected.into());
        AngelError::Shape { matrix, found, expected, decider: self.decider.to_owned() }
    }

    /// What was left out or left over.
    pub fn remarks(&self) -> Vec<Remark> {
        let dropped = self.dropped.iter().map(|name| {
            Remark::Warning(format!(
                "matrix `{name}`: has more rows than the network's; they are an optimiser's and were left out"
            ))
        });
        let unused = self.matrices.keys().filter(|name| !self.used.contains(name.as_str()));
        let unused = unused.map(|name| {
            Remark::Warning(format!("matrix `{name}` is in the folder and {} does not need it", self.decider))
        });
        dropped.chain(unused).collect()
    }

    /// Rows 0 to `count − 1`, which all have to be there.
    fn first_rows(&mut self, matrix: &'a Matrix, count: usize) -> Result<&'a [Row<f64>], AngelError> {
        let Values::Real(rows) = &matrix.values else {
            return Err(self.shape(&matrix.name, "whole numbers", "float or double"));
        };
        let found = rows.iter().zip(0..).take_while(|(row, place)| row.id == *place).count();
        if found < count {
            let expected = format!("{count}, from row 0");
            return Err(self.shape(&matrix.name, format!("{found} of the rows that are needed"), expected));
        }
        if rows.len() > count && !self.dropped.contains(&matrix.name) {
            self.dropped.push(matrix.name.clone());
        }
        Ok(&rows[..count])
    }
}

/// The columns of a matrix of which `rows` rows are needed with their zeros.
pub(super) fn bounded_cols(matrix: &Matrix, rows: usize) -> Result<usize, AngelError> {
    let stored = matrix.values.stored();
    let limit = MAX_EXPANDED.max(stored.saturating_mul(MAX_GROWTH));
    let elements = matrix.cols.checked_mul(rows as u64);
    match (elements.filter(|elements| *elements <= limit), usize::try_from(matrix.cols)) {
        (Some(_), Ok(cols)) => Ok(cols),
        _ => Err(AngelError::TooLarge {
            matrix: matrix.name.clone(),
            rows: rows as u64,
            cols: matrix.cols,
            stored,
            limit,
        }),
    }
}

/// A matrix that is not there.
pub(super) fn no_matrix(name: &str, matrices: &BTreeMap<String, Matrix>, hint: impl Into<String>) -> AngelError {
    const SHOWN: usize = 12;
    let mut present: Vec<String> = matrices.keys().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if matrices.len() > SHOWN {
        present.push(format!("{} more", matrices.len() - SHOWN));
    }
    AngelError::NoMatrix { name: name.to_owned(), present: present.join(", "), hint: hint.into() }
}
