//! Weights of both, in one order.

use crate::graph::Op;
use crate::graph::description::Tensors;

/// The weights of a node: element (output, column) at `output + outputs · column`.
pub(in crate::verify) fn weights_of(op: &Op) -> Option<&[f64]> {
    match op {
        Op::Linear { weights, .. }
        | Op::SparseLinear { weights, .. }
        | Op::Convolution { weights, .. }
        | Op::TransposedConvolution { weights, .. }
        | Op::Embed { table: weights } => Some(&weights.values),
        Op::PerChannel { factors, .. } => Some(factors),
        _ => None,
    }
}

/// The biases of a node.
pub(in crate::verify) fn biases_of(op: &Op) -> Option<&[f64]> {
    match op {
        Op::Linear { bias, .. }
        | Op::SparseLinear { bias, .. }
        | Op::Convolution { bias, .. }
        | Op::TransposedConvolution { bias, .. } => Some(bias),
        Op::PerChannel { offsets, .. } => Some(offsets),
        _ => None,
    }
}

/// The tensor of a node's weights or table in the order of [`weights_of`]; none if there is none.
pub(super) fn in_order(tensors: &Tensors, node: &str) -> Option<Vec<f64>> {
    if let Some(table) = tensors.get(&format!("{node}.table")) {
        // A row a feature, which is a column of outputs.
        return Some(table.values.clone());
    }
    let tensor = tensors.get(&format!("{node}.weight"))?;
    let (outputs, inputs) = (*tensor.shape.first()?, *tensor.shape.get(1)?);
    let taps: usize = tensor.shape.get(2..)?.iter().product();
    let columns = (0..taps).flat_map(|tap| (0..inputs).map(move |input| input * taps + tap));
    let places = columns.flat_map(|column| (0..outputs).map(move |output| output * inputs * taps + column));
    places.map(|place| tensor.values.get(place).copied()).collect()
}

/// The tensor of a node's biases, of so many; zeros where its weights are there and it has none.
pub(super) fn bias(tensors: &Tensors, node: &str, len: usize) -> Option<Vec<f64>> {
    match tensors.get(&format!("{node}.bias")) {
        Some(tensor) => (tensor.values.len() == len).then(|| tensor.values.clone()),
        None => tensors.contains_key(&format!("{node}.weight")).then(|| vec![0.0; len]),
    }
}

/// `Σ ab / √(Σ a² · Σ b²)`; none where one of them is all zeros, or they are not of one length.
pub(in crate::verify) fn cosine(a: &[f64], b: &[f64]) -> Option<f64> {
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let length = sum(a, a).sqrt() * sum(b, b).sqrt();
    (a.len() == b.len() && length > 0.0).then(|| sum(a, b) / length)
}
