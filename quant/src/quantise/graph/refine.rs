//! Rounding and biases of networks with maps, node after node in one pass.
//!
//! A convolution is a dense layer over the patches that its window sees, so that its weights are rounded together as
//! those of [`super::round`] are, a filter a channel over that channel's patches alone. What the layers before it
//! really make, roundings included, is what it is fitted to: the integers of all samples are kept up to the node that
//! is at hand, and let go behind their last reader. The means of sums that are left over go into the biases.

use super::error::GraphQuantError;
use super::options::Options;
use super::round::{inverse_root, rounded_rows};
use crate::graph::{Graph, Op, Sample};
use crate::integer::{Data, IntegerModel};
use crate::parallel;
use crate::program::{Convolution, Operation, Program, Values};
use crate::spatial::Shape;
use std::collections::BTreeMap;

/// Samples beyond these say little more.
const MAX_SAMPLES: usize = 128;
/// Wider layers stay as they are: the time grows with the cube of their inputs.
const MAX_INPUTS: usize = 1536;

/// Rounds weights and corrects biases, on the samples that the truth was taken from and so many of their patches, of
/// every convolution and of every dense layer.
pub(super) fn layers(
    graph: &Graph,
    samples: &[Sample],
    truth: &Truth,
    quantised: &mut Program,
    options: &Options,
    patches: usize,
) -> Result<(), GraphQuantError> {
    let samples = first(samples);
    if samples.is_empty() {
        return Ok(());
    }
    let fault = |(index, error)| GraphQuantError::Sample { index, error };
    let mut made: BTreeMap<usize, Vec<Data>> = BTreeMap::new();
    let inputs: Result<Vec<Data>, GraphQuantError> = samples
        .iter()
        .enumerate()
        .map(|(index, sample)| {
            let input = quantised.input.quantise(sample).map_err(|error| fault((index, error)))?;
            let mut first = IntegerModel::new(quantised).trace_first(&input, 0);
            Ok(first.swap_remove(0))
        })
        .collect();
    made.insert(0, inputs?);
    for index in 0..quantised.nodes.len() {
        if let Some(layer) = Layer::of(graph, quantised, index) {
            let read = quantised.nodes[index].read(0);
            if options.round_together {
                let weights = layer.round(quantised, index, &made[&read], patches);
                set(quantised, index, weights, None);
            }
            if options.bias_correction {
                let bias = layer.correct(quantised, index, &made, truth.of.get(&layer.value));
                set(quantised, index, None, bias);
            }
        }
        let values = parallel::map(samples.len(), |sample| apply(quantised, index, &made, sample));
        made.insert(index + 1, values);
        let is_read_later = |value: usize| {
            quantised.nodes[index + 1..].iter().any(|node| node.reads.iter().any(|read| read.value == value))
        };
        made.retain(|value, _| is_read_later(*value));
    }
    Ok(())
}

/// What a node makes of one sample.
fn apply(program: &Program, index: usize, made: &BTreeMap<usize, Vec<Data>>, sample: usize) -> Data {
    IntegerModel::new(program).apply(index, |value| &made[&value][sample])
}

fn set(program: &mut Program, index: usize, weights: Option<Vec<i32>>, bias: Option<Vec<i32>>) {
    let (Operation::Convolution(Convolution { weights: own, bias: Some(own_bias), .. })
    | Operation::Affine { weights: own, bias: Some(own_bias) }) = &mut program.nodes[index].op
    else {
        return;
    };
    if let Some(weights) = weights {
        own.values = Values::Int(weights);
    }
    if let Some(bias) = bias {
        own_bias.values = Values::Int(bias);
    }
}

/// A layer of weights beside the node of the graph that it stands for.
struct Layer<'g> {
    /// The value of the graph that its sums stand for.
    value: usize,
    op: &'g Op,
    /// What a 1 in its weights stands for, a row each, where it meets the largest of the input's units.
    units: Vec<f64>,
    input_unit: f64,
    /// Of each channel that it reads, the unit by the largest.
    factors: Vec<f64>,
}

impl<'g> Layer<'g> {
    /// `None` of what has no weights, or none that the graph has.
    fn of(graph: &'g Graph, program: &Program, index: usize) -> Option<Self> {
        let node = &program.nodes[index];
        let (Operation::Convolution(Convolution { weights, .. }) | Operation::Affine { weights, .. }) = &node.op else {
            return None;
        };
        let name = weights.name.strip_suffix(".weight")?;
        let place = graph.nodes.iter().position(|node| node.name == name)?;
        let op = &graph.nodes[place].op;
        let channels = program.shape(node.read(0)).channels;
        let read: Vec<f64> = (0..channels).map(|channel| program.unit_of(node.read(0), channel)).collect();
        let input_unit = read.iter().copied().fold(0.0, f64::max);
        let sum_unit = |row: usize| match &node.op {
            // What a rounding does to a 1 of the sums.
            Operation::Convolution(Convolution { rounding: Some(rounding), .. }) => {
                let factor = f64::from(rounding.multipliers[row]) / (1u64 << rounding.shifts[row]) as f64;
                factor * node.value.unit(row)
            }
            _ => node.value.unit(row),
        };
        let units: Vec<f64> = (0..weights.outputs).map(|row| sum_unit(row) / input_unit).collect();
        let factors = read.iter().map(|unit| unit / input_unit).collect();
        let is_alike = real_shape(op)? == (weights.outputs, weights.inputs);
        is_alike.then_some(Self { value: place + 1, op, units, input_unit, factors })
    }

