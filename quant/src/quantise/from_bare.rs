//! A bare file holds a quantised network already; it only needs its layers put together.

use super::{QuantiseError, spec};
use crate::import::{BareNet, BareValues};
use crate::program::{QuantTensor, Values};
use crate::quantised::{QuantLayer, QuantNet};

impl QuantNet {
    /// The network in a bare file; nothing is rounded again.
    ///
    /// # Errors
    /// [`QuantiseError::NotDescribed`] if a layer's tensor is missing, which a checked description excludes;
    /// [`QuantiseError::Dense`].
    pub fn from_bare(bare: BareNet) -> Result<Self, QuantiseError> {
        let BareNet { arch, header, mut tensors } = bare;
        if !arch.input.is_sparse() {
            return Err(QuantiseError::Dense { network: arch.name });
        }
        let mut layers = Vec::with_capacity(arch.layers.len());
        let mut take = |name: String| {
            let place = tensors.iter().position(|tensor| tensor.name == name);
            let place = place.ok_or_else(|| QuantiseError::NotDescribed { tensor: name.clone() })?;
            let tensor = tensors.swap_remove(place);
            let spec = spec(&arch, &name)?;
            Ok(QuantTensor {
                name,
                element: spec.r#type,
                scale: spec.scale,
                banks: 1,
                outputs: tensor.out,
                inputs: tensor.inp,
                values: match tensor.values {
                    BareValues::Int(values) => Values::Int(values),
                    BareValues::F32(values) => Values::F32(values),
                },
            })
        };
        for index in 0..arch.layers.len() {
            let weights = take(arch.weights_name(index))?;
            let bias = take(arch.bias_name(index))?;
            layers.push(QuantLayer { weights, bias });
        }
        let psqt = match &arch.psqt {
            None => None,
            Some(psqt) => {
                let weights = take(psqt.weights.clone())?;
                let bias = match &psqt.bias {
                    Some(bias) => take(bias.clone())?,
                    None => QuantLayer::without_bias(&weights),
                };
                Some(QuantLayer { weights, bias })
            }
        };
        Ok(Self { arch, layers, psqt, bare_header: header, permutation: None })
    }
}
