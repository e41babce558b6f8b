//! Operators that make fewer numbers of many, or more of few.

use super::Lowering;
use crate::float::Matrix;
use crate::graph::{Op, Pooling, Value};
use crate::import::tflite::error::TfliteError;
use crate::import::tflite::moves::axis_of;
use crate::import::tflite::operators::Known;
use crate::import::tflite::types::{Operator, Options};
use crate::spatial::{Coordinates, Rounding, Sampling, Window};

impl Lowering<'_, '_> {
    pub(super) fn pool(&mut self, operator: &Operator, known: Known) -> Result<Value, TfliteError> {
        let tensor = self.model.operand(operator, 0)?;
        let read = self.value(&operator.place, tensor)?;
        let shape = self.shapes[read];
        let window = operator.options.pool([shape.height, shape.width]);
        let window =
            window.ok_or_else(|| TfliteError::malformed(&*operator.place, "its options", "none", "a window"))?;
        let kind = if known == Known::MaxPool { Pooling::Max } else { Pooling::Average };
        self.add(operator, "", &[read], Op::Pool { window, kind })
    }

    /// Over height and width a pool of the whole map; over channels a dense layer of one output for each pixel.
    pub(super) fn reduce(&mut self, operator: &Operator, known: Known) -> Result<Value, TfliteError> {
        let tensor = self.model.operand(operator, 0)?;
        let mut value = self.value(&operator.place, tensor)?;
        let shape = self.shapes[value];
        let over = self.model.reduced(operator)?;
        let count: usize = (0..3).filter(|axis| over[*axis]).map(|axis| shape.axes()[axis]).product();
        if over[0] || over[1] {
            let kernel = [0, 1].map(|axis| if over[axis] { shape.axes()[axis] } else { 1 });
            let kind = if known == Known::ReduceMax { Pooling::Max } else { Pooling::Average };
            value = self.add(operator, "", &[value], Op::Pool { window: Window::of(kernel), kind })?;
        }
        if over[2] && shape.channels > 1 {
            if known == Known::ReduceMax {
                return Err(TfliteError::unsupported(&*operator.place, "REDUCE_MAX over channels", ""));
            }
            let part = 1.0 / shape.channels as f64;
            let weights = Matrix { outputs: 1, inputs: shape.channels, values: vec![part; shape.channels] };
            value = self.add(operator, "", &[value], Op::Linear { weights, bias: vec![0.0] })?;
        }
        if known == Known::Sum {
            value = self.add(operator, "sum", &[value], Op::Scale(count as f64))?;
        }
        let made = self.model.shape(operator.outputs[0])?;
        if made != self.shapes[value] {
            value = self.add(operator, "shape", &[value], Op::Reshape(made))?;
        }
        Ok(value)
    }

    pub(super) fn resize(&mut self, operator: &Operator, known: Known) -> Result<Value, TfliteError> {
        let tensor = self.model.operand(operator, 0)?;
        let read = self.value(&operator.place, tensor)?;
        let (size, coordinates) = self.model.resized(operator)?;
        let sampling = match (known, coordinates) {
            (Known::ResizeBilinear, _) => Sampling::Bilinear,
            (_, Coordinates::Asymmetric) => Sampling::Nearest(Rounding::Floor),
            // Half a pixel further on and rounded down is the same as rounded to the nearest.
            _ => Sampling::Nearest(Rounding::HalfUp),
        };
        self.add(operator, "", &[read], Op::Resize { size, sampling, coordinates })
    }
}

impl crate::import::tflite::types::Model<'_> {
    /// Whether height, width and channels are reduced.
    pub(in crate::import::tflite) fn reduced(&self, operator: &Operator) -> Result<[bool; 3], TfliteError> {
        let rank = self.tensors[self.operand(operator, 0)?].dims.len();
        let mut over = [false; 3];
        for number in self.numbers(operator, 1)? {
            let axis = axis_of(number, rank).ok_or_else(|| {
                TfliteError::malformed(&*operator.place, "an axis", number, format!("one of {rank} axes"))
            })?;
            // The batch, which is 1, is reduced to itself.
            if let Some(axis) = (axis + 3).checked_sub(rank) {
                over[axis] = true;
            }
        }
        Ok(over)
    }

    /// Height and width of a resized map, and where its pixels lie.
    pub(in crate::import::tflite) fn resized(
        &self,
        operator: &Operator,
    ) -> Result<([usize; 2], Coordinates), TfliteError> {
        let numbers = self.numbers(operator, 1)?;
        let size: Option<Vec<usize>> =
            numbers.iter().map(|len| usize::try_from(*len).ok().filter(|len| (1..=1 << 20).contains(len))).collect();
        let size = size.and_then(|size| <[usize; 2]>::try_from(size).ok()).ok_or_else(|| {
            TfliteError::malformed(&*operator.place, "its size", format!("{numbers:?}"), "a height and a width")
        })?;
        let coordinates = match operator.options {
            Options::Resize { align_corners: true, half_pixel: true } => {
                let what = "aligned corners together with half pixels";
                return Err(TfliteError::unsupported(&*operator.place, what, ""));
            }
            Options::Resize { align_corners: true, .. } => Coordinates::AlignCorners,
            Options::Resize { half_pixel: true, .. } => Coordinates::HalfPixel,
            _ => Coordinates::Asymmetric,
        };
        Ok((size, coordinates))
    }
}
