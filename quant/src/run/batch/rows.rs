//! What goes into a batch and comes out of it, as arrays.

use super::BatchError;

/// (n, columns), a row behind the other. Reals are real numbers; bytes of the input's own type are its integers, of the
/// other type real numbers.
#[derive(Debug, Clone, Copy)]
pub enum Rows<'r> {
    /// Real numbers.
    F32(&'r [f32]),
    /// Real numbers.
    F64(&'r [f64]),
    /// Bytes.
    U8(&'r [u8]),
    /// Bytes.
    I8(&'r [i8]),
}

/// Active features, a row behind the other: those of row `i` are `features[offsets[i]..offsets[i + 1]]`.
#[derive(Debug, Clone, Copy)]
pub struct SparseRows<'r> {
    /// (n + 1,) Ascending; the first is 0, the last the number of features.
    pub offsets: &'r [usize],
    /// Ascending within a row.
    pub features: &'r [u32],
    /// As many, or none, where every feature has the value 1.
    pub values: Option<&'r [f64]>,
}

/// Outputs of positions, (n, outputs).
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Of an integer head whose unit is 1.
    I32(Vec<i32>),
    /// All others.
    F64(Vec<f64>),
}

impl Rows<'_> {
    pub(super) const fn len(&self) -> usize {
        match self {
            Self::F32(x) => x.len(),
            Self::F64(x) => x.len(),
            Self::U8(x) => x.len(),
            Self::I8(x) => x.len(),
        }
    }

    /// `to(x)` of a row's numbers, which have to be finite.
    pub(super) fn each<T>(
        &self,
        range: std::ops::Range<usize>,
        row: usize,
        to: &mut [T],
        store: impl Fn(f64) -> T,
    ) -> Result<(), BatchError> {
        fn all<S: Copy + Into<f64>, T>(
            from: &[S],
            row: usize,
            to: &mut [T],
            store: impl Fn(f64) -> T,
        ) -> Result<(), BatchError> {
            // All are looked at before any is stored, so that several are at once.
            if !from.iter().fold(true, |finite, x| finite & (*x).into().is_finite()) {
                return Err(not_finite(from, row));
            }
            to.iter_mut().zip(from).for_each(|(to, x)| *to = store((*x).into()));
            Ok(())
        }
        match self {
            Self::F32(x) => all(&x[range], row, to, store),
            Self::F64(x) => all(&x[range], row, to, store),
            Self::U8(x) => all(&x[range], row, to, store),
            Self::I8(x) => all(&x[range], row, to, store),
        }
    }
}

/// The refusal of a row with a number that is not finite.
pub(super) fn not_finite<S: Copy + Into<f64>>(from: &[S], row: usize) -> BatchError {
    let column = from.iter().position(|x| !(*x).into().is_finite());
    let column = column.unwrap_or_else(|| unreachable!("one of them is not finite"));
    BatchError::NotFinite { row, column, value: from[column].into() }
}
