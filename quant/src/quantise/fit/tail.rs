//! Layers of reals behind sums of integers: what they make of the sums, and their numbers moved down the gradient of
//! the squared error.
//!
//! Integers in front of them err in a way that is no noise: products that are cut lose half a step, small ones become 0.
//! Biases and weights that are reals are free to answer that. A step goes against the gradient of [`BATCH`] examples, by
//! Adam's rule (D. P. Kingma and J. Ba, 2015), in an order drawn from a fixed seed. Every fifth example is not stepped
//! on: of all that was reached what errs least on those is kept, so that few examples do no harm.

use crate::arch::Activation;
use crate::program::{QuantTensor, Values};
use crate::quantised::QuantNet;
use std::ops::Range;
use tamis_runtime::raw::num;

/// Examples of a step.
const BATCH: usize = 64;
/// Rounds over the examples, and more where they are so few that there would be fewer steps than these.
const ROUNDS: usize = 8;
const LEAST_STEPS: usize = 800;
/// The first step's length, by the size of weights; it falls to 0 with the last round.
const RATE: f32 = 5e-4;
/// Of Adam: how much is kept of the mean of gradients and of their squares.
const KEPT: [f32; 2] = [0.9, 0.999];
/// What keeps a step finite where the gradient always was 0.
const TINY: f32 = 1e-9;
/// Every so many examples one judges.
pub(super) const JUDGE: usize = 5;

/// The layers from the second on, of a network with one output. The second one's weights are integers and not here.
#[derive(Debug, Clone)]
pub(super) struct Tail {
    layers: Vec<Layer>,
    /// Of all layers: bank by bank the weights, for each input the outputs in a row, then the bias.
    numbers: Vec<f32>,
    /// What the network's output is multiplied by.
    scale: f32,
}

#[derive(Debug, Clone, Copy)]
struct Layer {
    activation: Activation,
    /// The last so many sums are added to the output.
    skip: usize,
    outputs: usize,
    /// 0 of the first, whose weights are elsewhere.
    inputs: usize,
    /// Where its numbers start, and how many a bank has; 1 bank where all buckets share it.
    start: usize,
    banks: usize,
}

impl Layer {
    const fn bank_len(&self) -> usize {
        self.outputs * (self.inputs + 1)
    }

    const fn bank(&self, bucket: usize) -> Range<usize> {
        let bucket = if self.banks == 1 { 0 } else { bucket };
        let first = self.start + bucket * self.bank_len();
        first..first + self.bank_len()
    }
}

/// Memory of an evaluation: of every layer its sums and what follows from them.
#[derive(Debug, Clone, Default)]
pub(super) struct Tape {
    sums: Vec<Vec<f32>>,
    activated: Vec<Vec<f32>>,
    slopes: [Vec<f32>; 2],
}

/// What is stepped on: sums of every example, what is wanted of it and its bucket.
pub(super) struct Wanted<'a> {
    /// (outputs of the second layer,) an example, without bias.
    pub sums: &'a [f32],
    /// In units of the output.
    pub targets: &'a [f64],
    pub buckets: &'a [u8],
}

impl Tail {
    /// `None` where a layer behind the second is not of reals, or has an activation of which no slope is known here.
    pub fn of(net: &QuantNet) -> Option<Self> {
        let arch = &net.arch;
        let (mut layers, mut numbers) = (Vec::new(), Vec::new());
        for (index, layer) in net.layers.iter().enumerate().skip(1) {
            let described = &arch.layers[index];
            let banks = if described.bucketed { arch.bucket_count() } else { 1 };
            let inputs = if index == 1 { 0 } else { arch.layer_inputs(index) };
            if !has_slope(described.activation) || !matches!(layer.bias.values, Values::F32(_)) {
                return None;
            }
            let of = Layer {
                activation: described.activation,
                skip: described.skip,
                outputs: described.outputs,
                inputs,
                start: numbers.len(),
                banks,
            };
            for bank in 0..banks {
                let rows = bank * of.outputs..(bank + 1) * of.outputs;
                for column in (0..inputs).map(|input| input * layer.weights.outputs) {
                    numbers.extend(layer.weights.reals().get(column + rows.start..column + rows.end)?);
                }
                numbers.extend(&layer.bias.reals()[rows]);
            }
            layers.push(of);
        }
        Some(Self { layers, numbers, scale: arch.output.scale as f32 })
    }

