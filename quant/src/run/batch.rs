//! Many rows at once, on as many threads as [`crate::parallel::with_threads`] allows: what a caller has in arrays goes
//! to the runtime without a value for each row.
//!
//! ```
//! use tamis_quant::pack::unpack_program;
//! use tamis_quant::run::{AlignedBytes, Batch, Rows, Values};
//! use tamis_runtime::{Plan, format::Model, kernels};
//!
//! let bytes = AlignedBytes::copy_of(include_bytes!("../../../firmware-examples/programs/src/digits.quantised.bin"));
//! let model = Model::parse(bytes.as_ref())?;
//! let input = unpack_program(&model)?.input;
//! let plan = Plan::new(model, kernels::best());
//! let batch = Batch::new(&plan, input);
//! let zeros = vec![0.0f32; 3 * batch.columns()];
//! let outputs = batch.rows(Rows::F32(&zeros))?;
//! assert_eq!(outputs.len(), 3 * batch.outputs());
//! assert_eq!(outputs[..batch.outputs()], outputs[batch.outputs()..2 * batch.outputs()]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod rows;

pub use error::BatchError;
use rows::not_finite;
pub use rows::{Rows, SparseRows, Values};

use super::{AlignedBytes, features_in};
use crate::graph::Sample;
use crate::parallel;
use crate::positions::Position;
use crate::program::{Element, GraphInput, ProgramInput, Stored};
use bytemuck::{cast_slice, cast_slice_mut};
use std::ops::Range;
use tamis_runtime::raw::{NONE, element, perspective_order};
use tamis_runtime::{Input, Output, Plan, RunError};

/// Rows of one piece of work: what takes longer than to start a thread, and whole blocks.
const PIECE: usize = 4 * BLOCK;
/// Most rows that the runtime is given at once: it gains nothing by more.
const BLOCK: usize = 24;
/// Bytes of workspace that all of them may take: a second cache has room for the weights beside them.
const WORKSPACES: usize = 1 << 16;

/// Memory that one thread needs.
#[derive(Debug)]
pub struct Scratch {
    /// Of as many rows as are run at once.
    workspace: AlignedBytes,
    /// As many rows of a network of bytes, or of reals.
    bytes: Vec<u8>,
    reals: Vec<f32>,
    own: Vec<i16>,
    other: Vec<i16>,
}

/// A plan and what it takes.
#[derive(Debug, Clone)]
pub struct Batch<'p, 'm> {
    plan: &'p Plan<'m>,
    input: ProgramInput,
    unit: f64,
    outputs: usize,
    is_integer: bool,
}

impl<'p, 'm> Batch<'p, 'm> {
    /// Of a plan and the input of the program that its container holds.
    ///
    /// # Panics
    /// If the model's output is no value of its own, which no parsed model has.
    #[must_use]
    pub fn new(plan: &'p Plan<'m>, input: ProgramInput) -> Self {
        let model = plan.model();
        let output = &model.values()[model.input().output as usize];
        debug_assert_ne!(model.input().output, NONE);
        let unit = f64::from(model.input().output_unit);
        let is_integer = u32::from(output.element) == element::I32 && unit == 1.0;
        Self { plan, input, unit, outputs: output.len as usize, is_integer }
    }

    /// What a row is.
    #[must_use]
    pub const fn input(&self) -> &ProgramInput {
        &self.input
    }

    /// Elements of a dense row; of other inputs the number of features.
    #[must_use]
    pub const fn columns(&self) -> usize {
        match &self.input {
            ProgramInput::Dense { shape, .. } => shape.len(),
            ProgramInput::Sparse { features, .. } | ProgramInput::Features { features, .. } => *features,
        }
    }

    /// Outputs of a row.
    #[must_use]
    pub const fn outputs(&self) -> usize {
        self.outputs
    }

    /// Whether positions have integers for values.
    #[must_use]
    pub const fn is_integer(&self) -> bool {
        self.is_integer
    }

