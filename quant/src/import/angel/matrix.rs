//! A matrix as it was saved: exact, and sparse where it was.

use super::row_type::RowType;

/// A matrix of a folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// The folder's name, by which a model finds it.
    pub name: String,
    /// What its rows are.
    pub row_type: RowType,
    /// Rows that it had in training; those of an optimiser are usually not saved.
    pub rows: u32,
    /// Columns.
    pub cols: u64,
    /// The rows that were saved.
    pub values: Values,
}

/// Rows of numbers, exact: float and double in f64, int and long in i64.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Of float and double matrices.
    Real(Vec<Row<f64>>),
    /// Of int and long matrices.
    Whole(Vec<Row<i64>>),
}

/// A row that was saved.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<T> {
    /// Its index in the matrix.
    pub id: u32,
    /// Its elements.
    pub cells: Cells<T>,
}

/// The elements of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells<T> {
    /// Every column.
    Dense(Vec<T>),
    /// The columns that were set, ascending, with their values; the others are 0.
    Sparse(Vec<(u64, T)>),
}

impl<T: Copy + Default> Cells<T> {
    /// Elements that are stored.
    #[must_use]
    pub fn stored(&self) -> usize {
        match self {
            Self::Dense(values) => values.len(),
            Self::Sparse(cells) => cells.len(),
        }
    }

    /// Every element that is stored, with its column.
    pub fn iter(&self) -> impl Iterator<Item = (u64, T)> + '_ {
        let (dense, sparse) = match self {
            Self::Dense(values) => (&values[..], &[][..]),
            Self::Sparse(cells) => (&[][..], &cells[..]),
        };
        (0..).zip(dense.iter().copied()).chain(sparse.iter().copied())
    }

    /// The elements of `cols` columns, zeros included. The caller has bounded `cols`.
    #[must_use]
    pub fn expand(&self, cols: usize) -> Vec<T> {
        let mut values = vec![T::default(); cols];
        for (column, value) in self.iter() {
            if let Some(place) = usize::try_from(column).ok().and_then(|column| values.get_mut(column)) {
                *place = value;
            }
        }
        values
    }
}

impl Values {
    /// Elements that are stored.
    #[must_use]
    pub fn stored(&self) -> u64 {
        let each: Vec<usize> = match self {
            Self::Real(rows) => rows.iter().map(|row| row.cells.stored()).collect(),
            Self::Whole(rows) => rows.iter().map(|row| row.cells.stored()).collect(),
        };
        each.iter().map(|stored| *stored as u64).sum()
    }

    /// Indices of the rows that were saved, ascending.
    #[must_use]
    pub fn ids(&self) -> Vec<u32> {
        match self {
            Self::Real(rows) => rows.iter().map(|row| row.id).collect(),
            Self::Whole(rows) => rows.iter().map(|row| row.id).collect(),
        }
    }

    /// The largest column that is stored in any row.
    #[must_use]
    pub fn largest_column(&self) -> Option<u64> {
        match self {
            Self::Real(rows) => rows.iter().flat_map(|row| row.cells.iter()).map(|(column, _)| column).max(),
            Self::Whole(rows) => rows.iter().flat_map(|row| row.cells.iter()).map(|(column, _)| column).max(),
        }
    }
}
