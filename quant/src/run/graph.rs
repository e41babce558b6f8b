//! Running graphs: samples in, reals or bytes out.

use super::{Outputs, Runner, owned};
use crate::graph::{Sample, SampleError};
use crate::program::{GraphInput, ProgramInput};
use tamis_runtime::raw::element;
use tamis_runtime::{Input, RunError};

/// Why a sample cannot be run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunGraphError {
    /// It cannot be quantised for the network.
    #[error("{0}")]
    Sample(#[from] SampleError),
    /// The runtime does not take it.
    #[error("{0}")]
    Run(#[from] RunError),
}

impl Runner<'_> {
    /// Quantises a sample, runs it, and returns the outputs as reals. `input`: of the graph that the model was packed
    /// from.
    ///
    /// # Errors
    /// [`RunGraphError`] if the sample does not fit the network.
    pub fn evaluate_sample(&mut self, input: &ProgramInput, sample: &Sample) -> Result<Vec<f64>, RunGraphError> {
        let unit = f64::from(self.plan.model().input().output_unit);
        let input = input.quantise(sample)?;
        Ok(self.evaluate_input(&input, |_, _| ())?.to_reals(unit))
    }

    /// Runs an input, showing every value that is computed: `observe(value index, its bytes)`; accumulators are value
    /// 0.
    ///
    /// # Errors
    /// [`RunError`] if the input does not fit the network.
    pub fn evaluate_input(
        &mut self,
        input: &GraphInput,
        mut observe: impl FnMut(usize, &[u8]),
    ) -> Result<Outputs, RunError> {
        let input = match input {
            GraphInput::Features { lists, bucket } => return self.evaluate_lists(lists, *bucket, observe),
            GraphInput::U8(x) => Input::U8(x),
            GraphInput::I8(x) => Input::I8(x),
            GraphInput::F32(x) => Input::F32(x),
            GraphInput::Sparse { features, values } => Input::Sparse { features, values },
        };
        // A value of which the workspace holds a few rows at a time comes in pieces.
        let (values, mut pieces) = (self.plan.model().values(), Vec::new());
        let whole = |value: usize, bytes: &[u8]| {
            let record = &values[value];
            if record.rows_held() == 0 {
                return observe(value, bytes);
            }
            pieces.extend_from_slice(bytes);
            let len = element::len_bytes(record.element()).map(|len| len * record.len as usize);
            if len == Some(pieces.len()) {
                observe(value, &pieces);
                pieces.clear();
            }
        };
        Ok(owned(self.plan.run_traced(input, 0, self.workspace.as_mut(), whole)?))
    }
}
