//! Integers moved by what they do to the outputs: a network of accumulators brought nearer to its float network on
//! positions, with the scales, the form and the file that it has.
//!
//! Rounding puts every weight at the nearest integer, each by itself. On positions of play their errors add up, and
//! most of what adds up can be undone elsewhere. The squared error of the outputs against the float network is lowered
//! neuron by neuron, with all other neurons as they stand:
//!
//! ```text
//! output weights    w + δ,  δ = −Σ a·e / Σ a²              a: what the neuron gives, e: output less target
//! first layer       w ± 1   where Σ d·(2e + d) < 0          d: what the step changes in an output, clip and all
//! bias              b − mean of e in its bucket
//! ```
//!
//! Behind pairs, bytes and reals other steps are made, see `pairs`.
//!
//! A weight of the first layer stays within one step of its float, and as many examples more as `neuron` says want
//! every weight at its float, so that a feature that was hardly seen stays where rounding put it. Half of the examples
//! are fitted to; the others say what came of it. The order is fixed and the same bytes come out every time.

mod descend;
mod error;
mod form;
mod neuron;
mod pairs;
mod samples;
mod tail;

pub use error::FitError;

use super::element::range;
use super::scales::{Bound, bounds};
use crate::float::{Example, Net};
use crate::integer::IntegerModel;
use crate::parallel;
use crate::program::{GraphInput, Program, Values};
use crate::proof::prove;
use crate::quantised::{QuantLayer, QuantNet, as_stored};
use form::Form;
use neuron::{Fitting, Neuron};
use samples::Samples;
use std::time::Instant;

/// Neurons whose accumulators are worked out at once.
const AT_ONCE: usize = 8;
/// A sweep that moves fewer than one weight in so many is the last.
const SETTLED: usize = 500;

/// When fitting ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Visits of every neuron.
    pub sweeps: usize,
    /// After which no neuron is visited any more; what comes out depends on the machine then.
    pub seconds: Option<f64>,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Visits of neurons that were made.
    pub visited: usize,
    /// Visits that there are at most.
    pub most: usize,
    /// What all of it is expected to take at most, in seconds from the beginning, at the pace so far.
    pub expected_seconds: f64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Examples that were fitted to.
    pub fitted: usize,
    /// Visits of every neuron that were ended.
    pub sweeps: usize,
    /// Weights that are not what they were.
    pub moved: usize,
    /// Of all weights.
    pub weights: usize,
    /// Whether time ended it.
    pub is_cut_short: bool,
    /// What the float network makes of the examples that were held out, in units of the output.
    pub targets: Vec<f64>,
    /// What the integers made of them.
    pub before: Vec<f64>,
    /// What they make now.
    pub after: Vec<f64>,
    /// How much of their types weights, accumulators and sums can use now; 1 is all.
    pub bounds: Vec<Bound>,
}

/// The examples that are not fitted to: every second one.
pub fn held_out(examples: &[Example]) -> impl Iterator<Item = &Example> {
    examples.iter().skip(1).step_by(2)
}

/// Fits the integers of a network to what its float network makes of examples: of the first, the third and so on; the
/// others are held out. `progress` hears how far it is, the first time after a few neurons.
///
/// # Errors
/// [`FitError`] for a network with another head than one layer of integers, or pairs, bytes and reals, for too few
/// examples, and for one that does not fit the network; `net` is then what it was.
pub fn fit(
    net: &mut QuantNet,
    real: &Net<f32>,
    examples: &[Example],
    limits: Limits,
    progress: &dyn Fn(Progress),
) -> Result<Fit, FitError> {
    let form = Form::of(net);
    if net.arch.output_count() != 1 || net.psqt.is_some() || (form.is_none() && !pairs::fits(net)) {
        return Err(FitError::Head);
    }
    if examples.len() < FitError::LEAST {
        return Err(FitError::TooFew { found: examples.len() });
    }
    let beginning = Instant::now();
    let seen: Vec<Example> = examples.iter().step_by(2).cloned().collect();
    let held_out: Vec<Example> = held_out(examples).cloned().collect();
    let (samples, unseen) = (Samples::of(real, &seen)?, Samples::of(real, &held_out)?);
    let program = net.lower()?;
    let measured = Instant::now();
    let before = outputs(&program, &held_out);
    let (held, nodes) = (prove(&program).holds(), program.nodes.len());
    let start = Instant::now();
    // What was measured is measured again in the end.
    let besides_seconds = (start - beginning + (start - measured)).as_secs_f64();
    let mut found = None;
    // Output weights may grow where they move; where the proof forbids it they stay.
    for moves_second in [true, false] {
        let mut moved = net.clone();
        let samples = &samples;
        let (sweeps, is_cut_short) = match form {
            Some(form) => {
                Sweeps { form, samples, moves_second, limits, start, besides_seconds, progress }.run(&mut moved, real)
            }
            None => pairs::Fitting { samples, moves_second, limits, start, besides_seconds, progress }
                .run(&mut moved, &as_stored(real, net)),
        };
        let program = moved.lower()?;
        let proof = prove(&program);
        // Sums that come to need 64 bits cost more than they would be worth.
        let is_wider = program.nodes.len() < nodes;
        if (proof.holds() && !is_wider) || !held {
            found = Some((moved, program, proof, sweeps, is_cut_short));
            break;
        }
    }
    let Some((moved, program, proof, sweeps, is_cut_short)) = found else { return Err(FitError::Unproved) };
    let bounds = bounds(&moved, &proof.checks);
    let after = outputs(&program, &held_out);
    let (count, weights) = differences(net, &moved);
    *net = moved;
    let (fitted, targets) = (seen.len(), unseen.targets);
    Ok(Fit { fitted, sweeps, moved: count, weights, is_cut_short, targets, before, after, bounds })
}

