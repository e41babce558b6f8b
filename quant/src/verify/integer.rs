//! The integer model: the quantised network in plain loops over training-order tensors, with the runtime's definitions of
//! rounding, activation and summation order, and none of its layouts, plans or kernels. Where a container has its neurons in
//! another order, the sums here are still taken in the trainer's; only what is shown for comparison is reordered.
//!
//! It yields the same list of values as the runtime, operation by operation, so that the first difference has a name.

use crate::arch::{Activation, ElementType};
use crate::float::Example;
use crate::quantise::{
    IntegerActivation, QuantLayer, QuantNet, Values, head, quantise_input, requantisation, sum_factor,
};
use bytemuck::cast_slice;
use tamis_runtime::num;

/// One value, as the runtime holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Computed {
    /// What it is: layer and step.
    pub name: String,
    /// Its little-endian bytes.
    pub bytes: Vec<u8>,
    /// Bytes of one element.
    pub element_len_bytes: usize,
}

/// A quantised network as a plain function.
#[derive(Debug)]
pub struct IntegerModel<'n> {
    net: &'n QuantNet,
}

impl<'n> IntegerModel<'n> {
    /// Wraps a network.
    pub const fn new(net: &'n QuantNet) -> Self {
        Self { net }
    }

    /// Every value on the way to the output, the input first; the example must fit the network.
    pub fn trace(&self, example: &Example) -> Vec<Computed> {
        let mut values = Vec::new();
        match example {
            Example::Features { lists, bucket } => self.sparse(lists, *bucket, &mut values),
            Example::Dense(x) => self.dense(x, &mut values),
        }
        values
    }

    fn name(&self, index: usize, step: &str) -> String {
        format!("{} {step}", self.net.arch.layers.get(index).map_or("", |layer| &layer.name))
    }

    fn sparse(&self, lists: &[Vec<u32>; 2], bucket: usize, values: &mut Vec<Computed>) {
        let arch = &self.net.arch;
        let [first, second, ..] = self.net.layers.as_slice() else { return };
        let hidden = first.weights.outputs;
        let acc = self.accumulators(lists);
        push(values, self.name(0, "accumulators"), &self.in_file_order(&acc));
        let Some(activation) = IntegerActivation::of(arch) else { return };
        let rows = self.rows(1, bucket);
        let real = match second.weights.element {
            ElementType::F32 => {
                let reals = reals(activation, &acc, hidden);
                push(values, self.name(0, "activations"), &reals);
                self.affine_f32(1, bucket, &reals, values)
            }
            element => {
                let activated = activated(activation, &acc, hidden);
                if element == ElementType::I8 {
                    let products: Vec<u8> = activated.iter().map(|value| *value as u8).collect();
                    push(values, self.name(0, "products"), &self.in_file_order(&products));
                }
                let sums = dot(second, rows.clone(), &activated);
                push(values, self.name(1, "sums"), &sums);
                if let Some(head) = head(arch) {
                    let bias = second.bias.integers().get(rows).unwrap_or(&[]);
                    let result = |(sum, bias): (&i32, &i32)| {
                        num::rescale(*sum, head.pre_divisor, *bias, head.factor, head.divisor)
                    };
                    let outputs: Vec<i32> = sums.iter().zip(bias).map(result).collect();
                    push(values, self.name(1, "head"), &outputs);
                    return;
                }
                self.dequantise(second, rows, &sums, sum_factor(activation, second), values)
            }
        };
        self.tail(real, bucket, values);
    }

    /// The accumulators of each perspective, in training order.
    fn accumulators(&self, lists: &[Vec<u32>; 2]) -> Vec<i16> {
        let Some(first) = self.net.layers.first() else { return Vec::new() };
        let hidden = first.weights.outputs;
        let mut acc: Vec<i16> = Vec::new();
        for list in lists.iter().take(self.net.arch.perspectives()) {
            let mut side: Vec<i16> = first.bias.integers().iter().map(|bias| *bias as i16).collect();
            for feature in list {
                let row = first.weights.integers().iter().skip(*feature as usize * hidden);
                for (sum, weight) in side.iter_mut().zip(row) {
                    *sum = sum.wrapping_add(*weight as i16);
                }
            }
            acc.extend(side);
        }
        acc
    }

