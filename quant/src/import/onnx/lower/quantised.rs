//! Operators of quantised networks, on reals: integers are reals that have no fraction.

use super::super::error::OnnxError;
use super::super::tensor::{Element, Literal};
use super::Lowering;
use super::call::{Call, Entry};
use super::convolution::outputs_of;
use super::layout::Tensor;
use crate::graph::Op;

/// The zero point that is left out.
const NO_ZERO_POINT: f64 = 0.0;

/// How integers stand for reals: `real = (integer − zero point) · scale`.
#[derive(Debug, Clone)]
pub(super) struct Quantisation {
    /// One, or one a place along the axis.
    scales: Vec<f64>,
    zero_points: Vec<f64>,
    /// Along which there is one each; none where there is one alone.
    axis: Option<usize>,
    /// Of the integers; none where no zero point says it.
    element: Option<Element>,
}

impl Quantisation {
    /// The scale and the zero point in these inputs, of a value of these sizes.
    pub(super) fn read(
        call: &Call<'_, '_>,
        [scale, zero_point]: [usize; 2],
        dims: &[usize],
        axis: i64,
    ) -> Result<Self, OnnxError> {
        if call.int("block_size", 0)? != 0 {
            return Err(call.unsupported("scales of blocks"));
        }
        let scale = call.required_constant(scale)?;
        let zero = call.constant(zero_point)?;
        let count = scale.values.len();
        let axis = match (count, &scale.dims[..]) {
            (1, _) => None,
            (_, [_]) => Some(call.axis(axis, dims.len())?),
            _ => return Err(call.unsupported(format!("scales of the shape {:?}", scale.dims))),
        };
        if let Some(axis) = axis.filter(|axis| dims[*axis] != count) {
            return Err(call.shapes(format!("{count} scales"), format!("{}, as axis {axis} has", dims[axis])));
        }
        if let Some(wrong) = scale.values.iter().find(|scale| !(scale.is_finite() && **scale > 0.0)) {
            return Err(call.shapes(format!("the scale {wrong}"), "more than 0"));
        }
        let zero_points = zero.map_or_else(|| vec![0.0; count], |zero| zero.values.clone());
        if zero_points.len() != count {
            return Err(call.shapes(format!("{} zero points", zero_points.len()), format!("{count}")));
        }
        if zero.is_some_and(|zero| zero.element.is_real()) {
            return Err(call.unsupported("integers that are real numbers"));
        }
        Ok(Self { scales: scale.values.clone(), zero_points, axis, element: zero.map(|zero| zero.element) })
    }

    /// Refuses integers of another type than the zero point's.
    fn check_element(&self, call: &Call<'_, '_>, found: Element) -> Result<(), OnnxError> {
        match self.element {
            Some(zero_point) if zero_point != found => {
                Err(call.shapes(format!("a zero point of {zero_point:?}"), format!("{found:?}, as the integers are")))
            }
            _ => Ok(()),
        }
    }

    /// The reals that constant integers stand for.
    pub(super) fn dequantised(&self, call: &Call<'_, '_>, integers: &Literal) -> Result<Literal, OnnxError> {
        self.check_element(call, integers.element)?;
        let inner: usize = self.axis.map_or(1, |axis| integers.dims[axis + 1..].iter().product());
        let real = |(at, integer): (usize, &f64)| {
            let at = if self.axis.is_some() { at / inner % self.scales.len() } else { 0 };
            (integer - self.zero_points[at]) * self.scales[at]
        };
        let values = integers.values.iter().enumerate().map(real).collect();
        Ok(Literal { dims: integers.dims.clone(), element: Element::F32, values })
    }

    /// Numbers of each channel.
    fn each(&self, channels: usize, of: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let numbers = self.scales.iter().zip(&self.zero_points).map(|(scale, zero)| of(*scale, *zero));
        if self.axis.is_some() { numbers.collect() } else { numbers.cycle().take(channels).collect() }
    }
}

impl Lowering<'_, '_> {
    pub(super) fn quantize(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let x = call.made(0)?;
        let quantisation = Quantisation::read(call, [1, 2], &x.dims, call.int("axis", 1)?)?;
        let named = Element::of_code(call.int("output_dtype", 0)?);
        let element = quantisation.element.or(named).unwrap_or(Element::U8);
        self.quantised(call, x, &quantisation, element)
    }

    pub(super) fn dequantize(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let x = call.made(0)?;
        let quantisation = Quantisation::read(call, [1, 2], &x.dims, call.int("axis", 1)?)?;
        self.dequantised(call, x, &quantisation)
    }

    /// The value with the channels that a quantisation has numbers for.
    fn with_channels(&mut self, x: &Tensor, quantisation: &Quantisation) -> Result<Tensor, OnnxError> {
        let Some(axis) = quantisation.axis else { return Ok(x.clone()) };
        self.not_batch(axis)?;
        let x = self.aligned(x)?;
        self.with_last(&x, axis)
    }