/// What the integers make of examples, in units of the output.
fn outputs(program: &Program, examples: &[Example]) -> Vec<f64> {
    let (model, last) = (IntegerModel::new(program), program.nodes.len());
    let pieces: Vec<&[Example]> = examples.chunks(AT_ONCE * 64).collect();
    let made = parallel::map(pieces.len(), |piece| {
        let output = |example: &Example| {
            let Example::Features { lists, bucket } = example else { unreachable!("samples are lists of features") };
            let input = GraphInput::Features { lists: lists.clone(), bucket: *bucket };
            model.trace_input(&input)[last].to_reals(&program.nodes[last - 1].value)[0]
        };
        pieces[piece].iter().map(output).collect::<Vec<f64>>()
    });
    made.concat()
}

/// How many integers differ, and of how many.
fn differences(before: &QuantNet, after: &QuantNet) -> (usize, usize) {
    let integers = |net: &QuantNet| -> Vec<i32> {
        let tensors = net.layers.iter().flat_map(|layer| [&layer.weights, &layer.bias]);
        tensors.flat_map(|tensor| tensor.integers().to_vec()).collect()
    };
    let (before, after) = (integers(before), integers(after));
    (before.iter().zip(&after).filter(|(before, after)| before != after).count(), after.len())
}

struct Sweeps<'a> {
    form: Form,
    samples: &'a Samples,
    moves_second: bool,
    limits: Limits,
    start: Instant,
    /// What is done before and behind it takes as long.
    besides_seconds: f64,
    progress: &'a dyn Fn(Progress),
}

impl Sweeps<'_> {
    /// Visits every neuron again and again. Gives the sweeps, and whether time ended them.
    fn run(&self, net: &mut QuantNet, real: &Net<f32>) -> (usize, bool) {
        let (samples, features) = (self.samples, net.arch.feature_count());
        let mut neurons = neurons(net, real, samples.sides);
        let keys = keys(net, samples);
        let fitting = Fitting {
            samples,
            by_feature: &samples.by_feature(features),
            form: self.form,
            keys: &keys,
            first_range: range(net.layers[0].weights.element),
            moves_second: self.moves_second,
        };
        let mut bias = Bias::of(net, samples, self.form.bias_unit);
        let mut errors = self.errors(&fitting, &neurons, &bias);
        bias.settle(samples, &mut errors);
        let (count, weights) = (neurons.len(), neurons.len() * (features + 1));
        let mut sweeps = 0;
        let visiting = Instant::now();
        let besides_seconds = self.besides_seconds + (visiting - self.start).as_secs_f64();
        let is_cut_short = loop {
            let mut moved = 0;
            for first in (0..count).step_by(AT_ONCE) {
                if self.limits.seconds.is_some_and(|limit| self.start.elapsed().as_secs_f64() > limit) {
                    break;
                }
                let block = &mut neurons[first..count.min(first + AT_ONCE)];
                let columns = parallel::map(block.len(), |index| fitting.accumulators(&block[index]));
                for (neuron, mut accumulators) in block.iter_mut().zip(columns) {
                    moved += fitting.visit(neuron, &mut accumulators, &mut errors);
                }
                let (visited, most) = (sweeps * count + first + block.len(), self.limits.sweeps * count);
                let pace = visiting.elapsed().as_secs_f64() / visited as f64;
                let expected_seconds = besides_seconds + pace * most as f64;
                (self.progress)(Progress { visited, most, expected_seconds });
            }
            bias.settle(samples, &mut errors);
            if self.limits.seconds.is_some_and(|limit| self.start.elapsed().as_secs_f64() > limit) {
                break true;
            }
            sweeps += 1;
            if sweeps >= self.limits.sweeps || moved < weights / SETTLED {
                break false;
            }
        };
        write(net, &neurons, &bias, samples.sides);
        (sweeps, is_cut_short)
    }

    /// Output less target of every example.
    fn errors(&self, fitting: &Fitting, neurons: &[Neuron], bias: &Bias) -> Vec<f32> {
        let samples = self.samples;
        let mut outputs: Vec<f64> =
            samples.buckets.iter().zip(&samples.targets).map(|(bucket, target)| bias.real(*bucket) - target).collect();
        for block in neurons.chunks(AT_ONCE) {
            let columns = parallel::map(block.len(), |index| fitting.accumulators(&block[index]));
            for (neuron, accumulators) in block.iter().zip(&columns) {
                fitting.add(neuron, accumulators, &mut outputs);
            }
        }
        outputs.into_iter().map(|error| error as f32).collect()
    }
}

