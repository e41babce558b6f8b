//! How a value of the model lies in memory.
//!
//! A graph's values have three axes, channels last; ONNX's have any number of them, channels second. A [`Tensor`]
//! says which lies where: its `fine` sizes, in the model's order, and the `order` in which those axes follow one
//! another in memory, the outermost first. A Transpose changes names only. A Reshape changes `dims` only: the fine axes
//! stay what they were, so that a dense layer that follows can put its columns in the order of memory. What works along
//! an axis asks for [`Lowering::aligned`], whose fine axes are the model's, and moves elements only where memory has
//! them in an order that no names can say.

use super::super::error::OnnxError;
use super::super::tensor::Element;
use super::Lowering;
use crate::graph::{Op, Shape, Value};

/// A value of the graph, as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tensor {
    /// Its shape in the model, that of the whole batch.
    pub(super) dims: Vec<usize>,
    pub(super) element: Element,
    pub(super) value: Value,
    /// Sizes in the model's order, of one example; their product is the number of elements.
    pub(super) fine: Vec<usize>,
    /// The fine axes from the outermost to the innermost in memory.
    pub(super) order: Vec<usize>,
}

impl Tensor {
    /// Sizes of the fine axes as they follow one another in memory.
    pub(super) fn in_memory(&self) -> Vec<usize> {
        self.order.iter().map(|axis| self.fine[*axis]).collect()
    }

    /// For each element in memory its place in the model's order.
    pub(super) fn places(&self) -> Vec<usize> {
        let strides = strides(&self.fine);
        let mut places = vec![0];
        for axis in &self.order {
            let steps = 0..self.fine[*axis];
            let along = |place: &usize| steps.clone().map(|step| place + step * strides[*axis]).collect::<Vec<_>>();
            places = places.iter().flat_map(along).collect();
        }
        places
    }
}

/// Elements from one to the next along each axis of a row-major tensor.
pub(super) fn strides(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis] * dims[axis];
    }
    strides
}

impl Lowering<'_, '_> {
    /// The shape of one example.
    pub(super) fn of_example(&self, dims: &[usize]) -> Vec<usize> {
        let mut dims = dims.to_vec();
        if let (Some(_), Some(first)) = (self.batch, dims.first_mut()) {
            *first = 1;
        }
        dims
    }

    /// A value that lies in memory as these axes of `dims` say.
    pub(super) fn tensor(&self, value: Value, dims: Vec<usize>, order: Vec<usize>, element: Element) -> Tensor {
        Tensor { fine: self.of_example(&dims), dims, element, value, order }
    }

    /// The same value with another shape of the graph.
    pub(super) fn shaped(&mut self, value: Value, shape: Shape) -> Result<Value, OnnxError> {
        if self.shapes[value] == shape {
            return Ok(value);
        }
        // What only changed the shape before is passed over.
        let before = value.checked_sub(1).map(|node| &self.nodes[node]);
        let value = match before {
            Some(node) if matches!(node.op, Op::Reshape(_) | Op::Flatten) => node.reads[0],
            _ => value,
        };
        if self.shapes[value] == shape { Ok(value) } else { self.push("reshape", &[value], Op::Reshape(shape)) }
    }

    /// The same value with the fine axes in another order in memory.
    pub(super) fn arranged(&mut self, tensor: &Tensor, order: &[usize]) -> Result<Tensor, OnnxError> {
        let mut value = tensor.value;
        let mut now = runs(tensor, order);
        let mut wanted = now.clone();
        wanted.sort_by_key(|run| order.iter().position(|axis| *axis == run.axis));
        if now.len() <= 3 && now != wanted {
            let lead = 3 - now.len();
            let mut axes = [1; 3];
            now.iter().enumerate().for_each(|(at, run)| axes[lead + at] = run.len);
            value = self.shaped(value, Shape::of_axes(axes))?;
            let mut permutation = [0, 1, 2];
            for (at, run) in wanted.iter().enumerate() {
                permutation[lead + at] = lead + place_of(&now, run);
            }
            value = self.push("transpose", &[value], Op::Transpose(permutation))?;
            now.clone_from(&wanted);
        }
        // More than three axes change places: the last of them comes to the front first, and so on.
        for run in wanted.iter().rev() {
            let at = place_of(&now, run);
            if now == wanted || at == 0 {
                continue;
            }
            let len = |runs: &[Run]| runs.iter().map(|run| run.len).product::<usize>();
            let shape = Shape::map(len(&now[..at]), run.len, len(&now[at + 1..]));
            value = self.shaped(value, shape)?;
            value = self.push("transpose", &[value], Op::Transpose([1, 0, 2]))?;
            let run = now.remove(at);
            now.insert(0, run);
        }
        Ok(Tensor { value, order: order.to_vec(), ..tensor.clone() })
    }

