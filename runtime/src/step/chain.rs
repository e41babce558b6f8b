//! Small dense layers one behind the other in one call of the tier: which steps of a plan they are, and with what.

use super::fuse::readers;
use super::{Step, Way};
use crate::format::{Model, element};
use crate::kernels::layers::{ByteLayer, CHAIN_LAYERS, Rounding};
use crate::kernels::{Chain, Tier};
use crate::ops::{AffineI8, Places, Requantisation, Running, Work};

/// Layers that follow each other, all of them of one bank. What they hand on does not reach the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Chained<'a> {
    call: Chain,
    layers: heapless::Vec<ByteLayer<'a>, CHAIN_LAYERS>,
    /// The first of a plan's steps that it does.
    start: usize,
    places: Places,
}

impl<'a> Chained<'a> {
    /// The first layers of which at least two follow each other; `None` where there are none, or the tier has no such
    /// call.
    pub fn resolve(model: &Model<'a>, kernels: &Tier, steps: &[Step<'a>]) -> Option<Self> {
        let call = kernels.chain?;
        (0..steps.len()).find_map(|start| Self::from(model, call, steps, start))
    }

    fn from(model: &Model<'a>, call: Chain, steps: &[Step<'a>], start: usize) -> Option<Self> {
        let mut layers = heapless::Vec::<ByteLayer<'a>, CHAIN_LAYERS>::new();
        let first = steps.get(start)?.places;
        let mut places = first;
        for step in steps.iter().skip(start) {
            let Some(layer) = step.byte_layer() else { break };
            if let Some(before) = layers.last() {
                // What lies between is read by nothing else, and is not an output.
                let between = places.output as u32;
                let is_private = readers(model, between) == 1 && between != model.input().output;
                let follows = !step.places.reads_input && step.places.read == places.write;
                if !is_private || !follows || !before.can_lead_to(&layer) {
                    break;
                }
            }
            if layers.push(layer).is_err() {
                break;
            }
            places = Places { read: first.read, reads_input: first.reads_input, ..step.places };
        }
        let is_apart = places.reads_input || places.read.is_apart_from(places.write);
        (layers.len() >= 2 && is_apart).then_some(Self { call, layers, start, places })
    }

    /// The steps before it, those that it does, and those behind.
    pub fn cut<'s>(&self, steps: &'s [Step<'a>]) -> [&'s [Step<'a>]; 3] {
        let (before, rest) = steps.split_at_checked(self.start).unwrap_or((steps, &[]));
        let (own, behind) = rest.split_at_checked(self.layers.len()).unwrap_or((rest, &[]));
        [before, own, behind]
    }

    /// Runs them all; false where they must be run one by one, because an input is larger than the tier's call takes.
    #[inline]
    pub fn run(&self, on: &Running<'_, '_>, workspace: &mut [u8]) -> bool {
        let (x, out) = self.places.bytes(on, workspace);
        (self.call)(x, &self.layers, out)
    }
}

impl<'a> Step<'a> {
    /// This step as a layer of a chain.
    fn byte_layer(&self) -> Option<ByteLayer<'a>> {
        let (affine, sums, rounding) = match &self.way {
            Way::One(Work::AFFINE_I8(affine)) => (*affine, self.places.write, None),
            Way::LayerU8(layer) => (layer.affine, layer.sums, Some(rounding(&layer.requantise)?)),
            _ => return None,
        };
        let AffineI8 { weights, bias, has_quads, .. } = affine;
        let (all, bias) = (weights.only()?, bias.only()?);
        let is_whole = size_of_val(bias) == sums.len_bytes();
        let inputs = self.places.read.len_bytes();
        ByteLayer::new(all, weights.stride, bias, inputs, has_quads?, rounding).filter(|_| is_whole)
    }
}

/// A chain knows no zero point.
fn rounding<'a>(by: &Requantisation<'a>) -> Option<Rounding<'a>> {
    let (multipliers, shifts) = (by.multipliers.only()?, by.shifts.only()?);
    let Requantisation { low, high, zero, .. } = *by;
    (zero == 0).then_some(Rounding { multipliers, shifts, low, high, to_bytes: by.element == element::U8 })
}

#[cfg(test)]
mod tests {
    use crate::format::Model;
    use crate::{Input, Plan, Workspace, include_model, kernels};

    static DIGITS: &[u8] = include_model!("../../../firmware-examples/programs/src/digits.quantised.bin");

    /// A network of small layers is one call on each tier that has it, and gives what the definition gives, also for
    /// inputs that the call does not take.
    #[test]
    fn a_network_of_small_layers_is_one_call() {
        let model = Model::parse(DIGITS).expect("a container of this repository");
        let truth = Plan::new(model, &kernels::scalar::KERNELS);
        assert!(truth.chain.is_none());
        for tier in kernels::tiers().filter(|tier| tier.chain.is_some()) {
            let plan = Plan::new(model, tier);
            let chain = plan.chain.as_ref().expect("small layers");
            let [before, own, behind] = chain.cut(&plan.steps);
            assert_eq!((before.len(), own.len(), behind.len()), (0, plan.steps.len(), 0), "{}", tier.name);
            for most in [127, 255] {
                let mut x = [0u8; 64];
                for (index, x) in x.iter_mut().enumerate() {
                    *x = (index * 37 % (most + 1)) as u8;
                }
                let (mut scratch, mut expected) = (Workspace::<4096>::new(), Workspace::<4096>::new());
                let found = plan.run(Input::U8(&x), 0, scratch.as_mut()).expect("a fitting input");
                let expected = truth.run(Input::U8(&x), 0, expected.as_mut()).expect("a fitting input");
                assert_eq!(found, expected, "{}, up to {most}", tier.name);
            }
        }
    }
}
