//! Running a plan: the operations one after the other, each from its place in the workspace to its place.
//!
//! The loader has checked every index, length and range, so the fallbacks to empty slices in what is called here are
//! never taken; they stand where an `unwrap` would, so that nothing can panic.

use crate::error::RunError;
use crate::features::{ACCUMULATORS, GENERAL, IS_SMALL, ROWS};
use crate::format::{OpRecord, element, input_kind};
use crate::input::Input;
#[cfg(short_ways)]
use crate::kernels::Moved;
use crate::ops::{Places, Running, Work, check_list, trace_rows};
use crate::output::Output;
use crate::plan::Plan;
use crate::step::{AHEAD, FusedHead, Step};
use crate::workspace::range;

mod batch;
mod into;
mod rows;

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
        #[cfg(short_ways)]
        if let (Some(chain), Input::U8(x)) = (&self.chain, input)
            && chain.run_alone(x, bucket, workspace)
        {
            return Ok(self.output(workspace));
        }
        self.run_steps(input, bucket, workspace)
    }

    /// A network of any kind. Apart, so that the way to a network of one layer or of small layers alone is short enough
    /// to stand in its caller.
    fn run_steps<'w>(&self, input: Input<'_>, bucket: usize, workspace: &'w mut [u8]) -> Result<Output<'w>, RunError> {
        #[cfg(short_ways)]
        if let (Some(head), Input::Accumulators(own, other)) = (&self.products, input)
            && head.run(&self.steps, self.kernels, [own, other], bucket, workspace).is_some()
        {
            return Ok(self.output(workspace));
        }
        self.run_each_step(input, bucket, workspace)
    }

    /// Apart from the short ways in front of it, so that what it keeps in registers and in memory is not theirs to
    /// save.
    #[cfg_attr(short_ways, inline(never))]
    #[cfg_attr(not(short_ways), inline(always))]
    fn run_each_step<'w>(
        &self,
        input: Input<'_>,
        bucket: usize,
        workspace: &'w mut [u8],
    ) -> Result<Output<'w>, RunError> {
        self.check(input, bucket, workspace)?;
        let on = Running { model: &self.model, kernels: self.kernels, input: &input, bucket, places: None };
        if AHEAD != 0 {
            for step in self.steps_left(&on, workspace) {
                step.run(&on, workspace);
            }
        }
        for record in self.model.ops().iter().skip(self.done) {
            self.run_late(&on, record, workspace);
        }
        Ok(self.output(workspace))
    }

    /// Looks an operation up, and runs it.
    #[inline(always)]
    fn run_late(&self, on: &Running<'_, '_>, record: &OpRecord, workspace: &mut [u8]) {
        if IS_SMALL {
            self.operations.run(on, record, workspace);
        } else if let (Some(work), Some(at)) = (Work::resolve(on.model, on.kernels, record), on.places(record)) {
            work.run(on, &at, workspace);
        }
    }

    /// The steps that are left once those that are one call have run, and those before them.
    #[cfg(short_ways)]
    #[inline(always)]
    fn steps_left(&self, on: &Running<'_, '_>, workspace: &mut [u8]) -> &[Step<'_>] {
        let Some(chain) = &self.chain else { return &self.steps };
        let [before, own, behind] = chain.cut(&self.steps);
        for step in before {
            step.run(on, workspace);
        }
        if !chain.run(on, workspace) {
            for step in own {
                step.run(on, workspace);
            }
        }
        behind
    }

    #[cfg(not(short_ways))]
    #[inline(always)]
    fn steps_left(&self, _: &Running<'_, '_>, _: &mut [u8]) -> &[Step<'_>] {
        &self.steps
    }

    /// The network behind accumulators of the right length, where it is one layer with one output.
    #[inline(always)]
    pub(crate) fn run_head<'w>(
        &self,
        head: &FusedHead<'_>,
        own: &[i16],
        other: &[i16],
        bucket: usize,
        workspace: &'w mut [u8],
    ) -> Result<Output<'w>, RunError> {
        if !head.demands.are_met(own, other, bucket, workspace) {
            self.check(Input::Accumulators(own, other), bucket, workspace)?;
        }
        let score = head.score(own, other, bucket);
        Ok(head.written(score, workspace))
    }

    /// The output of such a network after a move, whose accumulators are made on the way; `None`, and nothing done,
    /// where they are no such network, lists, lengths, side or bucket, or no such workspace.
    #[cfg(short_ways)]
    #[inline(always)]
    pub(crate) fn move_and_score(
        &self,
        out: &mut [i16],
        source: &[i16],
        [added, removed]: [[&[u32]; 2]; 2],
        side: usize,
        bucket: usize,
        workspace: &[u8],
    ) -> Option<i32> {
        let head = self.head.as_ref()?;
        let moved = Moved::of(added, removed)?;
        // Its half, which is a constant where the length is one: twice the width would be worked out and masked.
        let is_fit = out.len() / 2 == head.demands.hidden
            && out.len().is_multiple_of(2)
            && side < 2
            && head.demands.are_met_behind(bucket, workspace);
        if !is_fit {
            return None;
        }
        // Whether the network has the rows is the kernel's to ask.
        Some(head.end(head.move_and_sum(out, source, &moved, side, bucket)?, bucket))
    }

    /// The output of such a network in its place.
    #[cfg(short_ways)]
    #[inline(always)]
    pub(crate) fn written<'w>(&self, score: i32, workspace: &'w mut [u8]) -> Output<'w> {
        self.head.as_ref().map_or(Output::I32(&[]), |head| head.written(score, workspace))
    }

    /// Whether it is such a network.
    pub(crate) const fn is_one_layer(&self) -> bool {
        self.head.is_some()
    }

    /// The output of such a network, for accumulators of the right length and a bucket that there is; `None` for any
    /// other.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(crate) fn score(&self, own: &[i16], other: &[i16], bucket: usize) -> Option<i32> {
        self.head.as_ref().map(|head| head.score(own, other, bucket))
    }

    /// The same, showing every value as it is computed: `observe(value index, its bytes)`. One of which the workspace
    /// holds a few rows at a time comes in pieces, one call behind the other, from the first row to the last; for each
    /// such value the operations before it that hand rows on run again.
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
        let on = Running { model: &self.model, kernels: self.kernels, input: &input, bucket, places: None };
        for record in self.model.ops() {
            if let Some(at) = Places::of(&self.model, record) {
                if ROWS && trace_rows(&on, at.output, workspace, |rows| observe(at.output, rows)) {
                    continue;
                }
                self.run_late(&on, record, workspace);
                observe(at.output, range(workspace, at.write.range()));
            }
        }
        Ok(self.output(workspace))
    }

    #[inline(always)]
    fn output<'w>(&self, workspace: &'w [u8]) -> Output<'w> {
        self.output.of_bytes(range(workspace, self.output.place.range()))
    }

    #[inline]
    fn check(&self, input: Input<'_>, bucket: usize, workspace: &[u8]) -> Result<(), RunError> {
        self.check_input(input)?;
        self.check_place(bucket, workspace, self.model.workspace_len_bytes())
    }

    /// Kind and length of the input.
    #[inline]
    fn check_input(&self, input: Input<'_>) -> Result<(), RunError> {
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
            (input_kind::SPARSE, Input::Sparse { features, values }) if GENERAL => {
                check_list(record, features, values)?
            }
            _ => return Err(RunError::InputKind),
        }
        Ok(())
    }

    /// The bucket and the workspace, which has at least `expected` bytes.
    #[inline]
    fn check_place(&self, bucket: usize, workspace: &[u8], expected: usize) -> Result<(), RunError> {
        let limit = self.model.input().bucket_count as usize;
        if bucket >= limit {
            return Err(RunError::Bucket { found: bucket, limit });
        }
        if workspace.len() < expected {
            return Err(RunError::Workspace { found: workspace.len(), expected });
        }
        let remainder = workspace.as_ptr().addr() % 64;
        if expected > 0 && remainder != 0 {
            return Err(RunError::WorkspaceAlignment { remainder });
        }
        Ok(())
    }
}
