//! What the elements of a value can be.

use crate::program::{Element, Program, ProgramInput};

/// Least and greatest of each element, or of all alike. Of reals it says nothing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Span {
    /// All elements.
    All((i64, i64)),
    /// (channels,): of vectors all elements.
    Each(Vec<(i64, i64)>),
}

impl Span {
    /// What value 0 can be: of a vector everything that its element holds, since a caller may hand in any of it; of
    /// accumulators their `ranges`, one perspective's, for each perspective, and all of i16 where they can wrap.
    pub(crate) fn of_program(program: &Program, ranges: &[(i64, i64)]) -> Self {
        let ProgramInput::Features { perspectives, .. } = program.input else { return Self::of_input(&program.input) };
        let all = (i64::from(i16::MIN), i64::from(i16::MAX));
        let of = |ends: &(i64, i64)| if ends.0 >= all.0 && ends.1 <= all.1 { *ends } else { all };
        Self::Each(ranges.iter().map(of).collect::<Vec<_>>().repeat(perspectives))
    }

    /// Of a vector, or of a list's values.
    pub(crate) fn of_input(input: &ProgramInput) -> Self {
        match input {
            ProgramInput::Features { .. } => unreachable!("accumulators have ranges of their own"),
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
            // A channel each, pixel after pixel.
            Self::Each(each) => each[element % each.len()],
        }
    }

    /// How many elements it speaks of one by one; 0 where of all alike.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::All(_) => 0,
            Self::Each(each) => each.len(),
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
            Self::Each(each) => each.iter().map(of).max().unwrap_or_else(|| unreachable!("a value has elements")),
        }
    }

    /// The least and the greatest of all elements.
    pub(crate) fn hull(&self) -> (i64, i64) {
        match self {
            Self::All(ends) => *ends,
            Self::Each(each) => {
                let join = |a: (i64, i64), b: (i64, i64)| (a.0.min(b.0), a.1.max(b.1));
                each.iter().copied().reduce(join).unwrap_or_else(|| unreachable!("a value has elements"))
            }
        }
    }
}
