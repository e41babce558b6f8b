//! The same bytes at other places.

use super::{Located, Lowering};
use crate::program::Operation;
use crate::quantised::{QuantisedError, QuantisedNode, Quantity};
use crate::remark::Remark;
use crate::spatial::{Axis, Coordinates, Move, Rounding, Sampling, Shape, Tap, taps};

impl Lowering<'_> {
    pub(super) fn moved(&mut self, node: &QuantisedNode, by: &Move, fill: i32) -> Result<Located, QuantisedError> {
        let (held, is) = (self.read(node, 0), node.makes);
        let shape = held.is.shape;
        let strides = [shape.width * shape.channels, shape.channels, 1];
        let (start, steps) = match by {
            Move::Reshape(_) => return Ok(Located { at: held.at, is }),
            Move::Pad { before, after } => return Ok(self.padded(node, *before, *after, fill)),
            Move::Transpose(order) => (0, order.map(|axis| strides[axis] as i32)),
            Move::Slice { start, step, .. } => {
                let first = start.iter().zip(strides).map(|(start, stride)| start * stride).sum();
                (first, [0, 1, 2].map(|axis| (step[axis] * strides[axis]) as i32))
            }
        };
        Ok(Located { at: self.push(&node.name, &[held.at], Operation::Move { start, steps }, is), is })
    }

    /// A border of one stored value: of the zero point, which is another one for a while where that is not it.
    fn padded(&mut self, node: &QuantisedNode, before: [usize; 3], after: [usize; 3], fill: i32) -> Located {
        let (name, from) = (node.name.as_str(), self.read(node, 0).is);
        let mut at = self.map(node, 0);
        let with = |shape: Shape| Quantity { shape, zero_point: fill, ..from };
        if fill != from.zero_point {
            at = self.renamed(&format!("{name}.renamed"), at, with(from.shape));
        }
        let Shape { height, width, channels } = from.shape;
        let (height, width) = (before[0] + height + after[0], before[1] + width + after[1]);
        if [before, after].iter().any(|sides| sides[..2] != [0, 0]) {
            let op = Operation::Pad { before: [before[0], before[1]] };
            at = self.push(&format!("{name}.border"), &[at], op, with(Shape::map(height, width, channels)));
        }
        let padded = before[2] + channels + after[2];
        if padded != channels {
            // Channels as the pixels of a row.
            let held = Located { at, is: with(Shape::map(height, width, channels)) };
            let rows = self.shaped(name, held, Shape::map(height * width, channels, 1));
            let op = Operation::Pad { before: [0, before[2]] };
            at = self.push(&format!("{name}.channels"), &[rows], op, with(Shape::map(height * width, padded, 1)));
        }
        if fill != from.zero_point {
            at = self.renamed(name, at, node.makes);
        }
        Located { at, is: node.makes }
    }

    /// One behind the other, two at a time.
    pub(super) fn joined(&mut self, node: &QuantisedNode, axis: Axis) -> Located {
        let first = self.read(node, 0);
        let (mut at, mut axes) = (first.at, first.is.shape.axes());
        for place in 1..node.reads.len() {
            let next = self.read(node, place);
            axes[axis.index()] += next.is.shape.axes()[axis.index()];
            let runs = axes[..axis.index()].iter().product();
            let made = Quantity { shape: Shape::of_axes(axes), ..node.makes };
            at = self.push(&node.name, &[at, next.at], Operation::Concat { runs }, made);
        }
        Located { at, is: node.makes }
    }

    pub(super) fn nearest(&mut self, node: &QuantisedNode, coordinates: Coordinates) -> Located {
        let rounding = if coordinates == Coordinates::Asymmetric { Rounding::Floor } else { Rounding::HalfUp };
        self.resized(node, Sampling::Nearest(rounding), coordinates)
    }

    pub(super) fn bilinear(&mut self, node: &QuantisedNode, coordinates: Coordinates) -> Located {
        let text = format!(
            "`{}`: weights of 10 bits between pixels, where engines have 11 or 10: integers may differ by 1",
            node.name
        );
        self.remarks.push(Remark::Decided(text));
        self.resized(node, Sampling::Bilinear, coordinates)
    }

    fn resized(&mut self, node: &QuantisedNode, sampling: Sampling, coordinates: Coordinates) -> Located {
        let (at, to) = (self.map(node, 0), node.makes.shape);
        let from = self.shape(at);
        let integers = |tap: Tap| [tap.first as i32, tap.second as i32, (tap.weight * 1024.0).round() as i32];
        let along = |from, to| taps(from, to, sampling, coordinates).into_iter().map(integers);
        let taps = along(from.height, to.height).chain(along(from.width, to.width)).collect();
        Located { at: self.push(&node.name, &[at], Operation::Resize { taps }, node.makes), is: node.makes }
    }
}