    /// The reals back into a network.
    pub fn write(&self, net: &mut QuantNet) {
        let reals = |tensor: &mut QuantTensor, output: usize, input: usize, value: f32| {
            let place = output + tensor.outputs * input;
            if let Values::F32(values) = &mut tensor.values {
                values[place] = value;
            }
        };
        for (of, layer) in self.layers.iter().zip(&mut net.layers[1..]) {
            for bank in 0..of.banks {
                for (place, value) in self.numbers[of.bank(bank)].iter().enumerate() {
                    let (input, output) = (place / of.outputs, bank * of.outputs + place % of.outputs);
                    if input < of.inputs {
                        reals(&mut layer.weights, output, input, *value);
                    } else {
                        reals(&mut layer.bias, output, 0, *value);
                    }
                }
            }
        }
    }

    /// Sums of the second layer.
    pub fn inputs(&self) -> usize {
        self.layers.first().map_or(0, |first| first.outputs)
    }

    /// The network's output for sums without bias, (inputs,).
    #[inline]
    pub fn output(&self, bucket: usize, sums: &[f32], tape: &mut Tape) -> f32 {
        tape.sums.resize_with(self.layers.len(), Vec::new);
        tape.activated.resize_with(self.layers.len(), Vec::new);
        let mut skipped = 0.0;
        for (index, layer) in self.layers.iter().enumerate() {
            let (weights, bias) = self.numbers[layer.bank(bucket)].split_at(layer.inputs * layer.outputs);
            let (before, rest) = tape.activated.split_at_mut(index);
            let (into, activated) = (&mut tape.sums[index], &mut rest[0]);
            into.clear();
            into.extend_from_slice(bias);
            match before.last() {
                None => into.iter_mut().zip(sums).for_each(|(sum, x)| *sum += x),
                Some(inputs) => {
                    for (x, column) in inputs.iter().zip(weights.chunks_exact(layer.outputs)) {
                        if *x != 0.0 {
                            into.iter_mut().zip(column).for_each(|(sum, weight)| *sum += x * weight);
                        }
                    }
                }
            }
            let (active, skipping) = into.split_at(layer.outputs - layer.skip);
            skipped += skipping.iter().sum::<f32>();
            activate(layer.activation, active, activated);
        }
        let last = tape.activated.last().and_then(|last| last.first()).copied().unwrap_or_default();
        self.scale * (last + skipped)
    }

    /// Adds to `gradient` how half the square of `error`, in units before the scale, changes with each number, for what
    /// was evaluated last.
    fn add_gradient(&self, bucket: usize, error: f32, tape: &mut Tape, gradient: &mut [f32]) {
        let Tape { sums, activated, slopes: [slopes, before] } = tape;
        slopes.clear();
        slopes.push(error);
        for (index, layer) in self.layers.iter().enumerate().rev() {
            let active = layer.outputs - layer.skip;
            chain(layer.activation, &sums[index][..active], slopes);
            slopes.resize(layer.outputs, error);
            let range = layer.bank(bucket);
            let (weights, _) = self.numbers[range.clone()].split_at(layer.inputs * layer.outputs);
            let (of_weights, of_bias) = gradient[range].split_at_mut(layer.inputs * layer.outputs);
            of_bias.iter_mut().zip(slopes.iter()).for_each(|(sum, slope)| *sum += slope);
            before.clear();
            let Some(inputs) = index.checked_sub(1).map(|before| &activated[before]) else { continue };
            let columns = weights.chunks_exact(layer.outputs).zip(of_weights.chunks_exact_mut(layer.outputs));
            for (x, (column, of_column)) in inputs.iter().zip(columns) {
                before.push(column.iter().zip(slopes.iter()).map(|(weight, slope)| weight * slope).sum());
                of_column.iter_mut().zip(slopes.iter()).for_each(|(sum, slope)| *sum += x * slope);
            }
            std::mem::swap(slopes, before);
        }
    }

