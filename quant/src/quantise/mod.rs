//! Float to integers: [`Net<f32>`](crate::float::Net) → [`QuantNet`], element by element, refusing what does not fit.
//!
//! A tensor with a `scale` follows bullet's rule: product in f64, rounding or truncation, error if it leaves the type.
//! Networks without accumulators are graphs, see [`graph`].

mod element;
mod error;
pub mod fit;
mod from_bare;
pub mod graph;
pub mod scales;
mod tensor;

pub use crate::program::requantisation;
pub use element::quantise_element;
pub use error::QuantiseError;
pub use tensor::quantise_tensor;

use crate::arch::{Architecture, TensorSpec};
use crate::float::Net;
use crate::quantised::{QuantLayer, QuantNet};

/// Quantises every tensor of a network of accumulators whose shapes are its description's, as an importer makes it.
///
/// # Errors
/// [`QuantiseError`] naming tensor, index, position, value and limit; [`QuantiseError::Dense`] for a dense network.
///
/// # Examples
/// ```
/// use tamis_quant::arch::Architecture;
/// use tamis_quant::import::read_bytes;
/// use tamis_quant::quantise::quantise;
///
/// let arch = Architecture::from_toml(include_str!("../../../tests/architectures/reference.toml"), "reference.toml")?;
/// let weights = include_bytes!("../../../tests/reference/nnue.weights.bin");
/// let checkpoint = read_bytes(weights, &arch, "weights.bin")?;
/// let net = quantise(&checkpoint.net)?;
/// let (real, integer) = (checkpoint.net.layers[0].bias[0], net.tensor("l0b").unwrap().integers()[0]);
/// assert_eq!(integer, (f64::from(real) * 255.0).round() as i32);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn quantise(net: &Net<f32>) -> Result<QuantNet, QuantiseError> {
    let arch = &net.arch;
    if !arch.input.is_sparse() {
        return Err(QuantiseError::Dense { network: arch.name.clone() });
    }
    let mut layers = Vec::with_capacity(net.layers.len());
    for (index, layer) in net.layers.iter().enumerate() {
        let (outputs, inputs) = (layer.weights.outputs, layer.weights.inputs);
        let weights = spec(arch, &arch.weights_name(index))?;
        let bias = spec(arch, &arch.bias_name(index))?;
        layers.push(QuantLayer {
            weights: quantise_tensor(weights, outputs, inputs, &layer.weights.values)?,
            bias: quantise_tensor(bias, outputs, 1, &layer.bias)?,
        });
    }
    let psqt = match (&arch.psqt, &net.psqt) {
        (Some(described), Some(psqt)) => {
            let (outputs, inputs) = (psqt.weights.outputs, psqt.weights.inputs);
            let weights = quantise_tensor(spec(arch, &described.weights)?, outputs, inputs, &psqt.weights.values)?;
            let bias = match &described.bias {
                Some(bias) => quantise_tensor(spec(arch, bias)?, outputs, 1, &psqt.bias)?,
                None => QuantLayer::without_bias(&weights),
            };
            Some(QuantLayer { weights, bias })
        }
        _ => None,
    };
    Ok(QuantNet { arch: arch.clone(), layers, psqt, bare_header: Vec::new(), permutation: None })
}

pub(crate) fn spec<'a>(arch: &'a Architecture, name: &str) -> Result<&'a TensorSpec, QuantiseError> {
    arch.tensor(name).ok_or_else(|| QuantiseError::NotDescribed { tensor: name.to_owned() })
}
