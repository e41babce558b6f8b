//! Operators with weights.

use super::Lowering;
use crate::float::Matrix;
use crate::graph::{Fill, Op, Value};
use crate::import::tflite::error::TfliteError;
use crate::import::tflite::types::{Operator, Options, Padding};
use crate::spatial::{Shape, Window};

impl Lowering<'_, '_> {
    /// Weights are O,H,W,I; of a depthwise convolution 1,H,W,O, where output `c · multiplier + m` reads input `c`.
    pub(super) fn convolution(&mut self, operator: &Operator, depthwise: bool) -> Result<Value, TfliteError> {
        let tensor = self.model.operand(operator, 0)?;
        let read = self.value(&operator.place, tensor)?;
        let dims = self.model.tensors[self.model.operand(operator, 1)?].dims.clone();
        let [first, down, across, last] = dims[..] else { return Err(no_map(operator)) };
        let Options::Window { padding, stride, dilation, .. } = operator.options else { return Err(no_map(operator)) };
        let shape = self.shapes[read];
        let window = Window { stride, dilation, ..Window::of([down, across]) };
        let window = if padding == Padding::Same { window.same([shape.height, shape.width]) } else { window };
        let (outputs, groups) = if depthwise { (last, shape.channels) } else { (first, shape.channels / last) };
        let weights = self.weights(operator, 1)?;
        let weights = match depthwise {
            // Taps first already.
            true => Matrix::new(outputs, down * across, weights),
            false => columns(outputs, &weights),
        };
        let weights = weights.ok_or_else(|| no_map(operator))?;
        let bias = self.bias(operator, 2, outputs)?;
        let (read, window) = self.padded(read, window);
        self.add(operator, "", &[read], Op::Convolution { window, groups, weights, bias })
    }

    /// Zeros around the map are the window's padding. Of anything else they are not: a pool counts them.
    fn padded(&self, read: Value, window: Window) -> (Value, Window) {
        let Some(node) = read.checked_sub(1).map(|node| &self.nodes[node]) else { return (read, window) };
        match &node.op {
            Op::Pad { before: [top, left, 0], after: [bottom, right, 0], fill: Fill::Value(0.0) } => {
                let before = [window.before[0] + top, window.before[1] + left];
                let after = [window.after[0] + bottom, window.after[1] + right];
                (node.reads[0], Window { before, after, ..window })
            }
            _ => (read, window),
        }
    }

    /// The map that is made is an input of its own; where it lies follows from the convolution that goes back.
    pub(super) fn transposed(&mut self, operator: &Operator) -> Result<Value, TfliteError> {
        let tensor = self.model.operand(operator, 2)?;
        let read = self.value(&operator.place, tensor)?;
        let made = self.model.shape(operator.outputs[0])?;
        let dims = self.model.tensors[self.model.operand(operator, 1)?].dims.clone();
        let [outputs, down, across, _] = dims[..] else { return Err(no_map(operator)) };
        let Options::Window { padding, stride, .. } = operator.options else { return Err(no_map(operator)) };
        let size = [made.height, made.width];
        let window = Window { stride, ..Window::of([down, across]) };
        let window = if padding == Padding::Same { window.same(size) } else { window };
        let (found, shape) = (window.outputs(size), self.shapes[read]);
        if found != Some([shape.height, shape.width]) {
            let expected = format!("one of which {}×{} places of the kernel are a map", shape.height, shape.width);
            return Err(TfliteError::malformed(&*operator.place, "the shape of what it makes", made, expected));
        }
        let weights = columns(outputs, &self.weights(operator, 1)?).ok_or_else(|| no_map(operator))?;
        let bias = self.bias(operator, 3, outputs)?;
        self.add(operator, "", &[read], Op::TransposedConvolution { window, groups: 1, size, weights, bias })
    }

    /// Weights are O,I; what is read is flattened, whatever its shape, into as many rows of I as there are.
    pub(super) fn dense(&mut self, operator: &Operator) -> Result<Value, TfliteError> {
        let tensor = self.model.operand(operator, 0)?;
        let mut read = self.value(&operator.place, tensor)?;
        let dims = self.model.tensors[self.model.operand(operator, 1)?].dims.clone();
        let [outputs, inputs] = dims[..] else { return Err(no_map(operator)) };
        let weights = columns(outputs, &self.weights(operator, 1)?).ok_or_else(|| no_map(operator))?;
        let bias = self.bias(operator, 2, outputs)?;
        let shape = self.shapes[read];
        if shape.len() != inputs && shape.channels != inputs {
            let rows = Shape::map(1, shape.len() / inputs, inputs);
            read = self.add(operator, "rows", &[read], Op::Reshape(rows))?;
        }
        let mut made = self.add(operator, "", &[read], Op::Linear { weights, bias })?;
        let shape = self.model.shape(operator.outputs[0])?;
        if self.shapes[made] != shape {
            made = self.add(operator, "shape", &[made], Op::Reshape(shape))?;
        }
        Ok(made)
    }

    fn bias(&mut self, operator: &Operator, index: usize, outputs: usize) -> Result<Vec<f64>, TfliteError> {
        match operator.inputs.get(index).copied().flatten() {
            Some(_) => self.weights(operator, index),
            None => Ok(vec![0.0; outputs]),
        }
    }
}

/// Rows by output, as files have them, to columns by input.
fn columns(outputs: usize, rows: &[f64]) -> Option<Matrix<f64>> {
    let inputs = rows.len().checked_div(outputs)?;
    let mut values = Vec::with_capacity(rows.len());
    for input in 0..inputs {
        values.extend(rows.iter().skip(input).step_by(inputs));
    }
    Matrix::new(outputs, inputs, values)
}

fn no_map(operator: &Operator) -> TfliteError {
    TfliteError::malformed(&*operator.place, "the shape of its weights", "another", "that of its kind")
}
