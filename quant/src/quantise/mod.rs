//! Float to integers: [`Net<f32>`](crate::float::Net) → [`QuantNet`], element by element, refusing what does not fit.
//!
//! Two rules, chosen by the description. A tensor with a `scale` follows bullet's: product in f64, rounding or truncation,
//! error if it leaves the type. A dense int8 layer gets a scale for every output channel from its weights.

mod dense;
mod element;
mod error;
mod from_bare;
mod net;

pub(crate) use dense::input_unit;
pub use dense::{DenseScales, quantise_input, requantisation};
pub use element::quantise_element;
pub use error::QuantiseError;
pub use net::{QuantLayer, QuantNet, QuantTensor, Values};

use crate::arch::{Architecture, ElementType, InputKind, TensorSpec};
use crate::float::Net;

/// Quantises every tensor of a network.
///
/// # Errors
/// [`QuantiseError`] naming tensor, index, position, value and limit.
pub fn quantise(net: &Net<f32>) -> Result<QuantNet, QuantiseError> {
    let arch = &net.arch;
    if arch.input.kind == InputKind::Dense {
        return dense::quantise_dense(net);
    }
    let mut layers = Vec::with_capacity(net.layers.len());
    for (index, layer) in net.layers.iter().enumerate() {
        let (outputs, inputs) = (layer.weights.outputs, layer.weights.inputs);
        let weights = spec(arch, &arch.weights_name(index))?;
        let bias = spec(arch, &arch.bias_name(index))?;
        layers.push(QuantLayer {
            weights: quantise_tensor(weights, outputs, inputs, &layer.weights.values)?,
            bias: quantise_tensor(bias, outputs, 1, &layer.bias)?,
            dense: None,
        });
    }
    Ok(QuantNet { arch: arch.clone(), layers, bare_header: Vec::new() })
}

/// Quantises one tensor by its entry in the description. values: canonical order, `o + outputs·i`.
///
/// # Errors
/// [`QuantiseError::OutOfRange`] or [`QuantiseError::NotFinite`] for the first value that does not fit.
pub fn quantise_tensor(
    spec: &TensorSpec,
    outputs: usize,
    inputs: usize,
    values: &[f32],
) -> Result<QuantTensor, QuantiseError> {
    let name = spec.name.clone();
    let stored = match (spec.r#type, spec.scale) {
        (ElementType::F32, _) => {
            if let Some(index) = values.iter().position(|value| !value.is_finite()) {
                let value = values.get(index).copied().unwrap_or(f32::NAN);
                return Err(QuantiseError::NotFinite {
                    tensor: name,
                    index,
                    output: index % outputs,
                    input: index / outputs,
                    value,
                });
            }
            Values::F32(values.to_vec())
        }
        (element, Some(scale)) => {
            let (low, high) = element::range(element);
            let mut integers = Vec::with_capacity(values.len());
            for (index, value) in values.iter().enumerate() {
                match quantise_element(*value, scale, spec.rounding, low, high) {
                    Some(integer) => integers.push(integer),
                    None => return Err(element::fault(spec, scale, outputs, index, values)),
                }
            }
            Values::Int(integers)
        }
        (_, None) => return Err(QuantiseError::NoScale { tensor: name }),
    };
    Ok(QuantTensor { name, element: spec.r#type, scale: spec.scale, outputs, inputs, values: stored })
}

pub(crate) fn spec<'a>(arch: &'a Architecture, name: &str) -> Result<&'a TensorSpec, QuantiseError> {
    arch.tensor(name).ok_or_else(|| QuantiseError::NotDescribed { tensor: name.to_owned() })
}
