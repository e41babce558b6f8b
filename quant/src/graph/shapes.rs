//! What shape a node makes of what it reads.

use super::node::{Fill, Graph, Input, Node, Op};
use crate::spatial::Shape;

/// Whether a graph's numbers are there, or only its sizes: a description says sizes that nobody has yet sent numbers
/// for, and a check of it takes no memory for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Each vector is as long as it has to be.
    There,
    /// All of them are empty.
    Absent,
}

impl Numbers {
    /// Whether a vector of them is as long as it has to be.
    pub(crate) fn fit(self, found: usize, expected: usize) -> bool {
        self == Self::Absent || found == expected
    }
}

/// A value whose node does not fit what it reads.
const NOTHING: Shape = Shape::map(0, 0, 0);

impl Graph {
    /// The shape of every value, by its number; a sparse input is a vector of its features. A value whose node does
    /// not fit what it reads, which no checked graph has, has no elements.
    #[must_use]
    pub fn shapes(&self) -> Vec<Shape> {
        self.shapes_with(Numbers::There)
    }

    pub(crate) fn shapes_with(&self, numbers: Numbers) -> Vec<Shape> {
        let input = match self.input {
            Input::Dense { shape } => shape,
            Input::Sparse { features, .. } => Shape::vector(features),
        };
        let mut shapes = vec![input];
        for node in &self.nodes {
            let reads: Option<Vec<Shape>> = node.reads.iter().map(|read| shapes.get(*read).copied()).collect();
            let made = reads.and_then(|reads| node.op.shape_with(&reads, self.max_active(), numbers));
            shapes.push(made.unwrap_or(NOTHING));
        }
        shapes
    }

    /// What a node's reads have to be, in words, and what they are.
    pub(super) fn describe_reads(&self, node: &Node, shapes: &[Shape]) -> (String, String) {
        let found: Vec<String> = node.reads.iter().map(|read| shapes[*read].to_string()).collect();
        (found.join(" and "), node.op.wants())
    }
}

impl Op {
    /// The shape that it makes of these; none if they do not fit it.
    pub(crate) fn shape(&self, reads: &[Shape], max_active: usize) -> Option<Shape> {
        self.shape_with(reads, max_active, Numbers::There)
    }

    pub(crate) fn shape_with(&self, reads: &[Shape], max_active: usize, numbers: Numbers) -> Option<Shape> {
        if let Self::Constant { shape, values } = self {
            return numbers.fit(values.len(), shape.len()).then_some(*shape);
        }
        let first = *reads.first()?;
        let [height, width, channels] = first.axes();
        let slots = |width: usize| first.len().checked_div(width);
        let made = match self {
            Self::Linear { weights, .. } => Shape { channels: weights.outputs, ..pixels_of(first, weights.inputs)? },
            Self::SparseLinear { weights, .. } => Shape::vector(weights.outputs),
            Self::Embed { table } => Shape::vector(max_active.saturating_mul(table.outputs)),
            Self::FmTerm { .. } | Self::Trees(_) => Shape::vector(1),
            Self::BiInteraction { width } => Shape::vector(*width),
            Self::InnerProducts { width } => {
                let slots = slots(*width)?;
                Shape::vector(slots.saturating_mul(slots.saturating_sub(1)) / 2)
            }
            Self::Concat { axis } => {
                let (axis, mut axes) = (axis.index(), first.axes());
                for other in &reads[1..] {
                    let alike = (0..3).all(|index| index == axis || other.axes()[index] == axes[index]);
                    alike.then_some(())?;
                    axes[axis] = axes[axis].checked_add(other.axes()[axis])?;
                }
                Shape::of_axes(axes)
            }
            Self::Add => reads.iter().all(|read| *read == first).then_some(first)?,
            Self::Binary(_) => broadcast(first, *reads.get(1)?)?,
            Self::Scale(_) | Self::Activation(_) => first,
            Self::PerChannel { factors, offsets } => {
                [factors, offsets].iter().all(|all| numbers.fit(all.len(), channels)).then_some(first)?
            }
            Self::Quantise { scales, zero_points, .. } => {
                [scales, zero_points].iter().all(|all| numbers.fit(all.len(), channels)).then_some(first)?
            }
            Self::PRelu { slopes } => numbers.fit(slopes.len(), channels).then_some(first)?,
            Self::Flatten => Shape::vector(first.len()),
            Self::Reshape(shape) => (shape.len() == first.len()).then_some(*shape)?,
            Self::Transpose(order) => {
                let mut seen = [false; 3];
                order.iter().for_each(|axis| seen[(*axis).min(2)] = *axis < 3);
                (seen == [true; 3]).then(|| Shape::of_axes(order.map(|axis| first.axes()[axis])))?
            }
            Self::Slice { start, size, step } => {
                let fits = |axis: usize| {
                    let last = size[axis].checked_sub(1)?.checked_mul(step[axis])?.checked_add(start[axis])?;
                    (step[axis] > 0 && last < first.axes()[axis]).then_some(())
                };
                (0..3).try_for_each(fits)?;
                Shape::of_axes(*size)
            }
            Self::Pad { before, after, fill } => {
                let mut axes = first.axes();
                for axis in 0..3 {
                    let mirrors = before[axis].max(after[axis]) < axes[axis];
                    (mirrors || !matches!(fill, Fill::Reflect)).then_some(())?;
                    axes[axis] = axes[axis].checked_add(before[axis])?.checked_add(after[axis])?;
                }
                Shape::of_axes(axes)
            }
            Self::Resize { size: [height, width], .. } => Shape::map(*height, *width, channels),
            Self::Convolution { window, groups, weights, .. } => {
                grouped(channels, *groups, weights.outputs, window.taps(), weights.inputs)?;
                let [height, width] = window.outputs([height, width])?;
                Shape::map(height, width, weights.outputs)
            }
            Self::TransposedConvolution { window, groups, size, weights, .. } => {
                grouped(channels, *groups, weights.outputs, window.taps(), weights.inputs)?;
                window.outputs([usize::MAX >> 1; 2])?;
                Shape::map(size[0], size[1], weights.outputs)
            }
            Self::Pool { window, .. } => {
                let [height, width] = window.outputs([height, width])?;
                Shape::map(height, width, channels)
            }
            Self::Constant { .. } => return None,
        };
        Some(made)
    }

