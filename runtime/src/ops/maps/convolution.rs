//! CONVOLUTION and TRANSPOSED_CONVOLUTION.
//!
//! Layers of bytes whose weights lie in K4 and those with a filter for every channel are kernels of the tier. The
//! others go a place of the window at a time: its inputs are gathered as i16 with the zero point taken off, in pieces
//! that fit the stack, each piece meets a block of rows in the tier's dense kernel, which adds to the sums of the
//! pieces before. Rounding ends the block.

use super::gather::Patch;
use super::{Bytes, OnMaps, Running, bytes, copy, integers, range_mut, rest};
use crate::features::{IS_SMALL, MAPS};
use crate::format::{Layout, Model, OpRecord, WindowRecord, is_depthwise, op};
use crate::kernels::Tier;
use crate::kernels::maps::{Beside, Geometry, Layer, Map, Rounding};
use crate::ops::Banks;

/// Outputs that are summed at once.
const ROWS: usize = 64;
/// Inputs that are gathered at once; half a kilobyte on a microcontroller.
const INPUTS: usize = if IS_SMALL { 128 } else { 1024 };

/// CONVOLUTION and TRANSPOSED_CONVOLUTION.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Convolution;

impl OnMaps for Convolution {
    fn run(
        on: &Running<'_, '_>,
        record: &OpRecord,
        from: Bytes<'_>,
        second: Option<Bytes<'_>>,
        to: (Map, &mut [u8]),
    ) -> Option<()> {
        let (layer, form) = layer_of(on.model, record, [from.0, to.0])?;
        match form {
            Form::Depthwise => (on.kernels.depthwise.call)(&layer, from.1, second, to.1),
            Form::Whole => {
                #[cfg(short_ways)]
                if second.is_none() && layer.is_single_place() {
                    (on.kernels.single_place)(&layer, from.1, to.1);
                    return Some(());
                }
                (on.kernels.convolve.call)(&layer, from.1, second, to.1);
            }
            Form::Groups(groups) if MAPS => run(on.kernels, &layer, groups, from, second, to),
            Form::Groups(_) => return None,
        }
        Some(())
    }
}

/// What computes the sums of a layer.
pub(super) enum Form {
    /// The kernel with a filter for every channel.
    Depthwise,
    /// The kernel whose outputs see all channels.
    Whole,
    /// [`run`], in so many groups.
    Groups(usize),
}

/// The operands of a record, between maps; `None` for what the loader rules out.
#[inline(always)]
pub(super) fn layer_of<'a>(model: &Model<'a>, record: &OpRecord, [from, to]: [Map; 2]) -> Option<(Layer<'a>, Form)> {
    let geometry = Geometry::of(WindowRecord::of(record), MAPS && record.kind == op::TRANSPOSED_CONVOLUTION);
    let tensor = model.tensor(record.weights)?;
    let (rows, cols) = (tensor.record.rows as usize, tensor.record.cols as usize);
    let taps = geometry.kernel[0] * geometry.kernel[1];
    let [.., low, high] = record.params;
    let (multipliers, shifts) = (integers(model, record.multipliers), bytes(model, record.shifts));
    let rounding = Rounding { multipliers, shifts, low: low as i32, high: high as i32 };
    let weights = Banks::new(Some(tensor));
    let bias = integers(model, record.bias);
    let layer = Layer { geometry, from, to, weights: weights.bank(0), stride: weights.stride, bias, rounding };
    let form = if is_depthwise(record.kind, [rows, cols], taps, [from.channels, to.channels]) {
        Form::Depthwise
    } else if tensor.layout == Layout::K4 {
        Form::Whole
    } else {
        let groups = (taps * from.channels).checked_div(cols)?;
        Form::Groups(groups.max(1))
    };
    Some((layer, form))
}

/// x, beside, out: the bytes of the maps.
fn run(
    kernels: &Tier,
    layer: &Layer<'_>,
    groups: usize,
    (from, x): Bytes<'_>,
    second: Option<Bytes<'_>>,
    (to, out): (Map, &mut [u8]),
) {
    let (inputs, outputs) = (from.channels / groups, to.channels / groups);
    for place in 0..to.height * to.width {
        let pixel = [place / to.width.max(1), place % to.width.max(1)];
        for group in 0..groups {
            let patch =
                Patch { geometry: &layer.geometry, from, x, place: pixel, first: group * inputs, count: inputs };
            let mut row = group * outputs;
            while row < (group + 1) * outputs {
                let rows = ((group + 1) * outputs - row).min(ROWS);
                let mut sums = [0; ROWS];
                let sums = range_mut(&mut sums, 0..rows);
                sum(kernels, layer, &patch, row, sums);
                let start = place * to.channels + row;
                let beside = second.map(|(map, bytes)| Beside { map, bytes, start });
                layer.rounding.block(sums, row, beside, (to, out, start));
                row += rows;
            }
        }
    }
}

/// `sums[i] = bias[row + i] + Σ patch · weights[row + i]`, i32, wrapping.
fn sum(kernels: &Tier, layer: &Layer<'_>, patch: &Patch<'_>, row: usize, sums: &mut [i32]) {
    let (weights, stride) = (layer.weights, layer.stride);
    if let Some(bias) = layer.bias.get(row..row + sums.len()) {
        copy(bias, sums);
    }
    let (mut gathered, mut before) = ([0; INPUTS], [0; ROWS]);
    let mut start = 0;
    while start < patch.len() {
        let len = (patch.len() - start).min(INPUTS);
        let (Some(inputs), Some(before)) = (gathered.get_mut(..len), before.get_mut(..sums.len())) else { return };
        patch.fill(start, inputs);
        copy(sums, before);
        let weights = rest(weights, row * stride + start);
        (kernels.affine_i16_i8.call)(inputs, weights, stride, before, sums);
        start += len;
    }
}
