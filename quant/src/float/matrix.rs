//! A matrix in bullet's order.

/// An (outputs, inputs) matrix, column-major: for each input the outputs in a row, so that a column of a first layer
/// is the weight row of a feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix<T> {
    /// Number of rows.
    pub outputs: usize,
    /// Number of columns.
    pub inputs: usize,
    /// Element (o, i) at `o + outputs·i`; as long as `outputs·inputs`.
    pub values: Vec<T>,
}

impl<T: Copy> Matrix<T> {
    /// A matrix of `outputs·inputs` values, or nothing if there are more or fewer.
    #[must_use]
    pub fn new(outputs: usize, inputs: usize, values: Vec<T>) -> Option<Self> {
        (outputs.checked_mul(inputs)? == values.len()).then_some(Self { outputs, inputs, values })
    }

    /// Element (`output`, `input`).
    ///
    /// # Panics
    /// If there is no such element.
    #[must_use]
    pub fn at(&self, output: usize, input: usize) -> T {
        assert!(output < self.outputs, "output {output} of a matrix with {}", self.outputs);
        self.values[output + self.outputs * input]
    }

    /// The weights from one input to every output, (outputs,).
    ///
    /// # Panics
    /// If there is no such input.
    #[must_use]
    pub fn column(&self, input: usize) -> &[T] {
        &self.values[self.outputs * input..][..self.outputs]
    }

    /// The same matrix in another type.
    #[must_use]
    pub fn map<U>(&self, function: impl FnMut(T) -> U) -> Matrix<U> {
        let values = self.values.iter().copied().map(function).collect();
        Matrix { outputs: self.outputs, inputs: self.inputs, values }
    }
}

#[cfg(test)]
mod tests {
    use super::Matrix;

    #[test]
    fn columns_are_contiguous() {
        let matrix = Matrix::new(2, 3, vec![1, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!(matrix.column(1), [3, 4]);
        assert_eq!((matrix.at(0, 2), matrix.at(1, 0)), (5, 2));
        assert_eq!(matrix.map(|value| value * 2).column(2), [10, 12]);
    }

    #[test]
    fn shapes_are_checked() {
        assert!(Matrix::new(2, 3, vec![0; 5]).is_none());
        assert!(Matrix::<u8>::new(usize::MAX, 2, vec![]).is_none());
        assert!(Matrix::<u8>::new(0, 7, vec![]).is_some());
    }
}
