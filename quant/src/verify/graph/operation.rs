//! One operation on one sample, as FORMAT.md words it.

use super::data::Data;
use super::model::sparse_unit;
use crate::graph::Activation;
use crate::program::{Element, Operation, ProgramInput, ProgramNode};
use crate::quantise::{QuantTensor, Values};
use tamis_runtime::num;

/// What `node` makes of the values before it.
pub(super) fn apply(input: &ProgramInput, node: &ProgramNode, values: &[Data]) -> Data {
    const NOTHING: &Data = &Data::Int(Vec::new());
    let x = |place: usize| node.reads.get(place).and_then(|value| values.get(*value)).unwrap_or(NOTHING);
    let real = node.value.element == Element::F32;
    match &node.op {
        Operation::Affine { weights, bias } => Data::Int(affine(weights, bias, x(0).integers())),
        Operation::AffineF32 { weights, bias } => Data::Real(affine_f32(weights, bias, x(0).reals())),
        Operation::SparseAffine { weights, bias } if real => {
            Data::Real(sparse_affine_f32(weights, bias, x(0).active(), sparse_unit(input)))
        }
        Operation::SparseAffine { weights, bias } => Data::Int(sparse_affine(weights, bias, x(0).active())),
        Operation::SparseRows { table, .. } if real => {
            let mut rows = Vec::with_capacity(node.value.len);
            for (feature, value) in x(0).active() {
                let factor = sparse_unit(input).map(|unit| *value as f32 * unit);
                let row = column(reals(table), table.outputs, *feature);
                rows.extend(row.iter().map(|weight| factor.map_or(*weight, |factor| factor * weight)));
            }
            rows.resize(node.value.len, 0.0);
            Data::Real(rows)
        }
        Operation::SparseRows { table, requantisation } => {
            let limit = if node.value.element == Element::I8 { i32::from(i8::MAX) } else { i32::from(i16::MAX) };
            let mut rows = Vec::with_capacity(node.value.len);
            for (feature, value) in x(0).active() {
                let row = column(table.integers(), table.outputs, *feature);
                rows.extend(row.iter().map(|weight| match requantisation {
                    Some((multiplier, shift)) => num::requantise(value * weight, *multiplier, *shift, -limit, limit),
                    None => *weight,
                }));
            }
            rows.resize(node.value.len, 0);
            Data::Int(rows)
        }
        Operation::FmTerm { width } if real => Data::Real(vec![sum_f32(bi_f32(x(0).reals(), *width).into_iter())]),
        Operation::FmTerm { width } => {
            let sum = bi(x(0).integers(), *width).into_iter().fold(0i32, i32::wrapping_add);
            Data::Int(vec![sum])
        }
        Operation::BiInteraction { width } if real => Data::Real(bi_f32(x(0).reals(), *width)),
        Operation::BiInteraction { width } => Data::Int(bi(x(0).integers(), *width)),
        Operation::InnerProducts { width } if real => {
            let product = |a: &[f32], b: &[f32]| sum_f32(a.iter().zip(b).map(|(a, b)| a * b));
            Data::Real(pairs(x(0).reals(), *width, product))
        }
        Operation::InnerProducts { width } => {
            let product = |a: &[i32], b: &[i32]| a.iter().zip(b).fold(0i32, |sum, (a, b)| sum.wrapping_add(a * b));
            Data::Int(pairs(x(0).integers(), *width, product))
        }
        Operation::Concat if real => Data::Real([x(0).reals(), x(1).reals()].concat()),
        Operation::Concat => Data::Int([x(0).integers(), x(1).integers()].concat()),
        Operation::Add if real => Data::Real(x(0).reals().iter().zip(x(1).reals()).map(|(a, b)| a + b).collect()),
        Operation::Add => {
            Data::Int(x(0).integers().iter().zip(x(1).integers()).map(|(a, b)| a.wrapping_add(*b)).collect())
        }
        Operation::Requantise { multipliers, shifts, low, high } => {
            let zero = node.value.zero;
            let one = |((x, multiplier), shift): ((&i32, &i32), &u8)| {
                let (low, high) = (low.saturating_sub(zero), high.saturating_sub(zero));
                num::requantise(*x, *multiplier, u32::from(*shift), low, high) + zero
            };
            Data::Int(x(0).integers().iter().zip(multipliers).zip(shifts).map(one).collect())
        }
        Operation::Lookup { table } => {
            let one = |x: &i32| table.get(usize::from(*x as u8)).copied().unwrap_or(0);
            Data::Int(x(0).integers().iter().map(one).collect())
        }
        Operation::Trees { features, thresholds, leaves } => Data::Int(vec![trees([features, thresholds, leaves], x(0))]),
        Operation::ToF32 { factor, zero } => {
            Data::Real(x(0).integers().iter().map(|x| (x - zero) as f32 * factor).collect())
        }
        Operation::Dequantise { factor } => Data::Real(x(0).integers().iter().map(|x| *x as f32 * factor).collect()),
        Operation::Quantise { inverse, low, high } => {
            let one = |x: &f32| num::quantise(*x, *inverse, node.value.zero, *low, *high);
            Data::Int(x(0).reals().iter().map(one).collect())
        }
        Operation::Activation(activation) => Data::Real(activate(*activation, x(0).reals())),
        Operation::Scale(factor) => Data::Real(x(0).reals().iter().map(|x| x * factor).collect()),
    }
}

