//! Operators without weights, in integers.

use super::build::{Build, at};
use crate::import::tflite::error::TfliteError;
use crate::import::tflite::operators::Known;
use crate::import::tflite::types::{Operator, Options};
use crate::program::Element;
use crate::quantised::tables;
use crate::quantised::{Clamp, QuantisedOp, Quantity};

impl Build<'_, '_> {
    pub(super) fn pool(&mut self, operator: &Operator, known: Known) -> Result<QuantisedOp, TfliteError> {
        let (from, to) = (self.read(operator, 0)?.1, self.quantity(operator.outputs[0])?);
        self.is_int8(operator, &[from, to])?;
        self.same_scale(operator, from, to)?;
        let window = operator.options.pool([from.shape.height, from.shape.width]);
        let window = window.ok_or_else(|| self.shapes(operator))?;
        let clamp = self.clamp(operator, to)?;
        Ok(match known {
            Known::MaxPool => QuantisedOp::MaxPool { window, clamp },
            _ => QuantisedOp::AveragePool { window, clamp },
        })
    }

    pub(super) fn pair(
        &mut self,
        operator: &Operator,
        known: Known,
        [a, b]: [Quantity; 2],
        to: Quantity,
    ) -> Result<QuantisedOp, TfliteError> {
        self.is_int8(operator, &[a, b, to])?;
        match known {
            Known::Maximum | Known::Minimum => {
                self.same_scale(operator, a, to)?;
                self.same_scale(operator, b, to)?;
                Ok(if known == Known::Maximum { QuantisedOp::Maximum } else { QuantisedOp::Minimum })
            }
            Known::Mul => {
                let multiplier = self.multiplier(operator, f64::from(a.scale * b.scale / to.scale))?;
                Ok(QuantisedOp::Product { multiplier, clamp: self.clamp(operator, to)? })
            }
            _ => {
                let (a, b) = (a.scale / to.scale, b.scale / to.scale);
                let exponent = libm::frexp(f64::from(a.max(b))).1 - 1;
                let shift = 20 - exponent;
                let fits = u32::try_from(shift).ok().filter(|shift| (1..=30).contains(shift));
                let shift = fits.ok_or_else(|| {
                    let expected = "between 2^-10 and 2^19";
                    TfliteError::malformed(&*operator.place, "the quotient of its scales", a.max(b), expected)
                })?;
                let scaled = |quotient: f32| (f64::from(quotient) * f64::from(1u32 << shift)).round_ties_even() as i32;
                let sign = if known == Known::Sub { -1 } else { 1 };
                let clamp = self.clamp(operator, to)?;
                Ok(QuantisedOp::Sum { a: scaled(a), b: sign * scaled(b), shift, clamp })
            }
        }
    }

    pub(super) fn mean(&mut self, operator: &Operator) -> Result<QuantisedOp, TfliteError> {
        let (from, to) = (self.read(operator, 0)?.1, self.quantity(operator.outputs[0])?);
        self.is_int8(operator, &[from, to])?;
        let over = self.model.reduced(operator)?;
        let axes = from.shape.axes();
        let count: usize = (0..3).filter(|axis| over[*axis]).map(|axis| axes[axis]).product();
        if to.shape.len().checked_mul(count) != Some(from.shape.len()) {
            return Err(self.shapes(operator));
        }
        let multiplier = self.multiplier(operator, f64::from(from.scale / to.scale) / count as f64)?;
        Ok(QuantisedOp::Mean { over, multiplier })
    }

    pub(super) fn resize(&mut self, operator: &Operator, known: Known) -> Result<QuantisedOp, TfliteError> {
        let (from, to) = (self.read(operator, 0)?.1, self.quantity(operator.outputs[0])?);
        self.is_int8(operator, &[from, to])?;
        self.same_scale(operator, from, to)?;
        let (size, coordinates) = self.model.resized(operator)?;
        if to.shape.axes() != [size[0], size[1], from.shape.channels] {
            return Err(self.shapes(operator));
        }
        Ok(match known {
            Known::ResizeNearest => QuantisedOp::ResizeNearest(coordinates),
            _ => QuantisedOp::ResizeBilinear(coordinates),
        })
    }