    /// What the second layer's integer weights read, in training order: perspective by perspective, the first list's first.
    pub(crate) fn activations(&self, lists: &[Vec<u32>; 2]) -> Vec<i32> {
        match (IntegerActivation::of(&self.net.arch), self.net.layers.first()) {
            (Some(activation), Some(first)) => activated(activation, &self.accumulators(lists), first.weights.outputs),
            _ => Vec::new(),
        }
    }

    /// Accumulators or products as the runtime holds them, whose neurons stand in the container's order.
    fn in_file_order<T: Copy>(&self, values: &[T]) -> Vec<T> {
        let mut values = values.to_vec();
        if let Some(permutation) = &self.net.permutation {
            permutation.apply(&mut values, 1);
        }
        values
    }

    fn rows(&self, index: usize, bucket: usize) -> std::ops::Range<usize> {
        let Some(layer) = self.net.arch.layers.get(index) else { return 0..0 };
        let first = if layer.bucketed { bucket * layer.outputs } else { 0 };
        first..first + layer.outputs
    }

    fn dequantise(
        &self,
        layer: &QuantLayer,
        rows: std::ops::Range<usize>,
        sums: &[i32],
        factor: f32,
        values: &mut Vec<Computed>,
    ) -> Vec<f32> {
        let reals: Vec<f32> = match &layer.bias.values {
            Values::F32(bias) => {
                sums.iter().zip(bias.get(rows).unwrap_or(&[])).map(|(sum, bias)| *sum as f32 * factor + bias).collect()
            }
            Values::Int(_) => Vec::new(), // the packer refuses it
        };
        push(values, self.name(1, "sums as reals"), &reals);
        reals
    }

    fn affine_f32(&self, index: usize, bucket: usize, x: &[f32], values: &mut Vec<Computed>) -> Vec<f32> {
        let Some(layer) = self.net.layers.get(index) else { return Vec::new() };
        let (Values::F32(weights), Values::F32(bias)) = (&layer.weights.values, &layer.bias.values) else {
            return Vec::new();
        };
        let outputs = layer.weights.outputs;
        let row = |row: usize| {
            let mut lanes = [0f32; 8];
            for (input, value) in x.iter().enumerate() {
                if let (Some(lane), Some(weight)) = (lanes.get_mut(input % 8), weights.get(row + outputs * input)) {
                    *lane += value * weight;
                }
            }
            num::reduce_f32(lanes) + bias.get(row).copied().unwrap_or(0.0)
        };
        let sums: Vec<f32> = self.rows(index, bucket).map(row).collect();
        push(values, self.name(index, "sums"), &sums);
        sums
    }

    fn tail(&self, mut sums: Vec<f32>, bucket: usize, values: &mut Vec<Computed>) {
        let arch = &self.net.arch;
        let mut skips: Vec<Vec<f32>> = Vec::new();
        for (index, layer) in arch.layers.iter().enumerate().skip(1) {
            let skipping = sums.split_off(arch.active_outputs(index).min(sums.len()));
            if !skipping.is_empty() {
                skips.push(skipping);
            }
            if layer.activation != Activation::Identity {
                sums = activate_f32(layer.activation, &sums);
                push(values, self.name(index, "activations"), &sums);
            }
            if index + 1 < self.net.layers.len() {
                sums = self.affine_f32(index + 1, bucket, &sums, values);
            }
        }
        for skip in skips {
            sums.iter_mut().zip(&skip).for_each(|(sum, skip)| *sum += skip);
            push(values, "skip".to_owned(), &sums);
        }
        sums.iter_mut().for_each(|sum| *sum *= arch.output.scale as f32);
        push(values, "output".to_owned(), &sums);
    }

