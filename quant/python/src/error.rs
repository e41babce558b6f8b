//! Errors of the libraries as the package's exceptions, which are Python's: `tamis/errors.py`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyAny;
use tamis_quant::error_kind::ErrorKind;

static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The exception for an exit status of the command line.
pub fn raised(py: Python<'_>, status: u8, message: &str, help: Option<&str>) -> PyErr {
    let make = MAKE.get_or_try_init(py, || Ok::<_, PyErr>(py.import("tamis.errors")?.getattr("of_status")?.unbind()));
    match make.and_then(|make| make.bind(py).call1((status, message, help))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// The exception for what the caller asked.
pub fn usage(py: Python<'_>, message: &str, help: Option<&str>) -> PyErr {
    raised(py, ErrorKind::Usage.exit_status(), message, help)
}
