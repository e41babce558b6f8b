//! Which neighbouring operations one step does, and in which order: the fused ones have the bits of the single ones.

use super::{AHEAD, LayerU8, RealAffine, Step, Tail, Work};
use crate::format::{Model, NONE, OpRecord, activation, element};
use crate::kernels::{TAIL_WIDTH, Tier};

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
fn readers(model: &Model<'_>, value: u32) -> usize {
    let reads = |record: &&OpRecord| record.input == value || (record.second != NONE && record.second == value);
    model.ops().iter().filter(reads).count()
}

impl<'a> Step<'a> {
    /// This and the next operation in one, if the next reads all that this one writes and there is such a step.
    fn then(&self, next: &Self) -> Option<Self> {
        if next.reads_input || next.read != self.write {
            return None;
        }
        // One that leaves out the value between must not write where it reads, unless it has read all by then.
        let is_direct =
            !matches!(self.work, Work::AffineU8 { .. } | Work::Tail(_)) && !matches!(next.work, Work::AffineF32(_));
        if is_direct && !self.reads_input && !self.read.is_apart_from(next.write) {
            return None;
        }
        let work = match (self.work, next.work) {
            (
                Work::Dequantise { factor, bias, activation: activation::IDENTITY },
                Work::ActivationF32 { activation },
            ) if activation <= activation::SQRRELU => Work::Dequantise { factor, bias, activation },
            (Work::AffineF32(layer), Work::ActivationF32 { activation }) => Work::AffineF32(layer.then(activation)?),
            (Work::Dequantise { factor, bias, activation }, Work::AffineF32(hidden))
                if hidden.outputs <= TAIL_WIDTH && self.read.len_bytes() <= TAIL_WIDTH * size_of::<i32>() =>
            {
                Work::Tail(Tail { factor, bias, activation, hidden, last: None, scale: None })
            }
            (Work::Tail(tail), next) => Work::Tail(tail.then(&next)?),
            (Work::AffineU8 { affine, weights, bias }, Work::Requantise(requantise))
                if matches!(requantise.element, element::U8 | element::I32) =>
            {
                Work::LayerU8(LayerU8 { affine, weights, bias, sums: self.write, requantise })
            }
            _ => return None,
        };
        Some(Self { work, read: self.read, write: next.write, output: next.output, reads_input: self.reads_input })
    }
}

impl<'a> Tail<'a> {
    /// This and what comes next, if it is a layer that finds room, or an activation or a scale in its place.
    fn then(self, next: &Work<'a>) -> Option<Self> {
        match (*next, self.last, self.scale) {
            (Work::AffineF32(layer), None, None) if layer.outputs <= TAIL_WIDTH => {
                Some(Self { last: Some(layer), ..self })
            }
            (Work::ActivationF32 { activation }, None, None) => {
                Some(Self { hidden: self.hidden.then(activation)?, ..self })
            }
            (Work::ActivationF32 { activation }, Some(last), None) => {
                Some(Self { last: Some(last.then(activation)?), ..self })
            }
            (Work::ScaleF32 { factor }, _, None) => Some(Self { scale: Some(factor), ..self }),
            _ => None,
        }
    }
}

impl RealAffine<'_> {
    /// The same with an activation, where it had none and the kernels have it.
    fn then(self, activation: u32) -> Option<Self> {
        let fits = self.activation == activation::IDENTITY && activation <= activation::SQRRELU;
        fits.then_some(Self { activation, ..self })
    }
}
