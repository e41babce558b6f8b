//! What is known before a node is bounded.

use super::span::Span;
use crate::program::{ProgramInput, ProgramNode};
use crate::spatial::Shape;

/// What is known before a node.
pub(crate) struct Before<'p> {
    /// The program's input.
    pub input: &'p ProgramInput,
    /// The nodes before it.
    pub nodes: &'p [ProgramNode],
    /// What each value before it can be.
    pub spans: &'p [&'p Span],
    /// The output bucket, of `buckets`.
    pub bucket: usize,
    /// Output buckets.
    pub buckets: usize,
}

impl Before<'_> {
    /// The shape of a value of a graph.
    pub(super) fn shape(&self, value: usize) -> Shape {
        match (value.checked_sub(1), self.input) {
            (Some(node), _) => self.nodes[node].value.shape,
            (None, ProgramInput::Dense { shape, .. }) => *shape,
            (None, _) => Shape::vector(self.len(0)),
        }
    }

    /// The integer of a value that stands for 0.
    pub(super) fn zero(&self, value: usize) -> i32 {
        match (value.checked_sub(1), self.input) {
            (Some(node), _) => self.nodes[node].value.zero,
            (None, ProgramInput::Dense { zero, .. }) => *zero,
            (None, _) => 0,
        }
    }

    /// The length of a value, accumulators as their span has it.
    pub(super) fn len(&self, value: usize) -> usize {
        match (value.checked_sub(1), self.input) {
            (Some(node), _) => self.nodes[node].value.len(),
            (None, ProgramInput::Dense { shape, .. }) => shape.len(),
            (None, ProgramInput::Sparse { max_active, .. }) => *max_active,
            (None, ProgramInput::Features { .. }) => self.spans[0].len(),
        }
    }
}
