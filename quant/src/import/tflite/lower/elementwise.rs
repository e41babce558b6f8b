//! Operators on single elements, and on pairs of them.

use super::Lowering;
use crate::graph::{Activation, Binary, Op, Value};
use crate::import::tflite::error::TfliteError;
use crate::import::tflite::operators::Known;
use crate::import::tflite::types::{Operator, Options};
use crate::spatial::Shape;

impl Lowering<'_, '_> {
    pub(super) fn elementwise(&mut self, operator: &Operator, known: Known) -> Result<Value, TfliteError> {
        let binary = match known {
            Known::Add => Binary::Add,
            Known::Sub => Binary::Sub,
            Known::Mul => Binary::Mul,
            Known::Div => Binary::Div,
            Known::Maximum => Binary::Max,
            Known::Minimum => Binary::Min,
            _ => return self.unary(operator, known),
        };
        self.binary(operator, binary)
    }

    fn unary(&mut self, operator: &Operator, known: Known) -> Result<Value, TfliteError> {
        let tensor = self.model.operand(operator, 0)?;
        let mut read = self.value(&operator.place, tensor)?;
        let factor = if let Options::Factor(factor) = operator.options { f64::from(factor) } else { 1.0 };
        let activation = match known {
            Known::Relu => Activation::Relu,
            Known::Relu6 => Activation::Clip { low: 0.0, high: 6.0 },
            Known::ReluN1To1 => Activation::Clip { low: -1.0, high: 1.0 },
            Known::Logistic => Activation::Sigmoid,
            Known::Tanh => Activation::Tanh,
            Known::Elu => Activation::Elu { alpha: 1.0 },
            Known::HardSwish => Activation::HardSwish,
            Known::Abs => Activation::Abs,
            Known::Exp => Activation::Exp,
            Known::Sqrt => Activation::Sqrt,
            Known::LogSoftmax => Activation::LogSoftmax,
            Known::LeakyRelu => Activation::LeakyRelu { alpha: factor },
            Known::Softmax => {
                if factor != 1.0 {
                    read = self.add(operator, "beta", &[read], Op::Scale(factor))?;
                }
                Activation::Softmax
            }
            Known::Neg => return self.add(operator, "", &[read], Op::Scale(-1.0)),
            Known::Square => return self.add(operator, "", &[read, read], Op::Binary(Binary::Mul)),
            Known::PRelu => return self.prelu(operator, read),
            _ => {
                let what = format!("the operator {} on reals", operator.builtin.name());
                return Err(TfliteError::unsupported(&*operator.place, what, ""));
            }
        };
        self.add(operator, "", &[read], Op::Activation(activation))
    }

    /// A slope a channel; where every element has its own, every element is a channel.
    fn prelu(&mut self, operator: &Operator, read: Value) -> Result<Value, TfliteError> {
        let slopes = self.model.operand(operator, 1)?;
        let (of_slopes, shape) = (self.model.shape(slopes)?, self.shapes[read]);
        let slopes = self.weights(operator, 1)?;
        let fits = of_slopes.axes().iter().zip(shape.axes()).all(|(slopes, len)| *slopes == 1 || *slopes == len);
        if !fits {
            let expected = format!("1 or its input's, {shape}, along each axis");
            return Err(TfliteError::malformed(&*operator.place, "the shape of its slopes", of_slopes, expected));
        }
        if of_slopes.is_vector() {
            let slopes = if of_slopes.channels == 1 { vec![slopes[0]; shape.channels] } else { slopes };
            return self.add(operator, "", &[read], Op::PRelu { slopes });
        }
        let mut every = Vec::with_capacity(shape.len());
        for y in 0..shape.height {
            for x in 0..shape.width {
                for channel in 0..shape.channels {
                    let [y, x, channel] =
                        [(y, 0), (x, 1), (channel, 2)].map(|(at, axis)| at.min(of_slopes.axes()[axis] - 1));
                    every.push(slopes[of_slopes.at(y, x, channel)]);
                }
            }
        }
        let flat = self.add(operator, "flat", &[read], Op::Flatten)?;
        let made = self.add(operator, "", &[flat], Op::PRelu { slopes: every })?;
        self.add(operator, "shape", &[made], Op::Reshape(shape))
    }

