//! Dense layers: products with constant matrices, whose columns follow the order of memory.

use super::super::error::OnnxError;
use super::super::tensor::Literal;
use super::Lowering;
use super::call::{Call, Entry};
use super::layout::Tensor;
use crate::float::Matrix;
use crate::graph::{Binary, Op};

impl Lowering<'_, '_> {
    /// `alpha · A · B + beta · C`, either of the first two transposed.
    pub(super) fn gemm(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let mut a = call.made(0)?.clone();
        let b = call.required_constant(1)?;
        let ([_, _], [rows, columns]) = (&a.dims[..], &b.dims[..]) else {
            return Err(call.shapes(format!("shapes {:?} and {:?}", a.dims, b.dims), "two axes each"));
        };
        let (mut rows, mut columns) = (*rows, *columns);
        if call.int("transA", 0)? != 0 {
            self.not_batch(0)?;
            a = self.renamed(&a, &[1, 0])?;
        }
        let is_transposed = call.int("transB", 0)? != 0;
        let alpha = call.float("alpha", 1.0)?;
        if is_transposed {
            (rows, columns) = (columns, rows);
        }
        let at = |k: usize, n: usize| b.values[if is_transposed { n * rows + k } else { k * columns + n }] * alpha;
        let beta = call.float("beta", 1.0)?;
        let c = call.constant(2)?.map(|c| Literal { values: c.values.iter().map(|c| beta * c).collect(), ..c.clone() });
        // One number an output, or one for all.
        let is_row =
            |c: &Literal| c.values.len() == 1 || (c.dims.last() == Some(&columns) && c.values.len() == columns);
        let bias = match &c {
            Some(c) if is_row(c) => (0..columns).map(|n| c.values[n % c.values.len()]).collect(),
            _ => vec![0.0; columns],
        };
        let product = self.dense(call, &a, (rows, columns), at, bias)?;
        match c {
            Some(c) if !is_row(&c) => {
                let made = self.combined(Binary::Add, &Entry::Made(product.clone()), &Entry::known(c))?;
                if made.dims != product.dims {
                    return Err(
                        call.shapes(format!("a sum of the shape {:?}", made.dims), format!("{:?}", product.dims))
                    );
                }
                Ok(made)
            }
            _ => Ok(product),
        }
    }

    pub(super) fn matmul(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let b = call.required_constant(1)?.clone();
        self.product(call, call.made(0)?, &b)
    }

    /// Rows of `x` times a constant matrix.
    pub(super) fn product(&mut self, call: &Call<'_, '_>, x: &Tensor, b: &Literal) -> Result<Tensor, OnnxError> {
        let Some(([rows, columns], lead)) = b.dims.split_last_chunk().map(|(lead, last)| (*last, lead)) else {
            return Err(call.unsupported("a second factor with less than two axes"));
        };
        if lead.iter().any(|size| *size != 1) || lead.len() + 2 > x.dims.len().max(2) {
            return Err(call.unsupported("a second factor of several matrices"));
        }
        let at = |k: usize, n: usize| b.values[k * columns + n];
        self.dense(call, x, (rows, columns), at, vec![0.0; columns])
    }

    /// The last axis of a value, of `rows` elements, times a matrix (rows, columns), plus a bias (columns,).
    fn dense(
        &mut self,
        call: &Call<'_, '_>,
        x: &Tensor,
        (rows, columns): (usize, usize),
        at: impl Fn(usize, usize) -> f64,
        bias: Vec<f64>,
    ) -> Result<Tensor, OnnxError> {
        if x.dims.last() != Some(&rows) || rows == 0 || columns == 0 {
            return Err(call.shapes(format!("a value of the shape {:?}", x.dims), format!("a last axis of {rows}")));
        }
        let last = x.dims.len() - 1;
        let (x, places) = if x.fine.iter().product::<usize>() == rows {
            // One row: whatever the order of its elements in memory is, the columns have the same.
            let places = x.places();
            let order = (0..x.dims.len()).collect();
            (Tensor { order, fine: self.of_example(&x.dims), ..x.clone() }, places)
        } else {
            let x = self.aligned(x)?;
            (self.with_last(&x, last)?, (0..rows).collect())
        };
        let values = places.iter().flat_map(|k| (0..columns).map(|n| at(*k, n))).collect();
        let weights = Matrix { outputs: columns, inputs: rows, values };
        let value = self.push("dense", &[x.value], Op::Linear { weights, bias })?;
        let mut dims = x.dims.clone();
        dims[last] = columns;
        Ok(self.tensor(value, dims, x.order, x.element))
    }
}
