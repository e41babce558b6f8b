//! A tensor of a program: integers or reals in training order, before any layout.

use crate::arch::ElementType;

/// The multiplier of a tensor that has none.
pub const UNSCALED: i32 = 1;

/// A tensor in training order: element (output, input) is `values[output + outputs·input]`.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantTensor {
    /// Name, as in `weights.bin`.
    pub name: String,
    /// Stored type.
    pub element: ElementType,
    /// Multiplier; none for f32 and where units are a channel each.
    pub scale: Option<i32>,
    /// Output buckets that have rows of their own: bucket `b`'s start at `b · outputs / banks`. 1 where all share them.
    pub banks: usize,
    /// Rows, of all banks together.
    pub outputs: usize,
    /// Columns.
    pub inputs: usize,
    /// The elements.
    pub values: Values,
}

/// Elements of a tensor.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Integers of any width, within the stored type.
    Int(Vec<i32>),
    /// Reals, stored as they are.
    F32(Vec<f32>),
}

impl QuantTensor {
    /// A column that all output buckets share.
    #[must_use]
    pub const fn vector(name: String, element: ElementType, outputs: usize, values: Values) -> Self {
        Self { name, element, scale: None, banks: 1, outputs, inputs: 1, values }
    }

    /// The integers; empty for f32.
    pub fn integers(&self) -> &[i32] {
        match &self.values {
            Values::Int(values) => values,
            Values::F32(_) => &[],
        }
    }

    /// The reals as they are stored; none of integers.
    pub fn reals(&self) -> &[f32] {
        match &self.values {
            Values::F32(values) => values,
            Values::Int(_) => &[],
        }
    }

    /// The elements as they are stored, integers or reals, in training order.
    #[must_use]
    pub fn elements(&self) -> Vec<f64> {
        match &self.values {
            Values::Int(values) => values.iter().copied().map(f64::from).collect(),
            Values::F32(values) => values.iter().copied().map(f64::from).collect(),
        }
    }

    /// The rows of an output bucket.
    #[must_use]
    pub const fn bank(&self, bucket: usize) -> std::ops::Range<usize> {
        let len = self.outputs / self.banks;
        let first = if self.banks == 1 { 0 } else { bucket * len };
        first..first + len
    }

    /// The integer that stands for 1; [`UNSCALED`] where the tensor has no multiplier.
    #[must_use]
    pub fn multiplier(&self) -> i32 {
        self.scale.unwrap_or(UNSCALED)
    }

    /// The reals that the elements stand for, by the tensor's multiplier.
    pub fn to_reals(&self) -> Vec<f64> {
        let scale = f64::from(self.multiplier());
        match &self.values {
            Values::Int(values) => values.iter().map(|value| f64::from(*value) / scale).collect(),
            Values::F32(values) => values.iter().map(|value| f64::from(*value)).collect(),
        }
    }
}