    /// The weights rounded together.
    fn round(&self, program: &Program, index: usize, read: &[Data], most: usize) -> Option<Vec<i32>> {
        let node = &program.nodes[index];
        let real = reals(self.op)?;
        let (shape, zero) = (program.shape(node.read(0)), program.zero(node.read(0)));
        let (weights, patches) = match &node.op {
            Operation::Convolution(op) if op.transposed => return None,
            Operation::Convolution(op) => (&op.weights, Patches::of(op, shape, node.value.shape)),
            Operation::Affine { weights, .. } => (weights, Patches::whole(shape)),
            _ => return None,
        };
        let inputs = weights.inputs;
        if inputs > MAX_INPUTS {
            return None;
        }
        let groups = patches.groups;
        let in_group = weights.outputs / groups;
        let mut made = vec![0; weights.outputs * inputs];
        for group in 0..groups {
            let form = patches.products((group, inputs), zero, read, most);
            let upper = inverse_root(form, inputs);
            let rows = group * in_group..(group + 1) * in_group;
            let left: Vec<f64> = (0..inputs)
                .flat_map(|column| rows.clone().map(move |row| (row, column)))
                .map(|(row, column)| real(row, column) * self.factors[patches.channel(group, column)] / self.units[row])
                .collect();
            let rounded = match upper {
                Some(upper) => rounded_rows(left, in_group, inputs, &upper, 127.0),
                None => left.iter().map(|weight| weight.round().clamp(-127.0, 127.0) as i32).collect(),
            };
            for (column, rounded) in rounded.chunks(in_group).enumerate() {
                made[rows.start + weights.outputs * column..][..in_group].copy_from_slice(rounded);
            }
        }
        Some(made)
    }

    /// The bias, with what the sums miss on the mean; of a dense layer that reads a zero point that is taken off too.
    fn correct(
        &self,
        program: &Program,
        index: usize,
        made: &BTreeMap<usize, Vec<Data>>,
        truth: Option<&Vec<f64>>,
    ) -> Option<Vec<i32>> {
        let (truth, node) = (truth?, &program.nodes[index]);
        let sums = sums_of(program, index, made);
        let bias = match &node.op {
            Operation::Convolution(Convolution { bias, .. }) | Operation::Affine { bias, .. } => bias.as_ref()?,
            _ => return None,
        };
        let shifted = bias.integers().iter().enumerate().map(|(row, bias)| {
            let shift = (truth[row] / (self.units[row] * self.input_unit) - sums[row]).round();
            // A conversion saturates; a bias at the end of i32 leaves no room for sums, which the proof says.
            bias.saturating_add(shift as i32)
        });
        Some(shifted.collect())
    }
}

/// The mean of every channel's sums, before any rounding.
fn sums_of(program: &Program, index: usize, made: &BTreeMap<usize, Vec<Data>>) -> Vec<f64> {
    let mut bare = program.nodes[index].clone();
    if let Operation::Convolution(convolution) = &mut bare.op {
        convolution.rounding = None;
        bare.reads.truncate(1);
    }
    let channels = bare.value.shape.channels;
    let model = IntegerModel::new(program);
    let read = &made[&bare.read(0)];
    // Integers, so that the order in which they are added does not matter.
    let of_samples = parallel::map(read.len(), |sample| {
        let data = model.apply_node(&bare, |value| &made[&value][sample]);
        let mut sums = vec![0i64; channels];
        for pixel in data.integers().chunks(channels) {
            sums.iter_mut().zip(pixel).for_each(|(sum, x)| *sum += i64::from(*x));
        }
        sums
    });
    let count = (read.len() * bare.value.shape.pixels()).max(1) as f64;
    let total = |channel: usize| of_samples.iter().map(|sums| sums[channel]).sum::<i64>();
    (0..channels).map(|channel| total(channel) as f64 / count).collect()
}

