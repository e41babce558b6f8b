//! What stands for the scores of a graph in a container: the values before its last sigmoid or softmax.

use super::error::VerifyError;
use crate::graph::description::{Described, DescribedOp, Description};
use crate::graph::{Activation, Graph};
use crate::pack::PackError;
use crate::program::Program;

/// The value that stands for what a graph has before its last sigmoid or softmax; `None` where nothing does.
#[must_use]
pub fn scores_of(program: &Program, graph: &Graph) -> Option<usize> {
    let logits = graph.logits();
    let is_output = graph.root(logits) == graph.root(graph.output());
    let standing = program.standing_for(logits).or_else(|| program.standing_for(graph.root(logits)));
    standing.or(is_output.then_some(program.nodes.len()))
}

/// The value that stands for what the float graph has before its last sigmoid or softmax, as the container's
/// description has it; the output where it has neither.
///
/// # Errors
/// [`VerifyError`] for a program whose description is no graph's, or describes another one.
pub fn logits_of(program: &Program) -> Result<usize, VerifyError> {
    let description = Description::from_toml(&program.description, "description")
        .map_err(|error| PackError::Description(error.to_string()))?;
    let nodes = &description.nodes;
    let described = |value: usize| value.checked_sub(1).and_then(|node| nodes.get(node));
    let mut value = nodes.len();
    loop {
        match described(value) {
            Some(Described { op: DescribedOp::Flatten { .. } | DescribedOp::Reshape(_), reads, .. }) => {
                value = reads[0];
            }
            Some(Described {
                op: DescribedOp::Activation(Activation::Sigmoid | Activation::Softmax | Activation::LogSoftmax),
                reads,
                ..
            }) => {
                value = reads[0];
                break;
            }
            _ => return Ok(program.nodes.len()),
        }
    }
    // What is only given another shape may be no value of the program.
    while program.standing_for(value).is_none()
        && let Some(Described { op: DescribedOp::Flatten { .. } | DescribedOp::Reshape(_), reads, .. }) =
            described(value)
    {
        value = reads[0];
    }
    program.standing_for(value).ok_or(VerifyError::OtherNetwork { what: "their scores" })
}
