//! The dense integer layers as firmware runs them: straight from the record, because an operation that is looked up
//! once and run once need not be a value in between, whose memory and moves cost more than a small layer.

use crate::features::{GENERAL, TELLS_U7};
use crate::format::{Layout, Model, OpRecord, Tensor, TensorRecord, element, op, part};
use crate::input::Input;
use crate::kernels::Tier;
use crate::ops::{Place, Requantisation, affine_of};
use crate::sure::sure;
use crate::workspace::{split, typed, typed_mut};
use bytemuck::cast_slice;

/// Runs an operation; false, and nothing done, if it is another kind's. `model` and `kernels` are the plan's.
pub(super) fn run(
    model: &Model<'_>,
    kernels: &Tier,
    record: &OpRecord,
    input: &Input<'_>,
    bucket: usize,
    workspace: &mut [u8],
) -> bool {
    let is_affine = record.kind == op::AFFINE_I8;
    let is_requantise = record.kind == op::REQUANTISE && Requantisation::is_plain(model, record);
    if !is_affine && !is_requantise {
        return false;
    }
    let Some(output) = model.values().get(record.output as usize) else { return false };
    let read = Place::of(model, record.input, record.input_start, record.input_len).range();
    let write = Place::of(model, record.output, 0, output.len).range();
    let reads_input = record.input == 0;
    if GENERAL && is_requantise && !reads_input && read == write {
        return false;
    }
    let (x, out) = split(workspace, if reads_input { 0..0 } else { read.clone() }, write);
    let x = if reads_input { part(input.bytes(), read.start, read.len()) } else { x };
    let (bytes, tensors) = (model.bytes(), model.tensors());
    if is_affine {
        let stride = sure(model.tensors().get(record.weights as usize).map(|weights| weights.stride as usize));
        let (w, bias) = (
            cast_slice(bank(bytes, tensors, record.weights, bucket)),
            typed(bank(bytes, tensors, record.bias, bucket)),
        );
        let sums = typed_mut(out);
        if model.values().get(record.input as usize).is_some_and(|value| value.element() == element::I8) {
            (kernels.affine_i8.call)(cast_slice(x), w, stride, bias, sums);
        } else {
            let affine = if TELLS_U7 {
                affine_of(model, kernels, record, model.tensor(record.weights))
            } else {
                kernels.affine_u8.call
            };
            affine(x, w, stride, bias, sums);
        }
        return true;
    }
    let (multipliers, shifts) =
        (bank(bytes, tensors, record.multipliers, bucket), bank(bytes, tensors, record.shifts, bucket));
    let [low, high, zero, ..] = record.params.map(|param| param as i32);
    let zero = if GENERAL { zero } else { 0 };
    let (sums, multipliers) = (typed(x), typed(multipliers));
    match output.element() {
        element::U8 => (kernels.requantise_u8.call)(sums, multipliers, shifts, low, high, zero, out),
        element::I8 => (kernels.requantise_i8.call)(sums, multipliers, shifts, low, high, zero, typed_mut(out)),
        _ => (kernels.requantise_i32.call)(sums, multipliers, shifts, low, high, zero, typed_mut(out)),
    }
    true
}

/// A bank of a tensor. By the parts of a model and not the whole, whose address would hold all of the plan around it in
/// memory.
#[inline(never)]
fn bank<'a>(bytes: &'a [u8], tensors: &'a [TensorRecord], index: u32, bucket: usize) -> &'a [u8] {
    let Some(record) = tensors.get(index as usize) else { return &[] };
    let data = part(bytes, record.offset_bytes as usize, record.len_bytes as usize);
    let layout = if record.layout == Layout::K4.code() { Layout::K4 } else { Layout::Rows };
    Tensor { record, layout, data }.bank_bytes(bucket)
}
