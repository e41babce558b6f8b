//! Which neighbouring operations one step does, and in which order: the fused ones have the bits of the single ones.

use super::layer::{self, LayerU8};
use super::tail::Tail;
use super::{AHEAD, Step, Way};
use crate::format::{Model, NONE, OpRecord, activation};
use crate::kernels::{TAIL_WIDTH, Tier};
use crate::ops::{AffineI8, ByInput, Dequantise, Places, Requantise, Work};

/// The operations of a plan, resolved, neighbours fused where one kernel or one step does both: the first [`AHEAD`] of
/// them. Says also how many operations they are.
pub(crate) fn fused<'a>(model: &Model<'a>, kernels: &Tier) -> (heapless::Vec<Step<'a>, AHEAD>, usize) {
    let mut steps = heapless::Vec::<Step<'a>, AHEAD>::new();
    if AHEAD == 0 {
        return (steps, 0);
    }
    let mut done = 0;
    for record in model.ops() {
        let Some(step) = Step::resolve(model, kernels, record) else { break };
        #[cfg(short_ways)]
        let step = step.ahead(model, kernels, record);
        // A value that something else reads too must be there.
        let is_private = readers(model, record.input) == 1;
        if let Some(before) = steps.last_mut().filter(|_| is_private)
            && let Some(fused) = before.then(&step)
        {
            *before = fused;
        } else if steps.push(step).is_err() {
            break;
        }
        done += 1;
    }
    (steps, done)
}

/// Operations that read a value.
pub(super) fn readers(model: &Model<'_>, value: u32) -> usize {
    let reads = |record: &&OpRecord| record.input == value || (record.second != NONE && record.second == value);
    model.ops().iter().filter(reads).count()
}

impl<'a> Step<'a> {
    /// This and the next operation in one, if the next reads all that this one writes and there is such a step.
    fn then(&self, next: &Self) -> Option<Self> {
        let (here, there) = (&self.places, &next.places);
        let Way::One(following) = next.way else { return None };
        if there.reads_input || there.read != here.write {
            return None;
        }
        // One that leaves out the value between must not write where it reads, unless it has read all by then.
        let is_direct = !matches!(self.way, Way::One(Work::AFFINE_I8(_)) | Way::Tail(_))
            && !matches!(following, Work::AFFINE_F32(_));
        if is_direct && !here.reads_input && !here.read.is_apart_from(there.write) {
            return None;
        }
        let way = match (self.way, following) {
            (Way::One(Work::DEQUANTISE(first)), Work::ACTIVATION_F32(next))
                if first.activation == activation::IDENTITY && next.activation <= activation::SQRRELU =>
            {
                Way::One(Work::DEQUANTISE(Dequantise { activation: next.activation, ..first }))
            }
            (Way::One(Work::AFFINE_F32(layer)), Work::ACTIVATION_F32(next)) => {
                Way::One(Work::AFFINE_F32(layer.then(next.activation)?))
            }
            (Way::One(Work::DEQUANTISE(first)), Work::AFFINE_F32(hidden))
                if hidden.outputs <= TAIL_WIDTH && here.read.len_bytes() <= TAIL_WIDTH * size_of::<i32>() =>
            {
                Way::Tail(Tail { first, hidden, last: None, scale: None })
            }
            (Way::Tail(tail), next) => Way::Tail(tail.then(&next)?),
            (
                Way::One(Work::AFFINE_I8(affine @ AffineI8 { affine: ByInput::U8(call), .. })),
                Work::REQUANTISE(Requantise::Plain(requantise)),
            ) if layer::ELEMENTS.contains(&requantise.element) => {
                Way::LayerU8(LayerU8 { call, affine, sums: here.write, requantise })
            }
            _ => return None,
        };
        let places = Places { read: here.read, reads_input: here.reads_input, ..*there };
        Some(Self { way, places })
    }
}
