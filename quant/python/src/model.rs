//! The class `Model`.

use crate::arrays::{Array, array};
use crate::error::{raised, usage};
use crate::loaded::{Bound as Planned, Loaded};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyDict};
use std::num::NonZero;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;
use tamis_quant::integer::Data;
use tamis_quant::pack::Contents;
use tamis_quant::parallel::with_threads;
use tamis_quant::positions::{Position, records};
use tamis_quant::program::{GraphInput, Program, ProgramInput};
use tamis_quant::run::{Batch, BatchError, Rows, Runner, Scratch, SparseRows, Values, features_in};

/// A checked network, ready to run. Immutable; any number of Python's threads may call it at once.
#[pyclass(frozen, subclass, module = "tamis._core")]
pub struct Model {
    loaded: Loaded,
    input: ProgramInput,
    /// Elements of a row's axes.
    axes: Vec<usize>,
    outputs: usize,
    /// Made by the first trace.
    program: OnceLock<Program>,
    /// Memory of single rows.
    spare: Mutex<Vec<Scratch>>,
}

#[pymethods]
impl Model {
    /// Checks a container's bytes and copies them.
    #[new]
    fn new(py: Python<'_>, container: &[u8]) -> PyResult<Self> {
        let loaded = Loaded::parse(container).map_err(|error| {
            let help = "copy the file again, in binary mode, or make it again from its checkpoint";
            raised(py, 3, &format!("container: {error}"), Some(help))
        })?;
        let input =
            loaded.input().map_err(|error| raised(py, error.class().exit_status(), &error.to_string(), None))?;
        let axes = match input {
            ProgramInput::Dense { shape, .. } if shape.height * shape.width > 1 => {
                vec![shape.height, shape.width, shape.channels]
            }
            ProgramInput::Dense { shape, .. } => vec![shape.len()],
            ProgramInput::Sparse { features, .. } | ProgramInput::Features { features, .. } => vec![features],
        };
        let outputs = loaded.with_dependent(|_, Planned { plan }| Batch::new(plan, input).outputs());
        Ok(Self { loaded, input, axes, outputs, program: OnceLock::new(), spare: Mutex::default() })
    }

