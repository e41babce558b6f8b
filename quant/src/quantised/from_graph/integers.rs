//! What is done with integers themselves, as QLinear forms do it between their layers: a byte of a border, a clip at
//! bytes, the greatest of a window.

use super::words::word;
use super::{Building, Meaning};
use crate::graph::{Activation, Binary, Fill, Node, Op, Pooling, Value};
use crate::quantised::{Clamp, QuantisedError, QuantisedOp, Quantity, tables};
use crate::spatial::{Coordinates, Move, Rounding, Sampling};

impl Building<'_> {
    /// What a node makes of integers that stand for themselves.
    pub(super) fn of_integers(&mut self, value: Value, node: &Node) -> Result<Meaning, QuantisedError> {
        let what = |what: &str| format!("{what} of integers");
        let instead = "put it behind DequantizeLinear, and QuantizeLinear behind it";
        let mut reads = Vec::new();
        for read in &node.reads {
            let Meaning::Stored(at) = self.meanings[*read] else {
                return Err(self.no(node, &what(&format!("{} beside reals", word(&node.op))), instead));
            };
            reads.push(at);
        }
        let from = self.quantity_of(reads[0]);
        for read in &reads {
            let is = self.quantity_of(*read);
            if (is.element, is.scale, is.zero_point) != (from.element, from.scale, from.zero_point) {
                let what = what(&format!("{} of several scales or zero points", word(&node.op)));
                return Err(self.no(node, &what, "quantise all of them alike"));
            }
        }
        let clamp = whole(from);
        let op = match &node.op {
            Op::Pad { before, after, fill: Fill::Value(fill) } if is_within(*fill, clamp) => {
                QuantisedOp::Moved { by: Move::Pad { before: *before, after: *after }, fill: *fill as i32 }
            }
            Op::Pool { window, kind: Pooling::Max } => QuantisedOp::MaxPool { window: *window, clamp },
            Op::Concat { axis } => QuantisedOp::Concat(*axis),
            Op::Binary(Binary::Max) => QuantisedOp::Maximum,
            Op::Binary(Binary::Min) => QuantisedOp::Minimum,
            Op::Activation(activation @ (Activation::Relu | Activation::Clip { .. })) => {
                let themselves = Quantity { scale: 1.0, zero_point: 0, ..from };
                QuantisedOp::Table(tables::even(themselves, themselves, |x| activation.apply(&[x])[0]))
            }
            Op::Resize { sampling: Sampling::Nearest(rounding), coordinates, .. }
                if is_nearest(*rounding, *coordinates) =>
            {
                QuantisedOp::ResizeNearest(*coordinates)
            }
            Op::Pad { .. } => return Err(self.no(node, &what("Pad with anything but a byte"), instead)),
            other => return Err(self.no(node, &what(&word(other)), instead)),
        };
        let made = Quantity { shape: self.shapes[value], ..from };
        Ok(Meaning::Stored(self.push(&node.name, reads, made, op)))
    }
}

/// All integers of a quantity.
pub(super) fn whole(of: Quantity) -> Clamp {
    let (low, high) = of.element.range();
    Clamp { low, high }
}

/// Whether this is how [`QuantisedOp::ResizeNearest`] rounds places.
pub(super) const fn is_nearest(rounding: Rounding, coordinates: Coordinates) -> bool {
    match coordinates {
        Coordinates::Asymmetric => matches!(rounding, Rounding::Floor),
        _ => matches!(rounding, Rounding::HalfUp),
    }
}

fn is_within(value: f64, clamp: Clamp) -> bool {
    value.fract() == 0.0 && value >= clamp.low.into() && value <= clamp.high.into()
}
