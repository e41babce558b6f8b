//! What works on each element, or on each channel, by itself.

use super::super::error::OnnxError;
use super::Lowering;
use super::call::Call;
use super::layout::Tensor;
use crate::graph::{Activation, Op};

/// What a node computes of each element by itself; none if it is another operator.
pub(super) fn unary(call: &Call<'_, '_>) -> Result<Option<Op>, OnnxError> {
    let activation = match call.operator() {
        "Relu" => Activation::Relu,
        "LeakyRelu" => Activation::LeakyRelu { alpha: call.float("alpha", f64::from(0.01f32))? },
        "Sigmoid" => Activation::Sigmoid,
        "HardSigmoid" => {
            Activation::HardSigmoid { alpha: call.float("alpha", f64::from(0.2f32))?, beta: call.float("beta", 0.5)? }
        }
        "HardSwish" => Activation::HardSwish,
        "Tanh" => Activation::Tanh,
        "Elu" => Activation::Elu { alpha: call.float("alpha", 1.0)? },
        "Abs" => Activation::Abs,
        "Exp" => Activation::Exp,
        "Sqrt" => Activation::Sqrt,
        "Erf" => Activation::Erf,
        "Neg" => return Ok(Some(Op::Scale(-1.0))),
        "Clip" => {
            let end = |name, input, default| match call.scalar(input)? {
                Some(end) => Ok(end),
                None => call.float(name, default),
            };
            let (low, high) = (end("min", 1, f64::NEG_INFINITY)?, end("max", 2, f64::INFINITY)?);
            if low.is_nan() || high.is_nan() {
                return Err(call.attribute_error("a bound", "NaN", "a number"));
            }
            Activation::Clip { low, high }
        }
        _ => return Ok(None),
    };
    Ok(Some(Op::Activation(activation)))
}

impl Lowering<'_, '_> {
    /// The operators of [`unary`]; any other is refused by its name.
    pub(super) fn elementwise(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let Some(op) = unary(call)? else {
            return Err(OnnxError::Operator { node: self.place.clone(), operator: call.operator().to_owned() });
        };
        let x = call.made(0)?;
        let value = self.push(&call.operator().to_lowercase(), &[x.value], op)?;
        Ok(Tensor { value, ..x.clone() })
    }

    /// `scale · (x − mean) / √(variance + epsilon) + bias` of each channel, as one factor and one offset.
    pub(super) fn batch_normalization(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        if call.int("training_mode", 0)? != 0 {
            return Err(call.unsupported("training"));
        }
        let x = self.aligned(call.made(0)?)?;
        let Some(channels) = x.dims.get(1).copied() else {
            return Err(call.shapes(format!("a value of the shape {:?}", x.dims), "an axis of channels"));
        };
        let vector = |index, what| call.vector(index, channels, what);
        let (scale, bias) = (vector(1, "a scale")?, vector(2, "a bias")?);
        let (mean, variance) = (vector(3, "a mean")?, vector(4, "a variance")?);
        let own = call.float("epsilon", f64::from(1e-5f32))?;
        let epsilon = self.model.epsilon.unwrap_or(own);
        let (mut factors, mut offsets) = (Vec::with_capacity(channels), Vec::with_capacity(channels));
        for channel in 0..channels {
            let variance = variance[channel] + epsilon;
            if variance.is_nan() || variance <= 0.0 {
                let found = format!("variance plus epsilon of channel {channel} is {variance}");
                return Err(call.shapes(found, "more than 0"));
            }
            let factor = scale[channel] / variance.sqrt();
            factors.push(factor);
            offsets.push(bias[channel] - mean[channel] * factor);
        }
        let x = self.with_last(&x, 1)?;
        let value = self.push("normalise", &[x.value], Op::PerChannel { factors, offsets })?;
        Ok(Tensor { value, ..x })
    }

    pub(super) fn prelu(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let x = self.aligned(call.made(0)?)?;
        let slope = call.required_constant(1)?;
        let lead = x.dims.len().checked_sub(slope.dims.len());
        let lead = lead.ok_or_else(|| call.shapes(format!("slopes of the shape {:?}", slope.dims), "fewer axes"))?;
        let varying: Vec<usize> = (0..slope.dims.len()).filter(|axis| slope.dims[*axis] != 1).collect();
        let (x, op) = match varying[..] {
            [] if slope.values.len() == 1 => (x, Op::Activation(Activation::LeakyRelu { alpha: slope.values[0] })),
            [axis] if slope.dims[axis] == x.dims[lead + axis] => {
                self.not_batch(lead + axis)?;
                (self.with_last(&x, lead + axis)?, Op::PRelu { slopes: slope.values.clone() })
            }
            _ => return Err(call.unsupported(format!("slopes of the shape {:?}", slope.dims))),
        };
        let value = self.push("prelu", &[x.value], op)?;
        Ok(Tensor { value, ..x })
    }
}
