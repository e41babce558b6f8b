//! Tensors with names.

use std::collections::BTreeMap;

/// The tensors of a file by their names.
pub type Tensors = BTreeMap<String, Tensor>;

/// Numbers in rows: the last index changes fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Its dimensions; none of a single number.
    pub shape: Vec<usize>,
    /// As many values as the dimensions multiply to.
    pub values: Vec<f64>,
}

impl Tensor {
    /// Whether it is of this shape, dimensions of 1 apart, which change nothing about the order of the values.
    #[must_use]
    pub fn has_shape(&self, expected: &[usize]) -> bool {
        squeezed(&self.shape).eq(squeezed(expected))
    }

    /// `(2, 3)`, `(2,)`, `()`
    #[must_use]
    pub fn shape_text(shape: &[usize]) -> String {
        match shape {
            [len] => format!("({len},)"),
            more => format!("({})", more.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
        }
    }
}

fn squeezed(shape: &[usize]) -> impl Iterator<Item = &usize> {
    shape.iter().filter(|len| **len != 1)
}