    /// The outputs of rows as real numbers.
    #[pyo3(signature = (x, /, *, threads=None))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let ProgramInput::Sparse { .. } = self.input {
            return self.sparse(py, x, threads);
        }
        let given = array(x)?;
        let is_one = self.is_one_row(py, &given)?;
        let rows = given.rows()?;
        if is_one {
            let mut outputs = vec![0.0; self.outputs];
            self.one_row(rows, &mut outputs).map_err(|error| refused(py, &error))?;
            return Ok(PyArray1::from_vec(py, outputs).into_any());
        }
        let threads = limit(py, threads)?;
        let made = py.detach(|| self.with_batch(|batch| with_threads(threads, || batch.rows(rows))));
        self.shaped(py, made.map_err(|error| refused(py, &error))?)
    }

    /// The values of positions, given as lines of text, or as BulletFormat's records.
    #[pyo3(signature = (lines, /, *, threads=None))]
    fn positions<'py>(
        &self,
        py: Python<'py>,
        lines: Vec<String>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let read = py.detach(|| -> Result<Vec<Position>, (usize, String, u8)> {
            let read = |(index, line): (usize, &String)| {
                Position::from_line(line).map_err(|error| (index, error.to_string(), error.class().exit_status()))
            };
            lines.iter().enumerate().map(read).collect()
        });
        let positions = read.map_err(|(index, message, status)| {
            let help = "a line is a FEN, `FEN | score | result` or EPD; or startpos";
            raised(py, status, &format!("position {index}: {message}"), Some(help))
        })?;
        self.evaluated(py, &positions, threads)
    }

    /// The same of BulletFormat's records.
    #[pyo3(signature = (bytes, /, *, threads=None))]
    fn records<'py>(&self, py: Python<'py>, bytes: &[u8], threads: Option<usize>) -> PyResult<Bound<'py, PyAny>> {
        let fault = |error: tamis_quant::positions::PositionError| {
            let help = "BulletFormat has 32 bytes a position";
            raised(py, error.class().exit_status(), &format!("records: {error}"), Some(help))
        };
        let positions = records(bytes).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(fault)?;
        self.evaluated(py, &positions, threads)
    }

    /// Every value that the network computes for one row or position, by its name, as stored.
    #[pyo3(signature = (x, /, *, reals=false))]
    fn trace<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>, reals: bool) -> PyResult<Bound<'py, PyDict>> {
        let program = self.program(py)?;
        let input = self.graph_input(py, x)?;
        let seen = py.detach(|| {
            self.loaded.with_dependent(|_, Planned { plan }| {
                let mut runner = Runner::new(*plan.model(), plan.kernels());
                let mut seen: Vec<(usize, Data)> = Vec::new();
                let observe = |value: usize, bytes: &[u8]| {
                    seen.push((value, Data::of_bytes(program.element(value), bytes)));
                };
                runner.evaluate_input(&input, observe).map(|_| seen)
            })
        });
        let seen = seen.map_err(|error| usage(py, &error.to_string(), None))?;
        let values = PyDict::new(py);
        for (value, data) in seen {
            let node = value.checked_sub(1).and_then(|node| program.nodes.get(node));
            let name = node.map_or("accumulators", |node| node.name.as_str());
            match (node, &data) {
                (Some(node), data) if reals => {
                    values.set_item(name, PyArray1::from_vec(py, data.to_reals(&node.value)))?
                }
                (_, Data::Int(integers)) => values.set_item(name, PyArray1::from_slice(py, integers))?,
                (_, Data::Real(numbers)) => values.set_item(name, PyArray1::from_slice(py, numbers))?,
                (_, Data::Sparse(_)) => {}
            }
        }
        Ok(values)
    }

    /// The network's name.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.loaded.with_dependent(|_, Planned { plan }| match plan.model().metadata() {
            Ok(metadata) => Ok(metadata.name.to_owned()),
            Err(error) => Err(raised(py, 3, &error.to_string(), None)),
        })
    }

    /// `dense`, `sparse` or `features`: vectors or maps, lists of active features, positions.
    #[getter]
    const fn input_kind(&self) -> &'static str {
        match self.input {
            ProgramInput::Dense { .. } => "dense",
            ProgramInput::Sparse { .. } => "sparse",
            ProgramInput::Features { .. } => "features",
        }
    }

    /// Axes of one row.
    #[getter]
    fn input_shape(&self) -> Vec<usize> {
        self.axes.clone()
    }

    /// The type in which the network stores its input.
    #[getter]
    const fn input_dtype(&self) -> &'static str {
        use tamis_quant::program::Element;
        match self.input {
            ProgramInput::Dense { element: Element::U8, .. } => "uint8",
            ProgramInput::Dense { element: Element::I8, .. } => "int8",
            ProgramInput::Dense { .. } => "float32",
            ProgramInput::Sparse { .. } | ProgramInput::Features { .. } => "uint32",
        }
    }

    /// Outputs of one row.
    #[getter]
    const fn outputs(&self) -> usize {
        self.outputs
    }

    /// The container.
    #[getter]
    fn container<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.loaded.borrow_owner().as_ref())
    }

    /// The checksum in the container's header.
    #[getter]
    fn checksum(&self) -> u64 {
        self.loaded.with_dependent(|_, Planned { plan }| plan.model().header().checksum())
    }

    /// The tier that runs it.
    #[getter]
    fn tier(&self) -> &'static str {
        self.loaded.with_dependent(|_, Planned { plan }| plan.kernels().name)
    }

    /// The number that every machine and tier must print.
    fn signature(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| {
            self.loaded.with_dependent(|_, Planned { plan }| Runner::new(*plan.model(), plan.kernels()).signature())
        })
        .map_err(|error| usage(py, &error.to_string(), None))
    }

    /// Seconds that the runtime itself takes for a row, the least of several runs.
    fn _seconds_a_row(&self, py: Python<'_>, x: &Bound<'_, PyAny>, repeats: usize) -> PyResult<f64> {
        let given = array(x)?;
        if !self.is_one_row(py, &given)? {
            return Err(usage(py, "one row is timed", None));
        }
        let (rows, mut outputs) = (given.rows()?, vec![0.0; self.outputs]);
        let mut least = f64::INFINITY;
        self.with_batch(|batch| {
            let mut scratch = batch.scratch();
            for _ in 0..5 {
                let start = Instant::now();
                for _ in 0..repeats {
                    batch.row_into(&mut scratch, rows, 0, &mut outputs)?;
                }
                least = least.min(start.elapsed().as_secs_f64() / repeats.max(1) as f64);
            }
            Ok::<(), BatchError>(())
        })
        .map_err(|error| refused(py, &error))?;
        Ok(least)
    }
}

impl Model {
    fn with_batch<T>(&self, work: impl FnOnce(Batch<'_, '_>) -> T) -> T {
        self.loaded.with_dependent(|_, Planned { plan }| work(Batch::new(plan, self.input)))
    }

    /// A row with memory that an earlier one left.
    fn one_row(&self, rows: Rows<'_>, outputs: &mut [f64]) -> Result<(), BatchError> {
        self.with_batch(|batch| {
            let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut scratch = spare.unwrap_or_else(|| batch.scratch());
            let done = batch.row_into(&mut scratch, rows, 0, outputs);
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
            done
        })
    }

