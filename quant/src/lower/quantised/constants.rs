//! Values that depend on nothing.

use super::layers::tensor;
use super::{Located, Lowering};
use crate::arch::ElementType;
use crate::program::{Convolution, Operation, Rounding};
use crate::quantised::{QuantisedError, QuantisedNode, Quantity};
use crate::spatial::{Shape, Window};

impl Lowering<'_> {
    /// Numbers as they are stored: a channel each of one pixel, the sums of a convolution whose weights are 0.
    pub(super) fn constant(&mut self, node: &QuantisedNode, values: &[i32]) -> Result<Located, QuantisedError> {
        let (is, len) = (node.makes, values.len());
        let of = |part: &str| format!("{}.{part}", node.name);
        let pixel = Quantity { shape: Shape::vector(1), ..self.given() };
        let any = self.push(&of("any"), &[0], Operation::Move { start: 0, steps: [0; 3] }, pixel);
        let (low, high) = is.element.range();
        let op = Operation::Convolution(Convolution {
            window: Window::of([1, 1]),
            transposed: false,
            groups: 1,
            weights: tensor(of("nothing"), ElementType::I8, len, 1, vec![0; len]),
            bias: Some(tensor(
                of("stored"),
                ElementType::I32,
                len,
                1,
                values.iter().map(|x| x - is.zero_point).collect(),
            )),
            rounding: Some(Rounding { multipliers: vec![1 << 30; len], shifts: vec![30; len], low, high }),
        });
        Ok(Located { at: self.push(&node.name, &[any], op, Quantity { shape: Shape::vector(len), ..is }), is })
    }
}