    fn dense(&self, x: &[f64], values: &mut Vec<Computed>) {
        let quantised = quantise_input(&self.net.arch, x);
        push(values, "input".to_owned(), &quantised);
        let mut inputs: Vec<i32> = quantised.iter().map(|value| i32::from(*value)).collect();
        for (index, layer) in self.net.layers.iter().enumerate() {
            let Some(scales) = &layer.dense else { return };
            let mut sums = dot(layer, 0..layer.weights.outputs, &inputs);
            sums.iter_mut().zip(layer.bias.integers()).for_each(|(sum, bias)| *sum = sum.wrapping_add(*bias));
            push(values, self.name(index, "sums"), &sums);
            inputs = sums
                .iter()
                .enumerate()
                .map(|(output, sum)| {
                    let (multiplier, shift) = requantisation(scales.factor(output)).unwrap_or((0, 1));
                    num::requantise(*sum, multiplier, shift, scales.low, scales.high)
                })
                .collect();
            if scales.high == 127 {
                push(
                    values,
                    self.name(index, "activations"),
                    &inputs.iter().map(|value| *value as i8).collect::<Vec<i8>>(),
                );
            } else {
                push(values, self.name(index, "outputs"), &inputs);
            }
        }
    }
}

pub(super) fn push<T: bytemuck::Pod>(values: &mut Vec<Computed>, name: String, elements: &[T]) {
    values.push(Computed { name, bytes: cast_slice(elements).to_vec(), element_len_bytes: size_of::<T>() });
}

/// Accumulators as integer activations, perspective by perspective.
fn activated(activation: IntegerActivation, acc: &[i16], hidden: usize) -> Vec<i32> {
    let wide: Vec<i64> = acc.iter().map(|value| i64::from(*value)).collect();
    let sides = wide.chunks(hidden.max(1)).flat_map(|side| activation.apply(side));
    sides.map(|value| value as i32).collect()
}

/// Accumulators as f32 activations; in pairs, unit i with unit i + hidden/2 of the same perspective.
fn reals(activation: IntegerActivation, acc: &[i16], hidden: usize) -> Vec<f32> {
    let inverse = (1.0 / f64::from(activation.qa)) as f32;
    let real = |value: &i16| f32::from(num::clip(*value, activation.clip as i16)) * inverse;
    match activation.activation {
        Activation::PairwiseCrelu => {
            let halves = acc.chunks(hidden.max(1)).map(|side| side.split_at(side.len() / 2));
            halves.flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| real(a) * real(b))).collect()
        }
        Activation::Crelu => acc.iter().map(real).collect(),
        _ => acc.iter().map(|value| real(value) * real(value)).collect(),
    }
}

/// `Σ w · x` modulo 2³² for some rows.
fn dot(layer: &QuantLayer, rows: std::ops::Range<usize>, x: &[i32]) -> Vec<i32> {
    let outputs = layer.weights.outputs;
    let mut sums = vec![0i32; rows.len()];
    for (column, value) in layer.weights.integers().chunks(outputs.max(1)).zip(x) {
        for (sum, weight) in sums.iter_mut().zip(column.get(rows.clone()).unwrap_or(&[])) {
            *sum = sum.wrapping_add(weight.wrapping_mul(*value));
        }
    }
    sums
}

fn activate_f32(activation: Activation, x: &[f32]) -> Vec<f32> {
    let (first, second) = x.split_at(x.len() / 2);
    match activation {
        Activation::PairwiseCrelu => first.iter().zip(second).map(|(a, b)| num::crelu(*a) * num::crelu(*b)).collect(),
        Activation::DualCrelu => x.iter().map(|x| num::crelu(*x)).chain(x.iter().map(|x| num::crelu(x * x))).collect(),
        Activation::Identity => x.to_vec(),
        Activation::Relu => x.iter().map(|x| num::relu(*x)).collect(),
        Activation::Crelu => x.iter().map(|x| num::crelu(*x)).collect(),
        Activation::Screlu => x.iter().map(|x| num::crelu(*x) * num::crelu(*x)).collect(),
        Activation::Sqrrelu => x.iter().map(|x| num::relu(*x) * num::relu(*x)).collect(),
    }
}
