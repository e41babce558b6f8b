//! The error by layer and by cause: every rounding switched on alone, and off alone.

use super::accuracy::{Accuracy, Cause};
use super::layers::Noise;
use super::progress::Progress;
use super::simulate::{RealInput, Simulation, Switch};
use super::stats::compare;
use crate::float::Example;
use crate::graph::Sample;
use crate::parallel;

/// Sums of a layer that are compared in each example, evenly taken: enough of a wide one.
const SAMPLED_SUMS: usize = 64;
/// Products of maps that are worked out to take a network apart, in some seconds.
const MOST_PRODUCTS: usize = 4_000_000_000;
/// Examples that are taken apart whatever it takes.
const LEAST_EXAMPLES: usize = 8;

/// Examples that are taken apart side by side.
const BLOCK: usize = 256;

/// One example, taken apart.
struct Taken {
    /// Of each layer some sums, rounded and exact.
    sums: Vec<Vec<(f64, f64)>>,
    /// The outputs without any rounding.
    none: Vec<f64>,
    /// The outputs with all.
    all: Vec<f64>,
    /// Of each rounding the outputs with it alone, and with all others.
    switches: Vec<(Vec<f64>, Vec<f64>)>,
}

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
    /// Examples that it goes through in all passes: once for all roundings together, once for each.
    pub fn work(&self, examples: usize) -> u64 {
        let passes = 1 + self.simulation.switches().len() as u64;
        passes * self.taken(examples).len() as u64
    }

    /// The examples that are taken apart: all, of networks over maps as many as can be in some seconds.
    fn taken(&self, examples: usize) -> Vec<usize> {
        let of_one = self.simulation.products().saturating_mul(self.simulation.switches().len());
        let most = MOST_PRODUCTS.checked_div(of_one).map_or(examples, |most| most.max(LEAST_EXAMPLES));
        (0..examples).step_by(examples.div_ceil(most.max(1)).max(1)).collect()
    }

    /// Fills in layers, causes, what they add up to and what is left. integer: what the integers made of the examples.
    pub fn fill(&self, integer: &[f64], accuracy: &mut Accuracy, progress: &mut Progress<'_>) {
        let (simulation, all_examples) = (&self.simulation, self.examples.all());
        let outputs = integer.len() / all_examples.len().max(1);
        let taken = self.taken(all_examples.len());
        let integer: Vec<f64> =
            taken.iter().flat_map(|index| integer[index * outputs..][..outputs].iter().copied()).collect();
        let examples: Vec<RealInput<'_>> = taken.iter().map(|index| all_examples[*index]).collect();
        let mut sums = vec![Noise::default(); simulation.layers().count()];
        let switches = simulation.switches();
        let (mut none, mut all) = (Vec::new(), Vec::new());
        let (mut alone, mut without) = (vec![Vec::new(); switches.len()], vec![Vec::new(); switches.len()]);
        let one = |index: usize| -> Result<Taken, std::convert::Infallible> {
            let example = examples[index];
            let (exact, exact_values) = simulation.traced(example, &|_| false, &[]);
            let (rounded, rounded_values) = simulation.traced(example, &|_| true, &[]);
            let sampled = exact.sums.iter().zip(&rounded.sums).map(|(exact, rounded)| {
                let stride = exact.len().div_ceil(SAMPLED_SUMS).max(1);
                rounded.iter().copied().zip(exact.iter().copied()).step_by(stride).collect()
            });
            let of_switch = |(_, switch): &(String, Switch)| {
                let before = simulation.values_before(*switch);
                let (one, _) = simulation.traced(example, &|other| other == *switch, &exact_values[..before]);
                let (others, _) = simulation.traced(example, &|other| other != *switch, &rounded_values[..before]);
                (one.outputs, others.outputs)
            };
            Ok(Taken {
                sums: sampled.collect(),
                switches: switches.iter().map(of_switch).collect(),
                none: exact.outputs,
                all: rounded.outputs,
            })
        };
        let done = parallel::in_blocks(examples.len(), BLOCK, one, |_, taken| {
            sums.iter_mut().zip(taken.sums).for_each(|(layer, pairs)| layer.add(pairs.into_iter()));
            none.extend(taken.none);
            all.extend(taken.all);
            for ((alone, without), (one, others)) in alone.iter_mut().zip(&mut without).zip(taken.switches) {
                alone.extend(one);
                without.extend(others);
            }
            (0..=switches.len()).for_each(|_| progress.advance());
            Ok(())
        });
        done.unwrap_or_else(|never| match never {});
        let layers = simulation.layers().zip(&sums);
        accuracy.layers.extend(layers.map(|((name, element), noise)| noise.of_layer(name.to_owned(), element)));
        accuracy.split_samples = taken.len();
        accuracy.split_total = compare(&integer, &none);
        let mut total: Vec<f64> = integer.iter().zip(&none).map(|(integer, none)| integer - none).collect();
        for ((name, _), (alone, without)) in switches.iter().zip(alone.iter().zip(&without)) {
            for (rest, (alone, none)) in total.iter_mut().zip(alone.iter().zip(&none)) {
                *rest -= alone - none;
            }
            accuracy.causes.push(Cause {
                cause: name.clone(),
                alone: compare(alone, &none),
                last: compare(&all, without),
            });
        }
        // What the runtime computes in f32 the simulation computes in f64; the rest of the difference is that.
        if let Some(cause) = simulation.f32_cause() {
            for (rest, (integer, all)) in total.iter_mut().zip(integer.iter().zip(&all)) {
                *rest -= integer - all;
            }
            let stats = compare(&integer, &all);
            accuracy.causes.push(Cause { cause: cause.to_owned(), alone: stats.clone(), last: stats });
        }
        let zeros = vec![0.0; total.len()];
        accuracy.interaction = Some(compare(&total, &zeros));
    }
}
