//! The error by layer and by cause: every rounding switched on alone, and off alone.

use super::accuracy::{Accuracy, Cause};
use super::layers::{LayerNoise, Noise};
use super::progress::Progress;
use super::simulate::{RealInput, Simulation, Switch};
use super::stats::compare;
use crate::float::Example;
use crate::graph::Sample;
use crate::parallel;
use crate::program::Element;
use std::convert::Infallible;

/// Sums of a layer that are compared in each example, evenly taken: enough of a wide one.
const SAMPLED_SUMS: usize = 64;
/// Products of maps that are worked out to take a network apart, in some seconds.
const MOST_PRODUCTS: usize = 4_000_000_000;
/// Examples that are taken apart whatever it takes.
const LEAST_EXAMPLES: usize = 8;

/// Examples that are taken apart and not added up, at most.
const AHEAD: usize = 256;

/// One example, taken apart.
struct Taken {
    /// Some sums of each layer: its number, rounded and exact.
    sums: Vec<(usize, (f64, f64))>,
    /// Rows of outputs: without any rounding, with all, and of each rounding with it alone and with all others.
    outputs: Vec<f64>,
}

/// Examples that were taken apart: outputs, an example after the other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Apart {
    /// How many examples.
    pub samples: usize,
    /// The layers, with everything before them rounded.
    pub layers: Vec<LayerNoise>,
    /// What the integers made.
    pub integer: Vec<f64>,
    /// Without any rounding.
    pub none: Vec<f64>,
    /// With all.
    pub all: Vec<f64>,
    /// Each rounding.
    pub causes: Vec<ApartCause>,
    /// What multiplying in f32 is called, where something is.
    pub f32_cause: Option<String>,
}

/// A rounding: outputs, an example after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ApartCause {
    /// Its name.
    pub cause: String,
    /// With it alone.
    pub alone: Vec<f64>,
    /// With all but it.
    pub without: Vec<f64>,
}

impl Apart {
    /// What tells examples that were taken apart from those of another network.
    pub fn names(&self) -> (Vec<(&str, Element)>, Vec<&str>, Option<&str>) {
        let layers = self.layers.iter().map(|layer| (layer.layer.as_str(), layer.element)).collect();
        let causes = self.causes.iter().map(|cause| cause.cause.as_str()).collect();
        (layers, causes, self.f32_cause.as_deref())
    }

    /// Adds those of another part with the same names.
    pub fn join(&mut self, other: Self) {
        self.samples += other.samples;
        for (own, other) in self.layers.iter_mut().zip(&other.layers) {
            own.noise.join(&other.noise);
        }
        self.integer.extend(other.integer);
        self.none.extend(other.none);
        self.all.extend(other.all);
        for (own, other) in self.causes.iter_mut().zip(other.causes) {
            own.alone.extend(other.alone);
            own.without.extend(other.without);
        }
    }

    /// Fills in layers, causes, what they add up to and what is left.
    pub fn fill(&self, accuracy: &mut Accuracy) {
        let Self { samples, layers, integer, none, all, causes, f32_cause } = self;
        accuracy.layers.extend(layers.iter().map(LayerNoise::error));
        accuracy.split_samples = *samples;
        accuracy.split_total = compare(integer, none);
        let mut total: Vec<f64> = integer.iter().zip(none).map(|(integer, none)| integer - none).collect();
        accuracy.causes.extend(parallel::map(causes.len(), |index| {
            let ApartCause { cause, alone, without } = &causes[index];
            Cause { cause: cause.clone(), alone: compare(alone, none), last: compare(all, without) }
        }));
        for ApartCause { alone, .. } in causes {
            for (rest, (alone, none)) in total.iter_mut().zip(alone.iter().zip(none)) {
                *rest -= alone - none;
            }
        }
        // What the runtime computes in f32 the simulation computes in f64; the rest of the difference is that.
        if let Some(cause) = f32_cause {
            for (rest, (integer, all)) in total.iter_mut().zip(integer.iter().zip(all)) {
                *rest -= integer - all;
            }
            let stats = compare(integer, all);
            accuracy.causes.push(Cause { cause: cause.clone(), alone: stats.clone(), last: stats });
        }
        let zeros = vec![0.0; total.len()];
        accuracy.interaction = Some(compare(&total, &zeros));
    }
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

    /// Takes the examples apart. integer: what the integers made of all of them.
    pub fn apart(&self, integer: &[f64], progress: &mut Progress<'_>) -> Apart {
        let (simulation, all_examples) = (&self.simulation, self.examples.all());
        let outputs = integer.len() / all_examples.len().max(1);
        let taken = self.taken(all_examples.len());
        let examples: Vec<RealInput<'_>> = taken.iter().map(|index| all_examples[*index]).collect();
        let switches = simulation.switches();
        let layer =
            |(name, element): (&str, _)| LayerNoise { layer: name.to_owned(), element, noise: Noise::default() };
        let cause = |(name, _): &(String, Switch)| ApartCause { cause: name.clone(), ..ApartCause::default() };
        let mut apart = Apart {
            samples: taken.len(),
            layers: simulation.layers().map(layer).collect(),
            integer: taken.iter().flat_map(|index| integer[index * outputs..][..outputs].iter().copied()).collect(),
            none: Vec::new(),
            all: Vec::new(),
            causes: switches.iter().map(cause).collect(),
            f32_cause: simulation.f32_cause().map(str::to_owned),
        };
        let one = |index: usize| -> Result<Taken, Infallible> {
            let example = examples[index];
            let (exact, exact_values) = simulation.traced(example, &|_| false, &[]);
            let (rounded, rounded_values) = simulation.traced(example, &|_| true, &[]);
            let mut sums = Vec::new();
            for (layer, (exact, rounded)) in exact.sums.iter().zip(&rounded.sums).enumerate() {
                let stride = exact.len().div_ceil(SAMPLED_SUMS).max(1);
                let pairs = rounded.iter().copied().zip(exact.iter().copied()).step_by(stride);
                sums.extend(pairs.map(|pair| (layer, pair)));
            }
            let mut rows = Vec::with_capacity(2 * (1 + switches.len()) * outputs);
            rows.extend(exact.outputs);
            rows.extend(rounded.outputs);
            for (_, switch) in switches {
                let before = simulation.values_before(*switch);
                let (one, _) = simulation.traced(example, &|other| other == *switch, &exact_values[..before]);
                let (others, _) = simulation.traced(example, &|other| other != *switch, &rounded_values[..before]);
                rows.extend(one.outputs);
                rows.extend(others.outputs);
            }
            debug_assert_eq!(rows.len(), 2 * (1 + switches.len()) * outputs, "outputs of the integers' number");
            Ok(Taken { sums, outputs: rows })
        };
        let done = parallel::in_order(examples.len(), AHEAD, one, |_, taken| {
            taken.sums.iter().for_each(|(layer, pair)| apart.layers[*layer].noise.add([*pair].into_iter()));
            let Apart { none, all, causes, .. } = &mut apart;
            let kept = [none, all].into_iter();
            let kept = kept.chain(causes.iter_mut().flat_map(|cause| [&mut cause.alone, &mut cause.without]));
            kept.zip(taken.outputs.chunks(outputs.max(1))).for_each(|(kept, row)| kept.extend_from_slice(row));
            (0..=switches.len()).for_each(|_| progress.advance());
            Ok(())
        });
        done.unwrap_or_else(|never| match never {});
        apart
    }
}