    /// The same value with the model's axes as its fine ones.
    pub(super) fn aligned(&mut self, tensor: &Tensor) -> Result<Tensor, OnnxError> {
        let dims = self.of_example(&tensor.dims);
        if tensor.fine == dims {
            return Ok(tensor.clone());
        }
        let Some((tensor, owners)) = refined(tensor, &dims) else {
            // Sizes that do not divide one another: only the model's order says what is what.
            let order: Vec<usize> = (0..tensor.fine.len()).collect();
            let arranged = self.arranged(tensor, &order)?;
            return Ok(Tensor { order: (0..dims.len()).collect(), fine: dims, ..arranged });
        };
        // The parts of an axis have to lie behind one another; axes stay in the order of their first parts.
        let mut owned: Vec<usize> = tensor.order.iter().map(|part| owners[*part]).collect();
        let mut seen = std::collections::HashSet::new();
        owned.retain(|owner| seen.insert(*owner));
        let parts = |owner: &usize| {
            let owner = *owner;
            (0..owners.len()).filter(|part| owners[*part] == owner).collect::<Vec<_>>()
        };
        let order: Vec<usize> = owned.iter().flat_map(parts).collect();
        let arranged = self.arranged(&tensor, &order)?;
        // Axes of size 1 are nowhere in memory: each stands behind the one before it.
        for axis in 0..dims.len() {
            if !owned.contains(&axis) {
                let at = match axis.checked_sub(1) {
                    Some(before) => place_of(&owned, &before) + 1,
                    None => 0,
                };
                owned.insert(at, axis);
            }
        }
        Ok(Tensor { fine: dims, order: owned, ..arranged })
    }

    /// Which axis of the graph's shape is an axis of an aligned tensor, and the tensor shaped so that one is.
    pub(super) fn facing(&mut self, tensor: &Tensor, axis: usize) -> Result<(Tensor, usize), OnnxError> {
        if let Some(at) = self.place(tensor, axis) {
            return Ok((tensor.clone(), at));
        }
        let (outer, inner) = around(tensor, axis);
        let value = self.shaped(tensor.value, Shape::map(outer, tensor.fine[axis], inner))?;
        Ok((Tensor { value, ..tensor.clone() }, 1))
    }

    /// Which axis of the graph's shape is an axis of an aligned tensor; none if it is a part of one.
    pub(super) fn place(&self, tensor: &Tensor, axis: usize) -> Option<usize> {
        let axes = self.shapes[tensor.value].axes();
        let (outer, _) = around(tensor, axis);
        let is_it = |at: &usize| axes[..*at].iter().product::<usize>() == outer && axes[*at] == tensor.fine[axis];
        // Of several as good, which have size 1, the innermost: channels rather than rows.
        (0..3).rev().find(is_it)
    }

    /// An aligned tensor with this axis innermost in memory, and as the channels of its shape.
    pub(super) fn with_last(&mut self, tensor: &Tensor, axis: usize) -> Result<Tensor, OnnxError> {
        let mut order: Vec<usize> = tensor.order.iter().copied().filter(|other| *other != axis).collect();
        order.push(axis);
        let arranged = self.arranged(tensor, &order)?;
        let channels = tensor.fine[axis];
        if self.shapes[arranged.value].channels == channels {
            return Ok(arranged);
        }
        let pixels = self.shapes[arranged.value].len() / channels.max(1);
        let value = self.shaped(arranged.value, Shape::map(1, pixels, channels))?;
        Ok(Tensor { value, ..arranged })
    }
}

/// Where something stands that is known to be there.
pub(super) fn place_of<T: PartialEq>(all: &[T], one: &T) -> usize {
    let at = all.iter().position(|other| other == one);
    at.unwrap_or_else(|| unreachable!("an axis that all of its value's orders have"))
}

/// Elements outside and inside of an axis in memory.
fn around(tensor: &Tensor, axis: usize) -> (usize, usize) {
    let sizes = tensor.in_memory();
    let at = place_of(&tensor.order, &axis);
    (sizes[..at].iter().product(), sizes[at + 1..].iter().product())
}

/// Neighbouring axes that stay neighbours.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Run {
    /// The first of them.
    axis: usize,
    /// Elements of all of them.
    len: usize,
}

/// The axes of a tensor in memory, those that follow one another in `order`, too, as one; axes of size 1 left out.
fn runs(tensor: &Tensor, order: &[usize]) -> Vec<Run> {
    let is_there = |axis: &&usize| tensor.fine[**axis] != 1;
    let order: Vec<usize> = order.iter().filter(is_there).copied().collect();
    let mut runs: Vec<Run> = Vec::new();
    let mut before = None;
    for axis in tensor.order.iter().filter(is_there).copied() {
        let at = order.iter().position(|other| *other == axis);
        match runs.last_mut() {
            Some(run) if at.is_some() && at == before => run.len *= tensor.fine[axis],
            _ => runs.push(Run { axis, len: tensor.fine[axis] }),
        }
        before = at.map(|at| at + 1);
    }
    runs
}

/// A tensor whose fine axes are parts of those of `dims`, and which part belongs to which; none if sizes do not divide
/// one another.
fn refined(tensor: &Tensor, dims: &[usize]) -> Option<(Tensor, Vec<usize>)> {
    let (mut fine, mut owners) = (Vec::new(), Vec::new());
    let mut parts_of: Vec<Vec<usize>> = vec![Vec::new(); tensor.fine.len()];
    let mut left = dims.iter().enumerate().filter(|(_, size)| **size != 1);
    let mut owner = (0, 1);
    for (axis, size) in tensor.fine.iter().enumerate() {
        let mut rest = *size;
        while rest > 1 {
            if owner.1 == 1 {
                owner = left.next().map(|(axis, size)| (axis, *size))?;
            }
            let part = rest.min(owner.1);
            (part > 0 && rest.is_multiple_of(part) && owner.1.is_multiple_of(part)).then_some(())?;
            parts_of[axis].push(fine.len());
            fine.push(part);
            owners.push(owner.0);
            (rest, owner.1) = (rest / part, owner.1 / part);
        }
    }
    let order = tensor.order.iter().flat_map(|axis| parts_of[*axis].clone()).collect();
    Some((Tensor { fine, order, ..tensor.clone() }, owners))
}