    /// Whether an array is one row; else it is rows.
    fn is_one_row(&self, py: Python<'_>, given: &Array<'_>) -> PyResult<bool> {
        let ProgramInput::Dense { .. } = self.input else {
            return Err(usage(py, "the network takes positions, found an array", Some("model.evaluate(fens)")));
        };
        let (shape, columns) = (given.shape(), self.axes.iter().product::<usize>());
        let fits = |axes: &[usize]| {
            axes.iter().product::<usize>() == columns
                && (axes.len() == 1 || self.axes.len() == 1 || axes == self.axes.as_slice())
        };
        if shape == self.axes.as_slice() || (shape.len() == 1 && shape[0] == columns) {
            return Ok(true);
        }
        if shape.len() >= 2 && fits(&shape[1..]) {
            return Ok(false);
        }
        let axes = self.axes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let message = format!("an array of shape {shape:?}; expected one row, ({axes},), or rows, (n, {axes})");
        Err(usage(py, &message, Some("reshape it; maps are (height, width, channels)")))
    }

    fn shaped<'py>(&self, py: Python<'py>, outputs: Vec<f64>) -> PyResult<Bound<'py, PyAny>> {
        let rows = outputs.len() / self.outputs.max(1);
        Ok(PyArray1::from_vec(py, outputs).reshape([rows, self.outputs])?.into_any())
    }

    /// `tamis.arrays.sparse_rows` gives offsets, features and values in the types that are wanted here.
    fn sparse<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        type Given<'py> = (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u32>, Option<PyReadonlyArray1<'py, f64>>);
        let prepare = py.import("tamis.arrays")?.getattr("sparse_rows")?;
        let (offsets, features, values): Given<'py> = prepare.call1((x, self.axes[0]))?.extract()?;
        let offsets: Vec<usize> =
            offsets.as_slice()?.iter().map(|offset| usize::try_from(*offset).unwrap_or(usize::MAX)).collect();
        let values = values.as_ref().map(|values| values.as_slice()).transpose()?;
        let rows = SparseRows { offsets: &offsets, features: features.as_slice()?, values };
        let threads = limit(py, threads)?;
        let made = py.detach(|| self.with_batch(|batch| with_threads(threads, || batch.sparse_rows(rows))));
        self.shaped(py, made.map_err(|error| refused(py, &error))?)
    }

    fn evaluated<'py>(
        &self,
        py: Python<'py>,
        positions: &[Position],
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let threads = limit(py, threads)?;
        let made = py.detach(|| self.with_batch(|batch| with_threads(threads, || batch.positions(positions))));
        match made.map_err(|error| refused(py, &error))? {
            Values::I32(values) => {
                let array: Bound<'py, PyArray2<i32>> =
                    PyArray1::from_vec(py, values).reshape([positions.len(), self.outputs])?;
                Ok(array.into_any())
            }
            Values::F64(values) => self.shaped(py, values),
        }
    }

    fn program(&self, py: Python<'_>) -> PyResult<&Program> {
        if let Some(program) = self.program.get() {
            return Ok(program);
        }
        let made = py.detach(|| {
            self.loaded.with_dependent(|_, Planned { plan }| Contents::of(plan.model()).and_then(|of| of.lower()))
        });
        let made = made.map_err(|error| raised(py, error.class().exit_status(), &error.to_string(), None))?;
        Ok(self.program.get_or_init(|| made))
    }

    /// One row, or one position, as the program takes it.
    fn graph_input(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<GraphInput> {
        if let ProgramInput::Features { .. } = self.input {
            let line: String = x.extract().map_err(|_| {
                usage(py, "the network takes positions, found no text", Some("model.trace(\"startpos\")"))
            })?;
            let position = Position::from_line(&line)
                .map_err(|error| raised(py, error.class().exit_status(), &error.to_string(), None))?;
            let found = self.loaded.with_dependent(|_, Planned { plan }| features_in(plan, &position));
            let (lists, bucket) = found.ok_or_else(|| usage(py, "the network's input is no chess board", None))?;
            return Ok(GraphInput::Features { lists, bucket });
        }
        if let ProgramInput::Sparse { .. } = self.input {
            return Err(usage(py, "lists of features have no trace here", Some("give a network of vectors")));
        }
        let given = array(x)?;
        if !self.is_one_row(py, &given)? {
            return Err(usage(py, "several rows: a trace is of one", Some("model.trace(x[0])")));
        }
        let made = self.with_batch(|batch| batch.stored(given.rows()?, 0).map_err(|error| refused(py, &error)))?;
        Ok(made)
    }
}

/// `threads=` as a limit; without one, all processors.
fn limit(py: Python<'_>, threads: Option<usize>) -> PyResult<Option<NonZero<usize>>> {
    match threads {
        Some(0) => Err(usage(py, "threads=0: no thread is left to work", Some("give 1 or more, or leave it out"))),
        threads => Ok(threads.and_then(NonZero::new)),
    }
}

fn refused(py: Python<'_>, error: &BatchError) -> PyErr {
    raised(py, error.class().exit_status(), &error.to_string(), None)
}
