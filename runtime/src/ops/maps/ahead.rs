//! A convolution whose operands are looked up when a plan is made, because a layer of a few pixels notices what it
//! takes to find them; benches/NOTES.md has by how much.

use super::convolution::{Form, layer_of};
use crate::format::{Model, NONE, OpRecord, Overlap, op};
use crate::kernels::maps::{Layer, Map};
use crate::kernels::{Convolve, Tier};
use crate::ops::{Places, Running};

/// One that adds nothing from a second map, writes all rows at once and none over what it reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ahead<'a> {
    layer: Layer<'a>,
    /// `None` where it is the tier's for a single place.
    call: Option<Convolve>,
}

impl<'a> Ahead<'a> {
    /// `None` for any other operation.
    pub fn resolve(model: &Model<'a>, kernels: &Tier, record: &OpRecord) -> Option<Self> {
        if !matches!(record.kind, op::CONVOLUTION | op::TRANSPOSED_CONVOLUTION) || record.second != NONE {
            return None;
        }
        let value = |index: u32| model.values().get(index as usize);
        let (from, to) = (value(record.input)?, value(record.output)?);
        // No second value, so that these are all that is asked for.
        let overlaps = Overlap::all(record, |index| if index == record.output { to } else { from });
        let is_whole = from.rows_held() == 0 && to.rows_held() == 0;
        if !is_whole || !overlaps.iter().flatten().all(Overlap::is_apart) {
            return None;
        }
        let (layer, form) = layer_of(model, record, [Map::of(from), Map::of(to)])?;
        let call = match form {
            Form::Depthwise => Some(kernels.depthwise.call),
            Form::Whole if layer.is_single_place() => None,
            Form::Whole => Some(kernels.convolve.call),
            Form::Groups(_) => return None,
        };
        Some(Self { layer, call })
    }

    pub fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        match self.call {
            Some(call) => call(&self.layer, x, None, out),
            None => (on.kernels.single_place)(&self.layer, x, out),
        }
    }
}
