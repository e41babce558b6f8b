//! Files of positions and of features, as the command line reads them, for who cuts them into batches.

use crate::error::raised;
use numpy::PyArray1;
use pyo3::prelude::*;
use tamis_quant::data::{DataError, Inputs, Selection};
use tamis_quant::graph::{Input, Sample};
use tamis_quant::positions::numbered_lines;

/// Labels, which a file may lack, offsets, features and values.
type Rows<'py> = (
    Option<Bound<'py, PyArray1<f64>>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
);

/// Whether a file of positions that begins so is text, and not BulletFormat.
#[pyfunction]
pub fn is_text(start: &[u8]) -> bool {
    tamis_quant::positions::is_text(start)
}

/// The lines of a file of positions that is text.
#[pyfunction]
pub fn position_lines(py: Python<'_>, bytes: &[u8]) -> PyResult<Vec<String>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("positions: byte {} is no UTF-8", error.valid_up_to());
        raised(py, 3, &message, Some("lines of FEN are text; BulletFormat has 32 bytes a position"))
    })?;
    Ok(numbered_lines(text).map(|(_, line)| line.to_owned()).collect())
}

/// The rows of a file of libsvm's, or of active features alone, as the command line reads them.
#[pyfunction]
pub fn feature_rows<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Rows<'py>> {
    let (labels, offsets, features, values) =
        py.detach(|| read(bytes)).map_err(|error| raised(py, error.class().exit_status(), &error.to_string(), None))?;
    let labels = labels.map(|labels| PyArray1::from_vec(py, labels));
    Ok((labels, PyArray1::from_vec(py, offsets), PyArray1::from_vec(py, features), PyArray1::from_vec(py, values)))
}

type Read = (Option<Vec<f64>>, Vec<u64>, Vec<u32>, Vec<f64>);

fn read(bytes: &[u8]) -> Result<Read, DataError> {
    // A network of any number of features: whether they fit is asked when they run.
    const ANY: Input = Input::Sparse { features: u32::MAX as usize, max_active: usize::MAX, exact: false };
    let inputs = Inputs::read(bytes, Selection::default())?;
    let (mut offsets, mut features, mut values) = (vec![0], Vec::new(), Vec::new());
    for index in 0..inputs.len() {
        if let Sample::Sparse(active) = inputs.sample(index, ANY)? {
            features.extend(active.iter().map(|(feature, _)| *feature));
            values.extend(active.iter().map(|(_, value)| *value));
        }
        offsets.push(features.len() as u64);
    }
    Ok((inputs.labels().map(<[f64]>::to_vec), offsets, features, values))
}
