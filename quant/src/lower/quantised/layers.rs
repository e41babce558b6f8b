//! Layers with weights, pools and means.

use super::rounding::reach;
use super::{Located, Lowering, unsupported};
use crate::arch::ElementType;
use crate::program::{Convolution, Element, Operation, PoolKind, QuantTensor, Rounding, Values};
use crate::quantised::{Clamp, QuantisedError, QuantisedNode, Quantity, Sums, Weights};
use crate::spatial::{Shape, Window};

/// A tensor of integers.
pub(super) fn tensor(
    name: String,
    element: ElementType,
    outputs: usize,
    inputs: usize,
    values: Vec<i32>,
) -> QuantTensor {
    QuantTensor { name, element, scale: None, banks: 1, outputs, inputs, values: Values::Int(values) }
}

impl Lowering<'_> {
    pub(super) fn convolution(
        &mut self,
        node: &QuantisedNode,
        (window, transposed): (Window, bool),
        groups: usize,
        weights: &Weights,
    ) -> Result<Located, QuantisedError> {
        let at = self.map(node, 0);
        let from = self.read(node, 0).is;
        self.weighted(node, (at, from), (window, transposed), groups, weights)
    }

    /// Rows of as many elements as the weights have inputs: the pixels of a map, or a map that the weights cover.
    pub(super) fn linear(&mut self, node: &QuantisedNode, weights: &Weights) -> Result<Located, QuantisedError> {
        let held = self.read(node, 0);
        let inputs = weights.weights.inputs;
        let pixels = held.is.shape.len() / inputs;
        // A flattened map is covered as the map that it was.
        let whole = self.shape(held.at);
        let covers = pixels == 1 && whole.height <= 255 && whole.width <= 255;
        let (shape, kernel) = match covers {
            true => (whole, [whole.height, whole.width]),
            false if node.makes.shape.pixels() == pixels => (Shape { channels: inputs, ..node.makes.shape }, [1, 1]),
            false => (Shape::map(1, pixels, inputs), [1, 1]),
        };
        let at = self.shaped(&node.name, held, shape);
        self.weighted(node, (at, Quantity { shape, ..held.is }), (Window::of(kernel), false), 1, weights)
    }

    fn weighted(
        &mut self,
        node: &QuantisedNode,
        (at, from): (usize, Quantity),
        (window, transposed): (Window, bool),
        groups: usize,
        weights: &Weights,
    ) -> Result<Located, QuantisedError> {
        let (outputs, inputs) = (weights.weights.outputs, weights.weights.inputs);
        if from.element == Element::I16 {
            return Err(unsupported(&node.name, "a layer that reads int16", "quantise its values to bytes"));
        }
        let rounding = self.weighed(node, from, weights)?;
        let of = |part: &str| format!("{}.{part}", node.name);
        let values = weights.weights.values.iter().copied().map(i32::from).collect();
        let made = match from.shape.len() / inputs == node.makes.shape.pixels() && window.is_pixel() {
            true => Shape { channels: outputs, ..from.shape },
            false => node.makes.shape,
        };
        let window = fitting(node, window, transposed, from.shape, made)?;
        let op = Operation::Convolution(Convolution {
            window,
            transposed,
            groups,
            weights: tensor(of("weight"), ElementType::I8, outputs, inputs, values),
            bias: Some(tensor(of("bias"), ElementType::I32, outputs, 1, weights.bias.clone())),
            rounding,
        });
        Ok(Located { at: self.push(&node.name, &[at], op, Quantity { shape: made, ..node.makes }), is: node.makes })
    }

    /// The greatest, or the mean of the stored values.
    pub(super) fn pool(
        &mut self,
        node: &QuantisedNode,
        window: Window,
        is_max: bool,
        Clamp { low, high }: Clamp,
    ) -> Result<Located, QuantisedError> {
        let at = self.map(node, 0);
        let window = fitting(node, window, false, self.shape(at), node.makes.shape)?;
        let kind = if is_max { PoolKind::Max } else { PoolKind::Mean };
        Ok(Located {
            at: self.push(&node.name, &[at], Operation::Pool { window, kind, low, high }, node.makes),
            is: node.makes,
        })
    }

    /// Over whole axes: a pool's sums; over the channels, weights of 1.
    pub(super) fn mean(&mut self, node: &QuantisedNode, over: [bool; 3]) -> Result<Located, QuantisedError> {
        let (at, from, to) = (self.map(node, 0), self.read(node, 0).is, node.makes);
        let axes = from.shape.axes();
        let size = |axis: usize| if over[axis] { axes[axis] } else { 1 };
        let kept = Shape::of_axes([0, 1, 2].map(|axis| axes[axis] / size(axis)));
        let count = from.shape.len() / kept.len();
        let scale = from.scale / to.scale / count as f32;
        let [low, high] = reach(from).map(|end| end * count as i64);
        let (least, most) = to.element.range();
        let width = (high - low) as f64 / 8.0;
        let sums = Sums { low, high, centre: 0, width };
        let rounding = self.fitted(node, &[scale], &[sums], Clamp { low: least, high: most })?;
        let window = Window::of([size(0), size(1)]);
        let made = Quantity { shape: kept, ..to };
        if over[2] {
            let weights = tensor(format!("{}.ones", node.name), ElementType::I8, 1, count, vec![1; count]);
            let rounding = Some(rounding);
            let op = Convolution { window, transposed: false, groups: 1, weights, bias: None, rounding };
            return Ok(Located { at: self.push(&node.name, &[at], Operation::Convolution(op), made), is: to });
        }
        let sums = Quantity { element: Element::I32, zero_point: 0, scale: from.scale / count as f32, shape: kept };
        let pool = Operation::Pool { window, kind: PoolKind::Sum, low: 0, high: 0 };
        let at = self.push(&format!("{}.sums", node.name), &[at], pool, sums);
        let Rounding { multipliers, shifts, low, high } = rounding;
        let (multipliers, shifts) = (multipliers.repeat(kept.len()), shifts.repeat(kept.len()));
        let op = Operation::Requantise { multipliers, shifts, low, high };
        Ok(Located { at: self.push(&node.name, &[at], op, made), is: to })
    }
}

/// A window without padding that no place reaches.
fn fitting(
    node: &QuantisedNode,
    window: Window,
    transposed: bool,
    from: Shape,
    to: Shape,
) -> Result<Window, QuantisedError> {
    let [from, to] = [from, to].map(|shape| [shape.height, shape.width]);
    let (first, places) = if transposed { (to, from) } else { (from, to) };
    let fits = (0..2).all(|axis| {
        let last = (places[axis] - 1) * window.stride[axis];
        window.before[axis] < window.reach(axis) && last < first[axis] + window.before[axis]
    });
    if !fits {
        return Err(unsupported(&node.name, "windows that lie in the padding alone", "pad less than a window"));
    }
    Ok(if transposed { Window { after: [0, 0], ..window } } else { window.trimmed(from, to) })
}