/// Element (row, column) of a node's weights.
fn reals(op: &Op) -> Option<Box<dyn Fn(usize, usize) -> f64 + '_>> {
    Some(match op {
        Op::Convolution { weights, .. } | Op::TransposedConvolution { weights, .. } | Op::Linear { weights, .. } => {
            Box::new(move |row, column| weights.at(row, column))
        }
        Op::PerChannel { factors, .. } => Box::new(move |row, _| factors[row]),
        _ => return None,
    })
}

fn real_shape(op: &Op) -> Option<(usize, usize)> {
    match op {
        Op::Convolution { weights, .. } | Op::TransposedConvolution { weights, .. } | Op::Linear { weights, .. } => {
            Some((weights.outputs, weights.inputs))
        }
        Op::PerChannel { factors, .. } => Some((factors.len(), 1)),
        _ => None,
    }
}

/// What each place of a layer's window sees.
struct Patches {
    groups: usize,
    /// Of what is read.
    channels: usize,
    from: Shape,
    to: Shape,
    window: crate::spatial::Window,
}

impl Patches {
    fn of(op: &Convolution, from: Shape, to: Shape) -> Self {
        Self { groups: op.groups, channels: from.channels, from, to, window: op.window }
    }

    /// All of a value at once.
    fn whole(from: Shape) -> Self {
        let one = Shape::vector(from.len());
        Self {
            groups: 1,
            channels: from.channels,
            from: one,
            to: Shape::vector(1),
            window: crate::spatial::Window::of([1, 1]),
        }
    }

    /// The channel that a column of a group reads; of all of a value at once its element.
    fn channel(&self, group: usize, column: usize) -> usize {
        let in_group = self.from.channels / self.groups;
        (group * in_group + column % in_group) % self.channels
    }

    /// `Σ x·xᵀ` over patches of all samples, evenly taken, (n, n), of the integers less their zero point.
    fn products(&self, (group, inputs): (usize, usize), zero: i32, read: &[Data], most: usize) -> Vec<f64> {
        let mut form = vec![0f64; inputs * inputs];
        let in_group = self.from.channels / self.groups;
        let step = (read.len() * self.to.pixels()).div_ceil(most).max(1);
        let mut patch = Vec::with_capacity(inputs);
        let mut next = 0;
        for (sample, data) in read.iter().enumerate() {
            let x = data.integers();
            while next < (sample + 1) * self.to.pixels() {
                let place = next - sample * self.to.pixels();
                next += step;
                patch.clear();
                for tap in 0..self.window.taps() {
                    let (down, across) = (tap / self.window.kernel[1], tap % self.window.kernel[1]);
                    let row = self.window.input(0, place / self.to.width, down, self.from.height);
                    let column = self.window.input(1, place % self.to.width, across, self.from.width);
                    let (Some(row), Some(column)) = (row, column) else { continue };
                    let start = self.from.at(row, column, group * in_group);
                    let seen = x[start..start + in_group].iter().enumerate();
                    let present = seen.filter(|(_, x)| **x != zero);
                    patch.extend(present.map(|(channel, x)| (tap * in_group + channel, f64::from(x - zero))));
                }
                // The lower triangle; the upper one is its mirror.
                for (at, (row, a)) in patch.iter().enumerate() {
                    let row = &mut form[row * inputs..][..inputs];
                    patch[..=at].iter().for_each(|(column, b)| row[*column] += a * b);
                }
            }
        }
        for row in 0..inputs {
            for column in 0..row {
                form[column * inputs + row] = form[row * inputs + column];
            }
        }
        form
    }
}

/// The mean of every channel of the values that layers of weights make, by the value's number.
pub(super) struct Truth {
    of: BTreeMap<usize, Vec<f64>>,
}

/// The samples that are looked at.
fn first(samples: &[Sample]) -> &[Sample] {
    &samples[..MAX_SAMPLES.min(samples.len())]
}

impl Truth {
    /// Of the first samples.
    pub(super) fn of(graph: &Graph, samples: &[Sample]) -> Result<Self, GraphQuantError> {
        let samples = first(samples);
        let shapes = graph.shapes();
        let mut means: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let layers: Vec<usize> = (0..graph.nodes.len())
            .filter(|node| real_shape(&graph.nodes[*node].op).is_some())
            .map(|node| node + 1)
            .collect();
        for (index, sample) in samples.iter().enumerate() {
            let values = graph.trace(sample).map_err(|error| GraphQuantError::Sample { index, error })?;
            for value in &layers {
                let channels = shapes[*value].channels;
                let sums = means.entry(*value).or_insert_with(|| vec![0.0; channels]);
                for pixel in values[*value].chunks(channels) {
                    sums.iter_mut().zip(pixel).for_each(|(sum, x)| *sum += x);
                }
            }
        }
        for (value, sums) in &mut means {
            let count = (samples.len() * shapes[*value].pixels()) as f64;
            sums.iter_mut().for_each(|sum| *sum /= count);
        }
        Ok(Self { of: means })
    }
}