    /// What it reads, in words.
    fn wants(&self) -> String {
        match self {
            Self::Linear { weights, .. } => format!("{} elements, or pixels of as many", weights.inputs),
            Self::Concat { .. } => "values that are alike along the other axes".to_owned(),
            Self::Add => "values of one shape".to_owned(),
            Self::Binary(_) => "two values, each axis of one size or of size 1".to_owned(),
            Self::PerChannel { factors: numbers, .. }
            | Self::Quantise { scales: numbers, .. }
            | Self::PRelu { slopes: numbers } => {
                format!("a value of {} channels", numbers.len())
            }
            Self::Reshape(shape) => format!("{} elements", shape.len()),
            Self::Transpose(order) => format!("an order of the axes 0, 1 and 2 (the layer has {order:?})"),
            Self::Slice { start, size, step } => format!("elements from {start:?}, {size:?} of them, by {step:?}"),
            Self::Convolution { window, groups, weights, .. }
            | Self::TransposedConvolution { window, groups, weights, .. } => format!(
                "a map of {} channels that a kernel of {}×{} fits (groups: {groups})",
                (weights.inputs / window.taps().max(1)).saturating_mul(*groups),
                window.kernel[0],
                window.kernel[1]
            ),
            Self::Pool { window, .. } => {
                format!("a map that a window of {}×{} fits", window.kernel[0], window.kernel[1])
            }
            _ => "a value that fits it".to_owned(),
        }
    }
}

/// The pixels that a dense layer of so many inputs reads: a value as a whole, or pixel by pixel.
fn pixels_of(read: Shape, inputs: usize) -> Option<Shape> {
    if read.len() == inputs { Some(Shape::vector(inputs)) } else { (read.channels == inputs).then_some(read) }
}

fn broadcast(a: Shape, b: Shape) -> Option<Shape> {
    let mut axes = [0; 3];
    for (axis, (a, b)) in a.axes().into_iter().zip(b.axes()).enumerate() {
        axes[axis] = match (a, b) {
            (a, b) if a == b => a,
            (1, other) | (other, 1) => other,
            _ => return None,
        };
    }
    Some(Shape::of_axes(axes))
}

fn grouped(channels: usize, groups: usize, outputs: usize, taps: usize, columns: usize) -> Option<()> {
    let fits = groups > 0
        && channels.is_multiple_of(groups)
        && outputs.is_multiple_of(groups)
        && taps.checked_mul(channels / groups) == Some(columns);
    fits.then_some(())
}
