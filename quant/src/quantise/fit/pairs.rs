//! Fitting where pairs, a layer of bytes and reals stand behind the accumulators.
//!
//! Nearly all error of such a network is in the few bits of its products, and the layers behind them are no straight
//! line, so that what a step does is worked out and not estimated: for every example whose product a step changes, the
//! sums of bytes move by one column of weights, and the reals behind them are evaluated anew.
//!
//! ```text
//! reals             down the gradient, first of all and behind every sweep                     see `descend`
//! first layer       w ± 1   where Σ d·(2e + d) < 0      d: what the step changes in an output, e: output less target
//! bytes             w ± 1   the same
//! ```
//!
//! A weight stays within one step of its float. After every sweep the examples that judge say what it was worth; one
//! that was worth little is the last, and the best one is kept.

use super::descend::{Wanted, judges};
use super::neuron::PSEUDO_EXAMPLES;
use super::samples::{ByFeature, Samples};
use super::tail::{Tail, Tape};
use super::{AT_ONCE, Limits, Progress};
use crate::arch::{Activation, ElementType};
use crate::float::Net;
use crate::parallel;
use crate::program::Values;
use crate::quantise::element::range;
use crate::quantised::{IntegerActivation, QuantNet, sum_factor};
use std::time::Instant;

/// A sweep that leaves more than this of the squared error is the last.
const WORTHLESS: f64 = 0.98;

/// What is common to all sweeps.
pub(super) struct Fitting<'a> {
    pub samples: &'a Samples,
    pub moves_second: bool,
    pub limits: Limits,
    pub start: Instant,
    pub besides_seconds: f64,
    pub progress: &'a dyn Fn(Progress),
}

/// The network as it is moved.
struct State<'a> {
    samples: &'a Samples,
    by_feature: ByFeature,
    activation: IntegerActivation,
    /// Products of a side.
    pairs: usize,
    /// (features + 1) × hidden, the bias last.
    first: Vec<i32>,
    first_real: Vec<f64>,
    first_range: (i32, i32),
    /// By row of the examples' buckets, then by input: the weights of every output.
    second: Vec<Vec<f32>>,
    second_real: Vec<Vec<f64>>,
    second_range: (i32, i32),
    /// What 1 of the sums is worth.
    factor: f32,
    tail: Tail,
    /// (outputs,) an example.
    sums: Vec<f32>,
    /// Output less target.
    errors: Vec<f32>,
}

/// Whether a network is of this kind, and has one output.
pub(super) fn fits(net: &QuantNet) -> bool {
    let has = |index: usize, element: ElementType| net.layers.get(index).is_some_and(|l| l.weights.element == element);
    net.arch.layers[0].activation == Activation::PairwiseCrelu
        && IntegerActivation::of(&net.arch).is_some()
        && has(1, ElementType::I8)
        && net.layers.len() > 2
        && Tail::of(net).is_some()
}

impl Fitting<'_> {
    /// Gives the sweeps, and whether time ended them.
    pub fn run(&self, net: &mut QuantNet, real: &Net<f32>) -> (usize, bool) {
        let Some(mut state) = State::of(net, real, self.samples) else { return (0, false) };
        let is_over = || self.limits.seconds.is_some_and(|limit| self.start.elapsed().as_secs_f64() > limit);
        state.evaluate();
        let mut best = (state.descend(), state.written(net));
        let visiting = Instant::now();
        let besides_seconds = self.besides_seconds + (visiting - self.start).as_secs_f64();
        let mut sweeps = 0;
        let is_cut_short = loop {
            if sweeps >= self.limits.sweeps {
                break false;
            }
            for pair in 0..state.pairs {
                if is_over() {
                    break;
                }
                state.visit(pair, self.moves_second);
                let (visited, most) = (sweeps * state.pairs + pair + 1, self.limits.sweeps * state.pairs);
                let pace = visiting.elapsed().as_secs_f64() / visited as f64;
                let expected_seconds = besides_seconds + pace * most as f64;
                (self.progress)(Progress { visited, most, expected_seconds });
            }
            state.evaluate();
            let judged = state.descend();
            let is_worth = judged < WORTHLESS * best.0;
            if judged < best.0 {
                best = (judged, state.written(net));
            }
            if is_over() {
                break true;
            }
            sweeps += 1;
            if !is_worth {
                break false;
            }
        };
        *net = best.1;
        (sweeps, is_cut_short)
    }
}