    fn binary(&mut self, operator: &Operator, binary: Binary) -> Result<Value, TfliteError> {
        let [first, second] = [self.model.operand(operator, 0)?, self.model.operand(operator, 1)?];
        for (constant, other, is_first) in [(second, first, false), (first, second, true)] {
            if self.values[other].is_none() || self.values[constant].is_some() {
                continue;
            }
            let (numbers, x) = (self.model.shape(constant)?, self.value(&operator.place, other)?);
            let shape = self.shapes[x];
            let fits = numbers.is_vector() && (numbers.channels == 1 || numbers.channels == shape.channels);
            if !fits {
                continue;
            }
            let Some(numbers) = self.constant(&operator.place, constant)? else { continue };
            if let Some(made) = self.folded(operator, binary, (x, shape), &numbers, is_first)? {
                return Ok(made);
            }
        }
        let [first, second] = [self.value(&operator.place, first)?, self.value(&operator.place, second)?];
        let alike = self.shapes[first] == self.shapes[second];
        let op = if binary == Binary::Add && alike { Op::Add } else { Op::Binary(binary) };
        self.add(operator, "", &[first, second], op)
    }

    /// A value and a number, or a number a channel; none where that is no simpler operation.
    fn folded(
        &mut self,
        operator: &Operator,
        binary: Binary,
        (x, shape): (Value, Shape),
        numbers: &[f64],
        is_first: bool,
    ) -> Result<Option<Value>, TfliteError> {
        let each = |number: &dyn Fn(f64) -> f64| -> Vec<f64> {
            let channels = if numbers.len() == 1 { shape.channels } else { 1 };
            numbers.iter().map(|x| number(*x)).collect::<Vec<f64>>().repeat(channels)
        };
        let ones = |one: f64| vec![one; shape.channels];
        let scaled = |factors: Vec<f64>| match factors[..] {
            [factor, ..] if numbers.len() == 1 => Op::Scale(factor),
            _ => Op::PerChannel { factors, offsets: ones(0.0) },
        };
        let op = match (binary, is_first) {
            (Binary::Add, _) => Op::PerChannel { factors: ones(1.0), offsets: each(&|x| x) },
            (Binary::Sub, false) => Op::PerChannel { factors: ones(1.0), offsets: each(&|x| -x) },
            (Binary::Sub, true) => Op::PerChannel { factors: ones(-1.0), offsets: each(&|x| x) },
            (Binary::Mul, _) => scaled(each(&|x| x)),
            (Binary::Div, false) if numbers.iter().all(|x| (1.0 / x).is_finite()) => scaled(each(&|x| 1.0 / x)),
            (Binary::Max | Binary::Min, _) if numbers.len() == 1 => {
                return self.clipped(operator, binary, x, numbers[0]);
            }
            _ => return Ok(None),
        };
        self.add(operator, "", &[x], op).map(Some)
    }

    /// max(x, 0), and a bound behind its opposite.
    fn clipped(
        &mut self,
        operator: &Operator,
        binary: Binary,
        x: Value,
        bound: f64,
    ) -> Result<Option<Value>, TfliteError> {
        let (source, activation) = match self.bounded(x) {
            Some((source, Binary::Max, low)) if binary == Binary::Min && low <= bound => {
                (source, Activation::Clip { low, high: bound })
            }
            Some((source, Binary::Min, high)) if binary == Binary::Max && bound <= high => {
                (source, Activation::Clip { low: bound, high })
            }
            _ if binary == Binary::Max && bound == 0.0 => (x, Activation::Relu),
            _ => return Ok(None),
        };
        self.add(operator, "", &[source], Op::Activation(activation)).map(Some)
    }

    /// What a value is a bound of, if it is: the source, which bound, and where it is.
    fn bounded(&self, value: Value) -> Option<(Value, Binary, f64)> {
        let node = &self.nodes[value.checked_sub(1)?];
        match &node.op {
            Op::Activation(Activation::Relu) => Some((node.reads[0], Binary::Max, 0.0)),
            Op::Binary(binary @ (Binary::Max | Binary::Min)) => {
                let number = |read: Value| match &self.nodes[read.checked_sub(1)?].op {
                    Op::Constant { values, .. } if values.len() == 1 => Some(values[0]),
                    _ => None,
                };
                let (a, b) = (node.reads[0], node.reads[1]);
                number(b).map(|bound| (a, *binary, bound)).or_else(|| number(a).map(|bound| (b, *binary, bound)))
            }
            _ => None,
        }
    }
}
