//! Running a plan on several inputs: operation after operation, and within one input after input, each in a workspace
//! of its own, so that a dense layer can load its weights once for several.

use crate::error::RunError;
use crate::format::{ALIGNMENT, element, input_kind};
use crate::input::Input;
#[cfg(not(batches))]
use crate::num;
use crate::ops::Running;
use crate::output::Output;
use crate::plan::Plan;
use crate::step::{INPUTS_AT_ONCE, Step};
use crate::sure::sure;
use crate::workspace::range;

impl Plan<'_> {
    /// Bytes of workspace in which [`Plan::run_batch`] runs `inputs` inputs at once. More than 24 gain nothing.
    pub const fn batch_len_bytes(&self, inputs: usize) -> usize {
        self.pitch().saturating_mul(inputs)
    }

    /// Evaluates the network for each of `inputs`, with the bits of [`Plan::run`]; `take(index, output)` is given what
    /// comes out, in their order.
    ///
    /// inputs: any number, of the kind and length of [`Plan::run`] · bucket: of all of them · workspace: 64-byte
    /// aligned, [`Plan::batch_len_bytes`] of 1 or more; what it holds before does not matter. As many inputs as find
    /// room in it, up to 24, pass a layer together, and meet each of its weights for one load of it; one after the
    /// other, with the same bits, without the feature `batches`, in firmware and in WebAssembly.
    ///
    /// When not to use it: for one input; in firmware and WebAssembly, whose kernels take one input; behind
    /// accumulators, where what a layer takes is little beside the first one.
    ///
    /// ```
    /// use tamis_runtime::{Input, Output, Plan, Workspace, format::Model, include_model, kernels};
    ///
    /// static NET: &[u8] = include_model!("../../../firmware-examples/programs/src/digits.quantised.bin");
    /// let plan = Plan::new(Model::parse(NET)?, kernels::best());
    /// let images = [[0; 64], [1; 64], [2; 64]];
    /// let inputs = images.each_ref().map(|image| Input::U8(image));
    ///
    /// let mut scratch = Workspace::<1024>::new();
    /// assert!(plan.batch_len_bytes(3) <= 1024);
    /// let mut firsts = [0; 3];
    /// let done = plan.run_batch(&inputs, 0, scratch.as_mut(), |index, output| match output {
    ///     Output::I32(scores) => firsts[index] = scores[0],
    ///     other => unreachable!("this network ends in integers: {other:?}"),
    /// });
    /// done.map_err(|(_, error)| error)?;
    /// # let mut one = Workspace::<256>::new();
    /// # for (input, first) in inputs.into_iter().zip(firsts) {
    /// #     assert!(matches!(plan.run(input, 0, one.as_mut())?, Output::I32(scores) if scores[0] == first));
    /// # }
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Plan::run`], with the number of the first input that does not fit, 0 for bucket and workspace. All are
    /// looked at before any is run.
    pub fn run_batch(
        &self,
        inputs: &[Input<'_>],
        bucket: usize,
        workspace: &mut [u8],
        mut take: impl FnMut(usize, Output<'_>),
    ) -> Result<(), (usize, RunError)> {
        for (index, input) in inputs.iter().enumerate() {
            self.check_input(*input).map_err(|error| (index, error))?;
        }
        let pitch = self.pitch();
        self.check_place(bucket, workspace, pitch).map_err(|error| (0, error))?;
        let at_once = (workspace.len() / pitch).min(INPUTS_AT_ONCE);
        for (block, inputs) in inputs.chunks(at_once).enumerate() {
            let on = |input| Running { model: &self.model, kernels: self.kernels, input, bucket, places: None };
            for step in &self.steps {
                step.run_batch(on, inputs, workspace, pitch);
            }
            for record in self.model.ops().iter().skip(self.done) {
                if let Some(step) = Step::resolve(&self.model, self.kernels, record) {
                    step.run_batch(on, inputs, workspace, pitch);
                }
            }
            for (index, (_, workspace)) in inputs.iter().zip(workspace.chunks(pitch)).enumerate() {
                take(block * at_once + index, self.output.of_bytes(range(workspace, self.output.place.range())));
            }
        }
        Ok(())
    }

    /// Stores real numbers as the input that a network of bytes takes: the nearest multiple of
    /// [`crate::format::InputRecord::unit`], halves away from 0, behind the zero point, and at most and at least what
    /// a byte holds. Returns whether all were finite; if not, `out` is unspecified.
    ///
    /// x: any number · out: as many, u8 or, as the bytes that they are, i8.
    ///
    /// ```
    /// use tamis_runtime::{Plan, format::Model, include_model, kernels};
    ///
    /// static NET: &[u8] = include_model!("../../../firmware-examples/programs/src/digits.quantised.bin");
    /// let model = Model::parse(NET)?;
    /// let (plan, unit) = (Plan::new(model, kernels::best()), model.input().unit);
    /// let mut stored = [0; 4];
    /// assert!(plan.store_input(&[-1.0, 0.0, 7.4 * unit, f32::MAX], &mut stored)?);
    /// assert_eq!(stored, [0, 0, 7, 255]);
    /// assert!(!plan.store_input(&[f32::NAN], &mut stored[..1])?);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RunError::InputKind`] of a network that takes no bytes, [`RunError::Length`] of slices that differ in length.
    pub fn store_input(&self, x: &[f32], out: &mut [u8]) -> Result<bool, RunError> {
        let input = self.model.input();
        let is_signed = match (input.kind, input.element) {
            (input_kind::DENSE, element::U8) => false,
            (input_kind::DENSE, element::I8) => true,
            _ => return Err(RunError::InputKind),
        };
        let (found, expected) = (out.len(), x.len());
        if found != expected {
            return Err(RunError::Length { what: "stored input", found, expected });
        }
        // Every model has its input as the first of its values.
        let zero = sure(self.model.values().first().map(|value| i32::from(value.zero)));
        Ok(self.stored(x, input.unit, zero, is_signed, out))
    }

    #[cfg(batches)]
    fn stored(&self, x: &[f32], unit: f32, zero: i32, is_signed: bool, out: &mut [u8]) -> bool {
        let batch = &self.kernels.batch;
        (if is_signed { batch.store_i8 } else { batch.store_u8 })(x, unit, zero, out)
    }

    #[cfg(not(batches))]
    #[expect(clippy::unused_self, reason = "a tier's kernel does it in other builds")]
    fn stored(&self, x: &[f32], unit: f32, zero: i32, is_signed: bool, out: &mut [u8]) -> bool {
        let [low, high] = if is_signed { num::I8_ENDS } else { num::U8_ENDS };
        for (out, x) in out.iter_mut().zip(x) {
            *out = num::store((*x).into(), unit.into(), zero, low, high) as u8;
        }
        x.iter().all(|x| x.is_finite())
    }

    /// Bytes from an input's workspace to the next.
    const fn pitch(&self) -> usize {
        match self.model.workspace_len_bytes() {
            0 => ALIGNMENT,
            len => len.next_multiple_of(ALIGNMENT),
        }
    }
}
