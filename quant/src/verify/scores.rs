//! The scores of a container, by its own description.

use super::error::VerifyError;
use crate::graph::description::Description;
use crate::pack::PackError;
use crate::program::Program;

/// The value that stands for what the graph that a program's description describes has before its last sigmoid or
/// softmax; the output where it has neither.
///
/// # Errors
/// [`VerifyError`] for a program whose description is no graph's, or describes another one.
pub fn logits_of(program: &Program) -> Result<usize, VerifyError> {
    let description = Description::from_toml(&program.description, "description")
        .map_err(|error| PackError::Description(error.to_string()))?;
    program.scores_of(&description.skeleton()).ok_or(VerifyError::OtherNetwork { what: "their scores" })
}
