//! Softmax along an axis, or before version 13 along all axes from one on.

use super::super::error::OnnxError;
use super::Lowering;
use super::call::Call;
use super::layout::Tensor;
use crate::graph::{Activation, Op, Shape};

impl Lowering<'_, '_> {
    pub(super) fn softmax(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let x = self.aligned(call.made(0)?)?;
        let rank = x.dims.len();
        let axis = call.axis(call.int("axis", if call.opset < 13 { 1 } else { -1 })?, rank)?;
        self.not_batch(axis)?;
        let is_in = |other: &usize| if call.opset < 13 { *other >= axis } else { *other == axis };
        let (inner, outer): (Vec<usize>, Vec<usize>) = x.order.iter().partition(|axis| is_in(axis));
        // The order within does not matter to it.
        let x = self.arranged(&x, &[&outer[..], &inner[..]].concat())?;
        let len: usize = inner.iter().map(|axis| x.fine[*axis]).product();
        let shape = self.shapes[x.value];
        let value =
            if shape.channels == len { x.value } else { self.shaped(x.value, Shape::map(1, shape.len() / len, len))? };
        let activation = if call.operator() == "Softmax" { Activation::Softmax } else { Activation::LogSoftmax };
        let value = self.push("softmax", &[value], Op::Activation(activation))?;
        Ok(Tensor { value, ..x })
    }
}