    fn quantised(
        &mut self,
        call: &Call<'_, '_>,
        x: &Tensor,
        quantisation: &Quantisation,
        element: Element,
    ) -> Result<Tensor, OnnxError> {
        let Some((low, high)) = element.range().filter(|_| !matches!(element, Element::I32 | Element::U32)) else {
            return Err(call.unsupported(format!("quantising to {element:?}")));
        };
        let x = self.with_channels(x, quantisation)?;
        let channels = self.shapes[x.value].channels;
        let scales = quantisation.each(channels, |scale, _| scale);
        let zero_points = quantisation.each(channels, |_, zero| zero);
        let value = self.push("quantise", &[x.value], Op::Quantise { scales, zero_points, low, high })?;
        Ok(Tensor { value, element, ..x })
    }

    fn dequantised(
        &mut self,
        call: &Call<'_, '_>,
        x: &Tensor,
        quantisation: &Quantisation,
    ) -> Result<Tensor, OnnxError> {
        quantisation.check_element(call, x.element)?;
        let x = self.with_channels(x, quantisation)?;
        let channels = self.shapes[x.value].channels;
        let factors = quantisation.each(channels, |scale, _| scale);
        let offsets = quantisation.each(channels, |scale, zero| -zero * scale);
        let value = self.push("dequantise", &[x.value], Op::PerChannel { factors, offsets })?;
        Ok(Tensor { value, element: Element::F32, ..x })
    }

    /// Inputs: x, scale, zero point; weights, scale, zero point; scale and zero point of the output; bias in steps of
    /// the product of both scales.
    pub(super) fn quantised_convolution(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let x = call.made(0)?;
        let of_x = Quantisation::read(call, [1, 2], &x.dims, 1)?;
        let integers = call.required_constant(3)?;
        let of_weights = Quantisation::read(call, [4, 5], &integers.dims, 0)?;
        let weights = of_weights.dequantised(call, integers)?;
        let outputs = outputs_of(call, &weights)?;
        let bias = match call.constant(8)? {
            Some(_) => {
                let steps = of_weights.each(outputs, |scale, _| scale * of_x.scales[0]);
                let bias = call.vector(8, outputs, "a bias")?;
                Some(bias.iter().zip(steps).map(|(bias, step)| bias * step).collect())
            }
            None => None,
        };
        let x = self.dequantised(call, x, &of_x)?;
        let made = self.convolve(call, &x, &weights, bias)?;
        let of_made = Quantisation::read(call, [6, 7], &made.dims, 1)?;
        self.quantised(call, &made, &of_made, of_made.element.unwrap_or(Element::U8))
    }

    /// Inputs: a, scale, zero point; b, scale, zero point; scale and zero point of the output.
    pub(super) fn quantised_matmul(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let a = call.made(0)?;
        let of_a = Quantisation::read(call, [1, 2], &a.dims, a.dims.len().saturating_sub(2) as i64)?;
        let integers = call.required_constant(3)?;
        let of_b = Quantisation::read(call, [4, 5], &integers.dims, -1)?;
        let b = of_b.dequantised(call, integers)?;
        let a = self.dequantised(call, a, &of_a)?;
        let made = self.product(call, &a, &b)?;
        let of_made = Quantisation::read(call, [6, 7], &made.dims, made.dims.len().saturating_sub(2) as i64)?;
        self.quantised(call, &made, &of_made, of_made.element.unwrap_or(Element::U8))
    }

    pub(super) fn integer_convolution(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let weights = less_zero_point(call, call.required_constant(1)?, 3, 0)?;
        let x = self.less_zero_point_of_input(call)?;
        let made = self.convolve(call, &x, &weights, None)?;
        Ok(Tensor { element: Element::I32, ..made })
    }

    pub(super) fn integer_matmul(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let b = call.required_constant(1)?;
        let b = less_zero_point(call, b, 3, b.dims.len().saturating_sub(1))?;
        let x = self.less_zero_point_of_input(call)?;
        let made = self.product(call, &x, &b)?;
        Ok(Tensor { element: Element::I32, ..made })
    }

    fn less_zero_point_of_input(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let zero_point = call.scalar(2)?.unwrap_or(NO_ZERO_POINT);
        let zero_point = Entry::known(Literal::scalar(Element::F32, zero_point));
        self.combined(crate::graph::Binary::Sub, call.required(0)?, &zero_point)
    }
}

/// Constant integers less their zero point, which is one or one a place along `axis`.
fn less_zero_point(call: &Call<'_, '_>, integers: &Literal, input: usize, axis: usize) -> Result<Literal, OnnxError> {
    let Some(zero) = call.constant(input)? else { return Ok(integers.clone()) };
    let count = zero.values.len();
    if count != 1 && Some(&count) != integers.dims.get(axis) {
        return Err(call.shapes(format!("{count} zero points"), "one, or one an output"));
    }
    let inner: usize = integers.dims.iter().skip(axis + 1).product();
    let less = |(at, integer): (usize, &f64)| integer - zero.values[at / inner.max(1) % count];
    let values = integers.values.iter().enumerate().map(less).collect();
    Ok(Literal { values, ..integers.clone() })
}