    /// Moves every number down the gradient. Gives the mean squared error of the examples that judge, then.
    pub fn descend(&mut self, wanted: &Wanted<'_>) -> f64 {
        let buckets = self.layers.iter().map(|layer| layer.banks).min().unwrap_or(1);
        let mut groups = vec![Vec::new(); buckets];
        let steps_on = (0..wanted.targets.len()).filter(|example| !judges(*example));
        steps_on.for_each(|example| groups[usize::from(wanted.buckets[example]) % buckets].push(example));
        let most = groups.iter().map(Vec::len).max().unwrap_or(0) / BATCH;
        let rounds = ROUNDS.max(LEAST_STEPS / most.max(1)).min(LEAST_STEPS);
        let mut best = (self.judged(wanted), self.numbers.clone());
        let mut adam = Adam::of(self.numbers.len(), buckets);
        let (mut random, mut tape) = (1u64, Tape::default());
        let mut gradient = vec![0f32; self.numbers.len()];
        for round in 0..rounds {
            let rate = RATE * (1.0 - round as f32 / rounds as f32);
            for (group, examples) in groups.iter_mut().enumerate() {
                shuffle(examples, &mut random);
                for batch in examples.chunks_exact(BATCH) {
                    gradient.fill(0.0);
                    for example in batch {
                        let bucket = wanted.buckets[*example].into();
                        let sums = &wanted.sums[example * self.inputs()..(example + 1) * self.inputs()];
                        let error = self.output(bucket, sums, &mut tape) - wanted.targets[*example] as f32;
                        self.add_gradient(bucket, error / (self.scale * BATCH as f32), &mut tape, &mut gradient);
                    }
                    // Where every layer has banks a group's gradient is that of its banks alone.
                    let layers: Vec<Layer> = self.layers.clone();
                    adam.next(group);
                    for layer in layers {
                        let range = if buckets > 1 {
                            layer.bank(group)
                        } else {
                            layer.start..layer.start + layer.banks * layer.bank_len()
                        };
                        adam.step(group, rate, range, &gradient, &mut self.numbers);
                    }
                }
            }
            let judged = self.judged(wanted);
            if judged < best.0 {
                best = (judged, self.numbers.clone());
            }
        }
        self.numbers = best.1;
        self.settle(wanted);
        self.judged(wanted)
    }

    /// Takes the mean error of each bank of the last layer off its bias.
    fn settle(&mut self, wanted: &Wanted<'_>) {
        let Some(last) = self.layers.last().copied() else { return };
        let (mut tape, mut sums) = (Tape::default(), vec![(0f64, 0usize); last.banks]);
        for (example, bucket) in wanted.buckets.iter().enumerate() {
            let own = &wanted.sums[example * self.inputs()..(example + 1) * self.inputs()];
            let error = f64::from(self.output((*bucket).into(), own, &mut tape)) - wanted.targets[example];
            let sum = &mut sums[usize::from(*bucket) % last.banks];
            *sum = (sum.0 + error, sum.1 + 1);
        }
        for (bank, (sum, count)) in sums.into_iter().enumerate() {
            let bias = last.bank(bank).end - 1;
            self.numbers[bias] -= (sum / count.max(1) as f64 / f64::from(self.scale)) as f32;
        }
    }

    /// The mean squared error of the examples that judge.
    fn judged(&self, wanted: &Wanted<'_>) -> f64 {
        let (mut tape, mut sum, mut count) = (Tape::default(), 0f64, 0usize);
        for example in (0..wanted.targets.len()).filter(|example| judges(*example)) {
            let sums = &wanted.sums[example * self.inputs()..(example + 1) * self.inputs()];
            let output = self.output(wanted.buckets[example].into(), sums, &mut tape);
            sum += (f64::from(output) - wanted.targets[example]).powi(2);
            count += 1;
        }
        sum / count.max(1) as f64
    }
}

/// Whether nothing steps on an example.
pub(super) const fn judges(example: usize) -> bool {
    example % JUDGE == JUDGE - 1
}

/// Means of gradients and of their squares, which start at 0.
struct Adam {
    means: Vec<f32>,
    squares: Vec<f32>,
    /// Of each group: the share of both that the 0 at the start still has.
    starts: Vec<[f32; 2]>,
}

impl Adam {
    fn of(numbers: usize, groups: usize) -> Self {
        Self { means: vec![0.0; numbers], squares: vec![0.0; numbers], starts: vec![[1.0; 2]; groups] }
    }

    fn next(&mut self, group: usize) {
        self.starts[group].iter_mut().zip(KEPT).for_each(|(start, kept)| *start *= kept);
    }

    fn step(&mut self, group: usize, rate: f32, range: Range<usize>, gradient: &[f32], numbers: &mut [f32]) {
        let [of_means, of_squares] = self.starts[group].map(|start| 1.0 - start);
        for place in range {
            let (slope, mean, square) = (gradient[place], &mut self.means[place], &mut self.squares[place]);
            *mean = KEPT[0] * *mean + (1.0 - KEPT[0]) * slope;
            *square = KEPT[1] * *square + (1.0 - KEPT[1]) * slope * slope;
            numbers[place] -= rate * (*mean / of_means) / ((*square / of_squares).sqrt() + TINY);
        }
    }
}

/// Another order, drawn.
fn shuffle(examples: &mut [usize], random: &mut u64) {
    for last in (1..examples.len()).rev() {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        examples.swap(last, ((*random >> 33) % (last as u64 + 1)) as usize);
    }
}

const fn has_slope(activation: Activation) -> bool {
    !matches!(activation, Activation::PairwiseCrelu)
}

