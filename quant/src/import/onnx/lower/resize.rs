//! Maps of another size.

use super::super::error::OnnxError;
use super::super::tensor::MAX_LEN;
use super::Lowering;
use super::call::Call;
use super::convolution::size;
use super::layout::Tensor;
use crate::graph::{Coordinates, Op, Rounding, Sampling};

impl Lowering<'_, '_> {
    pub(super) fn resize(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let x = self.map(call, call.made(0)?)?;
        for (name, plain) in [("antialias", 0), ("exclude_outside", 0)] {
            if call.int(name, plain)? != plain {
                return Err(call.unsupported(format!("the attribute {name}")));
            }
        }
        if call.attribute("axes").is_some() {
            return Err(call.unsupported("the attribute axes"));
        }
        if call.text("keep_aspect_ratio_policy", "stretch")? != "stretch" {
            return Err(call.unsupported("an aspect ratio that is kept"));
        }
        let made = made_dims(call, &x.dims)?;
        if made[..2] != x.dims[..2] {
            return Err(call.unsupported("another number of channels or examples"));
        }
        let sampling = sampling(call, [&x.dims, &made])?;
        let coordinates = coordinates(call)?;
        let size = size(&Tensor { dims: made, ..x.clone() });
        let value = self.push("resize", &[x.value], Op::Resize { size, sampling, coordinates })?;
        Ok(self.made_map(&x, value))
    }
}

/// The sizes that it makes, by sizes or by scales.
fn made_dims(call: &Call<'_, '_>, dims: &[usize]) -> Result<Vec<usize>, OnnxError> {
    // Version 10 has no region of interest.
    let scales_at = if call.opset < 11 { 1 } else { 2 };
    let error = |found: String| call.attribute_error("scales or sizes", found, &format!("{} of them", dims.len()));
    if let Some(sizes) = call.constant(3)?.filter(|sizes| !sizes.values.is_empty()) {
        let sizes = sizes.ints();
        let fits = sizes.len() == dims.len() && sizes.iter().all(|size| (1..=MAX_LEN as i64).contains(size));
        return if fits {
            Ok(sizes.iter().map(|size| *size as usize).collect())
        } else {
            Err(error(format!("{sizes:?}")))
        };
    }
    let scales = call.required_constant(scales_at)?;
    if scales.values.len() != dims.len() || scales.values.iter().any(|scale| scale.is_nan() || *scale <= 0.0) {
        return Err(error(format!("{:?}", scales.values)));
    }
    let along = |(size, scale): (&usize, &f64)| {
        let made = *size as f64 * scale;
        // Where the sizes do not come out, pixels lie by the scale, not by the sizes.
        let comes_out = made == made.floor() && (1.0..=MAX_LEN as f64).contains(&made);
        if comes_out { Ok(made as usize) } else { Err(call.unsupported(format!("{size} pixels times {scale}"))) }
    };
    dims.iter().zip(&scales.values).map(along).collect()
}

fn sampling(call: &Call<'_, '_>, [read, made]: [&[usize]; 2]) -> Result<Sampling, OnnxError> {
    let axes = || read.iter().zip(made);
    match call.text("mode", "nearest")?.as_str() {
        "linear" => Ok(Sampling::Bilinear),
        // Operator sets before 11 do not say; ONNX Runtime takes the pixel above where a map shrinks.
        "nearest" if call.opset < 11 => match (axes().any(|(read, made)| made < read), axes().any(|(a, b)| b > a)) {
            (true, true) => Err(call.unsupported("a map that grows along one axis and shrinks along another")),
            (true, false) => Ok(Sampling::Nearest(Rounding::Ceil)),
            (false, _) => Ok(Sampling::Nearest(Rounding::Floor)),
        },
        "nearest" => Ok(Sampling::Nearest(match call.text("nearest_mode", "round_prefer_floor")?.as_str() {
            "round_prefer_floor" => Rounding::HalfDown,
            "round_prefer_ceil" => Rounding::HalfUp,
            "floor" => Rounding::Floor,
            "ceil" => Rounding::Ceil,
            other => return Err(call.unsupported(format!("the nearest_mode {}", other.escape_debug()))),
        })),
        other => Err(call.unsupported(format!("the mode {}", other.escape_debug()))),
    }
}

fn coordinates(call: &Call<'_, '_>) -> Result<Coordinates, OnnxError> {
    if call.opset < 11 {
        return Ok(Coordinates::Asymmetric);
    }
    match call.text("coordinate_transformation_mode", "half_pixel")?.as_str() {
        "half_pixel" => Ok(Coordinates::HalfPixel),
        "pytorch_half_pixel" => Ok(Coordinates::PytorchHalfPixel),
        "asymmetric" => Ok(Coordinates::Asymmetric),
        "align_corners" => Ok(Coordinates::AlignCorners),
        other => Err(call.unsupported(format!("the coordinate_transformation_mode {}", other.escape_debug()))),
    }
}
