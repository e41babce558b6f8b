//! The integer model of a quantised graph: its operations in plain loops over tensors in training order, with the runtime's
//! definitions of rounding and of f32 sums, and none of its layouts, plans or kernels.

use super::data::Data;
use super::operation::apply;
use crate::graph::{Sample, SampleError, Value};
use crate::program::{GraphInput, Program, ProgramInput};

/// A quantised graph as a plain function.
#[derive(Debug, Clone, Copy)]
pub struct GraphModel<'g> {
    graph: &'g Program,
}

impl<'g> GraphModel<'g> {
    /// Wraps a graph whose nodes fit one another, as those of `quantise_graph` and `unpack_graph` do.
    #[must_use]
    pub const fn new(graph: &'g Program) -> Self {
        Self { graph }
    }

    /// Every value by its number, the input first.
    ///
    /// # Errors
    /// [`SampleError`] if the sample cannot be quantised.
    pub fn trace(&self, sample: &Sample) -> Result<Vec<Data>, SampleError> {
        Ok(self.trace_input(&self.graph.input.quantise(sample)?))
    }

    /// The same of an input that is quantised already.
    #[must_use]
    pub fn trace_input(&self, input: &GraphInput) -> Vec<Data> {
        self.trace_first(input, self.graph.nodes.len())
    }

    /// The input and what the first `count` nodes make of it.
    pub(crate) fn trace_first(&self, input: &GraphInput, count: usize) -> Vec<Data> {
        let first = match input {
            GraphInput::U8(x) => Data::Int(x.iter().copied().map(i32::from).collect()),
            GraphInput::I8(x) => Data::Int(x.iter().copied().map(i32::from).collect()),
            GraphInput::F32(x) => Data::Real(x.clone()),
            GraphInput::Sparse { features, values } => {
                let values = values.iter().copied().map(i32::from).chain(std::iter::repeat(1));
                Data::Sparse(features.iter().copied().zip(values).collect())
            }
        };
        let mut values = vec![first];
        for node in self.graph.nodes.iter().take(count) {
            let value = apply(&self.graph.input, node, &values);
            values.push(value);
        }
        values
    }

    /// What stands for value `logits` of the float graph, as reals: the last node that does. The outputs if none does.
    ///
    /// # Errors
    /// [`SampleError`] if the sample cannot be quantised.
    pub fn logits(&self, sample: &Sample, logits: Value) -> Result<Vec<f64>, SampleError> {
        let nodes = &self.graph.nodes;
        let node = nodes.iter().rposition(|node| node.value.layer == Some(logits)).unwrap_or(nodes.len().max(1) - 1);
        let made = self.trace_first(&self.graph.input.quantise(sample)?, node + 1).pop();
        Ok(made.zip(nodes.get(node)).map_or(Vec::new(), |(data, node)| data.to_reals(&node.value)))
    }

    /// The outputs as reals.
    ///
    /// # Errors
    /// [`SampleError`] if the sample cannot be quantised.
    pub fn evaluate(&self, sample: &Sample) -> Result<Vec<f64>, SampleError> {
        let last = self.trace(sample)?.pop();
        Ok(last.zip(self.graph.nodes.last()).map_or(Vec::new(), |(data, node)| data.to_reals(&node.value)))
    }
}

/// The real value of a 1 in the values of sparse features; 1 without values.
pub(super) fn sparse_unit(input: &ProgramInput) -> Option<f32> {
    match input {
        ProgramInput::Sparse { unit, .. } => *unit,
        ProgramInput::Dense { .. } => None,
    }
}
