//! How integers stand for reals.

use crate::import::Remark;
use crate::import::tflite::error::TfliteError;
use crate::import::tflite::operators::Known;
use crate::import::tflite::types::{Element, Model, Operator, Quantisation, Tensor};

/// How far a bias's scale may be from the product that it has to be, as a part of it.
const BIAS_TOLERANCE: f64 = 0.01;

/// Scales of every tensor of integers: finite, above 0, as many as channels, zero points in range.
pub(super) fn check(model: &Model<'_>) -> Result<Vec<Remark>, TfliteError> {
    let mut remarks = Vec::new();
    for (index, tensor) in model.tensors.iter().enumerate() {
        let Some(((low, high), quantisation)) = tensor.element.zero_points().zip(tensor.quantisation.as_ref()) else {
            continue;
        };
        let place = || model.place(index);
        for scale in &quantisation.scales {
            if !(scale.is_finite() && *scale > 0.0) {
                return Err(TfliteError::malformed(place(), "a scale", scale, "a finite number above 0"));
            }
        }
        let several = quantisation.scales.len() > 1;
        // The axis of a single one, or of the only axis, has no meaning; files of 2020 have 3 there.
        let axis = if tensor.dims.len() == 1 { 0 } else { quantisation.axis };
        if several {
            let channels = tensor.dims.get(axis);
            let channels = channels.ok_or_else(|| {
                let expected = format!("an axis of the shape {}", tensor.shape());
                TfliteError::malformed(place(), "the axis of its scales", axis, expected)
            })?;
            if *channels != quantisation.scales.len() {
                let expected = format!("1 or {channels}, the size of axis {axis}");
                let found = quantisation.scales.len();
                return Err(TfliteError::malformed(place(), "the number of its scales", found, expected));
            }
        }
        if tensor.dims.len() == 1 && quantisation.axis > 0 {
            remarks.push(Remark::Warning(format!(
                "{} has its scales along axis {}, but one axis only; it is read as that one",
                place(),
                quantisation.axis
            )));
        }
        let (low, high) = if several { (0, 0) } else { (low, high) };
        if let Some(found) = quantisation.zero_points.iter().find(|zero| !(low..=high).contains(zero)) {
            return Err(TfliteError::malformed(place(), "a zero point", found, format!("{low} to {high}")));
        }
    }
    Ok(remarks)
}

/// What an operator's tensors have to be to one another.
pub(super) fn of_operator(model: &Model<'_>, operator: &Operator, known: Known) -> Result<(), TfliteError> {
    let operands = operator.inputs.iter().flatten().chain(&operator.outputs);
    for operand in operands {
        let tensor = &model.tensors[*operand];
        let is_quantised = matches!(tensor.element, Element::I8 | Element::U8 | Element::I16);
        if is_quantised && tensor.data.is_none() && tensor.single().is_none() {
            let found = tensor.quantisation.iter().map(|quantisation| quantisation.scales.len()).sum::<usize>();
            return Err(TfliteError::malformed(model.place(*operand), "the number of its scales", found, "1"));
        }
    }
    let (x, weights, bias, axis) = match known {
        Known::Conv | Known::FullyConnected => (0, 1, 2, 0),
        Known::DepthwiseConv => (0, 1, 2, 3),
        Known::TransposeConv => (2, 1, 3, 0),
        _ => return Ok(()),
    };
    let operand = |index: usize| operator.inputs.get(index).copied().flatten();
    let (Some(x), Some(weights)) = (operand(x), operand(weights)) else { return Ok(()) };
    let tensor = &model.tensors[weights];
    let Some(quantisation) = &tensor.quantisation else { return Ok(()) };
    if tensor.element != Element::I8 {
        return Ok(());
    }
    if let Some(zero) = quantisation.zero_points.iter().find(|zero| **zero != 0) {
        return Err(TfliteError::malformed(model.place(weights), "a zero point of weights", zero, "0"));
    }
    if quantisation.scales.len() > 1 && quantisation.axis != axis {
        let expected = format!("{axis}, its outputs'");
        return Err(TfliteError::malformed(
            model.place(weights),
            "the axis of its scales",
            quantisation.axis,
            expected,
        ));
    }
    match operand(bias) {
        Some(bias) => of_bias(&model.place(bias), &model.tensors[x], quantisation, &model.tensors[bias]),
        None => Ok(()),
    }
}

/// A bias is added before anything is divided: its scale is the product of the others.
fn of_bias(place: &str, x: &Tensor<'_>, weights: &Quantisation, bias: &Tensor<'_>) -> Result<(), TfliteError> {
    let (Some((x, _)), Some(bias)) = (x.single(), &bias.quantisation) else { return Ok(()) };
    let count = bias.scales.len().max(weights.scales.len());
    let of =
        |scales: &[f32], channel: usize| if scales.len() == 1 { Some(scales[0]) } else { scales.get(channel).copied() };
    for channel in 0..count {
        let pair = of(&weights.scales, channel).zip(of(&bias.scales, channel));
        let (weights, bias) = pair.ok_or_else(|| {
            let expected = format!("1 or {count}, as its weights have");
            TfliteError::malformed(place, "the number of its scales", bias.scales.len(), expected)
        })?;
        let product = f64::from(x) * f64::from(weights);
        if (f64::from(bias) - product).abs() > BIAS_TOLERANCE * product {
            let expected = format!("{product:e}, the input's times the weights' (output {channel})");
            return Err(TfliteError::malformed(place, "the scale", format!("{bias:e}"), expected));
        }
    }
    Ok(())
}
