//! Dense int8 layers: symmetric weights with a scale a channel, u7 or i8 activations with a scale a layer, i32 biases,
//! and one requantisation between layers.
//!
//! With input unit x, weight unit w\[o\] and output unit y, a layer computes `y·q_out = x·w[o]·(Σ q_in·q_w + q_bias)`,
//! so the runtime multiplies the sum by `x·w[o]/y`, held as a 31-bit multiplier and a shift.

use super::element::round;
use super::{QuantLayer, QuantNet, QuantTensor, QuantiseError, Values, spec};
use crate::arch::{Activation, Architecture, DenseType, ElementType, Layer, Rounding, TensorSpec};
use crate::float::{Affine, Net};

/// The largest magnitude of a weight: −128 is left out so that a channel's scale is symmetric.
const WEIGHT_MAX: f64 = 127.0;
/// The largest quantised activation.
const ACTIVATION_MAX: f64 = 127.0;
/// The largest magnitude of a bias in units of its channel's sums: half of i32 is left to the weights.
const BIAS_MAX: f64 = (1u32 << 30) as f64;
/// The unit of the network's outputs: fine enough not to be seen, coarse enough for ±32768 in i32. Greater outputs
/// saturate.
pub(crate) const OUTPUT_UNIT: f64 = 1.0 / 65536.0;

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

/// The unit of activations of which the largest is `max`: an f32, since the file holds it.
pub(crate) fn activation_unit(max: f64) -> f64 {
    f64::from((max / ACTIVATION_MAX) as f32)
}

/// The unit of a dense network's quantised input.
pub(crate) fn input_unit(arch: &Architecture) -> f64 {
    activation_unit(arch.input.max.unwrap_or(1.0))
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
    if let Some(layer) = arch.layers.iter().find(|layer| layer.skip > 0) {
        return Err(unsupported(layer, "`skip` in a dense network".to_owned(), "leave it out"));
    }
    let mut unit = input_unit(arch);
    if let Some(first) = arch.layers.first() {
        check_unit(first, unit, "the input")?;
    }
    let mut layers = Vec::with_capacity(net.layers.len());
    for (index, (layer, description)) in net.layers.iter().zip(&arch.layers).enumerate() {
        let last = index + 1 == net.layers.len();
        let scales = scales(description, layer, unit, last)?;
        unit = scales.output_unit;
        let weights = spec(arch, &arch.weights_name(index))?;
        let bias = spec(arch, &arch.bias_name(index))?;
        layers.push(quantise_layer(weights, bias, layer, scales)?);
    }
    Ok(QuantNet { arch: arch.clone(), layers, bare_header: Vec::new(), permutation: None })
}

fn unsupported(layer: &Layer, what: String, instead: &'static str) -> QuantiseError {
    QuantiseError::Unsupported { layer: layer.name.clone(), what, instead }
}

/// Refuses a range whose unit f32 cannot hold.
fn check_unit(layer: &Layer, unit: f64, of: &str) -> Result<(), QuantiseError> {
    if (unit as f32).is_normal() {
        return Ok(());
    }
    let what = format!("a range of {of} whose 127th part is {unit:e} in f32");
    Err(unsupported(layer, what, "scale the values nearer to 1 and give their range again"))
}

/// The unit of each channel's weights, (outputs,): its largest weight becomes 127.
///
/// The bias is counted in input units times weight units. A channel whose weights are zero, or so small that its bias
/// would leave i32, gets the unit at which the bias is [`BIAS_MAX`]: beside such a bias its weights do not count.
fn weight_units(layer: &Affine<f32>, input_unit: f64) -> Vec<f32> {
    let outputs = layer.weights.outputs;
    let mut largest = vec![0f32; outputs];
    for (index, weight) in layer.weights.values.iter().enumerate() {
        if let Some(largest) = largest.get_mut(index % outputs.max(1)) {
            *largest = largest.max(weight.abs());
        }
    }
    let unit = |(largest, bias): (f32, &f32)| {
        let least = f64::from(bias.abs()) / (input_unit * BIAS_MAX);
        let unit = (f64::from(largest) / WEIGHT_MAX).max(least) as f32;
        // Without weight and bias any unit will do; a subnormal one has too few bits to divide by.
        if unit.is_normal() { unit } else { 1.0 }
    };
    largest.into_iter().zip(&layer.bias).map(unit).collect()
}

