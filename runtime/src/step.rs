//! A step of a plan: one operation, or several neighbours that one kernel or one step does together.

use crate::features::{IS_SMALL, REALS};
use crate::format::{Model, OpRecord, element};
use crate::kernels::Tier;
use crate::ops::{Place, Places, Running, Work};
use crate::output::Output;

mod batch;
#[cfg(short_ways)]
mod chain;
mod fuse;
mod head;
mod layer;
mod tail;

use crate::sure::sure;
use crate::workspace::typed;
pub(crate) use batch::INPUTS_AT_ONCE;
#[cfg(short_ways)]
pub(crate) use chain::Chained;
pub(crate) use fuse::fused;
pub(crate) use head::FusedHead;
use layer::LayerU8;
use tail::Tail;

/// Operations that a plan resolves when it is made; a longer network's others are resolved as they run. Firmware, which
/// counts its memory and has time, resolves all of them as they run.
pub(crate) const AHEAD: usize = if IS_SMALL { 0 } else { 16 };

/// What is done, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step<'a> {
    way: Way<'a>,
    pub places: Places,
}

/// What is done: by one operation, or by several together with the bits of the single ones.
#[derive(Debug, Clone, Copy)]
enum Way<'a> {
    One(Work<'a>),
    /// AFFINE_I8 on u8, then REQUANTISE to u8 or i32.
    LayerU8(LayerU8<'a>),
    /// DEQUANTISE, then one AFFINE_F32 or two, each with an activation behind it or none, then SCALE_F32 or nothing.
    Tail(Tail<'a>),
}

impl<'a> Step<'a> {
    /// A single operation; `None` for a kind that is not defined, which the loader rules out.
    pub fn resolve(model: &Model<'a>, kernels: &Tier, record: &OpRecord) -> Option<Self> {
        Some(Self { way: Way::One(Work::resolve(model, kernels, record)?), places: Places::of(model, record)? })
    }

    /// What is done, where it is one operation.
    pub const fn single(&self) -> Option<&Work<'a>> {
        match &self.way {
            Way::One(work) => Some(work),
            Way::LayerU8(_) | Way::Tail(_) => None,
        }
    }

    /// The same, at other places.
    pub const fn at(self, places: Places) -> Self {
        Self { places, ..self }
    }

    /// Runs it. In the loop over all steps, whatever else calls it.
    #[inline]
    pub fn run(&self, on: &Running<'_, '_>, workspace: &mut [u8]) {
        match &self.way {
            Way::One(work) => work.run(on, &self.places, workspace),
            // Nothing is fused that is not resolved ahead.
            Way::LayerU8(layer) => {
                if AHEAD != 0 {
                    layer.run(on, &self.places, workspace);
                }
            }
            Way::Tail(tail) => {
                if AHEAD != 0 && REALS {
                    tail.run(on, &self.places, workspace);
                }
            }
        }
    }
}

/// Where the network's output lies, and as what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputPlace {
    pub place: Place,
    pub is_f32: bool,
}

impl OutputPlace {
    pub fn of(model: &Model<'_>) -> Self {
        let index = model.input().output;
        let record = model.values().get(index as usize);
        let is_f32 = record.is_some_and(|record| record.element() == element::F32);
        Self { place: Place::of(model, index, 0, sure(record.map(|record| record.len))), is_f32 }
    }

    /// The bytes of the outputs as numbers.
    #[inline]
    pub fn of_bytes<'w>(&self, bytes: &'w [u8]) -> Output<'w> {
        if self.is_f32 { Output::F32(typed(bytes)) } else { Output::I32(typed(bytes)) }
    }
}