    /// Memory for one thread.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        let model = self.plan.model();
        let (bytes, reals) = match self.input {
            ProgramInput::Dense { element: Element::U8 | Element::I8, .. } => (self.columns(), 0),
            ProgramInput::Dense { .. } => (0, self.columns()),
            ProgramInput::Sparse { .. } | ProgramInput::Features { .. } => (0, 0),
        };
        let (hidden, rows) = (self.plan.hidden(), self.rows_at_once());
        Scratch {
            workspace: AlignedBytes::zeroed(self.plan.batch_len_bytes(rows)),
            bytes: vec![0; rows * bytes],
            reals: vec![0.0; rows * reals],
            own: vec![0; hidden],
            other: vec![0; if model.input().perspectives == 2 { hidden } else { 0 }],
        }
    }

    /// The outputs of every row, (n, outputs), as real numbers: those that `host-tools eval` prints.
    ///
    /// # Errors
    /// [`BatchError`] naming row and column.
    pub fn rows(&self, rows: Rows<'_>) -> Result<Vec<f64>, BatchError> {
        let count = self.count(rows)?;
        let at_once = self.rows_at_once();
        self.in_pieces(count, |scratch, rows_of_piece, out| {
            for (block, out) in out.chunks_mut((at_once * self.outputs).max(1)).enumerate() {
                let first = rows_of_piece.start + block * at_once;
                self.block_into(scratch, rows, first..rows_of_piece.end.min(first + at_once), out)?;
            }
            Ok(())
        })
    }

    /// Some rows, at most as many as there is memory for at once.
    fn block_into(
        &self,
        scratch: &mut Scratch,
        rows: Rows<'_>,
        range: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), BatchError> {
        let Scratch { workspace, bytes, reals, .. } = scratch;
        let inputs = self.inputs_of(bytes, reals, rows, range.clone())?;
        let take = |index: usize, output: Output<'_>| {
            self.write(output, &mut out[index * self.outputs..(index + 1) * self.outputs]);
        };
        let done = self.plan.run_batch(&inputs, 0, workspace.as_mut(), take);
        done.map_err(|(index, cause)| BatchError::Run { row: range.start + index, cause })
    }

    /// Rows that find room in [`WORKSPACES`], at least one.
    fn rows_at_once(&self) -> usize {
        (WORKSPACES / self.plan.batch_len_bytes(1)).clamp(1, BLOCK)
    }

    /// How many rows there are.
    ///
    /// # Errors
    /// [`BatchError`] if that is no whole number, or the network takes no vectors.
    pub fn count(&self, rows: Rows<'_>) -> Result<usize, BatchError> {
        let ProgramInput::Dense { .. } = self.input else {
            return Err(BatchError::Kind { found: "vectors", expected: self.takes() });
        };
        let (found, expected) = (rows.len(), self.columns());
        match expected {
            1.. if found.is_multiple_of(expected) => Ok(found / expected),
            _ => Err(BatchError::Columns { found, expected }),
        }
    }

    /// The outputs of one row, in memory of the caller's; what a call on a single row costs least with.
    ///
    /// # Errors
    /// As [`Batch::rows`].
    ///
    /// # Panics
    /// If there is no such row, or `out` has not room for the outputs.
    pub fn row_into(
        &self,
        scratch: &mut Scratch,
        rows: Rows<'_>,
        row: usize,
        out: &mut [f64],
    ) -> Result<(), BatchError> {
        let Scratch { workspace, bytes, reals, .. } = scratch;
        let inputs = self.inputs_of(bytes, reals, rows, row..row + 1)?;
        let output = self.plan.run(inputs[0], 0, workspace.as_mut());
        self.write(output.map_err(|cause| BatchError::Run { row, cause })?, out);
        Ok(())
    }

    /// Rows as the runtime takes them, in the memory of a thread where they have to be stored: at most as many as it
    /// has room for.
    fn inputs_of<'s>(
        &self,
        bytes: &'s mut [u8],
        reals: &'s mut [f32],
        rows: Rows<'s>,
        range: Range<usize>,
    ) -> Result<Vec<Input<'s>>, BatchError> {
        let ProgramInput::Dense { element, unit, zero, .. } = self.input else {
            return Err(BatchError::Kind { found: "vectors", expected: self.takes() });
        };
        let columns = self.columns();
        let of_row = |row: usize| row * columns..(row + 1) * columns;
        let stored = Stored { unit: f64::from(unit), zero };
        Ok(match (element, rows) {
            (Element::U8, Rows::U8(all)) => range.map(|row| Input::U8(&all[of_row(row)])).collect(),
            (Element::I8, Rows::I8(all)) => range.map(|row| Input::I8(&all[of_row(row)])).collect(),
            (Element::U8 | Element::I8, _) => {
                let bytes = &mut bytes[..range.len() * columns];
                for (row, bytes) in range.zip(bytes.chunks_mut(columns)) {
                    match (element, rows) {
                        (_, Rows::F32(all)) => {
                            let x = &all[of_row(row)];
                            let is_finite = self.plan.store_input(x, bytes);
                            if !is_finite.map_err(|cause| BatchError::Run { row, cause })? {
                                return Err(not_finite(x, row));
                            }
                        }
                        (Element::U8, _) => rows.each(of_row(row), row, bytes, |x| stored.u8(x))?,
                        _ => rows.each(of_row(row), row, cast_slice_mut(bytes), |x| stored.i8(x))?,
                    }
                }
                let input = |x| if element == Element::U8 { Input::U8(x) } else { Input::I8(cast_slice(x)) };
                bytes.chunks(columns).map(input).collect()
            }
            _ => {
                let reals = &mut reals[..range.len() * columns];
                for (row, reals) in range.zip(reals.chunks_mut(columns)) {
                    rows.each(of_row(row), row, reals, |x| x as f32)?;
                }
                reals.chunks(columns).map(Input::F32).collect()
            }
        })
    }

    /// A row as the network stores it.
    ///
    /// # Errors
    /// As [`Batch::rows`].
    ///
    /// # Panics
    /// If there is no such row.
    pub fn stored(&self, rows: Rows<'_>, row: usize) -> Result<GraphInput, BatchError> {
        let Scratch { mut bytes, mut reals, .. } = self.scratch();
        Ok(match self.inputs_of(&mut bytes, &mut reals, rows, row..row + 1)?[0] {
            Input::U8(x) => GraphInput::U8(x.to_vec()),
            Input::I8(x) => GraphInput::I8(x.to_vec()),
            Input::F32(x) => GraphInput::F32(x.to_vec()),
            _ => unreachable!("a row is a vector"),
        })
    }

    /// The same of lists of active features.
    ///
    /// # Errors
    /// [`BatchError`] naming the row.
    pub fn sparse_rows(&self, rows: SparseRows<'_>) -> Result<Vec<f64>, BatchError> {
        let ProgramInput::Sparse { .. } = self.input else {
            return Err(BatchError::Kind { found: "lists of features", expected: self.takes() });
        };
        let SparseRows { offsets, features, values } = rows;
        if let Some(values) = values.filter(|values| values.len() != features.len()) {
            return Err(BatchError::Columns { found: values.len(), expected: features.len() });
        }
        let expected = features.len();
        let is_in_order = |pair: &[usize]| pair[0] <= pair[1] && pair[1] <= expected;
        let wrong = offsets.windows(2).position(|pair| !is_in_order(pair));
        let wrong = wrong.or((offsets.first() != Some(&0)).then_some(0));
        let wrong = wrong.or((offsets.last() != Some(&expected)).then_some(offsets.len().saturating_sub(2)));
        if let Some(row) = wrong {
            let found = *offsets.get(row + 1).or(offsets.last()).unwrap_or(&expected);
            return Err(BatchError::Offsets { row, found, expected });
        }
        self.row_by_row(offsets.len() - 1, |scratch, row, out| {
            let range = offsets[row]..offsets[row + 1];
            let value = |place: usize| values.map_or(1.0, |values| values[place]);
            let active: Vec<(u32, f64)> = range.clone().map(|place| (features[place], value(place))).collect();
            if let Some(column) = active.iter().position(|(_, value)| !value.is_finite()) {
                return Err(BatchError::NotFinite { row, column, value: active[column].1 });
            }
            let quantised = self.input.quantise(&Sample::Sparse(active));
            let GraphInput::Sparse { features, values } =
                quantised.map_err(|cause| BatchError::Sample { row, cause })?
            else {
                unreachable!("a sparse sample is quantised to a sparse input")
            };
            let input = Input::Sparse { features: &features, values: &values };
            let output = self.plan.run(input, 0, scratch.workspace.as_mut());
            self.write(output.map_err(|cause| BatchError::Run { row, cause })?, out);
            Ok(())
        })
    }

    /// The values of positions for the side to move, (n, outputs).
    ///
    /// # Errors
    /// [`BatchError::Kind`] for a network that is no chess board's.
    pub fn positions(&self, positions: &[Position]) -> Result<Values, BatchError> {
        if self.plan.chess_view().is_none() {
            return Err(BatchError::Kind { found: "positions", expected: self.takes() });
        }
        let values = self.row_by_row(positions.len(), |scratch, row, out| {
            let (lists, bucket) = features_in(self.plan, &positions[row])
                .ok_or(BatchError::Kind { found: "positions", expected: self.takes() })?;
            let at = |cause| BatchError::Run { row, cause };
            let output = self.position(scratch, &lists, bucket).map_err(at)?;
            self.write(output, out);
            Ok(())
        })?;
        // An i32 comes out of an f64 as it went in.
        Ok(if self.is_integer {
            Values::I32(values.iter().map(|value| *value as i32).collect())
        } else {
            Values::F64(values)
        })
    }

    fn position<'s>(
        &self,
        scratch: &'s mut Scratch,
        [first, second]: &[Vec<u32>; 2],
        bucket: usize,
    ) -> Result<Output<'s>, RunError> {
        let input = self.plan.model().input();
        let other_first = input.order == perspective_order::OTHER_FIRST;
        let (own, other) = if other_first { (second, first) } else { (first, second) };
        self.plan.refresh(&mut scratch.own, own)?;
        if input.perspectives == 2 {
            self.plan.refresh(&mut scratch.other, other)?;
        }
        let Scratch { workspace, own, other, .. } = scratch;
        self.plan.run(Input::Accumulators(own, other), bucket, workspace.as_mut())
    }

    /// Outputs as real numbers, as [`super::Outputs::to_reals`] has them.
    fn write(&self, output: Output<'_>, out: &mut [f64]) {
        match output {
            Output::I32(values) => out.iter_mut().zip(values).for_each(|(out, x)| *out = f64::from(*x) * self.unit),
            Output::F32(values) => out.iter_mut().zip(values).for_each(|(out, x)| *out = f64::from(*x) * self.unit),
            other => unreachable!("an element that this crate's version of the runtime does not have: {other:?}"),
        }
    }

    /// Row by row on all threads; of errors the first row's.
    fn row_by_row(
        &self,
        count: usize,
        row: impl Fn(&mut Scratch, usize, &mut [f64]) -> Result<(), BatchError> + Sync,
    ) -> Result<Vec<f64>, BatchError> {
        self.in_pieces(count, |scratch, rows, out| {
            rows.zip(out.chunks_mut(self.outputs.max(1))).try_for_each(|(index, out)| row(scratch, index, out))
        })
    }

    /// Pieces of rows on all threads; of errors the first row's.
    fn in_pieces(
        &self,
        count: usize,
        work: impl Fn(&mut Scratch, Range<usize>, &mut [f64]) -> Result<(), BatchError> + Sync,
    ) -> Result<Vec<f64>, BatchError> {
        let mut all = vec![0.0; count * self.outputs];
        parallel::fill_with(
            &mut all,
            PIECE * self.outputs,
            || self.scratch(),
            |scratch, piece, out| work(scratch, piece * PIECE..count.min((piece + 1) * PIECE), out),
        )?;
        Ok(all)
    }

    const fn takes(&self) -> &'static str {
        match &self.input {
            ProgramInput::Dense { .. } => "vectors",
            ProgramInput::Sparse { .. } => "lists of features",
            ProgramInput::Features { .. } => "positions, or lists of features for accumulators",
        }
    }
}
