//! The operations on maps of features: height × width × channels, channels last.
//!
//! The sums of a convolution are never values of the workspace: a block of outputs of one pixel is summed on the stack,
//! rounded and written. The inputs of a pixel's taps are gathered as i16 with the zero point taken off, so that padding
//! is 0 and a row of weights meets them in the tier's own dense kernel. What has no products of weights, pools, sums of
//! two maps, moved elements, is the same loop on every tier.

mod convolution;
mod depthwise;
mod elementwise;
mod gather;
mod moved;
mod pool;
mod resolve;
mod round;
mod window;

use super::{typed, typed_mut};
use crate::kernels::Tier;
use crate::step::{Banks, Place};
use crate::workspace::{range_mut, rest, rest_mut};
pub use resolve::is_depthwise;
use round::Rounding;
use window::{Geometry, Map};

/// An operation on maps with its operands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Maps<'a> {
    work: Work<'a>,
    /// What is read, and what is written.
    from: Map,
    to: Map,
    /// A second map, if one is read.
    pub second: Option<Second>,
}

/// A second map that is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Second {
    pub place: Place,
    pub is_input: bool,
    map: Map,
}

#[derive(Debug, Clone, Copy)]
enum Work<'a> {
    Convolution { geometry: Geometry, weights: Weights<'a>, bias: &'a [i32], rounding: Rounding<'a> },
    Pool { geometry: Geometry, code: u32, low: i32, high: i32 },
    Elementwise { code: u32, multipliers: [i32; 2], shift: u32, low: i32, high: i32 },
    Move { start: u32, steps: [i32; 3] },
    Pad { before: [u32; 2] },
    Resize { taps: &'a [i32] },
}

/// The weights of a convolution.
#[derive(Debug, Clone, Copy)]
enum Weights<'a> {
    /// A row an output; each reads its group's inputs.
    Rows { weights: Banks<'a, i8>, groups: usize },
    /// A row a tap, a column a channel.
    Depthwise(Banks<'a, i8>),
}

/// Numbers of one slice into another; without the check of `copy_from_slice`, which would stay in the smallest images.
fn copy(from: &[i32], to: &mut [i32]) {
    debug_assert_eq!(from.len(), to.len(), "sums of as many rows");
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}

impl Maps<'_> {
    /// Runs it. second: the bytes of the second map, or none.
    pub(super) fn run(&self, kernels: &Tier, x: &[u8], second: &[u8], out: &mut [u8]) {
        match &self.work {
            Work::Convolution { geometry, weights: Weights::Rows { weights, groups }, bias, rounding } => {
                let layer = convolution::Layer { geometry, weights, groups: *groups, bias, rounding };
                convolution::run(
                    kernels,
                    &layer,
                    (self.from, x),
                    (self.second.map(|second| second.map), second),
                    (self.to, out),
                );
            }
            Work::Convolution { geometry, weights: Weights::Depthwise(weights), bias, rounding } => {
                let layer = depthwise::Layer { geometry, weights, bias, rounding };
                depthwise::run(&layer, (self.from, x), (self.second.map(|second| second.map), second), (self.to, out));
            }
            Work::Pool { geometry, code, low, high } => {
                pool::run(geometry, *code, [*low, *high], (self.from, x), (self.to, out));
            }
            Work::Elementwise { code, multipliers, shift, low, high } => {
                let Some(other) = self.second else { return };
                let how =
                    elementwise::How { code: *code, multipliers: *multipliers, shift: *shift, ends: [*low, *high] };
                elementwise::run(&how, (self.from, x), (other.map, second), (self.to, out));
            }
            Work::Move { start, steps } => moved::run(*start, *steps, (self.from, x), (self.to, out)),
            Work::Pad { before } => moved::pad(*before, (self.from, x), (self.to, out)),
            Work::Resize { taps } => moved::resize(taps, (self.from, x), (self.to, out)),
        }
    }
}
