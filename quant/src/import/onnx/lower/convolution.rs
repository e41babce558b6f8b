//! Convolutions: kernels from (outputs, inputs, taps) to rows by tap, then by input.

use super::super::error::OnnxError;
use super::super::tensor::Literal;
use super::Lowering;
use super::call::Call;
use super::layout::Tensor;
use super::window::{AutoPad, auto_pad, pair, sides, window};
use crate::float::Matrix;
use crate::graph::{Op, Window};

/// The first axis of weights.
pub(super) fn outputs_of(call: &Call<'_, '_>, weights: &Literal) -> Result<usize, OnnxError> {
    weights.dims.first().copied().ok_or_else(|| call.shapes("weights of no axes", "outputs as the first"))
}

impl Lowering<'_, '_> {
    pub(super) fn convolution(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let weights = call.required_constant(1)?;
        let bias = match call.constant(2)? {
            Some(_) => Some(call.vector(2, outputs_of(call, weights)?, "a bias")?),
            None => None,
        };
        self.convolve(call, call.made(0)?, weights, bias)
    }

    /// A convolution with `weights` (outputs, inputs of a group, taps).
    pub(super) fn convolve(
        &mut self,
        call: &Call<'_, '_>,
        x: &Tensor,
        weights: &Literal,
        bias: Option<Vec<f64>>,
    ) -> Result<Tensor, OnnxError> {
        let x = self.map(call, x)?;
        let kernel = kernel(call, &x, weights)?;
        let (outputs, inputs) = (weights.dims[0], weights.dims[1]);
        let groups = groups(call, x.dims[1], inputs, outputs)?;
        let window = window(call, kernel, size(&x))?;
        let taps = window.taps();
        let mut values = vec![0.0; weights.values.len()];
        for (at, weight) in weights.values.iter().enumerate() {
            let (output, input, tap) = (at / (inputs * taps), at / taps % inputs, at % taps);
            values[output + outputs * (tap * inputs + input)] = *weight;
        }
        let weights = Matrix { outputs, inputs: taps * inputs, values };
        let bias = bias.unwrap_or_else(|| vec![0.0; outputs]);
        let value = self.push("conv", &[x.value], Op::Convolution { window, groups, weights, bias })?;
        Ok(self.made_map(&x, value))
    }

    pub(super) fn transposed_convolution(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let x = self.map(call, call.made(0)?)?;
        let weights = call.required_constant(1)?;
        let kernel = kernel(call, &x, weights)?;
        // (inputs, outputs of a group, taps)
        let (inputs, outputs_of_group) = (weights.dims[0], weights.dims[1]);
        let groups = groups(call, inputs, 1, inputs)?;
        if inputs != x.dims[1] {
            return Err(call.shapes(format!("{} channels", x.dims[1]), format!("{inputs}")));
        }
        let (outputs, inputs_of_group) = (outputs_of_group * groups, inputs / groups);
        let (window, size) = transposed_window(call, kernel, size(&x))?;
        let taps = window.taps();
        let mut values = vec![0.0; weights.values.len()];
        for (at, weight) in weights.values.iter().enumerate() {
            let (input, within, tap) = (at / (outputs_of_group * taps), at / taps % outputs_of_group, at % taps);
            let output = input / inputs_of_group * outputs_of_group + within;
            values[output + outputs * (tap * inputs_of_group + input % inputs_of_group)] = *weight;
        }
        let weights = Matrix { outputs, inputs: taps * inputs_of_group, values };
        let bias = match call.constant(2)? {
            Some(_) => call.vector(2, outputs, "a bias")?,
            None => vec![0.0; outputs],
        };
        let op = Op::TransposedConvolution { window, groups, size, weights, bias };
        let value = self.push("conv", &[x.value], op)?;
        Ok(self.made_map(&x, value))
    }
}

/// Height and width of a map.
pub(super) fn size(map: &Tensor) -> [usize; 2] {
    pair(&map.dims[2..], 1)
}

/// The taps along each axis of pixels, which `kernel_shape` may repeat.
fn kernel<'w>(call: &Call<'_, '_>, x: &Tensor, weights: &'w Literal) -> Result<&'w [usize], OnnxError> {
    let dims = &weights.dims;
    if dims.len() != x.dims.len() || weights.values.is_empty() {
        return Err(call.shapes(format!("weights of the shape {dims:?}"), format!("{} axes", x.dims.len())));
    }
    let kernel = &dims[2..];
    match sides(call, "kernel_shape", 1, kernel.len())? {
        Some(given) if given != kernel => {
            Err(call.attribute_error("kernel_shape", format!("{given:?}"), &format!("{kernel:?}, as the weights have")))
        }
        _ => Ok(kernel),
    }
}

/// The attribute `group`, which divides inputs and outputs.
fn groups(call: &Call<'_, '_>, channels: usize, inputs: usize, outputs: usize) -> Result<usize, OnnxError> {
    let found = call.int("group", 1)?;
    let Some(groups) = usize::try_from(found).ok().filter(|groups| *groups > 0) else {
        return Err(call.attribute_error("group", found.to_string(), "1 or more"));
    };
    let divides = outputs.is_multiple_of(groups) && channels.is_multiple_of(groups);
    if !divides || (call.operator() != "ConvTranspose" && channels / groups != inputs) {
        let found = format!("{channels} channels in {groups} groups");
        return Err(call.shapes(found, format!("{inputs} channels a group, and outputs in as many groups ({outputs})")));
    }
    Ok(groups)
}

/// The window of a transposed convolution, and the size of what it makes.
fn transposed_window(
    call: &Call<'_, '_>,
    kernel: &[usize],
    from: [usize; 2],
) -> Result<(Window, [usize; 2]), OnnxError> {
    let axes = kernel.len();
    let list = |name, least, fill| -> Result<[usize; 2], OnnxError> {
        Ok(sides(call, name, least, axes)?.map_or([fill; 2], |sides| pair(&sides, fill)))
    };
    let (stride, dilation, extra) = (list("strides", 1, 1)?, list("dilations", 1, 1)?, list("output_padding", 0, 0)?);
    let pads = sides(call, "pads", 0, 2 * axes)?.unwrap_or_else(|| vec![0; 2 * axes]);
    let (before, after) = pads.split_at(axes);
    let mut window = Window { stride, dilation, ..Window::of(pair(kernel, 1)) };
    (window.before, window.after) = (pair(before, 0), pair(after, 0));
    let auto = auto_pad(call)?;
    let given = sides(call, "output_shape", 1, axes)?.map(|size| pair(&size, 1));
    let mut size = [0; 2];
    for axis in 0..2 {
        let whole = stride[axis] * (from[axis] - 1) + extra[axis] + window.reach(axis);
        let wanted = match given {
            Some(given) => Some(given[axis]),
            None if auto == AutoPad::Given => None,
            None => Some(from[axis] * stride[axis]),
        };
        if let Some(wanted) = wanted {
            let total = whole.checked_sub(wanted).ok_or_else(|| call.unsupported("an output beyond its pixels"))?;
            let less = total / 2;
            let is_upper = auto == AutoPad::SameUpper;
            (window.before[axis], window.after[axis]) =
                if is_upper { (less, total - less) } else { (total - less, less) };
        }
        let pads = window.before[axis] + window.after[axis];
        let made = whole.checked_sub(pads).filter(|made| *made > 0);
        size[axis] = made.ok_or_else(|| call.shapes(format!("{pads} pixels of padding"), format!("below {whole}")))?;
    }
    Ok((window, size))
}
