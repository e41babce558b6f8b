//! What goes into a network: a vector, or features of which so many are active at once.

use super::error::AngelError;
use super::graph_json::{Description, Layer, LayerKind};
use super::options::Options;
use super::tensors::{Tensors, bounded_cols};
use crate::graph::{Input, Shape};
use crate::import::Remark;

/// What goes in: its length, and how many features are active at once.
pub(super) fn choose(
    description: &Description,
    layers: &[&Layer],
    tensors: &mut Tensors<'_>,
    options: &Options,
    remarks: &mut Vec<Remark>,
) -> Result<Input, AngelError> {
    let embedding = layers.iter().find(|layer| matches!(layer.kind, LayerKind::Embedding(_)));
    let first = layers.iter().find(|layer| matches!(layer.kind, LayerKind::Input(_)));
    let known = options.features.or(description.features);
    let (matrix, outputs) = match (embedding, first) {
        (Some(layer), _) => (tensors.matrix(&format!("{}_embedding", layer.name))?, 1),
        (None, Some(layer)) => {
            let outputs = tensors.matrix(&format!("{}_bias", layer.name))?.cols;
            (tensors.matrix(&format!("{}_weight", layer.name))?, outputs)
        }
        (None, None) => {
            let why = "no SimpleInputLayer and no Embedding, expected one that reads the example".to_owned();
            return Err(AngelError::Json { file: "graph.json", why });
        }
    };
    // A matrix over vectors is one row of inputs · outputs, one over features a row for each output.
    let flat = known.is_some_and(|known| known as u64 != matrix.cols)
        && known.and_then(|known| (known as u64).checked_mul(outputs)) == Some(matrix.cols);
    if description.dense.unwrap_or(flat) {
        if let Some(layer) = embedding {
            return Err(layer.wrong("an embedding of dense data", "libsvm or dummy as the data's format"));
        }
        let len = known.map_or(matrix.cols / outputs.max(1), |known| known as u64);
        return Ok(Input::Dense { shape: Shape::vector(usize::try_from(len).unwrap_or(usize::MAX)) });
    }
    let features = bounded_cols(matrix, 1)?;
    // The index range of graph.json may be -1 and is then not known; an option has to be right.
    if let Some(found) = options.features.filter(|known| *known != features) {
        let expected = format!("{features}, the columns of `{}`", matrix.name);
        return Err(AngelError::Option { option: "--features", found: found.to_string(), expected });
    }
    let fields = options.fields.or(description.fields);
    if layers.iter().any(|layer| needs_every_field(layer, layers)) {
        let Some(fields) = fields else {
            return Err(AngelError::Ask { what: "the number of fields", option: "--fields" });
        };
        return Ok(Input::Sparse { features, max_active: fields, exact: true });
    }
    let max_active = match (options.max_active.or(fields), embedding) {
        (Some(count), _) => count.min(features),
        (None, Some(_)) => {
            let what = "the number of features that are active at once";
            return Err(AngelError::Ask { what, option: "--max-active" });
        }
        (None, None) => {
            let text = format!("all {features} features may be active at once; `--max-active` says otherwise");
            remarks.push(Remark::Decided(text));
            features
        }
    };
    Ok(Input::Sparse { features, max_active, exact: false })
}

/// Whether a layer reads embeddings by their place, so that each has to be there.
fn needs_every_field(layer: &Layer, layers: &[&Layer]) -> bool {
    let of_embedding =
        |read: &String| layers.iter().any(|other| other.name == *read && matches!(other.kind, LayerKind::Embedding(_)));
    let by_place = !matches!(layer.kind, LayerKind::FmTerm | LayerKind::BiInteraction);
    by_place && layer.reads.iter().any(of_embedding)
}