/// The output's biases, one a row.
struct Bias {
    values: Vec<i32>,
    range: (i32, i32),
    unit: f64,
    is_bucketed: bool,
}

impl Bias {
    fn of(net: &QuantNet, samples: &Samples, unit: f64) -> Self {
        debug_assert!(!samples.buckets.is_empty());
        let bias = &net.layers[1].bias;
        Self {
            values: bias.integers().to_vec(),
            range: range(bias.element),
            unit,
            is_bucketed: net.arch.layers[1].bucketed,
        }
    }

    fn row(&self, bucket: u8) -> usize {
        if self.is_bucketed { bucket.into() } else { 0 }
    }

    fn real(&self, bucket: u8) -> f64 {
        self.unit * f64::from(self.values[self.row(bucket)])
    }

    /// Takes the mean error of each row away.
    fn settle(&mut self, samples: &Samples, errors: &mut [f32]) {
        let mut sums = vec![(0f64, 0usize); self.values.len()];
        for (bucket, error) in samples.buckets.iter().zip(errors.iter()) {
            let sum = &mut sums[self.row(*bucket)];
            *sum = (sum.0 + f64::from(*error), sum.1 + 1);
        }
        let mut changes = vec![0f64; sums.len()];
        for ((value, change), (sum, count)) in self.values.iter_mut().zip(&mut changes).zip(sums) {
            let before = *value;
            let step = (sum / count.max(1) as f64 / self.unit).round();
            *value = (f64::from(before) - step).clamp(self.range.0.into(), self.range.1.into()) as i32;
            *change = self.unit * (f64::from(*value) - f64::from(before));
        }
        for (bucket, error) in samples.buckets.iter().zip(errors) {
            *error += changes[self.row(*bucket)] as f32;
        }
    }
}

/// A network of two layers, neuron by neuron.
fn neurons(net: &QuantNet, real: &Net<f32>, sides: usize) -> Vec<Neuron> {
    let ([first, second], [first_real, second_real]) =
        ([&net.layers[0], &net.layers[1]], [&real.layers[0], &real.layers[1]]);
    let scale = |layer: &QuantLayer| f64::from(layer.weights.multiplier());
    let (scale, second_scale) = (scale(first), scale(second));
    let (hidden, features, rows) = (first.weights.outputs, first.weights.inputs, second.weights.outputs);
    let neuron = |index: usize| {
        let places = (0..features).map(|feature| index + hidden * feature);
        let outputs = (0..rows).flat_map(|row| (0..sides).map(move |side| row + rows * (side * hidden + index)));
        let (weights, bias) = (first.weights.integers(), first.bias.integers());
        Neuron {
            first: places.clone().map(|place| weights[place]).chain([bias[index]]).collect(),
            first_real: places
                .map(|place| first_real.weights.values[place])
                .chain([first_real.bias[index]])
                .map(|value| f64::from(value) * scale)
                .collect(),
            second: outputs.clone().map(|place| second.weights.integers()[place]).collect(),
            second_real: outputs.map(|place| f64::from(second_real.weights.values[place]) * second_scale).collect(),
        }
    };
    (0..hidden).map(neuron).collect()
}

/// For every entry the place of its output weight in a neuron.
fn keys(net: &QuantNet, samples: &Samples) -> Vec<u16> {
    let is_bucketed = net.arch.layers[1].bucketed;
    let rows = samples.buckets.iter().map(|bucket| if is_bucketed { usize::from(*bucket) } else { 0 });
    rows.flat_map(|row| (0..samples.sides).map(move |side| (row * samples.sides + side) as u16)).collect()
}

/// The neurons' integers into the network.
fn write(net: &mut QuantNet, neurons: &[Neuron], bias: &Bias, sides: usize) {
    let [first, second, ..] = net.layers.as_mut_slice() else { return };
    let (hidden, rows) = (first.weights.outputs, second.weights.outputs);
    let tensors = [&mut first.weights, &mut first.bias, &mut second.weights, &mut second.bias];
    let [Values::Int(weights), Values::Int(first_bias), Values::Int(outputs), Values::Int(last)] =
        tensors.map(|tensor| &mut tensor.values)
    else {
        unreachable!("a head of integers stands behind integers");
    };
    last.clone_from(&bias.values);
    for (index, neuron) in neurons.iter().enumerate() {
        for (feature, weight) in neuron.first.iter().enumerate() {
            match weights.get_mut(index + hidden * feature) {
                Some(place) => *place = *weight,
                None => first_bias[index] = *weight,
            }
        }
        for (key, weight) in neuron.second.iter().enumerate() {
            outputs[key / sides + rows * (key % sides * hidden + index)] = *weight;
        }
    }
}
