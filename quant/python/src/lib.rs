//! The Python package's native half: a container with its plan as a class, and the commands of `host-tools` as a
//! function. No arithmetic, no rules and no messages of its own; what a call means in Python is in `python/tamis`.

mod arrays;
mod error;
mod loaded;
mod model;
mod read;

use pyo3::prelude::*;

/// The native half of `tamis`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::read::{feature_rows, is_text, position_lines};
    #[pymodule_export]
    use super::run_command;
}

/// Does what `host-tools ARGUMENTS --json` does: the exit status 0 or 1, the JSON object, and warnings.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<String>) -> PyResult<(u8, String, Vec<String>)> {
    match py.detach(|| host_tools::answer(arguments)) {
        Ok(answer) => Ok((answer.status, answer.json, answer.warnings)),
        Err(refused) => Err(error::raised(py, refused.status, &refused.message, refused.help.as_deref())),
    }
}
