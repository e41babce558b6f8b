//! The ends of sums: of rows of weights, with a bias, and with a check a row.

use super::report::{Check, Quantity};
use super::span::Span;
use crate::program::{ProgramNode, QuantTensor};
use std::ops::Range;
use tamis_runtime::raw::num;

/// The least and the greatest partial sum of some rows, without bias: negative and positive contributions summed apart.
pub(super) fn row_bounds(weights: &QuantTensor, rows: Range<usize>, limits: &[(i64, i64)]) -> Vec<(i64, i64)> {
    assert_eq!(weights.inputs, limits.len(), "inputs of `{}`", weights.name);
    let mut bounds = vec![(0i64, 0i64); rows.len()];
    for (column, (low, high)) in weights.integers().chunks(weights.outputs).zip(limits) {
        for (bound, weight) in bounds.iter_mut().zip(&column[rows.clone()]) {
            let ends = [i64::from(*weight) * low, i64::from(*weight) * high];
            // Saturating for weights of i32, which the runtime has no operation for: a bound beyond i64 is beyond i32
            // too.
            bound.0 = bound.0.saturating_add(ends[0].min(ends[1]).min(0));
            bound.1 = bound.1.saturating_add(ends[0].max(ends[1]).max(0));
        }
    }
    bounds
}

/// The same of products that are rounded on the way: a term grows in magnitude with the activation, from 0 on, so that
/// its ends are those of the clip.
pub(super) fn rounded_bounds(weights: &QuantTensor, rows: Range<usize>, max: i32) -> Vec<(i64, i64)> {
    let mut bounds = vec![(0i64, 0i64); rows.len()];
    for column in weights.integers().chunks(weights.outputs) {
        for (bound, weight) in bounds.iter_mut().zip(&column[rows.clone()]) {
            let end = rounded_term(max.into(), *weight);
            *bound = (bound.0 + end.min(0), bound.1 + end.max(0));
        }
    }
    bounds
}

/// What a clipped accumulator adds to a sum of rounded products.
pub(super) fn rounded_term(clipped: i64, weight: i32) -> i64 {
    i64::from(num::mul_round(clipped as i16, weight as i16)) * clipped
}

/// What a pair of clipped accumulators makes.
pub(super) const fn pair(a: i64, b: i64, shift: u32, is_rounded: bool) -> i64 {
    if is_rounded { num::shift_round((a * b) as i32, shift) as i64 } else { (a * b) >> shift }
}

/// A wrapped sum can be anything; a sum that fits is what it is.
pub(super) fn clamped(bounds: &[(i64, i64)], each: bool) -> Span {
    let fits = |&(low, high): &(i64, i64)| low >= i64::from(i32::MIN) && high <= i64::from(i32::MAX);
    let of = |ends: &(i64, i64)| if fits(ends) { *ends } else { (i32::MIN.into(), i32::MAX.into()) };
    match bounds {
        [ends] if !each => Span::All(of(ends)),
        bounds => Span::Each(bounds.iter().map(of).collect()),
    }
}

/// The span of sums with a check a row.
pub(super) fn checked_sums(node: &ProgramNode, tensor: &str, bounds: Vec<(i64, i64)>) -> (Span, Vec<Check>) {
    checked(node, tensor, Quantity::Sum, bounds)
}

/// The span of numbers with a check each.
pub(super) fn checked(
    node: &ProgramNode,
    tensor: &str,
    quantity: Quantity,
    bounds: Vec<(i64, i64)>,
) -> (Span, Vec<Check>) {
    let check = |(row, (low, high)): (usize, &(i64, i64))| Check {
        tensor: tensor.to_owned(),
        quantity,
        row,
        bucket: None,
        low: *low,
        high: *high,
    };
    let checks = bounds.iter().enumerate().map(check).collect();
    (clamped(&bounds, bounds.len() == node.value.shape.channels), checks)
}

/// The end of a wide head's result. Beyond i32 it is beyond i32, however far; within, nothing on the way leaves i64.
pub(super) fn wide_result(sum: i64, [pre, bias, factor, divisor]: [i32; 4]) -> i64 {
    let with_bias = i128::from(sum / i64::from(pre)) + i128::from(bias);
    let result = with_bias * i128::from(factor) / i128::from(divisor);
    result.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// A sum starts at its bias or ends with it: partial sums at either end of the order.
pub(super) fn with_bias(bounds: Vec<(i64, i64)>, bias: Option<&QuantTensor>, bucket: usize) -> Vec<(i64, i64)> {
    let Some(bias) = bias else { return bounds };
    let biases = bias.integers()[bias.bank(bucket)].iter().copied().map(i64::from);
    assert_eq!(biases.len(), bounds.len(), "a bias for each row of `{}`", bias.name);
    let add =
        |((low, high), bias): ((i64, i64), i64)| (low.saturating_add(bias.min(0)), high.saturating_add(bias.max(0)));
    bounds.into_iter().zip(biases).map(add).collect()
}
