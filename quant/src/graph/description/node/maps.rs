//! Nodes over maps: windows, parts and sizes.

use super::RawNode;
use crate::graph::description::error::Cause;
use crate::graph::description::keys::Word;
use crate::graph::description::order::KernelOrder;
use crate::graph::description::read::Place;
use crate::graph::description::sizes::range;
use crate::graph::description::types::{DescribedOp, Kernel};
use crate::graph::{Coordinates, Fill, Pooling, Rounding, Sampling, Shape, Window};
use tamis_batches::printable;

/// How coordinates are written.
pub(in crate::graph::description) const COORDINATES: [(&str, Coordinates); 4] = [
    ("half-pixel", Coordinates::HalfPixel),
    ("pytorch-half-pixel", Coordinates::PytorchHalfPixel),
    ("asymmetric", Coordinates::Asymmetric),
    ("align-corners", Coordinates::AlignCorners),
];
/// How roundings are written.
pub(in crate::graph::description) const ROUNDINGS: [(&str, Rounding); 4] = [
    ("floor", Rounding::Floor),
    ("ceil", Rounding::Ceil),
    ("half-down", Rounding::HalfDown),
    ("half-up", Rounding::HalfUp),
];

/// Coordinates that are not given: those of PyTorch, whose corners are not aligned.
pub(in crate::graph::description) const fn default_coordinates(sampling: Sampling) -> Coordinates {
    match sampling {
        Sampling::Nearest(_) => Coordinates::Asymmetric,
        Sampling::Bilinear => Coordinates::HalfPixel,
    }
}

/// What a transposed convolution makes of a map where nothing is said: all that it reaches, without the padding.
pub(in crate::graph::description) fn transposed_size(window: &Window, read: Shape) -> [usize; 2] {
    let along = |axis: usize| {
        let pixels = read.axes()[axis].saturating_sub(1).saturating_mul(window.stride[axis]);
        pixels.saturating_add(window.reach(axis)).saturating_sub(window.before[axis].saturating_add(window.after[axis]))
    };
    [along(0), along(1)]
}

/// What it makes of a map with the padding `"same"`: as many pixels as strides.
pub(in crate::graph::description) fn transposed_same(stride: [usize; 2], read: Shape) -> [usize; 2] {
    [read.height.saturating_mul(stride[0]), read.width.saturating_mul(stride[1])]
}

/// Groups of a convolution that names none: every output reads every channel.
const ALL_TOGETHER: usize = 1;
/// Before and behind, where a window says nothing of padding.
const NO_PADDING: [[usize; 2]; 2] = [[0; 2]; 2];

impl RawNode {
    pub(super) fn part(&self, place: &Place, read: Shape) -> Result<DescribedOp, Cause> {
        let triple = |key, value: &Option<toml::Value>, missing: [usize; 2]| match value {
            Some(value) => place.triple(key, value, missing[1]),
            None => Ok([missing[0], missing[0], missing[1]]),
        };
        if self.op == Word::Slice {
            return Ok(DescribedOp::Slice {
                start: triple("start", &self.start, [0, 0])?,
                size: triple("size", &self.size, [0, read.channels])?,
                step: triple("step", &self.step, [1, 1])?,
            });
        }
        let fill = match &self.fill {
            None => Fill::Value(0.0),
            Some(toml::Value::String(word)) => {
                place.word("fill", word, &[("reflect", Fill::Reflect), ("edge", Fill::Edge)])?
            }
            Some(toml::Value::Float(value)) => Fill::Value(*value),
            Some(toml::Value::Integer(value)) => Fill::Value(*value as f64),
            Some(other) => {
                let found = printable(&other.to_string());
                return Err(range(&place.0, "fill", found, "a number, \"reflect\" or \"edge\""));
            }
        };
        let (before, after) = (triple("before", &self.before, [0, 0])?, triple("after", &self.after, [0, 0])?);
        Ok(DescribedOp::Pad { before, after, fill })
    }

