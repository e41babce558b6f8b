//! Inputs that take a sum out of its type: feature lists where they can be found, else activations.

use super::search::Search;
use super::span::Span;
use super::sums::rounded_term;
use super::{Check, Witness};
use crate::program::{Operation, Program, ProgramNode, QuantTensor};

/// An input that takes a row of a node out of its type. `read`: what the node's first value can be; `ranges`: of the
/// accumulators.
pub(super) fn find(
    program: &Program,
    node: &ProgramNode,
    read: &Span,
    ranges: &[(i64, i64)],
    check: &Check,
) -> Option<Witness> {
    let (weights, bias) = match &node.op {
        Operation::ActivateDot { weights, .. } => (weights, None),
        Operation::RoundedDot { weights, bias, .. }
        | Operation::Affine { weights, bias }
        | Operation::AffineI32 { weights, bias, .. } => (weights, bias.as_ref()),
        _ => return None,
    };
    if let Some(search) = Search::of(program, node, weights)
        && ranges.iter().all(|(low, high)| *low >= i64::from(i16::MIN) && *high <= i64::from(i16::MAX))
        && let Some(witness) = search.lists(check)
    {
        return Some(witness);
    }
    let limits = match &node.op {
        Operation::ActivateDot { clip, max, .. } => {
            super::bounds::contributions(*clip, *max, &read.each(weights.inputs))
        }
        Operation::AffineI32 { is_dual, .. } => {
            super::bounds::activated(&node.op, &read.each(weights.inputs / if *is_dual { 2 } else { 1 }))
        }
        Operation::RoundedDot { max, .. } => {
            let limits = vec![(0, i64::from(*max)); weights.inputs];
            let term = |weight: i32, end: i64| rounded_term(end, weight);
            return Some(activations(weights, bias, check.row, &limits, term));
        }
        _ => read.each(weights.inputs),
    };
    Some(activations(weights, bias, check.row, &limits, |weight, end| i64::from(weight) * end))
}

/// Every activation at the end of its range that drives the row outward. `term`: what a weight makes of one.
fn activations(
    weights: &QuantTensor,
    bias: Option<&QuantTensor>,
    row: usize,
    limits: &[(i64, i64)],
    term: impl Fn(i32, i64) -> i64,
) -> Witness {
    let column = weights.integers().iter().skip(row).step_by(weights.outputs);
    let bias = match bias {
        Some(bias) => i64::from(bias.integers()[if bias.banks == weights.banks { row } else { row % bias.outputs }]),
        None => 0,
    };
    let drive = |upward: bool| -> (Vec<i32>, i64) {
        let mut value = bias;
        let mut values = Vec::with_capacity(limits.len());
        for (weight, (low, high)) in column.clone().zip(limits) {
            let end = if (*weight > 0) == upward { *high } else { *low };
            value = value.saturating_add(term(*weight, end));
            values.push(end.clamp(i32::MIN.into(), i32::MAX.into()) as i32);
        }
        (values, value)
    };
    let (up, down) = (drive(true), drive(false));
    let (values, value) = if up.1 >= down.1.saturating_neg() { up } else { down };
    Witness::Activations { values, value }
}
