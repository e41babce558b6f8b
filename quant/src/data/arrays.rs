//! Examples and labels in npy, npz and safetensors.

use super::encoding::ByteType;
use super::error::DataError;
use super::inputs::{Inputs, Rows};
use crate::graph::description::Tensor;
use crate::import::tensors::{
    Element, TypedTensors, is_npy, is_npz, read_typed_npy, read_typed_npz, read_typed_safetensors,
};
use tamis_batches::printable;

/// The array of the examples, unless another is asked for.
const USUAL: &str = "inputs";
/// The array of the examples that calibrate, which then comes before the usual one.
const CALIBRATION: &str = "calibration_inputs";

/// The inputs of a file, and its labels if there is an array of that name.
pub(super) fn read_inputs(
    (bytes, packed_len_bytes): (&[u8], usize),
    array: Option<&str>,
    calibrates: bool,
) -> Result<Inputs, DataError> {
    let mut tensors = read(bytes, packed_len_bytes)?;
    let own = array.is_none() && calibrates && tensors.contains_key(CALIBRATION);
    let array = if own { Some(CALIBRATION) } else { array };
    let name = choose(&tensors, array, USUAL, |rank| rank >= 2, "two dimensions or more")?;
    let Some((tensor, element)) = tensors.remove(&name) else { return Err(DataError::Empty) };
    // First, for the other dimensions of nothing may multiply to anything.
    if tensor.values.is_empty() {
        return Err(DataError::Empty);
    }
    let axes = match tensor.shape.as_slice() {
        [] | [_] => {
            let shape = Tensor::shape_text(&tensor.shape);
            let why =
                format!("the shape {shape}; examples have two dimensions or more, the first of which counts them");
            return Err(DataError::Record { record: 0, why });
        }
        [_, rest @ ..] => rest.to_vec(),
    };
    let bytes = match element {
        Element::U8 => Some(ByteType::U8),
        Element::I8 => Some(ByteType::I8),
        _ => None,
    };
    let labels = match tensors.remove("labels") {
        // Beside an array that was asked for by name they may be another array's, and are where there is the usual one.
        Some((labels, _))
            if array.is_some()
                && name != USUAL
                && (tensors.contains_key(USUAL) || labels.values.len() != tensor.shape[0]) =>
        {
            None
        }
        Some((labels, _)) => {
            let (found, expected) = (labels.values.len(), tensor.shape[0]);
            if found != expected {
                let why = format!("{found} labels for {expected} examples");
                return Err(DataError::Record { record: found.min(expected), why });
            }
            Some(labels.values)
        }
        None => None,
    };
    let rows = Rows::Reals { axes, values: tensor.values, bytes, encoding: None };
    Ok(Inputs { rows, labels, outputs: None, array: (!name.is_empty()).then_some(name) })
}

/// The labels of a file. packed_len_bytes: the length of the file itself, which a gzip unpacks from.
pub(super) fn read_labels(
    (bytes, packed_len_bytes): (&[u8], usize),
    array: Option<&str>,
) -> Result<Vec<f64>, DataError> {
    let mut tensors = read(bytes, packed_len_bytes)?;
    let name = choose(&tensors, array, "labels", |rank| rank == 1, "one dimension")?;
    let Some((tensor, _)) = tensors.remove(&name) else { return Err(DataError::Empty) };
    if tensor.shape.iter().filter(|len| **len != 1).count() > 1 {
        let why = format!("the shape {}; labels have one dimension", Tensor::shape_text(&tensor.shape));
        return Err(DataError::Record { record: 0, why });
    }
    Ok(tensor.values)
}

fn read(bytes: &[u8], packed_len_bytes: usize) -> Result<TypedTensors, DataError> {
    Ok(if is_npy(bytes) {
        TypedTensors::from([(String::new(), read_typed_npy(bytes, packed_len_bytes)?)])
    } else if is_npz(bytes) {
        read_typed_npz(bytes)?
    } else {
        read_typed_safetensors(bytes)?.0
    })
}

/// The array that is asked for, else the one of the usual name, else the only one, else the only one of the right rank.
fn choose(
    tensors: &TypedTensors,
    asked: Option<&str>,
    usual: &str,
    is_right: impl Fn(usize) -> bool,
    right: &str,
) -> Result<String, DataError> {
    let refuse = |why: String| {
        let present: Vec<String> = tensors
            .iter()
            .take(20)
            .map(|(name, (tensor, _))| format!("`{}` {}", printable(name), Tensor::shape_text(&tensor.shape)))
            .collect();
        DataError::Choice { why, present: if present.is_empty() { "nothing".to_owned() } else { present.join(", ") } }
    };
    if let Some(name) = asked {
        let known = tensors.contains_key(name);
        return if known {
            Ok(name.to_owned())
        } else {
            Err(refuse(format!("there is no array `{}`", printable(name))))
        };
    }
    if tensors.contains_key(usual) {
        return Ok(usual.to_owned());
    }
    let mut all = tensors.keys();
    if let (Some(only), None) = (all.next(), all.next()) {
        return Ok(only.clone());
    }
    let mut right_ones = tensors.iter().filter(|(_, (tensor, _))| is_right(tensor.shape.len())).map(|(name, _)| name);
    match (right_ones.next(), right_ones.next()) {
        (Some(only), None) => Ok(only.clone()),
        _ => Err(refuse(format!("no array `{usual}`, and not one of {right}; name the array"))),
    }
}
