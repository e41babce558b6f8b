//! Two values, element by element.

use super::rounding::reach;
use super::{Located, Lowering};
use crate::program::{Operation, Pairing, Rounding};
use crate::quantised::{Clamp, QuantisedError, QuantisedNode, QuantisedOp, Quantity, Sums};

impl Lowering<'_> {
    /// What is read, both of the shape that is made, or one of them a pixel that meets every pixel.
    fn operands(&mut self, node: &QuantisedNode) -> [usize; 2] {
        let to = node.makes.shape;
        let shapes = [0, 1].map(|place| self.read(node, place).is.shape);
        [0, 1].map(|place| {
            let held = self.read(node, place);
            let shape = shapes[place];
            let meets_all = shape.is_vector() && shape.channels == to.channels && shapes[1 - place] == to;
            if shape == to || meets_all {
                return self.shaped(&node.name, held, shape);
            }
            // Along an axis of size 1 every step is to the same element.
            let strides = [shape.width * shape.channels, shape.channels, 1];
            let axes = shape.axes();
            let steps = [0, 1, 2].map(|axis| if axes[axis] == 1 { 0 } else { strides[axis] as i32 });
            let repeated = Quantity { shape: to, ..held.is };
            self.push(&format!("{}.repeated", node.name), &[held.at], Operation::Move { start: 0, steps }, repeated)
        })
    }

    fn pair(&mut self, node: &QuantisedNode, op: Operation) -> Located {
        let reads = self.operands(node);
        Located { at: self.push(&node.name, &reads, op, node.makes), is: node.makes }
    }

    pub(super) fn sum(
        &mut self,
        node: &QuantisedNode,
        multipliers: [i32; 2],
        shift: u32,
        Clamp { low, high }: Clamp,
    ) -> Result<Located, QuantisedError> {
        let pairing = Pairing::Sum;
        Ok(self.pair(node, Operation::Elementwise { pairing, multipliers, shift, low, high }))
    }

    pub(super) fn product(&mut self, node: &QuantisedNode, clamp: Clamp) -> Result<Located, QuantisedError> {
        let [a, b] = [0, 1].map(|place| self.read(node, place).is);
        let scale = a.scale * b.scale / node.makes.scale;
        let products = reach(a).into_iter().flat_map(|x| reach(b).map(|y| x * y));
        let (low, high) = products.fold((0, 0), |(low, high): (i64, i64), x| (low.min(x), high.max(x)));
        let width = (high - low) as f64 / 8.0;
        let sums = Sums { low, high, centre: 0, width };
        let Rounding { multipliers, shifts, low, high } = self.fitted(node, &[scale], &[sums], clamp)?;
        let (pairing, shift) = (Pairing::Product, shifts[0].into());
        Ok(self.pair(node, Operation::Elementwise { pairing, multipliers: [multipliers[0], 0], shift, low, high }))
    }

    /// The greater, or the smaller.
    pub(super) fn extreme(&mut self, node: &QuantisedNode) -> Result<Located, QuantisedError> {
        let pairing = if node.op == QuantisedOp::Maximum { Pairing::Max } else { Pairing::Min };
        let (low, high) = node.makes.element.range();
        Ok(self.pair(node, Operation::Elementwise { pairing, multipliers: [0, 0], shift: 0, low, high }))
    }
}
