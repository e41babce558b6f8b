//! Operators with weights, in integers.

use super::build::Build;
use crate::float::Matrix;
use crate::import::tflite::error::TfliteError;
use crate::import::tflite::operators::Known;
use crate::import::tflite::types::{Element, Operator, Options, Padding};
use crate::quantised::{Multiplier, QuantisedOp, Quantity, Weights};
use crate::spatial::Window;

impl Build<'_, '_> {
    pub(super) fn convolution(&mut self, operator: &Operator, depthwise: bool) -> Result<QuantisedOp, TfliteError> {
        let model = self.model;
        let shape = self.read(operator, 0)?.1.shape;
        let tensor = &model.tensors[model.operand(operator, 1)?];
        let [first, down, across, last] = tensor.dims[..] else { return Err(self.shapes(operator)) };
        let Options::Window { padding, stride, dilation, .. } = operator.options else {
            return Err(self.shapes(operator));
        };
        let window = Window { stride, dilation, ..Window::of([down, across]) };
        let window = if padding == Padding::Same { window.same([shape.height, shape.width]) } else { window };
        let (outputs, groups) = if depthwise { (last, shape.channels) } else { (first, shape.channels / last) };
        let weights = self.weights(operator, (0, 1, 2), outputs, depthwise)?;
        Ok(QuantisedOp::Convolution { window, groups, weights })
    }

    pub(super) fn transposed(&mut self, operator: &Operator) -> Result<QuantisedOp, TfliteError> {
        let model = self.model;
        let (shape, made) = (self.read(operator, 2)?.1.shape, model.shape(operator.outputs[0])?);
        let tensor = &model.tensors[model.operand(operator, 1)?];
        let [outputs, down, across, _] = tensor.dims[..] else { return Err(self.shapes(operator)) };
        let Options::Window { padding, stride, .. } = operator.options else { return Err(self.shapes(operator)) };
        let size = [made.height, made.width];
        let window = Window { stride, ..Window::of([down, across]) };
        let window = if padding == Padding::Same { window.same(size) } else { window };
        if window.outputs(size) != Some([shape.height, shape.width]) || made.channels != outputs {
            return Err(self.shapes(operator));
        }
        let weights = self.weights(operator, (2, 1, 3), outputs, false)?;
        Ok(QuantisedOp::TransposedConvolution { window, weights })
    }

    pub(super) fn dense(&mut self, operator: &Operator) -> Result<QuantisedOp, TfliteError> {
        let tensor = &self.model.tensors[self.model.operand(operator, 1)?];
        let [outputs, _] = tensor.dims[..] else { return Err(self.shapes(operator)) };
        self.weights(operator, (0, 1, 2), outputs, false).map(QuantisedOp::Linear)
    }

    fn weights(
        &mut self,
        operator: &Operator,
        (x, weights, bias): (usize, usize, usize),
        outputs: usize,
        taps_first: bool,
    ) -> Result<Weights, TfliteError> {
        let model = self.model;
        let (x, to) = (self.read(operator, x)?.1, self.quantity(operator.outputs[0])?);
        self.is_int8(operator, &[x, to])?;
        let number = model.operand(operator, weights)?;
        let tensor = &model.tensors[number];
        let (Some(data), Element::I8, Some(quantisation)) = (tensor.data, tensor.element, &tensor.quantisation) else {
            let what = format!("weights that are no constants of int8, {},", model.place(number));
            return Err(TfliteError::unsupported(&*operator.place, what, ""));
        };
        let bias = operator.inputs.get(bias).copied().flatten();
        self.count(operator, tensor.len() + outputs)?;
        let scales = match quantisation.scales[..] {
            [scale] => vec![scale; outputs],
            _ => quantisation.scales.clone(),
        };
        let multiplier = |scale: &f32| self.multiplier(operator, product(operator, x, *scale) / f64::from(to.scale));
        let multipliers = scales.iter().map(multiplier);
        let multipliers = multipliers.collect::<Result<Vec<Multiplier>, _>>()?;
        let bias = match bias {
            None => vec![0; outputs],
            Some(bias) => {
                let numbers = model.tensors[bias].integers().filter(|_| model.tensors[bias].element == Element::I32);
                let numbers = numbers.ok_or_else(|| {
                    let what = format!("a bias that is no constant of int32, {},", model.place(bias));
                    TfliteError::unsupported(&*operator.place, what, "")
                })?;
                let numbers = numbers.iter().map(|number| i32::try_from(*number)).collect::<Result<_, _>>();
                numbers.map_err(|_| TfliteError::unsupported(model.place(bias), "a bias of 64 bits", "use 32 bits"))?
            }
        };
        let rows: Vec<i8> = data.iter().map(|byte| byte.cast_signed()).collect();
        let inputs = rows.len() / outputs;
        let values = if taps_first {
            rows
        } else {
            (0..inputs).flat_map(|input| rows.iter().skip(input).step_by(inputs).copied()).collect()
        };
        let weights = Matrix::new(outputs, inputs, values).ok_or_else(|| self.shapes(operator))?;
        Ok(Weights { weights, bias, scales, multipliers, clamp: self.clamp(operator, to)? })
    }
}

/// The scale of a sum. Engines multiply f32 as f32 for dense layers, as f64 for convolutions.
fn product(operator: &Operator, x: Quantity, weights: f32) -> f64 {
    let is_dense = operator.builtin.name() == Known::FullyConnected.name();
    if is_dense { f64::from(x.scale * weights) } else { f64::from(x.scale) * f64::from(weights) }
}
