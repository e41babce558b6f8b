//! Two values element by element, with ONNX's broadcasts: shapes are laid over one another from their last axes, and
//! what has size 1 is repeated.

use super::super::error::OnnxError;
use super::super::tensor::Literal;
use super::Lowering;
use super::call::{Call, Entry};
use super::layout::Tensor;
use crate::graph::{Activation, Binary, Op, Shape};

/// The shape of two shapes laid over one another; none if they do not fit.
pub(super) fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let size = |dims: &[usize], axis: usize| (axis + dims.len()).checked_sub(rank).map_or(1, |axis| dims[axis]);
    let along = |axis| match (size(a, axis), size(b, axis)) {
        (a, b) if a == b => Some(a),
        (1, other) | (other, 1) => Some(other),
        _ => None,
    };
    (0..rank).map(along).collect()
}

/// The operation of an operator.
pub(super) fn kind(operator: &str) -> Option<Binary> {
    Some(match operator {
        "Add" | "Sum" => Binary::Add,
        "Sub" => Binary::Sub,
        "Mul" => Binary::Mul,
        "Div" => Binary::Div,
        "Max" => Binary::Max,
        "Min" => Binary::Min,
        _ => return None,
    })
}

impl Lowering<'_, '_> {
    pub(super) fn binary(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let Some(kind) = kind(call.operator()) else {
            return Err(OnnxError::Operator { node: self.place.clone(), operator: call.operator().to_owned() });
        };
        let takes_two = matches!(call.operator(), "Add" | "Sub" | "Mul" | "Div");
        if takes_two && call.inputs.len() != 2 {
            return Err(call.shapes(format!("{} inputs", call.inputs.len()), "2"));
        }
        let mut made = call.required(0)?.clone();
        for index in 1..call.inputs.len() {
            made = Entry::Made(self.combined(kind, &made, call.required(index)?)?);
        }
        match made {
            Entry::Made(tensor) => Ok(tensor),
            Entry::Known(_) => Err(call.unsupported("constants alone")),
        }
    }

    /// Two values, at least one of them computed.
    pub(super) fn combined(&mut self, kind: Binary, a: &Entry, b: &Entry) -> Result<Tensor, OnnxError> {
        let Some(dims) = broadcast(a.dims(), b.dims()) else {
            let (found, expected) = (format!("shapes {:?} and {:?}", a.dims(), b.dims()), "sizes that are equal or 1");
            return Err(OnnxError::Shapes { node: self.place.clone(), found, expected: expected.to_owned() });
        };
        let simple = match (a, b) {
            (Entry::Made(x), Entry::Known(literal)) => self.with_constant(kind, x, literal, false)?,
            (Entry::Known(literal), Entry::Made(x)) => self.with_constant(kind, x, literal, true)?,
            _ => None,
        };
        match simple {
            Some(made) => Ok(made),
            None => self.of_two(kind, a, b, dims),
        }
    }

    /// A value and a number, or a number a channel, as one operation with constants; none if it is not so simple.
    fn with_constant(
        &mut self,
        kind: Binary,
        x: &Tensor,
        literal: &Literal,
        is_first: bool,
    ) -> Result<Option<Tensor>, OnnxError> {
        if broadcast(&x.dims, &literal.dims).as_ref() != Some(&x.dims) {
            return Ok(None);
        }
        let lead = x.dims.len() - literal.dims.len();
        let varying: Vec<usize> = (0..literal.dims.len()).filter(|axis| literal.dims[*axis] != 1).collect();
        let (x, numbers) = match varying[..] {
            [] => (x.clone(), vec![literal.values[0]; self.shapes[x.value].channels]),
            [axis] => {
                self.not_batch(lead + axis)?;
                let x = self.aligned(x)?;
                if self.place(&x, lead + axis) != Some(2) {
                    return Ok(None);
                }
                (x, literal.values.clone())
            }
            _ => return Ok(None),
        };
        let each = |factor: &dyn Fn(f64) -> f64, offset: &dyn Fn(f64) -> f64| Op::PerChannel {
            factors: numbers.iter().map(|number| factor(*number)).collect(),
            offsets: numbers.iter().map(|number| offset(*number)).collect(),
        };
        let clip = |low, high| Op::Activation(Activation::Clip { low, high });
        let is_one = varying.is_empty();
        let op = match kind {
            Binary::Add => each(&|_| 1.0, &|number| number),
            Binary::Sub if is_first => each(&|_| -1.0, &|number| number),
            Binary::Sub => each(&|_| 1.0, &|number| -number),
            Binary::Mul => each(&|number| number, &|_| 0.0),
            Binary::Div if !is_first => each(&|number| 1.0 / number, &|_| 0.0),
            Binary::Max if is_one => clip(literal.values[0], f64::INFINITY),
            Binary::Min if is_one => clip(f64::NEG_INFINITY, literal.values[0]),
            _ => return Ok(None),
        };
        let value = self.push(word(kind), &[x.value], op)?;
        Ok(Some(Tensor { value, ..x }))
    }

