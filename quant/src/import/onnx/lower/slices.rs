//! Parts of values, and values with more around them.

use super::super::error::OnnxError;
use super::super::tensor::MAX_LEN;
use super::Lowering;
use super::call::{Call, Entry};
use super::layout::Tensor;
use crate::graph::{Fill, Op};

/// What Slice takes along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) axis: usize,
    pub(super) start: usize,
    pub(super) size: usize,
    /// Less than 0 is backwards.
    pub(super) step: i64,
}

/// What Slice takes of a value, axis by axis.
pub(super) fn taken(call: &Call<'_, '_>, dims: &[usize]) -> Result<Vec<Taken>, OnnxError> {
    let list = |name, input| call.ints_or_input(name, input);
    let missing = |name: &str| call.attribute_error(name, "left out", "a list");
    let starts = list("starts", 1)?.ok_or_else(|| missing("starts"))?;
    let ends = list("ends", 2)?.ok_or_else(|| missing("ends"))?;
    let axes = list("axes", 3)?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = list("steps", 4)?.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err(call.attribute_error("ends, axes or steps", "of other lengths", "as many as starts"));
    }
    call.axes(&axes, dims.len())?;
    let mut made = Vec::with_capacity(starts.len());
    for index in 0..starts.len() {
        let axis = call.axis(axes[index], dims.len())?;
        let (len, step) = (dims[axis] as i64, steps[index]);
        let from_end = |at: i64| if at < 0 { at.saturating_add(len) } else { at };
        let (first, last, reach) = match step {
            0 => return Err(call.attribute_error("steps", "0", "any other")),
            1.. => {
                let (first, last) = (from_end(starts[index]).clamp(0, len), from_end(ends[index]).clamp(0, len));
                (first, last, last.saturating_sub(first))
            }
            _ => {
                let first = from_end(starts[index]).clamp(0, (len - 1).max(0));
                let last = from_end(ends[index]).clamp(-1, len - 1);
                (first, last, first.saturating_sub(last))
            }
        };
        let size = if reach <= 0 || (step > 0 && first > last) {
            0
        } else {
            reach.unsigned_abs().div_ceil(step.unsigned_abs())
        };
        made.push(Taken { axis, start: first as usize, size: size as usize, step });
    }
    Ok(made)
}

impl Lowering<'_, '_> {
    pub(super) fn slice(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let mut x = self.aligned(call.made(0)?)?;
        for taken in taken(call, &x.dims)? {
            if taken.size == x.dims[taken.axis] && taken.step == 1 {
                continue;
            }
            self.not_batch(taken.axis)?;
            if taken.size == 0 {
                return Err(call.shapes(format!("nothing of axis {}", taken.axis), "1 element or more"));
            }
            if taken.step < 0 {
                return Err(call.unsupported("a negative step"));
            }
            x = self.part(&x, taken.axis, taken.start, taken.size, taken.step as usize)?;
        }
        Ok(x)
    }

    /// Elements of an aligned value along an axis.
    pub(super) fn part(
        &mut self,
        x: &Tensor,
        axis: usize,
        first: usize,
        count: usize,
        by: usize,
    ) -> Result<Tensor, OnnxError> {
        let (x, at) = self.facing(x, axis)?;
        let (mut start, mut size, mut step) = ([0; 3], self.shapes[x.value].axes(), [1; 3]);
        (start[at], size[at], step[at]) = (first, count, by);
        let value = self.push("slice", &[x.value], Op::Slice { start, size, step })?;
        let mut dims = x.dims.clone();
        dims[axis] = count;
        Ok(self.tensor(value, dims, x.order, x.element))
    }

    pub(super) fn split(&mut self, call: &Call<'_, '_>) -> Result<Vec<Entry>, OnnxError> {
        let x = self.aligned(call.made(0)?)?;
        let axis = call.axis(call.int("axis", 0)?, x.dims.len())?;
        self.not_batch(axis)?;
        let (len, outputs) = (x.dims[axis], call.node.outputs.len());
        let sizes = match call.ints_or_input("split", 1)? {
            Some(sizes) => sizes,
            None => {
                // Equal parts, the last one smaller where they do not come out.
                let part = len.div_ceil(outputs);
                (0..outputs).map(|index| (len - (part * index).min(len)).min(part) as i64).collect()
            }
        };
        let fits = sizes.len() == outputs && sizes.iter().all(|size| (1..=len as i64).contains(size));
        if !fits || sizes.iter().sum::<i64>() != len as i64 {
            return Err(call.attribute_error("split", format!("{sizes:?}"), &format!("{outputs} parts of {len}")));
        }
        let mut start = 0;
        let mut made = Vec::with_capacity(outputs);
        for size in sizes {
            let size = size as usize;
            made.push(Entry::Made(self.part(&x, axis, start, size, 1)?));
            start += size;
        }
        Ok(made)
    }

    pub(super) fn pad(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let x = self.aligned(call.made(0)?)?;
        let rank = x.dims.len();
        let value = match call.scalar(2)? {
            Some(value) => value,
            None => call.float("value", 0.0)?,
        };
        let fill = match call.text("mode", "constant")?.as_str() {
            "constant" => Fill::Value(value),
            "reflect" => Fill::Reflect,
            "edge" => Fill::Edge,
            other => return Err(call.unsupported(format!("the mode {}", other.escape_debug()))),
        };
        let axes = match call.constant(3)? {
            Some(axes) => axes.ints().iter().map(|axis| call.axis(*axis, rank)).collect::<Result<Vec<_>, _>>()?,
            None => (0..rank).collect(),
        };
        let pads = call.ints_or_input("pads", 1)?;
        let pads = pads.ok_or_else(|| call.attribute_error("pads", "left out", "a list"))?;
        let most = MAX_LEN as i64;
        if pads.len() != 2 * axes.len() || pads.iter().any(|pad| !(-most..=most).contains(pad)) {
            let expected = format!("{} integers", 2 * axes.len());
            return Err(call.attribute_error("pads", format!("{pads:?}"), &expected));
        }
        if pads.iter().any(|pad| *pad < 0) {
            return Err(call.unsupported("negative padding"));
        }
        let along = |(index, axis): (usize, &usize)| (*axis, pads[index] as usize, pads[axes.len() + index] as usize);
        let wanted: Vec<_> =
            axes.iter().enumerate().map(along).filter(|(_, before, after)| before + after > 0).collect();
        wanted.iter().try_for_each(|(axis, ..)| self.not_batch(*axis))?;
        // In one node where each axis is one of the graph's.
        let places: Option<Vec<usize>> = wanted.iter().map(|(axis, ..)| self.place(&x, *axis)).collect();
        let is_apart = |places: &Vec<usize>| (1..places.len()).all(|at| !places[..at].contains(&places[at]));
        let groups: Vec<Vec<(usize, usize, usize)>> = match places.filter(is_apart) {
            Some(_) if !wanted.is_empty() => vec![wanted],
            _ => wanted.into_iter().map(|one| vec![one]).collect(),
        };
        let mut x = x;
        for group in groups {
            let (mut before, mut after, mut dims) = ([0; 3], [0; 3], x.dims.clone());
            for (axis, first, last) in group {
                let (shaped, at) = self.facing(&x, axis)?;
                x = shaped;
                (before[at], after[at]) = (first, last);
                dims[axis] += first + last;
            }
            let value = self.push("pad", &[x.value], Op::Pad { before, after, fill })?;
            x = self.tensor(value, dims, x.order, x.element);
        }
        Ok(x)
    }
}
