//! Bounds of a quantised graph: what every element of every value can be, node by node.
//!
//! Each node's bounds follow from those of what it reads; the input can be anything that its element holds. A sum that leaves i32 is
//! a violation; what comes behind it is bounded as if it were clamped.

mod bounds;
mod pairs;
mod span;

pub(crate) use bounds::bound;
pub(crate) use span::Span;

use super::{Proof, Witness};
use crate::program::{Operation, Program, ProgramNode};

/// Derives every bound of a quantised graph.
///
/// A graph's nodes must fit one another, as those of `quantise_graph` and `unpack_graph` do.
#[must_use]
pub fn prove_graph(graph: &Program) -> Proof {
    let mut proof = Proof::default();
    let mut spans = vec![Span::of_input(&graph.input)];
    for (index, node) in graph.nodes.iter().enumerate() {
        let before = graph.nodes.get(..index).unwrap_or(&[]);
        let (span, checks) = bound(&graph.input, before, &spans, node);
        proof.add(checks, |check| witness(node, &spans, check.row, check.high > i64::from(i32::MAX)));
        spans.push(span);
    }
    proof
}

/// Inputs of an affine node, each at the end of its range that drives the row the same way.
fn witness(node: &ProgramNode, spans: &[Span], row: usize, upward: bool) -> Option<Witness> {
    let Operation::Affine { weights, bias } = &node.op else { return None };
    let span = spans.get(*node.reads.first()?)?;
    let column = weights.integers().iter().skip(row).step_by(weights.outputs.max(1));
    let ends = column.clone().enumerate().map(|(input, weight)| {
        let (low, high) = span.at(input);
        if (*weight > 0) == upward { high } else { low }
    });
    let values: Vec<i32> = ends.map(|end| end as i32).collect();
    let bias = bias.integers().get(row).copied().map_or(0, i64::from);
    let value = bias + column.zip(&values).map(|(weight, x)| i64::from(*weight) * i64::from(*x)).sum::<i64>();
    Some(Witness::Activations { values, value })
}
