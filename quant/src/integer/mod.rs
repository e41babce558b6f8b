//! The integer model: a program's operations in plain loops over tensors in training order, with the runtime's
//! definitions of rounding, of activations and of f32 sums, and none of its layouts, plans or kernels.
//!
//! It yields the same list of values as the runtime, operation by operation, so that the first difference has a name.
//! It is an oracle: what does not fit stops it, and nothing is filled in.
#![allow(clippy::panic, reason = "an oracle that cannot go on must not answer")]

mod activation;
mod data;
mod maps;
mod operation;
mod wide;

pub use data::Data;

use crate::graph::{Graph, Sample, SampleError};
use crate::program::{GraphInput, Program, ProgramNode, Transformer};
use operation::apply;

/// A program as a plain function.
#[derive(Debug, Clone, Copy)]
pub struct IntegerModel<'p> {
    program: &'p Program,
}

impl<'p> IntegerModel<'p> {
    /// Wraps a program whose operations fit one another, as those of every front end and of `unpack` do.
    #[must_use]
    pub const fn new(program: &'p Program) -> Self {
        Self { program }
    }

    /// Every value by its number, the input first.
    ///
    /// # Errors
    /// [`SampleError`] if the sample cannot be quantised.
    pub fn trace(&self, sample: &Sample) -> Result<Vec<Data>, SampleError> {
        Ok(self.trace_input(&self.program.input.quantise(sample)?))
    }

    /// The same of an input that is quantised already.
    ///
    /// # Panics
    /// If the input is not of the program's kind or shape.
    #[must_use]
    pub fn trace_input(&self, input: &GraphInput) -> Vec<Data> {
        self.trace_first(input, self.program.nodes.len())
    }

    /// The input and what the first `count` nodes make of it.
    pub(crate) fn trace_first(&self, input: &GraphInput, count: usize) -> Vec<Data> {
        let mut bucket = 0;
        let first = match input {
            GraphInput::U8(x) => Data::Int(x.iter().copied().map(i32::from).collect()),
            GraphInput::I8(x) => Data::Int(x.iter().copied().map(i32::from).collect()),
            GraphInput::F32(x) => Data::Real(x.clone()),
            GraphInput::Sparse { features, values } => {
                let values = values.iter().copied().map(i32::from).chain(std::iter::repeat(1));
                Data::Sparse(features.iter().copied().zip(values).collect())
            }
            GraphInput::Features { lists, bucket: named } => {
                bucket = *named;
                let Some(transformer) = &self.program.transformer else {
                    panic!("lists of features for a program without accumulators")
                };
                let count = self.program.len(0) / transformer.rows.outputs;
                let accumulators = lists.iter().take(count).flat_map(|list| accumulator(transformer, list));
                Data::Int(accumulators.map(i32::from).collect())
            }
        };
        let mut values = vec![first];
        for node in self.program.nodes.iter().take(count) {
            let value = apply(self.program, node, |read| &values[read], bucket);
            values.push(value);
        }
        values
    }

    /// What node `index` makes of values that are at hand.
    pub(crate) fn apply<'v>(&self, index: usize, value: impl Fn(usize) -> &'v Data) -> Data {
        self.apply_node(&self.program.nodes[index], value)
    }

    /// The same of a node that need not be the program's.
    pub(crate) fn apply_node<'v>(&self, node: &ProgramNode, value: impl Fn(usize) -> &'v Data) -> Data {
        apply(self.program, node, value, 0)
    }

    /// What stands for a graph's values before its last sigmoid or softmax, as reals.
    ///
    /// # Errors
    /// [`SampleError`] if the sample cannot be quantised.
    ///
    /// # Panics
    /// If nothing stands for them, since the program is another graph's.
    pub fn scores(&self, sample: &Sample, graph: &Graph) -> Result<Vec<f64>, SampleError> {
        let value = self.scored(graph);
        let made = self.trace_first(&self.program.input.quantise(sample)?, value);
        Ok(made[value].to_reals(&self.program.nodes[value - 1].value))
    }

    /// The value that stands for them.
    pub(crate) fn scored(&self, graph: &Graph) -> usize {
        let Some(value) = self.program.scores_of(graph) else {
            panic!("nothing in the program `{}` stands for the scores of the graph `{}`", self.program.name, graph.name)
        };
        value
    }

    /// The outputs as reals.
    ///
    /// # Errors
    /// [`SampleError`] if the sample cannot be quantised.
    pub fn evaluate(&self, sample: &Sample) -> Result<Vec<f64>, SampleError> {
        let last = self.program.nodes.len();
        Ok(self.trace(sample)?[last].to_reals(&self.program.nodes[last - 1].value))
    }
}

/// One perspective's accumulator: the bias and a row a feature, i16, wrapping.
fn accumulator(transformer: &Transformer, features: &[u32]) -> Vec<i16> {
    let mut sums: Vec<i16> = transformer.bias.integers().iter().map(|bias| *bias as i16).collect();
    for feature in features {
        for (sum, weight) in sums.iter_mut().zip(transformer.row(*feature as usize)) {
            *sum = sum.wrapping_add(*weight as i16);
        }
    }
    sums
}
