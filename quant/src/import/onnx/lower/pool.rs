//! Pools, and means and maxima along axes, which are pools of one window.

use super::super::error::OnnxError;
use super::Lowering;
use super::call::Call;
use super::convolution::size;
use super::layout::Tensor;
use super::window::{pair, sides, window};
use crate::graph::{Fill, Op, Pooling, Shape, Window};

/// The axes of a reduction that names none: an empty list is all of them.
const ALL_AXES: &[i64] = &[];

impl Lowering<'_, '_> {
    pub(super) fn pool(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let x = self.map(call, call.made(0)?)?;
        let axes = x.dims.len() - 2;
        let Some(kernel) = sides(call, "kernel_shape", 1, axes)? else {
            return Err(OnnxError::Missing { what: format!("the attribute kernel_shape of {}", self.place) });
        };
        let mut window = window(call, &kernel, size(&x))?;
        for axis in 0..2 {
            let (pad, reach) = (window.before[axis].max(window.after[axis]), window.reach(axis));
            if pad >= reach {
                return Err(call.attribute_error("pads", pad.to_string(), &format!("below the window's {reach}")));
            }
        }
        let mut kind = match call.operator() {
            "MaxPool" => Pooling::Max,
            _ if call.int("count_include_pad", 0)? == 0 => Pooling::Average,
            _ => Pooling::AverageWithPadding,
        };
        let mut value = x.value;
        if call.int("ceil_mode", 0)? != 0 {
            let beyond = beyond(&window, size(&x));
            if kind == Pooling::AverageWithPadding && beyond != [0, 0] {
                // What lies behind the padding does not count, so the padding becomes pixels.
                let around = |[height, width]: [usize; 2]| [height, width, 0];
                let (before, after) = (around(window.before), around(window.after));
                value = self.push("pad", &[value], Op::Pad { before, after, fill: Fill::Value(0.0) })?;
                (window.before, window.after, kind) = ([0; 2], [0; 2], Pooling::Average);
            }
            (0..2).for_each(|axis| window.after[axis] += beyond[axis]);
        }
        let value = self.push("pool", &[value], Op::Pool { window, kind })?;
        Ok(self.made_map(&x, value))
    }

    pub(super) fn reduce(&mut self, call: &Call<'_, '_>) -> Result<Tensor, OnnxError> {
        let x = self.aligned(call.made(0)?)?;
        let rank = x.dims.len();
        let is_global = call.operator().starts_with("Global");
        let axes = if is_global {
            (2..rank).collect()
        } else {
            let axes = call.ints_or_input("axes", 1)?.unwrap_or_else(|| ALL_AXES.to_vec());
            if axes.is_empty() && call.int("noop_with_empty_axes", 0)? != 0 {
                return Ok(x);
            }
            if axes.is_empty() { (0..rank).collect() } else { call.axes(&axes, rank)? }
        };
        axes.iter().try_for_each(|axis| self.not_batch(*axis))?;
        let (reduced, kept): (Vec<usize>, Vec<usize>) = x.order.iter().partition(|axis| axes.contains(axis));
        let arranged = self.arranged(&x, &[&reduced[..], &kept[..]].concat())?;
        let count: usize = reduced.iter().map(|axis| x.fine[*axis]).product();
        let Shape { height, width, channels } = self.shapes[arranged.value];
        let (value, kernel) = if height * width == count {
            (arranged.value, [height, width])
        } else {
            let rest = height * width * channels / count;
            (self.shaped(arranged.value, Shape::map(count, 1, rest))?, [count, 1])
        };
        let kind = if call.operator().ends_with("Max") || call.operator() == "GlobalMaxPool" {
            Pooling::Max
        } else {
            Pooling::Average
        };
        let value = self.push("pool", &[value], Op::Pool { window: Window::of(kernel), kind })?;
        let mut dims = x.dims.clone();
        axes.iter().for_each(|axis| dims[*axis] = 1);
        if is_global || call.int("keepdims", 1)? != 0 {
            return Ok(self.tensor(value, dims, x.order, x.element));
        }
        let renamed = |axis: &usize| axis - axes.iter().filter(|reduced| *reduced < axis).count();
        let order = kept.iter().map(renamed).collect();
        let dims = (0..rank).filter(|axis| !axes.contains(axis)).map(|axis| dims[axis]).collect();
        Ok(self.tensor(value, dims, order, x.element))
    }
}

/// Pixels that a last window reaches beyond the padding where sizes are rounded up; one that would begin behind the
/// pixels is left out.
fn beyond(window: &Window, size: [usize; 2]) -> [usize; 2] {
    let along = |axis: usize| {
        let padded = size[axis] + window.before[axis] + window.after[axis];
        let Some(room) = padded.checked_sub(window.reach(axis)) else { return 0 };
        let stride = window.stride[axis];
        let begins = room.div_ceil(stride) * stride;
        if room.is_multiple_of(stride) || begins >= size[axis] + window.before[axis] { 0 } else { begins - room }
    };
    pair(&[along(0), along(1)], 0)
}
