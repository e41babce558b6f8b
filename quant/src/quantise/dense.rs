//! Dense int8 layers: symmetric weights with a scale a channel, u7 or i8 activations with a scale a layer, i32 biases, and
//! one requantisation between layers.
//!
//! With input unit x, weight unit w\[o\] and output unit y, a layer computes `y·q_out = x·w[o]·(Σ q_in·q_w + q_bias)`, so the
//! runtime multiplies the sum by `x·w[o]/y`, held as a 31-bit multiplier and a shift.

use super::element::round;
use super::{QuantLayer, QuantNet, QuantTensor, QuantiseError, Values, spec};
use crate::arch::{Activation, Architecture, DenseType, ElementType, Layer, Rounding, TensorSpec};
use crate::float::{Affine, Net};

/// The largest magnitude of a weight: −128 is left out so that a channel's scale is symmetric.
const WEIGHT_MAX: f64 = 127.0;
/// The largest quantised activation.
const ACTIVATION_MAX: f64 = 127.0;
/// The unit of the network's outputs: fine enough not to be seen, coarse enough for ±32768 in i32.
const OUTPUT_UNIT: f64 = 1.0 / 65536.0;

/// Units of a dense int8 layer: the real value of an integer 1.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseScales {
    /// Of the input.
    pub input_unit: f64,
    /// Of the weights, a channel each; f32 because the file holds them.
    pub weight_units: Vec<f32>,
    /// Of the output.
    pub output_unit: f64,
    /// The least quantised output: 0 after a ReLU.
    pub low: i32,
    /// The greatest quantised output.
    pub high: i32,
}

impl DenseScales {
    /// The unit of one channel's weights.
    pub fn weight_unit(&self, output: usize) -> f64 {
        self.weight_units.get(output).copied().map_or(1.0, f64::from)
    }

    /// The real factor between a channel's sum and its quantised output.
    pub fn factor(&self, output: usize) -> f64 {
        self.input_unit * self.weight_unit(output) / self.output_unit
    }
}

/// The unit of a dense network's quantised input.
pub(crate) fn input_unit(arch: &Architecture) -> f64 {
    f64::from((arch.input.max.unwrap_or(1.0) / ACTIVATION_MAX) as f32)
}

/// A factor as a multiplier of 30 to 31 bits and a shift: `factor ≈ multiplier · 2^−shift`, relative error below 2⁻³¹.
/// Factors too small for a shift of 62 lose bits, down to 0; `None` above 2³⁰.
pub fn requantisation(factor: f64) -> Option<(i32, u32)> {
    if factor == 0.0 {
        return Some((0, 1));
    }
    if !factor.is_finite() || factor < 0.0 || factor >= f64::from(1 << 30) {
        return None;
    }
    let mut shift = 0i32;
    let mut scaled = factor;
    while scaled < f64::from(1 << 30) {
        scaled *= 2.0;
        shift += 1;
    }
    if scaled.round() >= 2_147_483_648.0 {
        scaled /= 2.0;
        shift -= 1;
    }
    while shift > 62 {
        scaled /= 2.0;
        shift -= 1;
    }
    (shift >= 1).then_some((scaled.round() as i32, shift as u32))
}

pub(super) fn quantise_dense(net: &Net<f32>) -> Result<QuantNet, QuantiseError> {
    let arch = &net.arch;
    let mut unit = input_unit(arch);
    let mut layers = Vec::with_capacity(net.layers.len());
    for (index, (layer, description)) in net.layers.iter().zip(&arch.layers).enumerate() {
        let last = index + 1 == net.layers.len();
        let scales = scales(description, layer, unit, last)?;
        unit = scales.output_unit;
        let weights = spec(arch, &arch.weights_name(index))?;
        let bias = spec(arch, &arch.bias_name(index))?;
        layers.push(quantise_layer(weights, bias, layer, scales)?);
    }
    Ok(QuantNet { arch: arch.clone(), layers, bare_header: Vec::new() })
}

