//! What the elements of a value can be.

use crate::program::{Element, ProgramInput};

/// Least and greatest of each element, or of all alike. Of reals it says nothing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Span {
    /// All elements.
    All((i64, i64)),
    /// (len,)
    Each(Vec<(i64, i64)>),
}

impl Span {
    /// Everything that an input's element holds: a caller may hand in any of it.
    pub(crate) fn of_input(input: &ProgramInput) -> Self {
        match input {
            ProgramInput::Dense { element, .. } => Self::of_element(*element),
            ProgramInput::Sparse { unit: Some(_), .. } => Self::of_element(Element::I16),
            ProgramInput::Sparse { unit: None, .. } => Self::All((0, 1)),
        }
    }

    /// Everything that an element holds.
    pub(crate) fn of_element(element: Element) -> Self {
        let (low, high) = element.range();
        Self::All((low.into(), high.into()))
    }

    /// Of one element.
    pub(crate) fn at(&self, element: usize) -> (i64, i64) {
        match self {
            Self::All(ends) => *ends,
            Self::Each(each) => each.get(element).copied().unwrap_or((0, 0)),
        }
    }

    /// Of `len` elements, one each.
    pub(crate) fn each(&self, len: usize) -> Vec<(i64, i64)> {
        (0..len).map(|element| self.at(element)).collect()
    }

    /// The largest magnitude of all elements.
    pub(crate) fn magnitude(&self) -> i64 {
        let of = |(low, high): &(i64, i64)| low.saturating_abs().max(high.saturating_abs());
        match self {
            Self::All(ends) => of(ends),
            Self::Each(each) => each.iter().map(of).max().unwrap_or(0),
        }
    }

    /// The least and the greatest of all elements.
    pub(crate) fn hull(&self) -> (i64, i64) {
        match self {
            Self::All(ends) => *ends,
            Self::Each(each) => {
                let join = |a: (i64, i64), b: (i64, i64)| (a.0.min(b.0), a.1.max(b.1));
                each.iter().copied().reduce(join).unwrap_or((0, 0))
            }
        }
    }
}