/// The function of an activation of one number each.
fn function(activation: Activation) -> fn(f32) -> f32 {
    match activation {
        Activation::Relu => num::relu,
        Activation::Crelu => num::crelu,
        Activation::Screlu => |x| num::crelu(x) * num::crelu(x),
        Activation::Sqrrelu => |x| num::relu(x) * num::relu(x),
        Activation::HardSwish => num::hard_swish,
        Activation::Identity | Activation::DualCrelu | Activation::PairwiseCrelu => |x| x,
    }
}

fn activate(activation: Activation, sums: &[f32], into: &mut Vec<f32>) {
    into.clear();
    match activation {
        // In the innermost loop of fitting, and so not through a pointer.
        Activation::Screlu => into.extend(sums.iter().map(|x| num::crelu(*x) * num::crelu(*x))),
        Activation::Crelu => into.extend(sums.iter().map(|x| num::crelu(*x))),
        Activation::DualCrelu => {
            into.extend(sums.iter().map(|x| num::crelu(*x)).chain(sums.iter().map(|x| num::crelu(x * x))));
        }
        other => into.extend(sums.iter().copied().map(function(other))),
    }
}

/// From slopes by what was activated to slopes by the sums.
fn chain(activation: Activation, sums: &[f32], slopes: &mut Vec<f32>) {
    let inside = |x: f32| if x > 0.0 && x < 1.0 { 1.0 } else { 0.0 };
    if activation == Activation::DualCrelu {
        let squares = slopes.split_off(sums.len());
        for ((slope, square), x) in slopes.iter_mut().zip(squares).zip(sums) {
            *slope = *slope * inside(*x) + square * 2.0 * x * inside(x * x);
        }
        return;
    }
    for (slope, x) in slopes.iter_mut().zip(sums.iter().copied()) {
        *slope *= match activation {
            Activation::Relu => f32::from(x > 0.0),
            Activation::Crelu => inside(x),
            Activation::Screlu => 2.0 * x * inside(x),
            Activation::Sqrrelu => 2.0 * num::relu(x),
            Activation::HardSwish if x <= -3.0 => 0.0,
            Activation::HardSwish if x < 3.0 => (2.0 * x + 3.0) / 6.0,
            _ => 1.0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two buckets, a shared layer behind one of banks, a skip, and all activations that a tail may have.
    fn tail(first: Activation, second: Activation) -> Tail {
        let inputs = if first == Activation::DualCrelu { 6 } else { 3 };
        let last = if second == Activation::DualCrelu { 10 } else { 5 };
        let mut layers = vec![
            Layer { activation: first, skip: 1, outputs: 4, inputs: 0, start: 0, banks: 2 },
            Layer { activation: second, skip: 0, outputs: 5, inputs, start: 0, banks: 1 },
            Layer { activation: Activation::Identity, skip: 0, outputs: 1, inputs: last, start: 0, banks: 2 },
        ];
        let mut next = 0;
        for layer in &mut layers {
            layer.start = next;
            next += layer.banks * layer.bank_len();
        }
        let mut random = 7u64;
        let mut draw = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 40) as f32 / (1 << 24) as f32 - 0.4
        };
        Tail { layers, numbers: (0..next).map(|_| draw()).collect(), scale: 2.0 }
    }

    /// Every slope is what a small change of its number does to half the squared error.
    #[test]
    fn slopes_are_those_of_differences() {
        let all = [
            Activation::Relu,
            Activation::Crelu,
            Activation::Screlu,
            Activation::Sqrrelu,
            Activation::HardSwish,
            Activation::DualCrelu,
        ];
        let sums = [0.31, 0.12, -0.35, 0.2];
        for (first, second) in all.into_iter().flat_map(|first| all.map(|second| (first, second))) {
            let mut tail = tail(first, second);
            let (mut tape, target, bucket) = (Tape::default(), 0.7, 1);
            let error = tail.output(bucket, &sums, &mut tape) / tail.scale - target;
            let mut gradient = vec![0.0; tail.numbers.len()];
            tail.add_gradient(bucket, error, &mut tape, &mut gradient);
            for place in 0..gradient.len() {
                let (kept, step) = (tail.numbers[place], 1e-2);
                let ends = [step, -step].map(|step| {
                    tail.numbers[place] = kept + step;
                    (tail.output(bucket, &sums, &mut tape) / tail.scale - target).powi(2) / 2.0
                });
                tail.numbers[place] = kept;
                let found = (ends[0] - ends[1]) / (2.0 * step);
                assert!((found - gradient[place]).abs() < 4e-3, "{first:?} {second:?} {place}: {found} {gradient:?}");
            }
        }
    }
}