    /// The general form: both in the same order in memory, with at most three groups of axes that are repeated alike.
    fn of_two(&mut self, kind: Binary, a: &Entry, b: &Entry, dims: Vec<usize>) -> Result<Tensor, OnnxError> {
        let rank = dims.len();
        let mut sides = [None, None];
        for (side, entry) in sides.iter_mut().zip([a, b]) {
            if let Entry::Made(tensor) = entry {
                if self.batch.is_some() && tensor.dims.len() != rank {
                    return Err(self.together());
                }
                *side = Some(self.aligned(tensor)?.with_rank(rank));
            }
        }
        let largest = sides.iter().flatten().max_by_key(|tensor| tensor.fine.iter().product::<usize>());
        let Some((order, element)) = largest.map(|tensor| (tensor.order.clone(), tensor.element)) else {
            return Err(self.together());
        };
        let mut values = Vec::with_capacity(2);
        for (side, entry) in sides.iter().zip([a, b]) {
            values.push(match (side, entry) {
                (Some(tensor), _) => self.arranged(tensor, &order)?,
                (None, Entry::Known(literal)) => {
                    let lead = vec![1; rank - literal.dims.len()];
                    let dims = [&lead[..], &literal.dims].concat();
                    if self.batch.is_some() && dims.first() != Some(&1) {
                        return Err(self.together());
                    }
                    self.constant(&Literal { dims, ..literal.as_ref().clone() }, &order)?
                }
                (None, Entry::Made(_)) => return Err(self.together()),
            });
        }
        let [a, b] = &values[..] else { return Err(self.together()) };
        let Some(shapes) = self.common_shapes(a, b) else {
            let found = format!("shapes {:?} and {:?} over one another", a.dims, b.dims);
            return Err(OnnxError::Feature { place: self.place.clone(), what: found });
        };
        let reads = [self.shaped(a.value, shapes[0])?, self.shaped(b.value, shapes[1])?];
        let op = if kind == Binary::Add && shapes[0] == shapes[1] { Op::Add } else { Op::Binary(kind) };
        let value = self.push(word(kind), &reads, op)?;
        Ok(self.tensor(value, dims, order, element))
    }

    /// Shapes of the graph in which two values fit one another: those that they have if possible.
    fn common_shapes(&self, a: &Tensor, b: &Tensor) -> Option<[Shape; 2]> {
        let (a_sizes, b_sizes) = (a.in_memory(), b.in_memory());
        let full = |sizes: &[usize], other: &[usize]| sizes.iter().zip(other).all(|(size, other)| size >= other);
        let mut candidates = Vec::new();
        if full(&a_sizes, &b_sizes) {
            candidates.extend(groups_of(self.shapes[a.value], &a_sizes));
        }
        if full(&b_sizes, &a_sizes) {
            candidates.extend(groups_of(self.shapes[b.value], &b_sizes));
        }
        candidates.extend(merged_groups(&a_sizes, &b_sizes));
        let shape = |sizes: &[usize], ends: [usize; 3]| {
            let starts = [0, ends[0], ends[1]];
            Shape::of_axes([0, 1, 2].map(|group| sizes[starts[group]..ends[group]].iter().product()))
        };
        let fits = |ends: &[usize; 3]| {
            let starts = [0, ends[0], ends[1]];
            (0..3).all(|group| {
                let (a, b) = (&a_sizes[starts[group]..ends[group]], &b_sizes[starts[group]..ends[group]]);
                a == b || a.iter().all(|size| *size == 1) || b.iter().all(|size| *size == 1)
            })
        };
        let ends = candidates.into_iter().find(fits)?;
        Some([shape(&a_sizes, ends), shape(&b_sizes, ends)])
    }

    /// A constant as a value of the graph, its axes in this order in memory.
    pub(super) fn constant(&mut self, literal: &Literal, order: &[usize]) -> Result<Tensor, OnnxError> {
        let Literal { dims, element, .. } = literal;
        let tensor =
            Tensor { dims: dims.clone(), element: *element, value: 0, fine: dims.clone(), order: order.to_vec() };
        let values: Vec<f64> = tensor.places().iter().map(|place| literal.values[*place]).collect();
        let shape = Shape::vector(values.len());
        let value = self.push("constant", &[], Op::Constant { shape, values })?;
        Ok(Tensor { value, ..tensor })
    }
}

/// Where each of the three axes of a shape ends among sizes that make it up.
fn groups_of(shape: Shape, sizes: &[usize]) -> Option<[usize; 3]> {
    let (mut ends, mut at) = ([0; 3], 0);
    for (end, axis) in ends.iter_mut().zip(shape.axes()) {
        let mut product = 1;
        while product < axis {
            product *= sizes.get(at)?;
            at += 1;
        }
        (product == axis).then_some(())?;
        *end = at;
    }
    ends[2] = sizes.len();
    sizes[at..].iter().all(|size| *size == 1).then_some(ends)
}

/// Neighbouring axes that are repeated alike as one, where there are at most three of them; the last are channels.
fn merged_groups(a: &[usize], b: &[usize]) -> Option<[usize; 3]> {
    let mut ends: Vec<usize> = Vec::new();
    let mut pattern = None;
    for (at, (a, b)) in a.iter().zip(b).enumerate() {
        let now = Some((*a == 1, *b == 1));
        if (*a, *b) == (1, 1) || now == pattern {
            if let Some(end) = ends.last_mut() {
                *end = at + 1;
            }
            continue;
        }
        pattern = now;
        ends.push(at + 1);
    }
    (ends.len() <= 3).then_some(())?;
    let lead = 3 - ends.len();
    let mut groups = [0; 3];
    groups[lead..].copy_from_slice(&ends);
    groups[2] = a.len();
    Some(groups)
}

const fn word(kind: Binary) -> &'static str {
    match kind {
        Binary::Add => "add",
        Binary::Sub => "sub",
        Binary::Mul => "mul",
        Binary::Div => "div",
        Binary::Max => "max",
        Binary::Min => "min",
    }
}
