//! The numbers of a [`Tail`] moved down the gradient of the squared error.
//!
//! Integers in front of reals err in a way that is no noise: products that are cut lose half a step, small ones become
//! 0. Biases and weights that are reals are free to answer that. A step goes against the gradient of [`BATCH`]
//! examples, by Adam's rule (D. P. Kingma and J. Ba, 2015), in an order drawn from a fixed seed. Every fifth example is
//! not stepped on: of all that was reached what errs least on those is kept, so that few examples do no harm.

use super::tail::{Layer, Tail, Tape};
use std::ops::Range;

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
const JUDGE: usize = 5;

/// What is stepped on: sums of every example, what is wanted of it and its bucket.
pub(super) struct Wanted<'a> {
    /// (outputs of the second layer,) an example, without bias.
    pub sums: &'a [f32],
    /// In units of the output.
    pub targets: &'a [f64],
    pub buckets: &'a [u8],
}

impl Tail {
    /// Moves every number down the gradient. Gives the mean squared error of the examples that judge, then.
    pub fn descend(&mut self, wanted: &Wanted<'_>) -> f64 {
        let buckets = self.layers.iter().fold(self.layers[0].banks, |least, layer| least.min(layer.banks));
        let mut groups = vec![Vec::new(); buckets];
        let steps_on = (0..wanted.targets.len()).filter(|example| !judges(*example));
        steps_on.for_each(|example| groups[usize::from(wanted.buckets[example]) % buckets].push(example));
        let most = groups.iter().map(Vec::len).fold(0, usize::max) / BATCH;
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
                        let sums = &wanted.sums[example * self.sums()..(example + 1) * self.sums()];
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
            let own = &wanted.sums[example * self.sums()..(example + 1) * self.sums()];
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
            let sums = &wanted.sums[example * self.sums()..(example + 1) * self.sums()];
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
