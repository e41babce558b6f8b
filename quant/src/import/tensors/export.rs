//! A graph as safetensors that say how they hang together.

use crate::graph::Graph;
use crate::graph::description::{Cause, DESCRIPTION_KEY, Description, DescriptionError};
use safetensors::tensor::{Dtype, TensorView, serialize};
use std::collections::HashMap;

/// The bytes of a safetensors file with every tensor, in f32 where all its values are exact in f32, else in f64, and
/// the canonical description in the metadata. Importing it gives an equal graph; equal graphs give equal bytes.
///
/// # Errors
/// [`DescriptionError`] if a name cannot be written, or the graph is not one that [`Graph::check`] accepts.
pub fn export(graph: &Graph) -> Result<Vec<u8>, DescriptionError> {
    let (description, tensors) = Description::of(graph)?;
    let data: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = tensors
        .into_iter()
        .map(|(name, tensor)| {
            let is_single = tensor.values.iter().all(|value| f64::from(single(*value)) == *value);
            let (dtype, bytes) = if is_single {
                (Dtype::F32, tensor.values.iter().flat_map(|value| single(*value).to_le_bytes()).collect())
            } else {
                (Dtype::F64, tensor.values.iter().flat_map(|value| value.to_le_bytes()).collect())
            };
            (name, dtype, tensor.shape, bytes)
        })
        .collect();
    let views =
        data.iter().map(|(name, dtype, shape, bytes)| Ok((name, TensorView::new(*dtype, shape.clone(), bytes)?)));
    // One key, so that the order of a hash map does not reach the file.
    let metadata = HashMap::from([(DESCRIPTION_KEY.to_owned(), description.to_toml())]);
    let bytes = views.collect::<Result<Vec<_>, _>>().and_then(|views| serialize(views, Some(metadata)));
    bytes.map_err(|error: safetensors::SafeTensorError| DescriptionError {
        origin: format!("network `{}`", description.name),
        line: None,
        cause: Box::new(Cause::Syntax(error.to_string())),
    })
}

#[expect(clippy::cast_possible_truncation, reason = "asked whether it loses anything")]
fn single(value: f64) -> f32 {
    value as f32
}
