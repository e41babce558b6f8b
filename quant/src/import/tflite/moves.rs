//! Operators that move numbers about: what they come to on values of height, width and channels.
//!
//! A tensor's last dimensions are height, width and channels, and those before them are 1: the batch, which is left
//! out. So dimensions that are repeated in one tensor are repeated in its value, and the order of the numbers stays.

use super::error::TfliteError;
use super::operators::Known;
use super::types::{Model, Operator, Options};
use crate::spatial::{Axis, Move, Shape};

/// What an operator comes to: inputs are given a shape, laid one behind the other, and go through steps, of which
/// there is a list for each output.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Movement {
    /// Numbers of tensors.
    pub(super) inputs: Vec<usize>,
    /// The shape of all of them before they are joined, where it is another.
    pub(super) each: Option<Shape>,
    /// Along which axis.
    pub(super) join: Option<Axis>,
    /// By output.
    pub(super) outputs: Vec<Vec<Move>>,
}

/// An axis of so many, which may be counted from behind.
pub(super) fn axis_of(axis: i64, rank: usize) -> Option<usize> {
    let rank_ = i64::try_from(rank).ok()?;
    usize::try_from(if axis < 0 { axis + rank_ } else { axis }).ok().filter(|axis| *axis < rank)
}

impl Model<'_> {
    /// Height, width and channels of a tensor.
    pub(super) fn shape(&self, tensor: usize) -> Result<Shape, TfliteError> {
        let dims = &self.tensors[tensor].dims;
        let (front, back) = dims.split_at(dims.len().saturating_sub(3));
        if front.iter().any(|dim| *dim != 1) {
            let what = format!("the shape {dims:?}, a batch or more than three dimensions,");
            return Err(TfliteError::unsupported(self.place(tensor), what, "convert with a batch of 1"));
        }
        let mut axes = [1; 3];
        axes[3 - back.len()..].copy_from_slice(back);
        Ok(Shape::of_axes(axes))
    }

    /// The tensor that an operator reads there.
    pub(super) fn operand(&self, operator: &Operator, index: usize) -> Result<usize, TfliteError> {
        let found = operator.inputs.get(index).copied().flatten();
        found.ok_or_else(|| TfliteError::malformed(&*operator.place, "an input", "absent", "a tensor"))
    }

    /// Whole numbers that an operator reads there, which have to be constants.
    pub(super) fn numbers(&self, operator: &Operator, index: usize) -> Result<Vec<i64>, TfliteError> {
        let tensor = self.operand(operator, index)?;
        let numbers = self.tensors[tensor].integers();
        numbers.ok_or_else(|| {
            let what = format!("{} as anything but a constant of int32", self.place(tensor));
            TfliteError::unsupported(&*operator.place, what, "convert with fixed shapes")
        })
    }

    /// What an operator that only moves numbers comes to; none of any other.
    pub(super) fn movement(&self, operator: &Operator, known: Known) -> Result<Option<Movement>, TfliteError> {
        let outputs = |outputs: Vec<Vec<Move>>, input: usize| {
            Ok(Some(Movement { inputs: vec![self.operand(operator, input)?], each: None, join: None, outputs }))
        };
        match known {
            Known::Reshape | Known::Squeeze | Known::ExpandDims => outputs(vec![self.reshape(operator, 0)?], 0),
            Known::Transpose => outputs(vec![self.transpose(operator)?], 0),
            Known::Pad | Known::PadV2 | Known::MirrorPad => outputs(vec![self.pad(operator)?], 0),
            Known::Slice => outputs(vec![self.slice(operator)?], 0),
            Known::StridedSlice => outputs(vec![self.strided(operator)?], 0),
            Known::Split => outputs(self.split(operator, 1, 0, None)?, 1),
            Known::SplitV => outputs(self.split(operator, 0, 2, Some(1))?, 0),
            Known::Unpack => outputs(self.unpack(operator)?, 0),
            Known::Concatenation => {
                let inputs = (0..operator.inputs.len()).map(|index| self.operand(operator, index));
                let inputs = inputs.collect::<Result<Vec<usize>, _>>()?;
                let rank = self.tensors[inputs[0]].dims.len();
                let axis = self.option_axis(operator, rank)?;
                let join = Some(self.graph_axis(operator, axis, rank)?);
                Ok(Some(Movement { inputs, each: None, join, outputs: vec![Vec::new()] }))
            }
            Known::Pack => self.pack(operator).map(Some),
            _ => Ok(None),
        }
    }

    fn no(
        &self,
        operator: &Operator,
        what: &'static str,
        found: impl ToString,
        expected: impl ToString,
    ) -> TfliteError {
        TfliteError::malformed(&*operator.place, what, found, expected)
    }

    fn option_axis(&self, operator: &Operator, rank: usize) -> Result<usize, TfliteError> {
        let axis = if let Options::Axis { axis, .. } = operator.options { axis } else { 0 };
        let found = axis_of(axis.into(), rank);
        found.ok_or_else(|| self.no(operator, "its axis", axis, format!("one of {rank} axes")))
    }

    /// The axis of a value that an axis of a tensor is.
    fn graph_axis(&self, operator: &Operator, axis: usize, rank: usize) -> Result<Axis, TfliteError> {
        match (axis + 3).checked_sub(rank) {
            Some(0) => Ok(Axis::Height),
            Some(1) => Ok(Axis::Width),
            Some(2) => Ok(Axis::Channels),
            _ => Err(TfliteError::unsupported(&*operator.place, "an operation along the batch", "")),
        }
    }

    fn reshape(&self, operator: &Operator, input: usize) -> Result<Vec<Move>, TfliteError> {
        let (from, to) = (self.operand(operator, input)?, operator.outputs[0]);
        let (from, made) = (self.tensors[from].len(), self.tensors[to].len());
        if from != made {
            return Err(self.no(
                operator,
                "the number of elements that it makes",
                made,
                format!("{from}, as it reads"),
            ));
        }
        Ok(vec![Move::Reshape(self.shape(to)?)])
    }

    /// Dimensions of 1 may go anywhere; the others have to be three at most.
    fn transpose(&self, operator: &Operator) -> Result<Vec<Move>, TfliteError> {
        let (from, to) = (self.operand(operator, 0)?, operator.outputs[0]);
        let dims = &self.tensors[from].dims;
        let numbers = self.numbers(operator, 1)?;
        let order: Option<Vec<usize>> = numbers.iter().map(|axis| axis_of(*axis, dims.len())).collect();
        let is_order = |order: &Vec<usize>| (0..dims.len()).all(|axis| order.contains(&axis));
        let order = order.filter(|order| order.len() == dims.len()).filter(is_order);
        let order = order.ok_or_else(|| self.no(operator, "its order", format!("{numbers:?}"), "each axis once"))?;
        let made: Vec<usize> = order.iter().map(|axis| dims[*axis]).collect();
        if made != self.tensors[to].dims {
            let found = self.tensors[to].shape();
            return Err(self.no(operator, "the shape of what it makes", found, format!("{made:?}")));
        }
        let front = dims.len().saturating_sub(3);
        if front + 3 == dims.len() && order[..front].iter().enumerate().all(|(axis, from)| axis == *from) {
            let order = [0, 1, 2].map(|axis| order[front + axis] - front);
            return Ok(vec![Move::Transpose(order)]);
        }
        let long: Vec<usize> = (0..dims.len()).filter(|axis| dims[*axis] > 1).collect();
        let order: Vec<usize> = order.iter().filter_map(|axis| long.iter().position(|long| long == axis)).collect();
        let made = Move::Reshape(self.shape(to)?);
        if order.is_sorted() {
            return Ok(vec![made]);
        }
        if long.len() > 3 {
            let what = "another order of more than three dimensions";
            return Err(TfliteError::unsupported(&*operator.place, what, "convert with a batch of 1"));
        }
        let (mut axes, mut whole) = ([1; 3], [0, 1, 2]);
        let front = 3 - long.len();
        for (at, axis) in long.iter().enumerate() {
            axes[front + at] = dims[*axis];
            whole[front + at] = front + order[at];
        }
        Ok(vec![Move::Reshape(Shape::of_axes(axes)), Move::Transpose(whole), made])
    }

    fn pad(&self, operator: &Operator) -> Result<Vec<Move>, TfliteError> {
        if operator.options == (Options::Mirror { symmetric: true }) {
            let instead = "REFLECT is";
            return Err(TfliteError::unsupported(&*operator.place, "padding by SYMMETRIC mirroring", instead));
        }
        let rank = self.tensors[self.operand(operator, 0)?].dims.len();
        let numbers = self.numbers(operator, 1)?;
        let counts: Option<Vec<usize>> =
            numbers.iter().map(|count| usize::try_from(*count).ok().filter(|count| *count <= 1 << 20)).collect();
        let counts = counts.filter(|counts| counts.len() == 2 * rank);
        let counts = counts.ok_or_else(|| {
            self.no(operator, "its padding", format!("{numbers:?}"), format!("two counts for each of {rank} axes"))
        })?;
        let (mut before, mut after) = ([0; 3], [0; 3]);
        for (axis, pair) in counts.chunks_exact(2).enumerate() {
            if pair != [0, 0] {
                let axis = self.graph_axis(operator, axis, rank)?.index();
                (before[axis], after[axis]) = (pair[0], pair[1]);
            }
        }
        Ok(vec![Move::Pad { before, after }])
    }

    /// Elements of each axis of a tensor as a slice of its value, and the output's shape where axes go.
    fn cut(&self, operator: &Operator, from: usize, cuts: &[[usize; 3]], to: usize) -> Result<Vec<Move>, TfliteError> {
        let dims = &self.tensors[from].dims;
        let shape = self.shape(from)?;
        let (mut start, mut size, mut step) = ([0; 3], shape.axes(), [1; 3]);
        for (axis, cut) in cuts.iter().enumerate() {
            if *cut != [0, dims[axis], 1] {
                let axis = self.graph_axis(operator, axis, dims.len())?.index();
                [start[axis], size[axis], step[axis]] = *cut;
            }
        }
        let mut steps = vec![Move::Slice { start, size, step }];
        let (made, cut) = (self.shape(to)?, Shape::of_axes(size));
        if made.len() != cut.len() {
            return Err(self.no(operator, "the shape of what it makes", made, cut));
        }
        if made != cut {
            steps.push(Move::Reshape(made));
        }
        Ok(steps)
    }

    fn slice(&self, operator: &Operator) -> Result<Vec<Move>, TfliteError> {
        let from = self.operand(operator, 0)?;
        let dims = &self.tensors[from].dims;
        let (starts, sizes) = (self.numbers(operator, 1)?, self.numbers(operator, 2)?);
        let cut = |(axis, len): (usize, &usize)| {
            let start = usize::try_from(*starts.get(axis)?).ok()?;
            let left = len.checked_sub(start)?;
            let size = match *sizes.get(axis)? {
                -1 => left,
                size => usize::try_from(size).ok()?,
            };
            (1..=left).contains(&size).then_some([start, size, 1])
        };
        let cuts: Option<Vec<[usize; 3]>> = dims.iter().enumerate().map(cut).collect();
        let cuts = cuts.ok_or_else(|| {
            let found = format!("from {starts:?}, {sizes:?} elements");
            self.no(operator, "its part", found, format!("one of the shape {dims:?}"))
        })?;
        self.cut(operator, from, &cuts, operator.outputs[0])
    }

    fn strided(&self, operator: &Operator) -> Result<Vec<Move>, TfliteError> {
        let Options::Strided { begin, end, ellipsis, new_axis, shrink, offset } = operator.options else {
            return Err(self.no(operator, "its options", "none", "masks"));
        };
        if ellipsis != 0 || new_axis != 0 {
            return Err(TfliteError::unsupported(&*operator.place, "a slice with an ellipsis or a new axis", ""));
        }
        let from = self.operand(operator, 0)?;
        let dims = &self.tensors[from].dims;
        let [begins, ends, steps] =
            [self.numbers(operator, 1)?, self.numbers(operator, 2)?, self.numbers(operator, 3)?];
        if steps.iter().any(|step| *step < 0) {
            return Err(TfliteError::unsupported(&*operator.place, "a slice that goes backwards", ""));
        }
        let cut = |(axis, len): (usize, &usize)| {
            let len = i64::try_from(*len).ok()?;
            let has = |mask: i32| mask >> axis & 1 == 1;
            // Axes behind those that the slice names are whole.
            let Some(((given, end_given), step)) = begins.get(axis).zip(ends.get(axis)).zip(steps.get(axis)) else {
                return Some([0, usize::try_from(len).ok()?, 1]);
            };
            let inside = |at: i64| if at < 0 { at.saturating_add(len) } else { at }.clamp(0, len);
            let start = if has(begin) { 0 } else { inside(*given) };
            let stop = match (has(end), offset) {
                (true, _) => len,
                (false, true) => start.saturating_add(*end_given).clamp(0, len),
                (false, false) => inside(*end_given),
            };
            let (stop, step) = if has(shrink) { (start + 1, 1) } else { (stop, (*step).max(1)) };
            let size = (stop.min(len) - start).saturating_add(step - 1) / step;
            let size = usize::try_from(size).ok().filter(|size| *size > 0)?;
            Some([usize::try_from(start).ok()?, size, usize::try_from(step).ok()?])
        };
        let cuts: Option<Vec<[usize; 3]>> = dims.iter().enumerate().map(cut).collect();
        let cuts = cuts.ok_or_else(|| {
            let found = format!("from {begins:?} to {ends:?} by {steps:?}");
            self.no(operator, "its part", found, format!("one of the shape {dims:?}"))
        })?;
        self.cut(operator, from, &cuts, operator.outputs[0])
    }

    fn split(
        &self,
        operator: &Operator,
        value: usize,
        axis: usize,
        sizes: Option<usize>,
    ) -> Result<Vec<Vec<Move>>, TfliteError> {
        let (from, numbers) = (self.operand(operator, value)?, self.numbers(operator, axis)?);
        let dims = &self.tensors[from].dims;
        let axis = numbers.first().and_then(|axis| axis_of(*axis, dims.len()));
        let axis = axis.ok_or_else(|| self.no(operator, "its axis", format!("{numbers:?}"), "one of its input's"))?;
        let (len, parts) = (dims[axis], operator.outputs.len());
        let sizes = match sizes {
            Some(index) => self.numbers(operator, index)?,
            None => vec![i64::try_from(len / parts).unwrap_or(i64::MAX); parts],
        };
        // At most one size is left open.
        let known: i64 = sizes.iter().filter(|size| **size >= 0).fold(0, |sum, size| sum.saturating_add(*size));
        let open = i64::try_from(len).unwrap_or(i64::MAX).saturating_sub(known);
        let sizes: Vec<usize> =
            sizes.iter().filter_map(|size| usize::try_from(if *size < 0 { open } else { *size }).ok()).collect();
        let total = sizes.iter().fold(0usize, |sum, size| sum.saturating_add(*size));
        if sizes.len() != parts || total != len || sizes.contains(&0) {
            let expected = format!("{parts} sizes that make {len}");
            return Err(self.no(operator, "its parts", format!("{sizes:?}"), expected));
        }
        let mut start = 0;
        let part = |(size, to): (&usize, &usize)| {
            let mut cuts: Vec<[usize; 3]> = dims.iter().map(|len| [0, *len, 1]).collect();
            cuts[axis] = [start, *size, 1];
            start += size;
            self.cut(operator, from, &cuts, *to)
        };
        sizes.iter().zip(&operator.outputs).map(part).collect()
    }

    fn unpack(&self, operator: &Operator) -> Result<Vec<Vec<Move>>, TfliteError> {
        let from = self.operand(operator, 0)?;
        let dims = &self.tensors[from].dims;
        let axis = self.option_axis(operator, dims.len())?;
        if dims[axis] != operator.outputs.len() {
            return Err(self.no(operator, "the number of its outputs", operator.outputs.len(), dims[axis]));
        }
        let part = |(start, to): (usize, &usize)| {
            let mut cuts: Vec<[usize; 3]> = dims.iter().map(|len| [0, *len, 1]).collect();
            cuts[axis] = [start, 1, 1];
            self.cut(operator, from, &cuts, *to)
        };
        operator.outputs.iter().enumerate().map(part).collect()
    }

    fn pack(&self, operator: &Operator) -> Result<Movement, TfliteError> {
        let inputs = (0..operator.inputs.len()).map(|index| self.operand(operator, index));
        let inputs = inputs.collect::<Result<Vec<usize>, _>>()?;
        let made = &self.tensors[operator.outputs[0]].dims;
        let axis = self.option_axis(operator, made.len())?;
        let mut each = made.clone();
        each[axis] = 1;
        let fits = |input: &usize| {
            let dims = &self.tensors[*input].dims;
            dims.len() + 1 == each.len() && dims[..axis] == each[..axis] && dims[axis..] == each[axis + 1..]
        };
        if made[axis] != inputs.len() || !inputs.iter().all(fits) {
            let expected = format!("{} inputs along axis {axis}", inputs.len());
            return Err(self.no(operator, "the shape of what it makes", format!("{made:?}"), expected));
        }
        let join = (inputs.len() > 1).then(|| self.graph_axis(operator, axis, made.len())).transpose()?;
        let mut shape = self.shape(operator.outputs[0])?.axes();
        if let Some(join) = join {
            shape[join.index()] = 1;
        }
        Ok(Movement { inputs, each: Some(Shape::of_axes(shape)), join, outputs: vec![Vec::new()] })
    }
}
