//! Neurons that pairs are made of, stored as much finer as their accumulators leave room below 1.
//!
//! No proof keeps an accumulator below 1: some board takes nearly all of them beyond. So this looks at boards that are
//! drawn, more of them than candidates are judged by and others, and leaves a tenth besides; beyond that the clip takes
//! a little off, which candidates are judged by too. Lists that are drawn evenly say nothing of features that come
//! together, so that networks over features of one's own stay as they are.

use super::examples::{Use, draw};
use crate::arch::{Architecture, InputKind};
use crate::float::{Affine, Example, Net};
use crate::parallel;
use crate::program::Program;
use crate::proof::accumulator_ranges;
use crate::quantised::NeuronScales;

/// What is left between the furthest that an accumulator came and 1.
const MARGIN: f64 = 1.1;
/// Examples that a thread takes at once.
const PIECE: usize = 512;

/// How much finer the neurons of drawn boards' networks can be.
pub struct Headroom {
    /// (hidden,): the greatest accumulator, as a real.
    reached: Vec<f64>,
    /// (hidden,): the greatest that there can be, as a real, with what rounding adds.
    proved: Vec<f64>,
}

impl Headroom {
    /// `None` of networks over features of one's own. program: of the description's own scales.
    pub fn of(net: &Net<f32>, program: &Program) -> Option<Self> {
        if net.arch.input.kind != InputKind::Chess || net.arch.layers[0].skip > 0 {
            return None;
        }
        let qa = f64::from(net.arch.tensor(&net.arch.weights_name(0))?.scale?);
        let proved = accumulator_ranges(program).into_iter().map(|(low, high)| low.abs().max(high.abs()) as f64);
        let proved = proved.map(|reached| (reached + rounded_by(&net.arch)) / qa);
        let (boards, first) = (draw(&net.arch, Use::Reach), &net.layers[0]);
        let pieces: Vec<&[Example]> = boards.chunks(PIECE).collect();
        let reached = parallel::map(pieces.len(), |piece| reached(first, pieces[piece]));
        let hidden = first.bias.len();
        let reached = reached.iter().fold(vec![f64::NEG_INFINITY; hidden], |most, piece| {
            most.iter().zip(piece).map(|(most, of_piece)| most.max((*of_piece).into())).collect()
        });
        Some(Self { reached, proved: proved.take(hidden).collect() })
    }

    /// The scales of neurons at a scale of their layer; `None` where none has room.
    pub fn scales(&self, net: &Net<f32>, qa: i32) -> Option<NeuronScales> {
        let room = f64::from(i16::MAX) - rounded_by(&net.arch);
        let neuron = |(reached, proved): (&f64, &f64)| {
            // One that never is above 0 makes no product.
            let clip = if *reached > 0.0 { 1.0 / (MARGIN * reached) } else { 1.0 };
            clip.min(room / (proved * f64::from(qa)))
        };
        NeuronScales::at_most(self.reached.iter().zip(&self.proved).map(neuron))
    }
}

/// By how much an accumulator is off at most: a truncated weight by up to 1, another by half; a list's rows and the
/// bias.
pub fn rounded_by(arch: &Architecture) -> f64 {
    1.0 + arch.max_active() as f64
}

/// The greatest accumulator of each neuron.
fn reached(first: &Affine<f32>, examples: &[Example]) -> Vec<f32> {
    let hidden = first.bias.len();
    let (mut most, mut sums) = (vec![f32::NEG_INFINITY; hidden], vec![0f32; hidden]);
    for example in examples {
        let Example::Features { lists, .. } = example else { unreachable!("a board makes lists of features") };
        for list in lists.iter().filter(|list| !list.is_empty()) {
            sums.copy_from_slice(&first.bias);
            for feature in list {
                let row = &first.weights.values[*feature as usize * hidden..][..hidden];
                sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight);
            }
            most.iter_mut().zip(&sums).for_each(|(most, sum)| *most = most.max(*sum));
        }
    }
    most
}
