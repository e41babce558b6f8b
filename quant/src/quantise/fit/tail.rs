//! Layers of reals behind sums of integers: what they make of the sums, and how their error changes with each number.

use crate::arch::Activation;
use crate::program::{QuantTensor, Values};
use crate::quantised::QuantNet;
use std::ops::Range;
use tamis_runtime::raw::num;

/// The layers from the second on, at least one, of a network with one output. The second one's weights are integers and
/// not here.
#[derive(Debug, Clone)]
pub(super) struct Tail {
    pub layers: Vec<Layer>,
    /// Of all layers: bank by bank the weights, for each input the outputs in a row, then the bias.
    pub numbers: Vec<f32>,
    /// What the network's output is multiplied by.
    pub scale: f32,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Layer {
    activation: Activation,
    /// The last so many sums are added to the output.
    skip: usize,
    outputs: usize,
    /// 0 of the first, whose weights are elsewhere.
    inputs: usize,
    /// Where its numbers start, and how many a bank has; 1 bank where all buckets share it.
    pub start: usize,
    pub banks: usize,
}

impl Layer {
    pub const fn bank_len(&self) -> usize {
        self.outputs * (self.inputs + 1)
    }

    pub const fn bank(&self, bucket: usize) -> Range<usize> {
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

impl Tail {
    /// `None` where a layer behind the second is not of reals, or has an activation of which no slope is known here, or
    /// where there is no such layer.
    pub fn of(net: &QuantNet) -> Option<Self> {
        let arch = &net.arch;
        let (mut layers, mut numbers) = (Vec::new(), Vec::new());
        for (index, layer) in net.layers.iter().enumerate().skip(1) {
            let described = &arch.layers[index];
            let banks = if described.bucketed { arch.bucket_count() } else { 1 };
            let inputs = if index == 1 { 0 } else { arch.layer_inputs(index) };
            if !has_slope(described.activation) || described.gated || !matches!(layer.bias.values, Values::F32(_)) {
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
        let last: &Layer = layers.last()?;
        if last.outputs == last.skip {
            return None;
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
    pub fn sums(&self) -> usize {
        self.layers[0].outputs
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
        self.scale * (tape.activated[self.layers.len() - 1][0] + skipped)
    }

    /// Adds to `gradient` how half the square of `error`, in units before the scale, changes with each number, for what
    /// was evaluated last.
    pub fn add_gradient(&self, bucket: usize, error: f32, tape: &mut Tape, gradient: &mut [f32]) {
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
}

const fn has_slope(activation: Activation) -> bool {
    !matches!(activation, Activation::PairwiseCrelu | Activation::Sigmoid | Activation::Swish)
}

/// The function of an activation of one number each.
fn function(activation: Activation) -> fn(f32) -> f32 {
    match activation {
        Activation::Relu => num::relu,
        Activation::Crelu => num::crelu,
        Activation::Screlu => |x| num::crelu(x) * num::crelu(x),
        Activation::Sqrrelu => |x| num::relu(x) * num::relu(x),
        Activation::HardSwish => num::hard_swish,
        Activation::Identity
        | Activation::DualCrelu
        | Activation::PairwiseCrelu
        | Activation::Sigmoid
        | Activation::Swish => |x| x,
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
