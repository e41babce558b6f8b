//! From tensors by name to a network: shapes, finiteness, the factoriser's merge. The end of every reader.

use super::error::ImportError;
use crate::arch::Architecture;
use crate::float::{Affine, Matrix, Net};

/// Values of a tensor in bullet's order (o + out·i), as many as its shape (out, in) says.
pub(super) fn assemble(
    arch: &Architecture,
    mut values: impl FnMut(&str, (usize, usize)) -> Result<Vec<f32>, ImportError>,
) -> Result<Net<f32>, ImportError> {
    let mut tensor = |name: &str, shape: (usize, usize)| {
        let values = values(name, shape)?;
        check_finite(name, shape.0, &values)?;
        Ok::<_, ImportError>(values)
    };
    let mut layers = Vec::with_capacity(arch.layers.len());
    for index in 0..arch.layers.len() {
        let shape = (arch.layer_rows(index), arch.layer_inputs(index));
        let weights = tensor(&arch.weights_name(index), shape)?;
        let bias = tensor(&arch.bias_name(index), (shape.0, 1))?;
        let weights = Matrix { outputs: shape.0, inputs: shape.1, values: weights };
        layers.push(Affine { weights, bias });
    }
    let psqt = match &arch.psqt {
        None => None,
        Some(psqt) => {
            let (outputs, inputs) = (arch.psqt_rows(), arch.feature_count());
            let weights = Matrix { outputs, inputs, values: tensor(&psqt.weights, (outputs, inputs))? };
            let bias = match &psqt.bias {
                Some(bias) => tensor(bias, (outputs, 1))?,
                None => vec![0.0; outputs],
            };
            Some(Affine { weights, bias })
        }
    };
    Ok(Net { arch: arch.clone(), layers, psqt })
}

/// Adds the factoriser to the rows of every king bucket, in f32, as bullet does before it rounds.
pub(super) fn merge_factoriser(net: &mut Net<f32>, factoriser: &[f32]) -> Result<(), ImportError> {
    let columns = net.arch.factoriser().unwrap_or_else(|| unreachable!("what is merged is described")).to_owned();
    let name = net.arch.weights_name(0);
    let per_bucket = net.arch.features_per_king_bucket();
    let Some(first) = net.layers.first_mut() else { return Ok(()) };
    let outputs = first.weights.outputs;
    // A king bucket's rows are one block of the same size as the factoriser.
    for bucket in first.weights.values.chunks_mut((outputs * per_bucket).max(1)) {
        for (weight, shared) in bucket.iter_mut().zip(factoriser) {
            *weight += shared;
        }
    }
    check_finite(&format!("{name} + {columns}"), outputs, &first.weights.values)
}

/// Every number finite, or the first that is not.
pub(super) fn check_finite(tensor: &str, outputs: usize, values: &[f32]) -> Result<(), ImportError> {
    // Without a way out the compiler tests several at a time; the first that is not finite is looked for only if there
    // is one.
    if values.iter().fold(true, |finite, value| finite & value.is_finite()) {
        return Ok(());
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(ImportError::NonFinite {
            tensor: tensor.to_owned(),
            index,
            output: index % outputs.max(1),
            input: index / outputs.max(1),
            value: values[index],
        }),
        None => Ok(()),
    }
}

/// Little-endian f32s; a rest of fewer than four bytes is left out, callers have checked the length.
pub(super) fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|&chunk| f32::from_le_bytes(chunk)).collect()
}