impl<'a> State<'a> {
    fn of(net: &QuantNet, real: &Net<f32>, samples: &'a Samples) -> Option<Self> {
        let [first, second, ..] = net.layers.as_slice() else { return None };
        let activation = IntegerActivation::of(&net.arch)?;
        let scaled = |values: &[f32], scale: i32| -> Vec<f64> {
            values.iter().map(|value| f64::from(*value) * f64::from(scale)).collect()
        };
        let (scale, reals) = (first.weights.multiplier(), &real.layers[0]);
        let outputs = net.arch.layers[1].outputs;
        let rows = second.weights.outputs / outputs;
        let by_row = |row: usize, values: &[f64]| -> Vec<f64> {
            values.chunks(second.weights.outputs).flat_map(|c| c[row * outputs..(row + 1) * outputs].to_vec()).collect()
        };
        let integers: Vec<f64> = second.weights.integers().iter().copied().map(f64::from).collect();
        let second_real = scaled(&real.layers[1].weights.values, second.weights.multiplier());
        Some(Self {
            samples,
            by_feature: samples.by_feature(net.arch.feature_count()),
            activation,
            pairs: first.weights.outputs / 2,
            first: [first.weights.integers(), first.bias.integers()].concat(),
            first_real: [scaled(&reals.weights.values, scale), scaled(&reals.bias, scale)].concat(),
            first_range: range(first.weights.element),
            second: (0..rows).map(|row| by_row(row, &integers).into_iter().map(|w| w as f32).collect()).collect(),
            second_real: (0..rows).map(|row| by_row(row, &second_real)).collect(),
            second_range: range(second.weights.element),
            factor: sum_factor(activation, second),
            tail: Tail::of(net)?,
            sums: vec![0.0; samples.targets.len() * outputs],
            errors: vec![0.0; samples.targets.len()],
        })
    }

    fn hidden(&self) -> usize {
        2 * self.pairs
    }

    fn row(&self, example: usize) -> usize {
        if self.second.len() == 1 { 0 } else { self.samples.buckets[example].into() }
    }

    /// The product of two accumulators.
    #[inline(always)]
    fn product(&self, a: i32, b: i32) -> i32 {
        let clipped = |value: i32| i64::from(value.clamp(0, self.activation.clip));
        self.activation.product(clipped(a), clipped(b)) as i32
    }

    /// The accumulator of a neuron in every entry.
    fn accumulators(&self, neuron: usize) -> Vec<i32> {
        let hidden = self.hidden();
        let bias = self.first[self.first.len() - hidden + neuron];
        let sum = |list: &[u32]| bias + list.iter().map(|f| self.first[*f as usize * hidden + neuron]).sum::<i32>();
        self.samples.lists().map(sum).collect()
    }

    /// The weights that an entry's product of a pair meets.
    #[inline(always)]
    fn column(&self, entry: usize, pair: usize) -> &[f32] {
        let (sides, outputs) = (self.samples.sides, self.tail.sums());
        let input = entry % sides * self.pairs + pair;
        &self.second[self.row(entry / sides)][input * outputs..(input + 1) * outputs]
    }

    /// Sums and errors of every example, from nothing.
    fn evaluate(&mut self) {
        let outputs = self.tail.sums();
        let mut sums = vec![0f32; self.sums.len()];
        for first in (0..self.pairs).step_by(AT_ONCE) {
            let block: Vec<usize> = (first..self.pairs.min(first + AT_ONCE)).collect();
            let products = parallel::map(block.len(), |index| {
                let [a, b] = [block[index], block[index] + self.pairs].map(|neuron| self.accumulators(neuron));
                a.iter().zip(&b).map(|(a, b)| self.product(*a, *b) as f32).collect::<Vec<f32>>()
            });
            for (pair, products) in block.iter().zip(&products) {
                for (entry, product) in products.iter().enumerate().filter(|(_, product)| **product != 0.0) {
                    let example = entry / self.samples.sides;
                    let into = &mut sums[example * outputs..(example + 1) * outputs];
                    into.iter_mut().zip(self.column(entry, *pair)).for_each(|(sum, weight)| *sum += product * weight);
                }
            }
        }
        // Until here integers, which f32 holds; now reals.
        sums.iter_mut().for_each(|sum| *sum *= self.factor);
        self.sums = sums;
        self.settle();
    }

