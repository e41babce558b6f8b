//! Values one behind the other along an axis.

use super::super::error::OnnxError;
use super::Lowering;
use super::call::{Call, Entry};
use super::layout::Tensor;
use crate::graph::{Axis, Op, Shape};

impl Lowering<'_, '_> {
    pub(super) fn concat(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let entries: Vec<&Entry> =
            (0..call.inputs.len()).map(|index| call.required(index)).collect::<Result<_, _>>()?;
        let Some(Entry::Made(model)) = entries.iter().find(|entry| matches!(entry, Entry::Made(_))) else {
            return Err(call.unsupported("constants alone"));
        };
        let model = self.aligned(model)?;
        let rank = model.dims.len();
        let axis = call.axis(call.int("axis", i64::MAX)?, rank)?;
        self.not_batch(axis)?;
        let mut dims = model.dims.clone();
        dims[axis] = 0;
        let mut parts = Vec::with_capacity(entries.len());
        for entry in entries {
            let found = entry.dims();
            let alike = |other: usize| other == axis || found[other] == model.dims[other];
            if found.len() != rank || !(0..rank).all(alike) {
                let expected = format!("{:?} along the other axes", model.dims);
                return Err(call.shapes(format!("a value of the shape {found:?}"), expected));
            }
            dims[axis] += found[axis];
            if found[axis] == 0 {
                continue;
            }
            parts.push(match entry {
                Entry::Made(tensor) => {
                    let tensor = self.aligned(tensor)?;
                    self.arranged(&tensor, &model.order)?
                }
                Entry::Known(_) if self.batch.is_some() => return Err(self.together()),
                Entry::Known(literal) => self.constant(literal, &model.order)?,
            });
        }
        if let [only] = &parts[..] {
            return Ok(only.clone());
        }
        let (first, at) = self.facing(&parts[0], axis)?;
        let shape = self.shapes[first.value];
        let mut values = Vec::with_capacity(parts.len());
        for part in &parts {
            let mut axes = shape.axes();
            axes[at] = part.fine[axis];
            values.push(self.shaped(part.value, Shape::of_axes(axes))?);
        }
        let along = [Axis::Height, Axis::Width, Axis::Channels][at];
        let value = self.push("concat", &values, Op::Concat { axis: along })?;
        Ok(self.tensor(value, dims, model.order, model.element))
    }
}

impl Tensor {
    /// The same with axes of size 1 before its own, of an aligned tensor.
    pub(super) fn with_rank(&self, rank: usize) -> Self {
        let more = rank - self.dims.len();
        let before = |sizes: &[usize]| [&vec![1; more][..], sizes].concat();
        let order = (0..more).chain(self.order.iter().map(|axis| axis + more)).collect();
        Self { dims: before(&self.dims), fine: before(&self.fine), order, ..self.clone() }
    }
}