    pub(super) fn conversion(&mut self, operator: &Operator) -> Result<QuantisedOp, TfliteError> {
        let (from, to) = (self.read(operator, 0)?.1, self.quantity(operator.outputs[0])?);
        Ok(match (from.element, to.element) {
            (Element::F32, Element::I8) => QuantisedOp::Quantise,
            (Element::I8, Element::F32) => QuantisedOp::Dequantise,
            (Element::I8, Element::I8) => QuantisedOp::Table(self.slopes(operator, [from, to], 1.0)?),
            (Element::U8 | Element::I16, Element::I8) | (Element::I8, Element::U8) => {
                let multiplier = self.multiplier(operator, f64::from(from.scale) / f64::from(to.scale))?;
                QuantisedOp::Requantise { multiplier }
            }
            _ => return Err(self.unknown(operator)),
        })
    }

    fn slopes(
        &self,
        operator: &Operator,
        [from, to]: [Quantity; 2],
        below: f32,
    ) -> Result<Box<[i16; 256]>, TfliteError> {
        tables::slopes(from, to, below).ok_or_else(|| {
            let found = format!("{:e}", from.scale / to.scale * below);
            TfliteError::malformed(&*operator.place, "its slope", found, "below 2^30, by the quotient of scales")
        })
    }

    /// Functions of single elements, as tables, and softmax.
    pub(super) fn function(&mut self, operator: &Operator, known: Known) -> Result<QuantisedOp, TfliteError> {
        let (from, to) = (self.read(operator, 0)?.1, self.quantity(operator.outputs[0])?);
        let factor = if let Options::Factor(factor) = operator.options { factor } else { 1.0 };
        if known == Known::Softmax {
            let expected = match to.element {
                Element::I8 => (1.0 / 256.0, -128),
                Element::I16 => (1.0 / 65536.0, -32768),
                _ => return Err(self.unknown(operator)),
            };
            self.is_int8(operator, &[from])?;
            self.output(operator, to, expected)?;
            return Ok(QuantisedOp::Softmax { factor: factor * from.scale });
        }
        self.is_int8(operator, &[from, to])?;
        let rescaled = |low: f32, high: f32, function: fn(i32) -> i32| {
            // In f32, as engines find it.
            let multiplier = self.multiplier(operator, f64::from(from.scale / to.scale))?;
            let clamp = Clamp { low: at(low, to), high: at(high, to) };
            Ok::<_, TfliteError>(tables::rescaled(from, to, multiplier, clamp, function))
        };
        let clipped = |low: f32, high: f32| rescaled(low, high, |x| x);
        Ok(QuantisedOp::Table(match known {
            Known::Logistic => {
                self.output(operator, to, (1.0 / 256.0, -128))?;
                tables::real(from, to, |x| 1.0 / (1.0 + libm::exp(-x)))
            }
            Known::Tanh => {
                self.output(operator, to, (1.0 / 128.0, 0))?;
                tables::real(from, to, libm::tanh)
            }
            Known::Relu => clipped(0.0, f32::INFINITY)?,
            Known::Relu6 => clipped(0.0, 6.0)?,
            Known::ReluN1To1 => clipped(-1.0, 1.0)?,
            Known::LeakyRelu => self.slopes(operator, [from, to], factor)?,
            Known::HardSwish => tables::hard_swish(from, to),
            Known::Elu => tables::real(from, to, |x| if x > 0.0 { x } else { libm::expm1(x) }),
            Known::Abs => rescaled(f32::NEG_INFINITY, f32::INFINITY, i32::abs)?,
            Known::Exp => tables::real(from, to, libm::exp),
            _ => return Err(self.unknown(operator)),
        }))
    }

    /// Functions whose values have ends have a scale and a zero point that follow from them.
    fn output(&self, operator: &Operator, to: Quantity, expected: (f32, i32)) -> Result<(), TfliteError> {
        let close = (to.scale - expected.0).abs() <= expected.0 * 1e-3;
        if close && to.zero_point == expected.1 {
            return Ok(());
        }
        let found = format!("scale {} and zero point {}", to.scale, to.zero_point);
        let expected = format!("scale {} and zero point {}", expected.0, expected.1);
        Err(TfliteError::malformed(&*operator.place, "what it makes", found, expected))
    }
}