/// The units of a layer: from its largest weight a channel, and from the description's activation range.
fn scales(description: &Layer, layer: &Affine<f32>, input_unit: f64, last: bool) -> Result<DenseScales, QuantiseError> {
    let unsupported = |what: String, instead| unsupported(description, what, instead);
    let weight_units = weight_units(layer, input_unit);
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
                check_unit(description, activation_unit(max), "`activation_max`")?;
                (activation_unit(max), 0, ACTIVATION_MAX as i32)
            }
            Activation::Crelu => (activation_unit(1.0), 0, ACTIVATION_MAX as i32),
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
            if !value.is_finite() {
                let tensor = spec.name.clone();
                return Err(QuantiseError::NotFinite { tensor, index, output, input, value: *value });
            }
            let product = f64::from(*value) / unit(output);
            let rounded = round(product, Rounding::Nearest);
            if rounded.abs() > limit {
                let (low, high) = super::element::range(spec.r#type);
                let (element, limit) = (spec.r#type.word(), (limit + 0.5) * unit(output));
                let (tensor, value) = (spec.name.clone(), *value);
                return Err(QuantiseError::OutOfRange {
                    tensor,
                    index,
                    output,
                    input,
                    value,
                    scale: 1.0 / unit(output),
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
        banks: 1,
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
    let (low, high) = arch.input.r#type.unwrap_or(DenseType::U7).range();
    x.iter().map(|x| (x / unit).round().clamp(low.into(), high.into()) as i8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::Matrix;

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

    const DENSE: &str = "schema = 1\nname = 'x'\n[input]\nkind = 'dense'\nsize = 2\ntype = 'u7'\nmax = 1.0\n\
        [[layer]]\nname = 'a'\noutputs = 3\nactivation = 'relu'\nactivation_max = 2.0\n[[layer]]\nname = 'b'\noutputs = 1\n\
        [[tensor]]\nname = 'aw'\ntype = 'i8'\n[[tensor]]\nname = 'ab'\ntype = 'i32'\n\
        [[tensor]]\nname = 'bw'\ntype = 'i8'\n[[tensor]]\nname = 'bb'\ntype = 'i32'\n";

    fn net(text: &str) -> Net<f32> {
        let affine = |outputs, inputs, values: &[f32], bias: &[f32]| Affine {
            weights: Matrix::new(outputs, inputs, values.to_vec()).unwrap(),
            bias: bias.to_vec(),
        };
        let arch = Architecture::from_toml(text, "x").unwrap();
        // The first channel is ordinary, the second dead, the third all but dead; each has a bias.
        let first = affine(3, 2, &[0.5, 0.0, 1e-12, -1.0, 0.0, 1e-41], &[0.1, 0.3, 1.5]);
        let rows = arch.layer_inputs(1);
        Net { arch, layers: vec![first, affine(1, rows, &vec![1.0; rows], &[0.0])] }
    }

    #[test]
    fn a_dead_channel_keeps_its_bias() {
        let quantised = quantise_dense(&net(DENSE)).unwrap();
        let back = quantised.layers[0].to_reals();
        for (back, real) in back.bias.iter().zip([0.1, 0.3, 1.5]) {
            assert!((back - real).abs() < 1e-4, "{back} for {real}");
        }
        let weights = quantised.layers[0].weights.integers();
        assert_eq!(weights, [64, 0, 0, -127, 0, 0], "beside their biases the weights of dead channels do not count");
    }

    #[test]
    fn what_f32_and_the_runtime_cannot_hold_is_refused() {
        for (from, to, words) in [
            ("max = 1.0", "max = 1e-60", "a range of the input"),
            ("max = 1.0", "max = 1e60", "a range of the input"),
            ("activation_max = 2.0", "activation_max = 1e-60", "a range of `activation_max`"),
            ("outputs = 3", "outputs = 3\nskip = 1", "`skip` in a dense network"),
        ] {
            let error = quantise_dense(&net(&DENSE.replacen(from, to, 1))).unwrap_err().to_string();
            assert!(error.starts_with("layer `a`: ") && error.contains(words), "{error}");
        }
    }
}
