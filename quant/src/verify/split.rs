//! The error of bullet's networks by layer and by cause: every rounding switched on alone, and off alone.

use super::accuracy::{Accuracy, Cause};
use super::layers::Noise;
use super::progress::Progress;
use super::simulate::Simulation;
use super::stats::compare;
use crate::arch::ElementType;
use crate::float::{Example, Net};
use crate::quantise::QuantNet;

/// Sums of a layer that are compared in each example, evenly taken: enough of a wide one.
const SAMPLED_SUMS: usize = 64;

/// How often the split goes through all examples: once for all roundings together, once for each.
pub fn passes(float: &Net<f32>, net: &QuantNet) -> u64 {
    1 + Simulation::new(float, net).switches().len() as u64
}

/// Fills in layers, causes, what they add up to and what is left. integer: what the integers made of the examples.
pub fn split(
    float: &Net<f32>,
    net: &QuantNet,
    examples: &[Example],
    integer: &[f64],
    accuracy: &mut Accuracy,
    progress: &mut Progress<'_>,
) {
    let simulation = Simulation::new(float, net);
    let mut sums = vec![Noise::default(); net.layers.len()];
    let (mut none, mut all) = (Vec::new(), Vec::new());
    for example in examples {
        let exact = simulation.evaluate(example, &|_| false);
        let rounded = simulation.evaluate(example, &|_| true);
        for (layer, (exact, rounded)) in sums.iter_mut().zip(exact.sums.iter().zip(&rounded.sums)) {
            let stride = exact.len().div_ceil(SAMPLED_SUMS).max(1);
            layer.add(rounded.iter().copied().zip(exact.iter().copied()).step_by(stride));
        }
        none.extend(exact.outputs);
        all.extend(rounded.outputs);
        progress.advance();
    }
    for (index, ((layer, description), noise)) in net.layers.iter().zip(&net.arch.layers).zip(&sums).enumerate() {
        let element = match layer.bias.element {
            ElementType::F32 => ElementType::F32,
            _ if index == 0 => ElementType::I16,
            _ => ElementType::I32,
        };
        accuracy.layers.push(noise.of_layer(description.name.clone(), element.word()));
    }
    accuracy.split_total = compare(integer, &none);
    let mut total: Vec<f64> = integer.iter().zip(&none).map(|(integer, none)| integer - none).collect();
    for (name, switch) in simulation.switches() {
        let (mut alone, mut without) = (Vec::new(), Vec::new());
        for example in examples {
            alone.extend(simulation.evaluate(example, &|other| other == switch).outputs);
            without.extend(simulation.evaluate(example, &|other| other != switch).outputs);
            progress.advance();
        }
        for (rest, (alone, none)) in total.iter_mut().zip(alone.iter().zip(&none)) {
            *rest -= alone - none;
        }
        accuracy.causes.push(Cause {
            cause: name.clone(),
            alone: compare(&alone, &none),
            last: compare(&all, &without),
        });
    }
    // What the runtime computes in f32 the simulation computes in f64; the rest of the difference is that.
    if net.layers.iter().any(|layer| layer.weights.element == ElementType::F32) {
        for (rest, (integer, all)) in total.iter_mut().zip(integer.iter().zip(&all)) {
            *rest -= integer - all;
        }
        let stats = compare(integer, &all);
        accuracy.causes.push(Cause {
            cause: "f32 arithmetic of the tail".to_owned(),
            alone: stats.clone(),
            last: stats,
        });
    }
    let zeros = vec![0.0; total.len()];
    accuracy.interaction = Some(compare(&total, &zeros));
}