/// The units of a layer: from its largest weight a channel, and from the description's activation range.
fn scales(description: &Layer, layer: &Affine<f32>, input_unit: f64, last: bool) -> Result<DenseScales, QuantiseError> {
    let unsupported =
        |what: String, instead| QuantiseError::Unsupported { layer: description.name.clone(), what, instead };
    let outputs = layer.weights.outputs;
    let mut largest = vec![0f32; outputs];
    for (index, weight) in layer.weights.values.iter().enumerate() {
        if let Some(largest) = largest.get_mut(index % outputs.max(1)) {
            *largest = largest.max(weight.abs());
        }
    }
    let weight_units = largest.into_iter().map(|max| if max == 0.0 { 1.0 } else { max / WEIGHT_MAX as f32 }).collect();
    let (output_unit, low, high) = if last {
        if description.activation != Activation::Identity {
            return Err(unsupported(
                format!("{} after the last layer", description.activation.word()),
                "apply it to the outputs",
            ));
        }
        (OUTPUT_UNIT, i32::MIN, i32::MAX)
    } else {
        let range = description.activation_max;
        match description.activation {
            Activation::Relu => {
                let max = range.ok_or_else(|| {
                    unsupported(
                        "relu without `activation_max`".to_owned(),
                        "give the largest activation seen on calibration data",
                    )
                })?;
                (f64::from((max / ACTIVATION_MAX) as f32), 0, 127)
            }
            Activation::Crelu => (f64::from((1.0 / ACTIVATION_MAX) as f32), 0, 127),
            other => return Err(unsupported(other.word().to_owned(), "use relu or crelu in dense networks")),
        }
    };
    Ok(DenseScales { input_unit, weight_units, output_unit, low, high })
}

fn quantise_layer(
    weights: &TensorSpec,
    bias: &TensorSpec,
    layer: &Affine<f32>,
    scales: DenseScales,
) -> Result<QuantLayer, QuantiseError> {
    let (outputs, inputs) = (layer.weights.outputs, layer.weights.inputs);
    for (spec, wanted) in [(weights, ElementType::I8), (bias, ElementType::I32)] {
        if spec.r#type != wanted {
            return Err(QuantiseError::Unsupported {
                layer: spec.name.clone(),
                what: format!("{} in a dense network", spec.r#type.word()),
                instead: "use i8 weights and i32 biases",
            });
        }
    }
    let quantise = |spec: &TensorSpec, values: &[f32], unit: &dyn Fn(usize) -> f64, limit: f64| {
        let mut integers = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            let (output, input) = (index % outputs.max(1), index / outputs.max(1));
            let tensor = spec.name.clone();
            if !value.is_finite() {
                return Err(QuantiseError::NotFinite { tensor, index, output, input, value: *value });
            }
            let product = f64::from(*value) / unit(output);
            let rounded = round(product, Rounding::Nearest);
            if rounded.abs() > limit {
                let (low, high) = super::element::range(spec.r#type);
                let (element, limit) = (spec.r#type.word(), limit * unit(output));
                let value = *value;
                return Err(QuantiseError::OutOfRange {
                    tensor,
                    index,
                    output,
                    input,
                    value,
                    scale: 0,
                    product,
                    element,
                    low,
                    high,
                    limit,
                    others: 0,
                });
            }
            integers.push(rounded as i32);
        }
        Ok(integers)
    };
    let tensor = |spec: &TensorSpec, inputs, values| QuantTensor {
        name: spec.name.clone(),
        element: spec.r#type,
        scale: None,
        outputs,
        inputs,
        values: Values::Int(values),
    };
    let weight_values = quantise(weights, &layer.weights.values, &|output| scales.weight_unit(output), WEIGHT_MAX)?;
    let bias_values =
        quantise(bias, &layer.bias, &|output| scales.input_unit * scales.weight_unit(output), f64::from(i32::MAX))?;
    Ok(QuantLayer {
        weights: tensor(weights, inputs, weight_values),
        bias: tensor(bias, 1, bias_values),
        dense: Some(scales),
    })
}

/// Quantises a dense input: `round(x / unit)`, half away from zero, clamped to the type's range.
pub fn quantise_input(arch: &Architecture, x: &[f64]) -> Vec<i8> {
    let unit = input_unit(arch);
    let low = if arch.input.r#type == Some(DenseType::I8) { -ACTIVATION_MAX } else { 0.0 };
    x.iter().map(|x| (x / unit).round().clamp(low, ACTIVATION_MAX) as i8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_survives_as_multiplier_and_shift() {
        for factor in [1e-9, 3.7e-5, 0.25, 0.5, 0.999_999_999_9, 1.0, 1.5, 1000.0, 1e9] {
            let (multiplier, shift) = requantisation(factor).unwrap();
            let back = f64::from(multiplier) / (1u64 << shift) as f64;
            assert!((back / factor - 1.0).abs() < 1.0 / f64::from(1u32 << 30), "{factor} {multiplier} {shift}");
            assert!((1..=62).contains(&shift) && multiplier >= 1);
        }
        assert_eq!(requantisation(0.0), Some((0, 1)));
        assert_eq!(requantisation(1e-30), Some((0, 62)));
        assert_eq!(requantisation(2e9), None);
        assert_eq!(requantisation(f64::NAN), None);
    }
}
