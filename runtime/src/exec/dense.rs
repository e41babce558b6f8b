//! The dense integer layers as firmware runs them: straight from the record, because an operation that is looked up once and run once
//! need not be a value in between, whose memory and moves cost more than a small layer.

use super::{Input, typed, typed_mut};
use crate::format::{OpRecord, element, op};
use crate::plan::Plan;
use crate::step::{Requantisation, affine_of, place};
use crate::workspace::split;
use bytemuck::cast_slice;

/// Runs an operation; false, and nothing done, if it is another kind's.
pub(super) fn run(plan: &Plan<'_>, record: &OpRecord, input: &Input<'_>, bucket: usize, workspace: &mut [u8]) -> bool {
    let model = &plan.model;
    let is_affine = record.kind == op::AFFINE_I8;
    let is_requantise = record.kind == op::REQUANTISE && Requantisation::is_plain(model, record);
    if !is_affine && !is_requantise {
        return false;
    }
    let Some(output) = model.values().get(record.output as usize) else { return false };
    let read = place(model, record.input, record.input_start, record.input_len).range();
    let write = place(model, record.output, 0, output.len).range();
    let (x, out): (&[u8], &mut [u8]) = if record.input == 0 {
        (input.bytes().get(read).unwrap_or(&[]), workspace.get_mut(write).unwrap_or(&mut []))
    } else {
        split(workspace, read, write)
    };
    let kernels = plan.kernels;
    if is_affine {
        let weights = model.tensor(record.weights);
        let stride = weights.map_or(0, |weights| weights.stride());
        let (w, bias, sums) = (bank(plan, record.weights, bucket), bank(plan, record.bias, bucket), typed_mut(out));
        let w = cast_slice(w);
        if model.values().get(record.input as usize).is_some_and(|value| value.element == element::I8) {
            (kernels.affine_i8.call)(cast_slice(x), w, stride, typed(bias), sums);
        } else {
            affine_of(model, kernels, record, weights).for_inputs(x)(x, w, stride, typed(bias), sums);
        }
        return true;
    }
    let (multipliers, shifts) = (bank(plan, record.multipliers, bucket), bank(plan, record.shifts, bucket));
    let [low, high, ..] = record.params;
    let (low, high) = (low as i32, high as i32);
    let (sums, multipliers) = (typed(x), typed(multipliers));
    match output.element {
        element::U8 => (kernels.requantise_u8.call)(sums, multipliers, shifts, low, high, out),
        element::I8 => (kernels.requantise_i8.call)(sums, multipliers, shifts, low, high, typed_mut(out)),
        _ => (kernels.requantise_i32.call)(sums, multipliers, shifts, low, high, typed_mut(out)),
    }
    true
}

fn bank<'a>(plan: &Plan<'a>, tensor: u32, bucket: usize) -> &'a [u8] {
    plan.model.tensor(tensor).map_or(&[], |tensor| tensor.bank_bytes(bucket))
}