/// The weights of one feature, or of one input.
fn column<T>(values: &[T], outputs: usize, input: u32) -> &[T] {
    let start = outputs * input as usize;
    values.get(start..start + outputs).unwrap_or(&[])
}

fn reals(tensor: &QuantTensor) -> &[f32] {
    match &tensor.values {
        Values::F32(values) => values,
        Values::Int(_) => &[],
    }
}

fn affine(weights: &QuantTensor, bias: &QuantTensor, x: &[i32]) -> Vec<i32> {
    let mut sums = bias.integers().to_vec();
    for (column, x) in weights.integers().chunks(weights.outputs.max(1)).zip(x) {
        sums.iter_mut().zip(column).for_each(|(sum, weight)| *sum = sum.wrapping_add(weight.wrapping_mul(*x)));
    }
    sums
}

fn sparse_affine(weights: &QuantTensor, bias: &QuantTensor, active: &[(u32, i32)]) -> Vec<i32> {
    let mut sums = bias.integers().to_vec();
    for (feature, value) in active {
        let column = column(weights.integers(), weights.outputs, *feature);
        sums.iter_mut().zip(column).for_each(|(sum, weight)| *sum = sum.wrapping_add(weight.wrapping_mul(*value)));
    }
    sums
}

fn sparse_affine_f32(weights: &QuantTensor, bias: &QuantTensor, active: &[(u32, i32)], unit: Option<f32>) -> Vec<f32> {
    let mut sums = reals(bias).to_vec();
    for (feature, value) in active {
        let factor = unit.map(|unit| *value as f32 * unit);
        for (sum, weight) in sums.iter_mut().zip(column(reals(weights), weights.outputs, *feature)) {
            *sum += factor.map_or(*weight, |factor| factor * weight);
        }
    }
    sums
}

/// Eight lanes in the one order of f32 sums, each from +0 on.
fn sum_f32(terms: impl Iterator<Item = f32>) -> f32 {
    let mut lanes = [0f32; 8];
    for (index, term) in terms.enumerate() {
        lanes[index % 8] += term;
    }
    num::reduce_f32(lanes)
}

fn affine_f32(weights: &QuantTensor, bias: &QuantTensor, x: &[f32]) -> Vec<f32> {
    let (outputs, weights) = (weights.outputs, reals(weights));
    let row = |output: usize| sum_f32(x.iter().zip(weights.iter().skip(output).step_by(outputs)).map(|(x, w)| x * w));
    reals(bias).iter().enumerate().map(|(output, bias)| row(output) + bias).collect()
}