    pub(super) fn resize(&self, place: &Place) -> Result<DescribedOp, Cause> {
        let size = self.size.as_ref().map(|value| place.pair("size", value)).transpose()?.unwrap_or([0; 2]);
        let is_bilinear = match self.sampling.as_deref() {
            Some(word) => place.word("sampling", word, &[("nearest", false), ("bilinear", true)])?,
            None => false,
        };
        let sampling = match (is_bilinear, self.rounding.as_deref()) {
            (true, None) => Sampling::Bilinear,
            (true, Some(_)) => {
                let owner = "bilinear sampling";
                return Err(Cause::Meaningless { place: place.0.clone(), key: "rounding", owner });
            }
            (false, None) => Sampling::Nearest(Rounding::Floor),
            (false, Some(word)) => Sampling::Nearest(place.word("rounding", word, &ROUNDINGS)?),
        };
        let coordinates = match self.coordinates.as_deref() {
            Some(word) => place.word("coordinates", word, &COORDINATES)?,
            None => default_coordinates(sampling),
        };
        Ok(DescribedOp::Resize { size, sampling, coordinates })
    }

    pub(super) fn convolution(
        &self,
        place: &Place,
        read: Shape,
        weights: String,
        bias: Option<String>,
    ) -> Result<DescribedOp, Cause> {
        let orders = self.op.kernel_orders();
        let words: Vec<(&str, KernelOrder)> = orders.iter().map(|order| (order.word(), *order)).collect();
        let order = match &self.order {
            Some(word) => place.word("order", word, &words)?,
            None => orders[0],
        };
        let is_depthwise = self.op == Word::Depthwise;
        let groups = if is_depthwise { read.channels } else { self.groups.unwrap_or(ALL_TOGETHER) };
        let outputs = self.outputs.unwrap_or(read.channels);
        let (window, is_same) = self.window(place, [1, 1])?;
        let window = if is_same { window.same([read.height, read.width]) } else { window };
        let kernel = |window| Kernel { window, groups, outputs, weights, bias, order };
        if self.op != Word::TransposedConvolution {
            return Ok(DescribedOp::Convolution(kernel(window)));
        }
        let default = if is_same { transposed_same(window.stride, read) } else { transposed_size(&window, read) };
        let size = self.size.as_ref().map(|value| place.pair("size", value)).transpose()?.unwrap_or(default);
        let window = if is_same { window.same(size) } else { window };
        Ok(DescribedOp::TransposedConvolution { kernel: kernel(window), size })
    }

    pub(super) fn pool(&self, place: &Place, read: Shape) -> Result<DescribedOp, Cause> {
        let kind = match (self.op, self.count_padding) {
            (Word::MaxPool | Word::GlobalMaxPool, _) => Pooling::Max,
            (_, Some(true)) => Pooling::AverageWithPadding,
            _ => Pooling::Average,
        };
        if matches!(self.op, Word::GlobalAveragePool | Word::GlobalMaxPool) {
            return Ok(DescribedOp::Pool { window: Window::of([read.height, read.width]), kind });
        }
        let kernel = self.kernel.as_ref().map(|value| place.pair("kernel", value)).transpose()?.unwrap_or([0; 2]);
        let (window, is_same) = self.window(place, kernel)?;
        let window = if is_same { window.same([read.height, read.width]) } else { window };
        Ok(DescribedOp::Pool { window, kind })
    }

    /// The window, and whether its padding follows from what it reads.
    fn window(&self, place: &Place, default_stride: [usize; 2]) -> Result<(Window, bool), Cause> {
        let pair = |key, value: &Option<toml::Value>, default| match value {
            Some(value) => place.pair(key, value),
            None => Ok(default),
        };
        let padding = match &self.padding {
            Some(value) => place.padding("padding", value)?,
            None => Some(NO_PADDING),
        };
        // `same` has it from the size of what is read.
        let [before, after] = padding.unwrap_or(NO_PADDING);
        let window = Window {
            kernel: pair("kernel", &self.kernel, [0; 2])?,
            stride: pair("stride", &self.stride, default_stride)?,
            dilation: pair("dilation", &self.dilation, [1; 2])?,
            before,
            after,
        };
        Ok((window, padding.is_none()))
    }
}
