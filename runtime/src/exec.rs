//! Running a plan: the operations one after the other, each from its place in the workspace to its place.
//!
//! The loader has checked every index, length and range, so the fallbacks to empty slices below are never taken; they
//! stand where an `unwrap` would, so that nothing here can panic.

use crate::format::{OpRecord, ValueRecord, activation, claim, element, input_kind, op, perspective_order};
use crate::num;
use crate::plan::{Plan, RunError};
use crate::workspace::split;
use bytemuck::{Pod, try_cast_slice, try_cast_slice_mut};
use core::ops::Range;

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
        self.run_traced(input, bucket, workspace, |_, _| ())
    }

    /// The same, showing every value as it is computed: `observe(value index, its bytes)`.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub fn run_traced<'w>(
        &self,
        input: Input<'_>,
        bucket: usize,
        workspace: &'w mut [u8],
        mut observe: impl FnMut(usize, &[u8]),
    ) -> Result<Output<'w>, RunError> {
        self.check(input, bucket, workspace)?;
        for record in self.model.ops() {
            let range = self.place(record.output);
            if record.input == 0 {
                let out = workspace.get_mut(range.clone()).unwrap_or(&mut []);
                self.first(record, input, bucket, out);
            } else {
                self.inner(record, bucket, workspace);
            }
            observe(record.output as usize, workspace.get(range).unwrap_or(&[]));
        }
        let output = self.model.input().output;
        let bytes = workspace.get(self.place(output)).unwrap_or(&[]);
        Ok(match self.value(output).map(|value| value.element) {
            Some(element::F32) => Output::F32(try_cast_slice(bytes).unwrap_or(&[])),
            _ => Output::I32(try_cast_slice(bytes).unwrap_or(&[])),
        })
    }

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
        let limit = record.bucket_count as usize;
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

    /// An operation that reads the network's input.
    fn first(&self, record: &OpRecord, input: Input<'_>, bucket: usize, out: &mut [u8]) {
        match input {
            Input::Accumulators(own, other) => {
                let other_first = self.model.input().order == perspective_order::OTHER_FIRST;
                let both = if other_first { [other, own] } else { [own, other] };
                let used = self.model.input().perspectives as usize;
                self.accumulators(record, both.get(..used).unwrap_or(&[]), bucket, out);
            }
            Input::U8(x) => self.affine(record, Bytes::U8(cut(x, record)), bucket, out),
            Input::I8(x) => self.affine(record, Bytes::I8(cut(x, record)), bucket, out),
        }
    }

    /// An operation on accumulators, a perspective at a time.
    fn accumulators(&self, record: &OpRecord, perspectives: &[&[i16]], bucket: usize, out: &mut [u8]) {
        let [clip, second, ..] = record.params;
        let max = clip as i16;
        if record.kind == op::ACTIVATE_DOT {
            let Some(weights) = self.model.tensor(record.weights) else { return };
            let short = weights.record.claims & claim::PRODUCT_FITS_I16 != 0;
            let dot = match record.activation {
                activation::CRELU => &self.kernels.dot_crelu,
                activation::SQRRELU => &self.kernels.dot_sqrrelu,
                _ if short => &self.kernels.dot_screlu_short,
                _ => &self.kernels.dot_screlu,
            };
            let bank: &[i16] = weights.bank(bucket);
            for (row, sum) in typed_mut::<i32>(out).iter_mut().enumerate() {
                let mut start = row * weights.stride();
                *sum = 0;
                for x in perspectives {
                    let w = bank.get(start..start + x.len()).unwrap_or(&[]);
                    *sum = sum.wrapping_add((dot.call)(x, w, max));
                    start += x.len();
                }
            }
            return;
        }
        let share = out.len() / perspectives.len().max(1);
        for (x, out) in perspectives.iter().zip(out.chunks_exact_mut(share.max(1))) {
            if record.kind == op::PAIRWISE_U8 {
                (self.kernels.pairwise_u8.call)(x, max, second, out);
            } else {
                let inverse = f32::from_bits(second);
                (self.kernels.activate_f32.call)(x, record.activation, max, inverse, typed_mut(out));
            }
        }
    }

    /// An operation between places of the workspace.
    fn inner(&self, record: &OpRecord, bucket: usize, workspace: &mut [u8]) {
        let write = self.place(record.output);
        let read = self.part(record.input, record.input_start, record.input_len);
        let (x, out) = split(workspace, read, write.clone());
        match record.kind {
            op::AFFINE_I8 => {
                let signed = self.value(record.input).is_some_and(|value| value.element == element::I8);
                let x = if signed { Bytes::I8(typed(x)) } else { Bytes::U8(x) };
                self.affine(record, x, bucket, out);
            }
            op::RESCALE => self.rescale(record, typed(x), bucket, typed_mut(out)),
            op::DEQUANTISE => {
                let factor = f32::from_bits(record.params[0]);
                let bias: &[f32] = self.bank(record.bias, bucket);
                for (index, (y, x)) in typed_mut::<f32>(out).iter_mut().zip(typed::<i32>(x)).enumerate() {
                    *y = *x as f32 * factor;
                    if let Some(bias) = bias.get(index) {
                        *y += bias;
                    }
                }
            }
            op::AFFINE_F32 => {
                let Some(weights) = self.model.tensor(record.weights) else { return };
                let bias = self.bank(record.bias, bucket);
                (self.kernels.affine_f32.call)(typed(x), weights.bank(bucket), weights.stride(), bias, typed_mut(out));
            }
            op::ACTIVATION_F32 => (self.kernels.activation_f32.call)(typed(x), record.activation, typed_mut(out)),
            op::SCALE_F32 => {
                let factor = f32::from_bits(record.params[0]);
                for (y, x) in typed_mut::<f32>(out).iter_mut().zip(typed::<f32>(x)) {
                    *y = x * factor;
                }
            }
            op::ADD_F32 => {
                typed_mut::<f32>(out).copy_from_slice(typed(x));
                let read = self.part(record.second, record.second_start, record.input_len);
                let (second, out) = split(workspace, read, write);
                for (y, x) in typed_mut::<f32>(out).iter_mut().zip(typed::<f32>(second)) {
                    *y += x;
                }
            }
            op::REQUANTISE => self.requantise(record, typed(x), bucket, out),
            _ => {}
        }
    }

    fn affine(&self, record: &OpRecord, x: Bytes<'_>, bucket: usize, out: &mut [u8]) {
        let Some(weights) = self.model.tensor(record.weights) else { return };
        let bias = self.bank(record.bias, bucket);
        let (w, stride, out) = (weights.bank(bucket), weights.stride(), typed_mut(out));
        match x {
            Bytes::U8(x) => (self.kernels.affine_u8.call)(x, w, stride, bias, out),
            Bytes::I8(x) => (self.kernels.affine_i8.call)(x, w, stride, bias, out),
        }
    }

    fn rescale(&self, record: &OpRecord, x: &[i32], bucket: usize, out: &mut [i32]) {
        let [pre_divisor, factor, divisor, _] = record.params.map(|param| param as i32);
        let Some(bias) = self.model.tensor(record.bias) else { return };
        let narrow = u32::from(bias.record.element) == element::I16;
        for (index, (y, x)) in out.iter_mut().zip(x).enumerate() {
            let bias = if narrow {
                bias.bank::<i16>(bucket).get(index).map_or(0, |bias| i32::from(*bias))
            } else {
                bias.bank::<i32>(bucket).get(index).copied().unwrap_or(0)
            };
            *y = num::rescale(*x, pre_divisor, bias, factor, divisor);
        }
    }

    fn requantise(&self, record: &OpRecord, x: &[i32], bucket: usize, out: &mut [u8]) {
        let multipliers = self.bank(record.multipliers, bucket);
        let shifts = self.bank(record.shifts, bucket);
        let [low, high, ..] = record.params.map(|param| param as i32);
        match self.value(record.output).map(|value| value.element) {
            Some(element::U8) => (self.kernels.requantise_u8.call)(x, multipliers, shifts, low, high, out),
            Some(element::I8) => (self.kernels.requantise_i8.call)(x, multipliers, shifts, low, high, typed_mut(out)),
            _ => (self.kernels.requantise_i32.call)(x, multipliers, shifts, low, high, typed_mut(out)),
        }
    }

    fn bank<T: Pod>(&self, tensor: u32, bucket: usize) -> &[T] {
        self.model.tensor(tensor).map_or(&[], |tensor| tensor.bank(bucket))
    }

    fn value(&self, index: u32) -> Option<&ValueRecord> {
        self.model.values().get(index as usize)
    }

    fn place(&self, index: u32) -> Range<usize> {
        self.part(index, 0, self.value(index).map_or(0, |value| value.len))
    }

    fn part(&self, index: u32, start: u32, len: u32) -> Range<usize> {
        let Some(value) = self.value(index) else { return 0..0 };
        let size = element::len_bytes(value.element).unwrap_or(1);
        let start = value.offset_bytes as usize + start as usize * size;
        start..start + len as usize * size
    }
}

/// The input of a dense layer.
enum Bytes<'a> {
    U8(&'a [u8]),
    I8(&'a [i8]),
}

fn cut<'a, T>(x: &'a [T], record: &OpRecord) -> &'a [T] {
    let start = record.input_start as usize;
    x.get(start..start + record.input_len as usize).unwrap_or(&[])
}

fn typed<T: Pod>(bytes: &[u8]) -> &[T] {
    try_cast_slice(bytes).unwrap_or(&[])
}

fn typed_mut<T: Pod>(bytes: &mut [u8]) -> &mut [T] {
    try_cast_slice_mut(bytes).unwrap_or(&mut [])
}
