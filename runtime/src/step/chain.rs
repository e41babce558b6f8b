//! Small dense layers one behind the other in one call of the tier: which steps of a plan they are, and with what.

use super::fuse::readers;
use super::{Step, Way};
use crate::format::{Model, element, input_kind};
use crate::kernels::layers::{ByteLayer, CHAIN_LAYERS, Rounding};
use crate::kernels::whole_chain::WholeChain;
use crate::kernels::{Chains, Tier};
use crate::ops::{AffineI8, Places, Requantisation, Running, Work};
use crate::workspace::range_mut;

/// Layers that follow each other, all of them of one bank. What they hand on does not reach the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Chained<'a> {
    calls: Chains,
    layers: heapless::Vec<ByteLayer<'a>, CHAIN_LAYERS>,
    /// Where nothing of them is left over.
    whole: Option<WholeChain<'a>>,
    /// The first of a plan's steps that it does.
    start: usize,
    places: Places,
    /// Where they are all that the network has.
    alone: Option<Alone>,
}

/// What a network that is a chain asks of its caller. That is everything that [`crate::Plan::run`] asks, in one place:
/// on the way through a plan's steps a small network spends a seventh of its time.
#[derive(Debug, Clone, Copy)]
struct Alone {
    inputs: usize,
    buckets: usize,
    workspace_len_bytes: usize,
}

impl<'a> Chained<'a> {
    /// The first layers of which at least two follow each other; `None` where there are none, or the tier has no such
    /// call. `done`: the operations that the steps do.
    pub fn resolve(model: &Model<'a>, kernels: &Tier, steps: &[Step<'a>], done: usize) -> Option<Self> {
        let chain = (0..steps.len()).find_map(|start| Self::from(model, kernels, steps, start))?;
        let input = model.input();
        let alone = Alone {
            inputs: input.size as usize,
            buckets: input.bucket_count as usize,
            workspace_len_bytes: model.workspace_len_bytes(),
        };
        let takes_all = (input.kind, input.element) == (input_kind::DENSE, element::U8)
            && chain.places.reads_input
            && chain.places.read.range() == (0..alone.inputs);
        let is_all = chain.start == 0 && chain.layers.len() == steps.len() && done == model.ops().len();
        Some(Self { alone: (takes_all && is_all).then_some(alone), ..chain })
    }

    fn from(model: &Model<'a>, kernels: &Tier, steps: &[Step<'a>], start: usize) -> Option<Self> {
        let calls = kernels.chains?;
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
        let whole = WholeChain::of(&layers);
        (layers.len() >= 2 && is_apart).then_some(Self { calls, layers, whole, start, places, alone: None })
    }

    /// The steps before it, those that it does, and those behind.
    pub fn cut<'s>(&self, steps: &'s [Step<'a>]) -> [&'s [Step<'a>]; 3] {
        let (before, rest) = steps.split_at_checked(self.start).unwrap_or((steps, &[]));
        let (own, behind) = rest.split_at_checked(self.layers.len()).unwrap_or((rest, &[]));
        [before, own, behind]
    }

    /// Runs them on an input of bytes where they are the whole network, and the caller gives what it asks for; false,
    /// and nothing said of what is wrong, otherwise.
    #[inline(always)]
    pub fn run_alone(&self, x: &[u8], bucket: usize, workspace: &mut [u8]) -> bool {
        let Some(alone) = &self.alone else { return false };
        let is_met = x.len() == alone.inputs
            && bucket < alone.buckets
            && workspace.len() >= alone.workspace_len_bytes
            && workspace.as_ptr().addr().is_multiple_of(64);
        is_met && self.call(x, range_mut(workspace, self.places.write.range()))
    }

    /// Runs them all; false where they must be run one by one, because an input is larger than the tier's call takes.
    #[inline]
    pub fn run(&self, on: &Running<'_, '_>, workspace: &mut [u8]) -> bool {
        let (x, out) = self.places.bytes(on, workspace);
        self.call(x, out)
    }

    #[inline(always)]
    fn call(&self, x: &[u8], out: &mut [u8]) -> bool {
        match &self.whole {
            Some(whole) => (self.calls.whole)(x, whole, out),
            None => (self.calls.any)(x, &self.layers, out),
        }
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
        for tier in kernels::tiers().filter(|tier| tier.chains.is_some()) {
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

    /// What a caller gives is refused as on the way through a plan's steps.
    #[test]
    fn a_call_of_the_whole_network_asks_what_a_plan_asks() {
        let model = Model::parse(DIGITS).expect("a container of this repository");
        let truth = Plan::new(model, &kernels::scalar::KERNELS);
        let x = [7u8; 65];
        for tier in kernels::tiers().filter(|tier| tier.chains.is_some()) {
            let plan = Plan::new(model, tier);
            assert!(plan.chain.as_ref().is_some_and(|chain| chain.alone.is_some()), "{}", tier.name);
            let needed = model.workspace_len_bytes();
            for (inputs, bucket, places) in [
                (64, 0, 0..needed),
                (63, 0, 0..needed),
                (65, 0, 0..needed),
                (64, 1, 0..needed),
                (64, usize::MAX, 0..needed),
                (64, 0, 0..needed - 1),
                (64, 0, 1..needed + 1),
                (64, 0, 0..0),
            ] {
                let (mut one, mut other) = (Workspace::<4096>::new(), Workspace::<4096>::new());
                let x = Input::U8(&x[..inputs]);
                let found = plan.run(x, bucket, &mut one.as_mut()[places.clone()]);
                let expected = truth.run(x, bucket, &mut other.as_mut()[places.clone()]);
                assert_eq!(found, expected, "{}: {inputs}, {bucket}, {places:?}", tier.name);
            }
        }
    }
}
