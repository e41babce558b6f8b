//! Chosen rows of a large output: policy heads of search trees, of whose moves only those of one position are asked
//! for.

use crate::error::RunError;
use crate::input::Input;
use crate::ops::{Place, Running};
use crate::output::Output;
use crate::plan::Plan;
use crate::step::Step;
use crate::workspace::{range, range_mut};

/// Bytes of an output.
const WIDTH: usize = 4;
/// The most operations behind a last layer.
const LONGEST: usize = 8;

impl Plan<'_> {
    /// Whether [`Plan::run_rows`] can: whether the network ends in a layer with nothing behind it but what is done with
    /// each of its sums by itself, divisions, scales and functions of one number.
    pub fn computes_rows(&self) -> bool {
        self.ending().is_some()
    }

    /// Evaluates some outputs of a network, in the order of `rows`: number for number, and bit for bit, those of
    /// [`Plan::run`]. What lies before the last layer is computed once, and of that layer only these rows.
    ///
    /// bucket, workspace: as for [`Plan::run`] · rows: each below the number of outputs, no more of them than there are
    /// outputs; one may come twice.
    ///
    /// When not to use it: for more than a few rows of a layer of bytes (AFFINE_I8), whose rows do not lie by
    /// themselves and are added up without vectors, while 35 of 1,880 rows of i16 take a tenth of the whole; and for a
    /// softmax over the rows, which the caller does over those that it asked for.
    ///
    /// ```
    /// use tamis_runtime::{Input, Plan, Workspace, format::Model, kernels};
    ///
    /// static NET: &[u8] = tamis_runtime::include_model!("../../../tests/vectors/tiny.bin");
    /// # if !cfg!(feature = "accumulators") { return Ok(()) } // refused without
    /// let plan = Plan::new(Model::parse(NET)?, kernels::best());
    /// let (mut some, mut all) = (Workspace::<128>::new(), Workspace::<128>::new());
    /// let input = Input::Accumulators(&[165, 7], &[-35, 317]);
    /// assert_eq!(plan.run_rows(input, 0, &[0], some.as_mut())?, plan.run(input, 0, all.as_mut())?);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Plan::run`]; [`RunError::NoRows`] for a network that does not end so, [`RunError::Row`] for a row that
    /// there is not, [`RunError::Length`] for more rows than outputs.
    pub fn run_rows<'w>(
        &self,
        input: Input<'_>,
        bucket: usize,
        rows: &[u32],
        workspace: &'w mut [u8],
    ) -> Result<Output<'w>, RunError> {
        self.check(input, bucket, workspace)?;
        let Some(ending) = self.ending() else { return Err(RunError::NoRows) };
        let outputs = self.output.place.len_bytes() / WIDTH;
        if rows.len() > outputs {
            return Err(RunError::Length { what: "rows", found: rows.len(), expected: outputs });
        }
        if let Some(found) = rows.iter().find(|row| **row as usize >= outputs) {
            return Err(RunError::Row { found: *found, limit: outputs });
        }
        let on = Running { model: &self.model, kernels: self.kernels, input: &input, bucket, places: None };
        for record in self.model.ops().iter().take(ending.layer) {
            self.run_late(&on, record, workspace);
        }
        ending.run(&on, rows, workspace);
        let (from, to, len) = (ending.sums.range().start, self.output.place.range().start, rows.len() * WIDTH);
        // What the outputs' place held is read no more.
        workspace.copy_within(from..from + len, to);
        Ok(self.output.of_bytes(range(workspace, to..to + len)))
    }

    /// The layer that the network ends in, if it does in one.
    fn ending(&self) -> Option<Ending> {
        let (mut value, mut behind) = (self.model.input().output, heapless::Vec::new());
        loop {
            let layer = value.checked_sub(1)? as usize;
            let record = self.model.ops().get(layer)?;
            let step = Step::resolve(&self.model, self.kernels, record)?;
            let work = step.single()?;
            if work.is_layer() {
                return Some(Ending { layer, sums: step.places.write, behind });
            }
            let is_whole = record.input_start == 0
                && self.model.values().get(record.input as usize).is_some_and(|value| value.len == record.input_len);
            if !work.is_by_element(record) || !is_whole {
                return None;
            }
            behind.push(layer).ok()?;
            value = record.input;
        }
    }
}

/// Where rows are computed.
#[derive(Debug, Clone)]
struct Ending {
    /// The layer's operation.
    layer: usize,
    /// Where all of its sums would lie.
    sums: Place,
    /// The operations behind it, the last one first.
    behind: heapless::Vec<usize, LONGEST>,
}

impl Ending {
    /// Writes the rows to where sums would lie, apart from everything that the layer reads.
    fn run(&self, on: &Running<'_, '_>, rows: &[u32], workspace: &mut [u8]) {
        let resolve = |index: usize| Step::resolve(on.model, on.kernels, on.model.ops().get(index)?);
        let Some(layer) = resolve(self.layer) else { return };
        let behind: heapless::Vec<Step<'_>, LONGEST> = self.behind.iter().rev().filter_map(|at| resolve(*at)).collect();
        for (place, row) in rows.iter().enumerate() {
            let row = *row as usize;
            let Some(mut made) = layer.single().map(|work| work.row(on, &layer.places, workspace, row)) else { return };
            for work in behind.iter().filter_map(Step::single) {
                made = work.of_row(on, made, row);
            }
            let start = self.sums.range().start + place * WIDTH;
            let out = range_mut(workspace, start..start + WIDTH);
            out.iter_mut().zip(made.bytes()).for_each(|(out, byte)| *out = byte);
        }
    }
}
