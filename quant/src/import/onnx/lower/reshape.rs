//! What changes the shape of a value, and what gives its axes other names.

use super::super::error::OnnxError;
use super::Lowering;
use super::call::Call;
use super::layout::{Tensor, place_of};

/// The sizes that Reshape, Flatten, Squeeze or Unsqueeze makes of these.
pub(super) fn new_dims(call: &Call<'_, '_>, dims: &[usize]) -> Result<Vec<usize>, OnnxError> {
    let rank = dims.len();
    match call.operator() {
        "Flatten" => {
            let axis = call.int("axis", 1)?;
            let axis = if axis == rank as i64 { rank } else { call.axis(axis, rank)? };
            Ok(vec![dims[..axis].iter().product(), dims[axis..].iter().product()])
        }
        "Squeeze" => {
            let axes = match call.ints_or_input("axes", 1)? {
                Some(axes) => call.axes(&axes, rank)?,
                None => (0..rank).filter(|axis| dims[*axis] == 1).collect(),
            };
            if let Some(axis) = axes.iter().find(|axis| dims[**axis] != 1) {
                return Err(call.shapes(format!("axis {axis} of the size {}", dims[*axis]), "1"));
            }
            Ok((0..rank).filter(|axis| !axes.contains(axis)).map(|axis| dims[axis]).collect())
        }
        "Unsqueeze" => {
            let axes = call.ints_or_input("axes", 1)?;
            let axes = axes.ok_or_else(|| call.attribute_error("axes", "left out", "the axes to put in"))?;
            let axes = call.axes(&axes, rank + axes.len())?;
            let mut made = dims.to_vec();
            axes.iter().for_each(|axis| made.insert(*axis, 1));
            Ok(made)
        }
        _ => reshaped(call, dims),
    }
}

/// Of Reshape: 0 is the size as it was, −1 what is left.
fn reshaped(call: &Call<'_, '_>, dims: &[usize]) -> Result<Vec<usize>, OnnxError> {
    let wanted = call.required_constant(1)?.ints();
    let error = |expected: &str| call.attribute_error("the shape", format!("{wanted:?}"), expected);
    let keeps_zeros = call.int("allowzero", 0)? != 0;
    let mut open = None;
    let mut made = Vec::with_capacity(wanted.len());
    for (axis, size) in wanted.iter().enumerate() {
        made.push(match size {
            -1 if open.is_some() => return Err(error("at most one -1")),
            -1 => {
                open = Some(axis);
                1
            }
            0 if !keeps_zeros => *dims.get(axis).ok_or_else(|| error("0 only where there was an axis"))?,
            size => usize::try_from(*size).map_err(|_| error("sizes of 0 or more, or -1"))?,
        });
    }
    let count: usize = dims.iter().product();
    let others = made.iter().try_fold(1usize, |others, size| others.checked_mul(*size));
    let others = others.ok_or_else(|| error("as many elements as before"))?;
    if let Some(axis) = open {
        made[axis] = count.checked_div(others).ok_or_else(|| error("no size of 0 beside -1"))?;
    }
    if made.iter().product::<usize>() != count {
        return Err(error(&format!("{count} elements, as {dims:?} has")));
    }
    Ok(made)
}

/// The attribute `perm`, the axes backwards where there is none.
pub(super) fn permutation(call: &Call<'_, '_>, rank: usize) -> Result<Vec<usize>, OnnxError> {
    let Some(axes) = call.ints("perm")? else { return Ok((0..rank).rev().collect()) };
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..rank as i64) {
        return Err(call.attribute_error("perm", format!("{axes:?}"), &format!("each of {rank} axes once")));
    }
    Ok(axes.iter().map(|axis| *axis as usize).collect())
}

impl Lowering<'_, '_> {
    pub(super) fn reshape(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let x = call.made(0)?;
        let dims = new_dims(call, &x.dims)?;
        if self.batch.is_some() && dims.first() != x.dims.first() {
            return Err(self.together());
        }
        Ok(Tensor { dims, ..x.clone() })
    }

    pub(super) fn transpose(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let x = call.made(0)?;
        let permutation = permutation(call, x.dims.len())?;
        if self.batch.is_some() && permutation.first() != Some(&0) {
            return Err(self.together());
        }
        self.renamed(x, &permutation)
    }

    /// Axis `i` of what is made is axis `permutation[i]`; nothing moves.
    pub(super) fn renamed(&mut self, x: &Tensor, permutation: &[usize]) -> Result<Tensor, OnnxError> {
        let x = self.aligned(x)?;
        let dims = permutation.iter().map(|axis| x.dims[*axis]).collect();
        let name = |axis: &usize| place_of(permutation, axis);
        let order = x.order.iter().map(name).collect();
        Ok(self.tensor(x.value, dims, order, x.element))
    }
}
