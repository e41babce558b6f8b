//! A step of a plan: one operation, or several neighbours that one kernel or one step does together.

#[cfg(short_ways)]
use crate::features::CONVOLUTIONS;
use crate::features::{IS_SMALL, REALS};
use crate::format::{Model, OpRecord, element};
use crate::kernels::Tier;
#[cfg(short_ways)]
use crate::ops::Ahead;
use crate::ops::{Place, Places, Running, Work};
use crate::output::Output;

mod batch;
#[cfg(short_ways)]
mod chain;
mod demands;
mod fuse;
mod head;
mod layer;
#[cfg(short_ways)]
mod products;
mod tail;

use crate::sure::sure;
use crate::workspace::typed;
pub(crate) use batch::INPUTS_AT_ONCE;
#[cfg(short_ways)]
pub(crate) use chain::Chained;
pub(crate) use fuse::fused;
pub(crate) use head::FusedHead;
use layer::LayerU8;
#[cfg(short_ways)]
pub(crate) use products::ProductsHead;
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
    /// CONVOLUTION or TRANSPOSED_CONVOLUTION with its operands.
    #[cfg(short_ways)]
    Convolution(Ahead<'a>),
    /// DEQUANTISE, then one AFFINE_F32 or two, each with an activation behind it or none, then SCALE_F32 or nothing.
    Tail(Tail<'a>),
}

impl<'a> Step<'a> {
    /// A single operation; `None` for a kind that is not defined, which the loader rules out.
    pub fn resolve(model: &Model<'a>, kernels: &Tier, record: &OpRecord) -> Option<Self> {
        Some(Self { way: Way::One(Work::resolve(model, kernels, record)?), places: Places::of(model, record)? })
    }

    /// The same with the operands of a convolution, which [`Step::resolve`] leaves to be looked up as it runs.
    #[cfg(short_ways)]
    pub fn ahead(self, model: &Model<'a>, kernels: &Tier, record: &OpRecord) -> Self {
        if CONVOLUTIONS && let Some(ahead) = Ahead::resolve(model, kernels, record) {
            return Self { way: Way::Convolution(ahead), ..self };
        }
        self
    }

    /// What is done, where it is one operation that is not looked up further.
    pub const fn single(&self) -> Option<&Work<'a>> {
        match &self.way {
            Way::One(work) => Some(work),
            _ => None,
        }
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
            #[cfg(short_ways)]
            Way::Convolution(ahead) => {
                if CONVOLUTIONS {
                    ahead.run(on, &self.places, workspace);
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

#[cfg(short_ways)]
#[cfg(test)]
#[cfg(feature = "convolutions")]
mod tests {
    use super::Way;
    use crate::format::{Model, op};
    use crate::kernels::{scalar, tiers};
    use crate::{Input, Plan, Workspace, include_model};

    static KEYWORDS: &[u8] = include_model!("../../firmware-examples/programs/src/keywords.quantised.bin");

    /// Every convolution of a network is looked up when a plan is made, and gives what it gives where each is looked up
    /// as it runs.
    #[test]
    fn operands_of_convolutions_are_found_ahead() {
        let model = Model::parse(KEYWORDS).expect("a container of this repository");
        let convolutions = model.ops().iter().filter(|record| record.kind == op::CONVOLUTION).count();
        let len = model.input().size as usize;
        let x: [i8; 1024] = core::array::from_fn(|index| (index * 89 % 251) as i8);
        let input = Input::I8(x.get(..len).expect("a short input"));
        let truth = Plan::new(model, &scalar::KERNELS);
        let mut scratch = Workspace::<65_536>::new();
        let expected = truth.run_traced(input, 0, scratch.as_mut(), |_, _| ()).expect("a fitting input");
        for tier in tiers() {
            let plan = Plan::new(model, tier);
            let ahead = plan.steps.iter().filter(|step| matches!(step.way, Way::Convolution(_))).count();
            assert!(ahead == convolutions && ahead > 0, "{}: {ahead} of {convolutions}", tier.name);
            let mut scratch = Workspace::<65_536>::new();
            let found = plan.run(input, 0, scratch.as_mut()).expect("a fitting input");
            assert_eq!(found, expected, "{}", tier.name);
        }
    }
}
