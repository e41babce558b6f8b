//! numpy's arrays as slices, without copies where their layout allows it.

use numpy::{Element, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyAny;
use tamis_quant::run::Rows;

/// An array of one of the types that rows have, borrowed.
pub enum Array<'py> {
    /// Real numbers.
    F32(PyReadonlyArrayDyn<'py, f32>),
    /// Real numbers.
    F64(PyReadonlyArrayDyn<'py, f64>),
    /// Bytes.
    U8(PyReadonlyArrayDyn<'py, u8>),
    /// Bytes.
    I8(PyReadonlyArrayDyn<'py, i8>),
}

static PREPARE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// What a caller gave as an array of rows: as it is where it can be, else as `tamis.arrays.rows` makes it.
pub fn array<'py>(given: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    if let Some(array) = as_it_is(given) {
        return Ok(array);
    }
    let py = given.py();
    let prepare =
        PREPARE.get_or_try_init(py, || Ok::<_, PyErr>(py.import("tamis.arrays")?.getattr("rows")?.unbind()))?;
    let made = prepare.bind(py).call1((given,))?;
    as_it_is(&made).ok_or_else(|| crate::error::usage(py, "an array that numpy cannot lay out in rows", None))
}

fn as_it_is<'py>(given: &Bound<'py, PyAny>) -> Option<Array<'py>> {
    typed::<f32>(given)
        .map(Array::F32)
        .or_else(|| typed::<u8>(given).map(Array::U8))
        .or_else(|| typed::<i8>(given).map(Array::I8))
        .or_else(|| typed::<f64>(given).map(Array::F64))
}

/// A row behind the other, at an address that the type may have.
fn typed<'py, T: Element>(given: &Bound<'py, PyAny>) -> Option<PyReadonlyArrayDyn<'py, T>> {
    let array = given.cast::<PyArrayDyn<T>>().ok()?;
    let is_aligned = array.data().addr().is_multiple_of(align_of::<T>());
    (array.is_c_contiguous() && is_aligned).then(|| array.try_readonly().ok()).flatten()
}

impl Array<'_> {
    /// Its axes.
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::F32(array) => array.shape(),
            Self::F64(array) => array.shape(),
            Self::U8(array) => array.shape(),
            Self::I8(array) => array.shape(),
        }
    }

    /// Its elements.
    pub fn rows(&self) -> PyResult<Rows<'_>> {
        Ok(match self {
            Self::F32(array) => Rows::F32(array.as_slice()?),
            Self::F64(array) => Rows::F64(array.as_slice()?),
            Self::U8(array) => Rows::U8(array.as_slice()?),
            Self::I8(array) => Rows::I8(array.as_slice()?),
        })
    }
}
