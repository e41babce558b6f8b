//! Running a plan: the operations one after the other, each from its place in the workspace to its place.
//!
//! The loader has checked every index, length and range, so the fallbacks to empty slices below are never taken; they
//! stand where an `unwrap` would, so that nothing here can panic.

use crate::built::{ACCUMULATORS, GENERAL, IS_SMALL, MAPS, REALS};
use crate::error::RunError;
use crate::format::{Layout, element, input_kind};
use crate::kernels::{Dequantisation, RealLayer, TAIL_WIDTH};
use crate::num;
use crate::plan::Plan;
use crate::step::{AHEAD, Head, LayerU8, Requantisation, Step, Tail, Work, in_order};
use crate::workspace::{range, range_mut, split, typed, typed_mut};
use bytemuck::cast_slice;

mod dense;

/// Whether there are operations that `dense` does not run alone, or hosts, which resolve all ahead.
const HAS_STEPS: bool = !IS_SMALL || ACCUMULATORS || REALS || GENERAL || MAPS;

/// What goes in.
///
/// ```
/// use tamis_runtime::{Input, Output, Plan, Workspace, format::Model, kernels};
///
/// // A network of nine features, some of which are there.
/// # static NET: &[u8] =
/// #     tamis_runtime::include_model!("../../tests/fuzz/corpus/loader/sparse-reals-without-values.bin");
/// # #[cfg(feature = "general")] {
/// let plan = Plan::new(Model::parse(NET)?, kernels::best());
/// let mut scratch = Workspace::<512>::new();
/// let output = plan.run(Input::Sparse { features: &[2, 5, 8], values: &[] }, 0, scratch.as_mut())?;
/// assert!(matches!(output, Output::F32(probabilities) if probabilities.len() == 3));
/// # }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Input<'a> {
    /// Accumulators of the side to move and of the other side, whatever order the network wants them in; the second is
    /// not read by a network of one perspective. Each (hidden,) i16.
    Accumulators(&'a [i16], &'a [i16]),
    /// (size,) u8, 0..=127.
    U8(&'a [u8]),
    /// (size,) i8.
    I8(&'a [i8]),
    /// (size,) f32.
    F32(&'a [f32]),
    /// The features that are not 0, in ascending order, each below `size`: at most, or with `exact` exactly,
    /// `max_active`.
    Sparse {
        /// Their numbers.
        features: &'a [u32],
        /// Their values, as many, in units of [`crate::format::InputRecord::unit`]; empty for a network without values.
        values: &'a [i16],
    },
}

/// What comes out; the real value is the element times [`crate::format::InputRecord::output_unit`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
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
    #[inline(always)]
    pub fn run<'w>(&self, input: Input<'_>, bucket: usize, workspace: &'w mut [u8]) -> Result<Output<'w>, RunError> {
        if ACCUMULATORS
            && let Some(head) = &self.head
            && let Input::Accumulators(own, other) = input
        {
            return self.run_head(head, own, other, bucket, workspace);
        }
        self.run_steps(input, bucket, workspace)
    }

    /// A network of any kind. Apart, so that the way to a network of one layer is short enough to stand in its caller.
    fn run_steps<'w>(&self, input: Input<'_>, bucket: usize, workspace: &'w mut [u8]) -> Result<Output<'w>, RunError> {
        self.check(input, bucket, workspace)?;
        if AHEAD != 0 {
            for step in &self.steps {
                self.execute(step, &input, bucket, workspace);
            }
        }
        for record in self.model.ops().iter().skip(self.done) {
            if IS_SMALL && dense::run(&self.model, self.kernels, record, &input, bucket, workspace) {
                continue;
            }
            if HAS_STEPS && let Some(step) = Step::resolve(&self.model, self.kernels, record) {
                self.execute(&step, &input, bucket, workspace);
            }
        }
        Ok(self.output(workspace))
    }

    /// The network behind accumulators of the right length, where it is one layer with one output.
    #[inline(always)]
    pub(crate) fn run_head<'w>(
        &self,
        head: &Head<'_>,
        own: &[i16],
        other: &[i16],
        bucket: usize,
        workspace: &'w mut [u8],
    ) -> Result<Output<'w>, RunError> {
        let is_fit = own.len() == head.hidden
            && (other.len() == head.hidden || !head.two)
            && bucket < head.buckets
            && workspace.len() >= head.workspace_len
            && workspace.as_ptr().addr().is_multiple_of(64);
        if !is_fit {
            self.check(Input::Accumulators(own, other), bucket, workspace)?;
        }
        let place = workspace.get_mut(head.write..).and_then(|rest| rest.first_chunk_mut::<{ size_of::<i32>() }>());
        let out = place.map_or(&mut [][..], |place| typed_mut::<i32>(place));
        if let [out] = out {
            *out = head.score(own, other, bucket);
        }
        Ok(Output::I32(out))
    }

    /// Whether it is such a network.
    pub(crate) const fn is_one_layer(&self) -> bool {
        self.head.is_some()
    }

    /// The output of such a network, for accumulators of the right length and a bucket that there is; `None` for any
    /// other.
    #[inline]
    pub(crate) fn score(&self, own: &[i16], other: &[i16], bucket: usize) -> Option<i32> {
        self.head.as_ref().map(|head| head.score(own, other, bucket))
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
        for record in self.model.ops() {
            if let Some(step) = Step::resolve(&self.model, self.kernels, record) {
                self.execute(&step, &input, bucket, workspace);
                observe(step.output, range(workspace, step.write.range()));
            }
        }
        Ok(self.output(workspace))
    }

    #[inline]
    fn output<'w>(&self, workspace: &'w [u8]) -> Output<'w> {
        let bytes = range(workspace, self.output.place.range());
        if self.output.is_f32 { Output::F32(typed(bytes)) } else { Output::I32(typed(bytes)) }
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
            (input_kind::FEATURES, Input::Accumulators(own, other)) if ACCUMULATORS => {
                length("own accumulator", own.len())?;
                if record.perspectives == 2 {
                    length("other accumulator", other.len())?;
                }
            }
            (input_kind::DENSE, Input::U8(x)) if record.element == element::U8 => length("input", x.len())?,
            (input_kind::DENSE, Input::I8(x)) if record.element == element::I8 => length("input", x.len())?,
            (input_kind::DENSE, Input::F32(x)) if record.element == element::F32 => length("input", x.len())?,
            (input_kind::SPARSE, Input::Sparse { features, values }) if GENERAL => self.check_list(features, values)?,
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

    fn execute(&self, step: &Step<'_>, input: &Input<'_>, bucket: usize, workspace: &mut [u8]) {
        if let (Work::LayerU8(layer), true) = (&step.work, AHEAD != 0) {
            return self.layer(layer, step, input, bucket, workspace);
        }
        if let (Work::Tail(tail), true) = (&step.work, AHEAD != 0 && REALS) {
            return self.tail(tail, step, bucket, workspace);
        }
        if let (Work::General(work), true) = (&step.work, GENERAL || REALS || MAPS) {
            return self.general(work, step, input, bucket, workspace);
        }
        let (x, out): (&[u8], &mut [u8]) = if step.reads_input {
            let out = range_mut(workspace, step.write.range());
            let x = match *input {
                Input::Accumulators(own, other) if ACCUMULATORS => {
                    let (first, second) = in_order(self.model.input(), own, other);
                    return self.accumulators(&step.work, first, second, bucket, out);
                }
                _ => input.bytes(),
            };
            (range(x, step.read.range()), out)
        } else {
            split(workspace, step.read.range(), step.write.range())
        };
        let kernels = self.kernels;
        match step.work {
            Work::AffineU8 { affine, weights, bias } => {
                affine(x, weights.bank(bucket), weights.stride, bias.bank(bucket), typed_mut(out));
            }
            Work::AffineI8 { weights, bias } => {
                let (weights, stride, bias) = (weights.bank(bucket), weights.stride, bias.bank(bucket));
                (kernels.affine_i8.call)(cast_slice(x), weights, stride, bias, typed_mut(out));
            }
            Work::Rescale { pre, factor, divisor, bias } if ACCUMULATORS => {
                for (index, (y, x)) in typed_mut::<i32>(out).iter_mut().zip(typed::<i32>(x)).enumerate() {
                    *y = num::rescale_by(*x, pre, bias.get(bucket, index), factor, divisor);
                }
            }
            Work::Dequantise { factor, bias, activation } if REALS => {
                (kernels.dequantise_f32.call)(typed(x), factor, bias.bank(bucket), activation, typed_mut(out));
            }
            Work::AffineF32(layer) if REALS => {
                let is_columns = layer.layout == Layout::Columns;
                let affine = if is_columns { kernels.affine_f32_columns } else { kernels.affine_f32 };
                let RealLayer { weights, stride, bias, activation, .. } = layer.layer(bucket);
                (affine.call)(typed(x), weights, stride, bias, activation, typed_mut(out));
            }
            Work::ActivationF32 { activation } if REALS => {
                (kernels.activation_f32.call)(typed(x), activation, typed_mut(out))
            }
            Work::ScaleF32 { factor } if REALS => {
                for (y, x) in typed_mut::<f32>(out).iter_mut().zip(typed::<f32>(x)) {
                    *y = x * factor;
                }
            }
            Work::Requantise(Requantisation { multipliers, shifts, low, high, element }) => {
                let (x, multipliers, shifts) = (typed(x), multipliers.bank(bucket), shifts.bank(bucket));
                match element {
                    element::U8 => (kernels.requantise_u8.call)(x, multipliers, shifts, low, high, out),
                    element::I8 => (kernels.requantise_i8.call)(x, multipliers, shifts, low, high, typed_mut(out)),
                    _ => (kernels.requantise_i32.call)(x, multipliers, shifts, low, high, typed_mut(out)),
                }
            }
            // Done above, or not in this build.
            _ => {}
        }
    }

    /// First the sums, to a place of their own; so the output may lie where the input did.
    fn layer(&self, layer: &LayerU8<'_>, step: &Step<'_>, input: &Input<'_>, bucket: usize, workspace: &mut [u8]) {
        let (x, sums) = match *input {
            Input::U8(x) if step.reads_input => (range(x, step.read.range()), range_mut(workspace, layer.sums.range())),
            _ => split(workspace, step.read.range(), layer.sums.range()),
        };
        let (weights, bias) = (layer.weights.bank(bucket), layer.bias.bank(bucket));
        (layer.affine)(x, weights, layer.weights.stride, bias, typed_mut(sums));
        let (sums, out) = split(workspace, layer.sums.range(), step.write.range());
        let Requantisation { multipliers, shifts, low, high, element } = layer.requantise;
        let (sums, multipliers, shifts) = (typed(sums), multipliers.bank(bucket), shifts.bank(bucket));
        if element == element::U8 {
            (self.kernels.requantise_u8.call)(sums, multipliers, shifts, low, high, out);
        } else {
            (self.kernels.requantise_i32.call)(sums, multipliers, shifts, low, high, typed_mut(out));
        }
    }

    fn tail(&self, tail: &Tail<'_>, step: &Step<'_>, bucket: usize, workspace: &mut [u8]) {
        let (read, write) = (step.read.range(), step.write.range());
        if step.read.is_apart_from(step.write) {
            let (sums, out) = split(workspace, read, write);
            return self.run_tail(tail, typed(sums), bucket, typed_mut(out));
        }
        // The output lies where the input did, which has all been read by then.
        let mut values = [0f32; TAIL_WIDTH];
        let values = range_mut(&mut values, 0..write.len() / size_of::<f32>());
        self.run_tail(tail, typed(range(workspace, read)), bucket, values);
        for (out, value) in typed_mut::<f32>(range_mut(workspace, write)).iter_mut().zip(values) {
            *out = *value;
        }
    }

    fn run_tail(&self, tail: &Tail<'_>, sums: &[i32], bucket: usize, out: &mut [f32]) {
        let first = Dequantisation { factor: tail.factor, bias: tail.bias.bank(bucket), activation: tail.activation };
        let (hidden, scale) = (tail.hidden.layer(bucket), tail.scale.unwrap_or(1.0));
        let call = self.kernels.tail_f32.call;
        match &tail.last {
            Some(last) => call(sums, &first, &[hidden, last.layer(bucket)], scale, out),
            None => call(sums, &first, &[hidden], scale, out),
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
            Work::PairwiseU8 { max, shift, left_out } => {
                let (first, second) = (without(first, left_out), without(second, left_out));
                let (low, high) = out.split_at_mut(first.len() / 2);
                (self.kernels.pairwise_u8.call)(first, max, shift, low);
                if !second.is_empty() {
                    (self.kernels.pairwise_u8.call)(second, max, shift, high);
                }
            }
            Work::ActivateF32 { activation, max, inverse } if REALS => {
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

impl Head<'_> {
    #[inline(always)]
    fn score(&self, own: &[i16], other: &[i16], bucket: usize) -> i32 {
        let other = if self.two { other } else { &[] };
        let (first, second) = if self.other_first { (other, own) } else { (own, other) };
        let weights = self.weights.start(bucket, first.len() + second.len());
        let sum = (self.dot)(first, second, weights, self.max);
        num::rescale_by(sum, self.pre, self.bias.get(bucket, 0), self.factor, self.divisor)
    }
}

/// An accumulator without its last elements.
pub(crate) fn without(accumulator: &[i16], left_out: usize) -> &[i16] {
    accumulator.get(..accumulator.len().saturating_sub(left_out)).unwrap_or(&[])
}
