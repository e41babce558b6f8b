//! The error by layer and by cause: every rounding switched on alone, and off alone.

use super::accuracy::{Accuracy, Cause};
use super::layers::Noise;
use super::progress::Progress;
use super::simulate::{RealInput, Simulation};
use super::stats::compare;
use crate::float::Example;
use crate::graph::Sample;

/// Sums of a layer that are compared in each example, evenly taken: enough of a wide one.
const SAMPLED_SUMS: usize = 64;

/// The examples that have a truth.
pub(super) enum Examples<'a> {
    /// Of bullet's networks.
    Positions(Vec<Example>),
    /// Of graphs.
    Samples(&'a [Sample]),
}

impl Examples<'_> {
    fn all(&self) -> Vec<RealInput<'_>> {
        match self {
            Self::Positions(examples) => examples.iter().map(Into::into).collect(),
            Self::Samples(samples) => samples.iter().map(Into::into).collect(),
        }
    }
}

/// A network in full precision beside its integers, and what to run it on.
pub(super) struct Split<'a> {
    pub simulation: Simulation,
    pub examples: Examples<'a>,
}

impl Split<'_> {
    /// How often it goes through all examples: once for all roundings together, once for each.
    pub fn passes(&self) -> u64 {
        1 + self.simulation.switches().len() as u64
    }

    /// Fills in layers, causes, what they add up to and what is left. integer: what the integers made of the examples.
    pub fn fill(&self, integer: &[f64], accuracy: &mut Accuracy, progress: &mut Progress<'_>) {
        let (simulation, examples) = (&self.simulation, self.examples.all());
        let mut sums = vec![Noise::default(); simulation.layers().count()];
        let (mut none, mut all) = (Vec::new(), Vec::new());
        for example in &examples {
            let exact = simulation.evaluate(*example, &|_| false);
            let rounded = simulation.evaluate(*example, &|_| true);
            for (layer, (exact, rounded)) in sums.iter_mut().zip(exact.sums.iter().zip(&rounded.sums)) {
                let stride = exact.len().div_ceil(SAMPLED_SUMS).max(1);
                layer.add(rounded.iter().copied().zip(exact.iter().copied()).step_by(stride));
            }
            none.extend(exact.outputs);
            all.extend(rounded.outputs);
            progress.advance();
        }
        let layers = simulation.layers().zip(&sums);
        accuracy.layers.extend(layers.map(|((name, element), noise)| noise.of_layer(name.to_owned(), element)));
        accuracy.split_total = compare(integer, &none);
        let mut total: Vec<f64> = integer.iter().zip(&none).map(|(integer, none)| integer - none).collect();
        for (name, switch) in simulation.switches() {
            let (mut alone, mut without) = (Vec::new(), Vec::new());
            for example in &examples {
                alone.extend(simulation.evaluate(*example, &|other| other == *switch).outputs);
                without.extend(simulation.evaluate(*example, &|other| other != *switch).outputs);
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
        if let Some(cause) = simulation.f32_cause() {
            for (rest, (integer, all)) in total.iter_mut().zip(integer.iter().zip(&all)) {
                *rest -= integer - all;
            }
            let stats = compare(integer, &all);
            accuracy.causes.push(Cause { cause: cause.to_owned(), alone: stats.clone(), last: stats });
        }
        let zeros = vec![0.0; total.len()];
        accuracy.interaction = Some(compare(&total, &zeros));
    }
}