    /// Errors that follow from the sums.
    fn settle(&mut self) {
        let (outputs, mut tape) = (self.tail.sums(), Tape::default());
        for (example, error) in self.errors.iter_mut().enumerate() {
            let sums = &self.sums[example * outputs..(example + 1) * outputs];
            let output = self.tail.output(self.samples.buckets[example].into(), sums, &mut tape);
            *error = output - self.samples.targets[example] as f32;
        }
    }

    fn descend(&mut self) -> f64 {
        let Samples { targets, buckets, .. } = self.samples;
        let judged = self.tail.descend(&Wanted { sums: &self.sums, targets, buckets });
        self.settle();
        judged
    }

    /// Moves the weights of a pair's two neurons, and those that its products meet.
    fn visit(&mut self, pair: usize, moves_second: bool) {
        let mut columns = parallel::map(2, |half| self.accumulators(pair + half * self.pairs));
        for half in 0..2 {
            let (one, other) = columns.split_at_mut(1);
            let (own, other) = if half == 0 { (&mut one[0], &other[0]) } else { (&mut other[0], &one[0]) };
            self.move_first(pair, pair + half * self.pairs, own, other);
        }
        if moves_second {
            let products: Vec<i32> = columns[0].iter().zip(&columns[1]).map(|(a, b)| self.product(*a, *b)).collect();
            self.move_second(pair, &products);
        }
    }

    /// Each weight of a neuron to the other of the two integers around its float, where that lowers the squared error.
    fn move_first(&mut self, pair: usize, neuron: usize, own: &mut [i32], other: &[i32]) {
        let (hidden, sides) = (self.hidden(), self.samples.sides);
        let entries: Vec<u32> = (0..own.len() as u32).collect();
        let last = self.first.len() / hidden - 1;
        let (mut tape, mut moved) = (Tape::default(), Vec::new());
        for index in (0..=last).rev() {
            let place = index * hidden + neuron;
            let off = f64::from(self.first[place]) - self.first_real[place];
            let step = if off < 0.0 { 1 } else { -1 };
            let after = off + f64::from(step);
            let weight = self.first[place] + step;
            if off == 0.0 || weight < self.first_range.0 || weight > self.first_range.1 {
                continue;
            }
            let active = if index == last { &entries } else { self.by_feature.of(index) };
            let change =
                |entry: usize| self.product(own[entry] + step, other[entry]) - self.product(own[entry], other[entry]);
            let mut gain = Gain::default();
            for of_example in active.chunk_by(|a, b| *a as usize / sides == *b as usize / sides) {
                let example = of_example[0] as usize / sides;
                moved.clear();
                if judges(example) {
                    continue;
                }
                for entry in of_example.iter().map(|entry| *entry as usize) {
                    let by = change(entry);
                    if by != 0 {
                        self.move_sums(&mut moved, example, self.column(entry, pair), by as f32 * self.factor);
                    }
                }
                if !moved.is_empty() {
                    gain.add(self.errors[example], self.error_of(example, &moved, &mut tape));
                }
            }
            if !gain.is_worth(active.len(), off, after) {
                continue;
            }
            let active = active.to_vec();
            self.first[place] = weight;
            for entry in active.iter().map(|entry| *entry as usize) {
                let (by, example) = (self.product(own[entry] + step, other[entry]), entry / sides);
                let by = by - self.product(own[entry], other[entry]);
                own[entry] += step;
                if by != 0 {
                    moved.clear();
                    self.move_sums(&mut moved, example, self.column(entry, pair), by as f32 * self.factor);
                    self.keep(example, &moved, &mut tape);
                }
            }
        }
    }