/// The sum over pairs of each element; pair by pair, which modulo 2³² is ½ ((Σ e)² − Σ e²).
fn bi(x: &[i32], width: usize) -> Vec<i32> {
    let of = |element: usize| {
        let (mut before, mut sum) = (0i32, 0i32);
        for e in x.iter().skip(element).step_by(width.max(1)) {
            sum = sum.wrapping_add(before.wrapping_mul(*e));
            before = before.wrapping_add(*e);
        }
        sum
    };
    (0..width).map(of).collect()
}

fn bi_f32(x: &[f32], width: usize) -> Vec<f32> {
    let of = |element: usize| {
        let (mut before, mut sum) = (0f32, 0f32);
        for e in x.iter().skip(element).step_by(width.max(1)) {
            sum += before * e;
            before += e;
        }
        sum
    };
    (0..width).map(of).collect()
}

fn pairs<T, U>(x: &[T], width: usize, product: impl Fn(&[T], &[T]) -> U) -> Vec<U> {
    let rows: Vec<&[T]> = x.chunks_exact(width.max(1)).collect();
    let of = |(index, a): (usize, &&[T])| {
        rows.get(index + 1..).unwrap_or(&[]).iter().map(|b| product(a, b)).collect::<Vec<U>>()
    };
    rows.iter().enumerate().flat_map(of).collect()
}

/// The sum of the leaves; tensors: features, thresholds, leaves.
fn trees([features, thresholds, leaves]: [&QuantTensor; 3], x: &Data) -> i32 {
    let (trees, nodes) = (features.outputs, features.inputs);
    let mut sum = 0i32;
    for tree in 0..trees {
        let mut node = 0;
        let end = loop {
            let at = tree + trees * node;
            let Some(feature) = features.integers().get(at).and_then(|feature| u32::try_from(*feature).ok()) else {
                break at;
            };
            let left = match &thresholds.values {
                Values::F32(values) => {
                    let found = x.reals().get(feature as usize).copied().unwrap_or(0.0);
                    values.get(at).is_some_and(|threshold| found <= *threshold)
                }
                Values::Int(values) => values.get(at).is_some_and(|threshold| element(x, feature) <= *threshold),
            };
            let next = 2 * node + if left { 1 } else { 2 };
            if next >= nodes {
                break at;
            }
            node = next;
        };
        sum = sum.wrapping_add(leaves.integers().get(end).copied().unwrap_or(0));
    }
    sum
}

/// One element of an integer vector, or the value of a feature, 0 where it is not active.
fn element(x: &Data, feature: u32) -> i32 {
    match x {
        Data::Sparse(active) => active.iter().find(|(other, _)| *other == feature).map_or(0, |(_, value)| *value),
        Data::Int(values) => values.get(feature as usize).copied().unwrap_or(0),
        Data::Real(_) => 0,
    }
}

fn activate(activation: Activation, x: &[f32]) -> Vec<f32> {
    match activation {
        Activation::Relu => x.iter().map(|x| num::relu(*x)).collect(),
        Activation::LeakyRelu { alpha } => {
            let alpha = alpha as f32;
            x.iter().map(|x| if *x > 0.0 { *x } else { alpha * x }).collect()
        }
        Activation::Sigmoid => x.iter().map(|x| num::sigmoid(*x)).collect(),
        Activation::Tanh => x.iter().map(|x| num::tanh(*x)).collect(),
        Activation::Softmax => {
            let largest = x.iter().copied().reduce(|m, x| if x > m { x } else { m }).unwrap_or(0.0);
            let powers: Vec<f32> = x.iter().map(|x| num::exp(x - largest)).collect();
            let sum = sum_f32(powers.iter().copied());
            powers.iter().map(|power| power / sum).collect()
        }
    }
}
