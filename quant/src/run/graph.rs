//! Running graphs: samples in, reals or bytes out.

use super::{Outputs, Runner};
use crate::graph::{Sample, SampleError};
use crate::program::{GraphInput, ProgramInput};
use tamis_runtime::{Input, Output, RunError};

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
    /// Quantises a sample, runs it, and returns the outputs as reals. `input`: of the graph that the model was packed from.
    ///
    /// # Errors
    /// [`RunGraphError`] if the sample does not fit the network.
    pub fn evaluate_sample(&mut self, input: &ProgramInput, sample: &Sample) -> Result<Vec<f64>, RunGraphError> {
        let unit = f64::from(self.plan.model().input().output_unit);
        let input = input.quantise(sample)?;
        let output = self.plan.run(as_runtime(&input), 0, self.workspace.as_mut())?;
        Ok(outputs(output).to_reals(unit))
    }

    /// Runs an input, showing every value that an operation makes: `observe(value index, its bytes)`.
    ///
    /// # Errors
    /// [`RunError`] if the input does not fit the network.
    pub fn evaluate_input(
        &mut self,
        input: &GraphInput,
        observe: impl FnMut(usize, &[u8]),
    ) -> Result<Outputs, RunError> {
        Ok(outputs(self.plan.run_traced(as_runtime(input), 0, self.workspace.as_mut(), observe)?))
    }
}

fn as_runtime(input: &GraphInput) -> Input<'_> {
    match input {
        GraphInput::U8(x) => Input::U8(x),
        GraphInput::I8(x) => Input::I8(x),
        GraphInput::F32(x) => Input::F32(x),
        GraphInput::Sparse { features, values } => Input::Sparse { features, values },
    }
}

fn outputs(output: Output<'_>) -> Outputs {
    match output {
        Output::I32(values) => Outputs::I32(values.to_vec()),
        Output::F32(values) => Outputs::F32(values.to_vec()),
    }
}
