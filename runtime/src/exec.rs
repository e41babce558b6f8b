//! Running a plan: the operations one after the other, each from its place in the workspace to its place.
//!
//! The loader has checked every index, length and range, so the fallbacks to empty slices below are never taken; they
//! stand where an `unwrap` would, so that nothing here can panic.

use crate::error::RunError;
use crate::format::{element, input_kind};
use crate::num;
use crate::plan::Plan;
use crate::step::{Affine, Head, Step, Work, in_order};
use crate::workspace::split;
use bytemuck::{Pod, cast_slice, try_cast_slice, try_cast_slice_mut};

/// What goes in.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// Accumulators of the side to move and of the other side, whatever order the network wants them in; the second is not
    /// read by a network of one perspective. Each (hidden,) i16.
    Accumulators(&'a [i16], &'a [i16]),
    /// (size,) u8, 0..=127.
    U8(&'a [u8]),
    /// (size,) i8.
    I8(&'a [i8]),
}

/// What comes out; the real value is the element times [`crate::format::InputRecord::output_unit`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Output<'w> {
    /// Integer outputs.
    I32(&'w [i32]),
    /// Real outputs.
    F32(&'w [f32]),
}

impl Plan<'_> {
    /// Evaluates the network.
    ///
    /// bucket: the output bucket, 0 for networks without · workspace: 64-byte aligned, at least
    /// [`crate::format::Model::workspace_len_bytes`]; its contents before do not matter.
    ///
    /// # Errors
    /// [`RunError`] for what the caller hands in: kind and length of the input, the bucket, the workspace.
    pub fn run<'w>(&self, input: Input<'_>, bucket: usize, workspace: &'w mut [u8]) -> Result<Output<'w>, RunError> {
        if let (Some(head), Input::Accumulators(own, other)) = (&self.head, input) {
            self.check_accumulator("own accumulator", own.len())?;
            if self.model.input().perspectives == 2 {
                self.check_accumulator("other accumulator", other.len())?;
            }
            return self.run_head(head, own, other, bucket, workspace);
        }
        self.run_traced(input, bucket, workspace, |_, _| ())
    }

    /// The network behind accumulators of the right length, where it is one layer with one output.
    #[inline]
    pub(crate) fn run_head<'w>(
        &self,
        head: &Head<'_>,
        own: &[i16],
        other: &[i16],
        bucket: usize,
        workspace: &'w mut [u8],
    ) -> Result<Output<'w>, RunError> {
        self.check_place(bucket, workspace)?;
        let (first, second) = in_order(self.model.input(), own, other);
        let sum = (head.dot)(first, second, head.weights.bank(bucket), head.max);
        let out = typed_mut::<i32>(workspace.get_mut(head.write.range()).unwrap_or(&mut []));
        if let [out] = out {
            *out = num::rescale_by(sum, head.pre, head.bias.get(bucket, 0), head.factor, head.divisor);
        }
        Ok(Output::I32(out))
    }

    /// The same, showing every value as it is computed: `observe(value index, its bytes)`.
    ///
    /// # Errors
    /// As [`Plan::run`].
    #[inline]
    pub fn run_traced<'w>(
        &self,
        input: Input<'_>,
        bucket: usize,
        workspace: &'w mut [u8],
        mut observe: impl FnMut(usize, &[u8]),
    ) -> Result<Output<'w>, RunError> {
        self.check(input, bucket, workspace)?;
        let mut last = 0..0;
        for (index, record) in self.model.ops().iter().enumerate() {
            let resolved;
            let step = match self.steps.get(index) {
                Some(Some(step)) => step,
                _ => {
                    resolved = Step::resolve(&self.model, self.kernels, record);
                    let Some(step) = &resolved else { continue };
                    step
                }
            };
            self.execute(step, record.input == 0, input, bucket, workspace);
            last = step.write.range();
            observe(step.output, workspace.get(last.clone()).unwrap_or(&[]));
        }
        let output = self.model.values().get(self.model.input().output as usize);
        let bytes = workspace.get(last).unwrap_or(&[]);
        Ok(match output.map(|value| value.element) {
            Some(element::F32) => Output::F32(typed(bytes)),
            _ => Output::I32(typed(bytes)),
        })
    }

    #[inline]
    fn check(&self, input: Input<'_>, bucket: usize, workspace: &[u8]) -> Result<(), RunError> {
        let record = self.model.input();
        let expected = match record.kind {
            input_kind::FEATURES => record.hidden as usize,
            _ => record.size as usize,
        };
        let length =
            |what, found| if found == expected { Ok(()) } else { Err(RunError::Length { what, found, expected }) };
        match (record.kind, input) {
            (input_kind::FEATURES, Input::Accumulators(own, other)) => {
                length("own accumulator", own.len())?;
                if record.perspectives == 2 {
                    length("other accumulator", other.len())?;
                }
            }
            (input_kind::DENSE, Input::U8(x)) if record.element == element::U8 => length("input", x.len())?,
            (input_kind::DENSE, Input::I8(x)) if record.element == element::I8 => length("input", x.len())?,
            _ => return Err(RunError::InputKind),
        }
        self.check_place(bucket, workspace)
    }

    /// The bucket and the workspace.
    #[inline]
    fn check_place(&self, bucket: usize, workspace: &[u8]) -> Result<(), RunError> {
        let limit = self.model.input().bucket_count as usize;
        if bucket >= limit {
            return Err(RunError::Bucket { found: bucket, limit });
        }
        let expected = self.model.workspace_len_bytes();
        if workspace.len() < expected {
            return Err(RunError::Workspace { found: workspace.len(), expected });
        }
        let remainder = workspace.as_ptr().addr() % 64;
        if expected > 0 && remainder != 0 {
            return Err(RunError::WorkspaceAlignment { remainder });
        }
        Ok(())
    }

    #[inline]
    fn execute(&self, step: &Step<'_>, is_first: bool, input: Input<'_>, bucket: usize, workspace: &mut [u8]) {
        let (x, out): (&[u8], &mut [u8]) = if is_first {
            let out = workspace.get_mut(step.write.range()).unwrap_or(&mut []);
            let x = match input {
                Input::Accumulators(own, other) => {
                    let (first, second) = in_order(self.model.input(), own, other);
                    return self.accumulators(&step.work, first, second, bucket, out);
                }
                Input::U8(x) => x,
                Input::I8(x) => cast_slice(x),
            };
            (x.get(step.read.range()).unwrap_or(&[]), out)
        } else {
            split(workspace, step.read.range(), step.write.range())
        };
        let kernels = self.kernels;
        match step.work {
            Work::AffineU8 { affine, weights, bias } => {
                let call = match affine {
                    Affine::Known(call) => call,
                    Affine::Asked { narrow, .. } if x.iter().fold(0, |union, byte| union | byte) < 128 => narrow,
                    Affine::Asked { any, .. } => any,
                };
                call(x, weights.bank(bucket), weights.stride, bias.bank(bucket), typed_mut(out));
            }
            Work::AffineI8 { weights, bias } => {
                let (weights, stride, bias) = (weights.bank(bucket), weights.stride, bias.bank(bucket));
                (kernels.affine_i8.call)(cast_slice(x), weights, stride, bias, typed_mut(out));
            }
            Work::Rescale { pre, factor, divisor, bias } => {
                for (index, (y, x)) in typed_mut::<i32>(out).iter_mut().zip(typed::<i32>(x)).enumerate() {
                    *y = num::rescale_by(*x, pre, bias.get(bucket, index), factor, divisor);
                }
            }
            Work::Dequantise { factor, bias } => {
                (kernels.dequantise_f32.call)(typed(x), factor, bias.bank(bucket), typed_mut(out));
            }
            Work::AffineF32 { weights, bias } => {
                let (weights, stride, bias) = (weights.bank(bucket), weights.stride, bias.bank(bucket));
                (kernels.affine_f32.call)(typed(x), weights, stride, bias, typed_mut(out));
            }
            Work::ActivationF32 { activation } => (kernels.activation_f32.call)(typed(x), activation, typed_mut(out)),
            Work::ScaleF32 { factor } => {
                for (y, x) in typed_mut::<f32>(out).iter_mut().zip(typed::<f32>(x)) {
                    *y = x * factor;
                }
            }
            Work::AddF32 { second } => {
                typed_mut::<f32>(out).copy_from_slice(typed(x));
                let (second, out) = split(workspace, second.range(), step.write.range());
                for (y, x) in typed_mut::<f32>(out).iter_mut().zip(typed::<f32>(second)) {
                    *y += x;
                }
            }
            Work::Requantise { multipliers, shifts, low, high, element } => {
                let (x, multipliers, shifts) = (typed(x), multipliers.bank(bucket), shifts.bank(bucket));
                match element {
                    element::U8 => (kernels.requantise_u8.call)(x, multipliers, shifts, low, high, out),
                    element::I8 => (kernels.requantise_i8.call)(x, multipliers, shifts, low, high, typed_mut(out)),
                    _ => (kernels.requantise_i32.call)(x, multipliers, shifts, low, high, typed_mut(out)),
                }
            }
            Work::ActivateDot { .. } | Work::ActivateF32 { .. } | Work::PairwiseU8 { .. } => {}
        }
    }

    /// An operation on accumulators, in the network's order; `second` is empty with one perspective.
    fn accumulators(&self, work: &Work<'_>, first: &[i16], second: &[i16], bucket: usize, out: &mut [u8]) {
        match *work {
            Work::ActivateDot { dot, max, weights } => {
                let bank = weights.bank(bucket);
                for (row, sum) in typed_mut::<i32>(out).iter_mut().enumerate() {
                    let start = row * weights.stride;
                    let w = bank.get(start..start + first.len() + second.len()).unwrap_or(&[]);
                    *sum = dot(first, second, w, max);
                }
            }
            Work::PairwiseU8 { max, shift } => {
                let (low, high) = out.split_at_mut(first.len() / 2);
                (self.kernels.pairwise_u8.call)(first, max, shift, low);
                if !second.is_empty() {
                    (self.kernels.pairwise_u8.call)(second, max, shift, high);
                }
            }
            Work::ActivateF32 { activation, max, inverse } => {
                let out = typed_mut::<f32>(out);
                let share = if second.is_empty() { out.len() } else { out.len() / 2 };
                let (low, high) = out.split_at_mut(share);
                (self.kernels.activate_f32.call)(first, activation, max, inverse, low);
                if !second.is_empty() {
                    (self.kernels.activate_f32.call)(second, activation, max, inverse, high);
                }
            }
            _ => {}
        }
    }
}

fn typed<T: Pod>(bytes: &[u8]) -> &[T] {
    try_cast_slice(bytes).unwrap_or(&[])
}

fn typed_mut<T: Pod>(bytes: &mut [u8]) -> &mut [T] {
    try_cast_slice_mut(bytes).unwrap_or(&mut [])
}