    /// The same of the weights that a pair's products meet.
    fn move_second(&mut self, pair: usize, products: &[i32]) {
        let (sides, outputs) = (self.samples.sides, self.tail.sums());
        let (mut tape, mut moved) = (Tape::default(), Vec::new());
        let rows = self.second.len();
        for (side, row) in (0..sides).flat_map(|side| (0..rows).map(move |row| (side, row))) {
            let seen = (0..self.errors.len()).filter(|example| self.row(*example) == row);
            let seen: Vec<usize> = seen.filter(|example| products[example * sides + side] != 0).collect();
            for output in 0..outputs {
                let place = (side * self.pairs + pair) * outputs + output;
                let off = f64::from(self.second[row][place]) - self.second_real[row][place];
                let step = if off < 0.0 { 1.0 } else { -1.0 };
                let (after, weight) = (off + step, f64::from(self.second[row][place]) + step);
                if off == 0.0 || weight < self.second_range.0.into() || weight > self.second_range.1.into() {
                    continue;
                }
                let by = step as f32 * self.factor;
                let mut gain = Gain::default();
                for example in seen.iter().copied().filter(|example| !judges(*example)) {
                    moved.clear();
                    moved.extend_from_slice(&self.sums[example * outputs..(example + 1) * outputs]);
                    moved[output] += by * products[example * sides + side] as f32;
                    gain.add(self.errors[example], self.error_of(example, &moved, &mut tape));
                }
                if !gain.is_worth(seen.len(), off, after) {
                    continue;
                }
                self.second[row][place] = weight as f32;
                for example in &seen {
                    moved.clear();
                    moved.extend_from_slice(&self.sums[example * outputs..(example + 1) * outputs]);
                    moved[output] += by * products[example * sides + side] as f32;
                    self.keep(*example, &moved, &mut tape);
                }
            }
        }
    }

    /// An example's sums, or those that were moved already, with so much of a column more.
    #[inline(always)]
    fn move_sums(&self, moved: &mut Vec<f32>, example: usize, column: &[f32], by: f32) {
        if moved.is_empty() {
            moved.extend_from_slice(&self.sums[example * column.len()..(example + 1) * column.len()]);
        }
        moved.iter_mut().zip(column).for_each(|(sum, weight)| *sum += by * weight);
    }

    fn error_of(&self, example: usize, sums: &[f32], tape: &mut Tape) -> f32 {
        self.tail.output(self.samples.buckets[example].into(), sums, tape) - self.samples.targets[example] as f32
    }

    fn keep(&mut self, example: usize, sums: &[f32], tape: &mut Tape) {
        self.errors[example] = self.error_of(example, sums, tape);
        self.sums[example * sums.len()..(example + 1) * sums.len()].copy_from_slice(sums);
    }

    /// The network with what was moved.
    fn written(&self, net: &QuantNet) -> QuantNet {
        let (mut net, hidden, outputs) = (net.clone(), self.hidden(), self.tail.sums());
        let (weights, bias) = self.first.split_at(self.first.len() - hidden);
        net.layers[0].weights.values = Values::Int(weights.to_vec());
        net.layers[0].bias.values = Values::Int(bias.to_vec());
        let inputs = net.layers[1].weights.inputs;
        let column = |input: usize| {
            let of_row = move |row: &Vec<f32>| row[input * outputs..(input + 1) * outputs].to_vec();
            self.second.iter().flat_map(of_row).map(|weight| weight as i32)
        };
        net.layers[1].weights.values = Values::Int((0..inputs).flat_map(column).collect());
        self.tail.write(&mut net);
        net
    }
}

/// What a step does to the sum of squared errors.
#[derive(Default)]
struct Gain {
    sum: f64,
    squares: f64,
}

impl Gain {
    #[inline(always)]
    fn add(&mut self, before: f32, after: f32) {
        let [before, after] = [before, after].map(f64::from);
        self.sum += after * after - before * before;
        self.squares += (after - before).powi(2);
    }

    /// Whether it is a gain also where as many examples more want the weight at its float.
    fn is_worth(&self, seen: usize, off: f64, after: f64) -> bool {
        let ridge = PSEUDO_EXAMPLES * self.squares / seen.max(1) as f64 * (after * after - off * off);
        self.squares > 0.0 && self.sum + ridge < 0.0
    }
}
