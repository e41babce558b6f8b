//! One operation on one sample, as FORMAT.md words it.

use super::activation::{activate, activate_clipped, halves, sum_f32};
use super::data::{Data, clipped};
use super::{maps, wide};
use crate::program::{ByteActivation, Element, Operation, Program, ProgramInput, ProgramNode, QuantTensor, Values};
use std::borrow::Cow;
use tamis_runtime::raw::num;

/// What `node` makes of the values before it, with an output bucket's banks.
pub(super) fn apply<'v>(
    program: &Program,
    node: &ProgramNode,
    value: impl Fn(usize) -> &'v Data,
    bucket: usize,
) -> Data {
    let input = &program.input;
    let parts: Vec<Cow<'_, Data>> = node
        .reads
        .iter()
        .map(|read| match read.part {
            None => Cow::Borrowed(value(read.value)),
            Some((start, len)) => Cow::Owned(value(read.value).part(start, len)),
        })
        .collect();
    let x = |place: usize| &*parts[place];
    let real = node.value.element == Element::F32;
    let map = |place: usize| {
        let value = node.read(place);
        maps::Read { x: parts[place].integers(), shape: program.shape(value), zero: program.zero(value) }
    };
    let sides = || x(0).integers().chunks(program.width());
    match &node.op {
        Operation::ActivateDot { weights, clip, max } => {
            let activated: Vec<i32> = x(0).integers().iter().map(|value| clipped(*clip, *max, *value)).collect();
            Data::Int(affine((weights, None), &activated, bucket, i32::wrapping_mul))
        }
        Operation::RoundedDot { weights, bias, max } => {
            let clipped: Vec<i32> = x(0).integers().iter().map(|value| (*value).clamp(0, *max)).collect();
            let term = |weight: i32, x: i32| i32::from(num::mul_round(x as i16, weight as i16)) * x;
            Data::Int(affine((weights, bias.as_ref()), &clipped, bucket, term))
        }
        Operation::Rescale { bias, pre, factor, divisor } => {
            let bias = &bias.integers()[bias.bank(bucket)];
            let one = |(x, bias): (&i32, &i32)| num::rescale(*x, *pre, *bias, *factor, *divisor);
            Data::Int(alike(x(0).integers(), bias).map(one).collect())
        }
        op @ Operation::WideHead { .. } => Data::Int(wide::head(op, x(0).integers(), bucket)),
        Operation::ActivateF32 { activation, max, inverse, left_out } => {
            let reals = |side: &[i32]| -> Vec<f32> {
                side[..side.len() - left_out]
                    .iter()
                    .map(|value| f32::from(num::clip(*value as i16, *max as i16)) * inverse)
                    .collect()
            };
            Data::Real(sides().flat_map(|side| activate_clipped(*activation, &reals(side))).collect())
        }
        Operation::PairwiseU8 { max, shift, is_rounded, left_out } => {
            let cut = |product: i32| if *is_rounded { num::shift_round(product, *shift) } else { product >> shift };
            let product = |(a, b): (&i32, &i32)| cut(a.clamp(&0, max) * b.clamp(&0, max));
            let products = |side: &[i32]| -> Vec<i32> {
                let (first, second) = halves(&side[..side.len() - left_out]);
                first.iter().zip(second).map(product).collect()
            };
            Data::Int(sides().flat_map(products).collect())
        }
        Operation::ClipU8 { max, shift, left_out } => {
            let read = sides().flat_map(|side| &side[..side.len() - left_out]);
            Data::Int(read.map(|value| value.clamp(&0, max) >> shift).collect())
        }
        Operation::Psqt { digits, bits } => {
            let part = |side: &[i32]| -> i64 {
                let columns = &side[side.len() - digits * program.buckets()..];
                let digit = |place: usize| i64::from(columns[place * program.buckets() + bucket]);
                (0..*digits).map(|place| digit(place) << (*bits as usize * place)).sum()
            };
            let parts: Vec<i64> = sides().map(part).collect();
            Data::Int(vec![((parts[0] - parts[1]) / 2) as i32])
        }
        Operation::FeatureSums { digits, bits, sides: taken, is_bucketed } => {
            let len = node.value.len();
            let (bank, numbers) = if *is_bucketed { (bucket * len, program.buckets() * len) } else { (0, len) };
            let number = |side: &[i32], row: usize| -> i64 {
                let columns = &side[side.len() - digits * numbers..];
                let digit = |place: usize| i64::from(columns[place * numbers + bank + row]);
                (0..*digits).map(|place| digit(place) << (*bits as usize * place)).sum()
            };
            let one = |row| sides().zip(taken.signs()).map(|(side, sign)| sign * number(side, row)).sum::<i64>() as i32;
            Data::Int((0..len).map(one).collect())
        }
        Operation::ActivateU8 { form, max, clip_shift, square_shift } => {
            let squared = |x: &i32| ((i64::from(*x) * i64::from(*x)) >> square_shift).min(i64::from(*max)) as i32;
            let clipped = |x: &i32| (x >> clip_shift).clamp(0, *max);
            let x = x(0).integers();
            Data::Int(match form {
                ByteActivation::Clip => x.iter().map(clipped).collect(),
                ByteActivation::Square => x.iter().map(squared).collect(),
                ByteActivation::Both => x.iter().map(squared).chain(x.iter().map(clipped)).collect(),
            })
        }
        Operation::Affine { weights, bias } => {
            Data::Int(affine((weights, bias.as_ref()), x(0).integers(), bucket, i32::wrapping_mul))
        }
        Operation::AffineI32 { clip, is_dual, max, shift, weights, bias } => {
            let shifted = || x(0).integers().iter().map(|sum| sum >> shift);
            let activated: Vec<i32> = if *is_dual {
                let first = shifted().map(|sum| sum.clamp(0, *max) * max);
                first.chain(shifted().map(|sum| sum.clamp(-max, *max).pow(2))).collect()
            } else {
                shifted().map(|sum| clipped(*clip, *max, sum)).collect()
            };
            Data::Int(affine((weights, bias.as_ref()), &activated, bucket, i32::wrapping_mul))
        }
        Operation::AffineF32 { weights, bias } => Data::Real(affine_f32(weights, bias.as_ref(), x(0).reals(), bucket)),
        Operation::SparseAffine { weights, bias } if real => {
            Data::Real(sparse_affine_f32(weights, bias.as_ref(), x(0).active(), sparse_unit(input)))
        }
        Operation::SparseAffine { weights, bias } => Data::Int(sparse_affine(weights, bias.as_ref(), x(0).active())),
        Operation::SparseRows { table, .. } if real => {
            let mut rows = Vec::with_capacity(node.value.len());
            for (feature, value) in x(0).active() {
                let factor = sparse_unit(input).map(|unit| *value as f32 * unit);
                let row = column(table.reals(), table.outputs, *feature);
                rows.extend(row.iter().map(|weight| factor.map_or(*weight, |factor| factor * weight)));
            }
            rows.resize(node.value.len(), 0.0);
            Data::Real(rows)
        }
        Operation::SparseRows { table, requantisation } => {
            let limit = if node.value.element == Element::I8 { i32::from(i8::MAX) } else { i32::from(i16::MAX) };
            let mut rows = Vec::with_capacity(node.value.len());
            for (feature, value) in x(0).active() {
                let row = column(table.integers(), table.outputs, *feature);
                rows.extend(row.iter().map(|weight| match requantisation {
                    Some((multiplier, shift)) => num::requantise(value * weight, *multiplier, *shift, -limit, limit),
                    None => *weight,
                }));
            }
            rows.resize(node.value.len(), 0);
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
        Operation::Concat { runs } if real => Data::Real(maps::concat(x(0).reals(), x(1).reals(), *runs)),
        Operation::Concat { runs } => Data::Int(maps::concat(x(0).integers(), x(1).integers(), *runs)),
        Operation::Multiply => Data::Real(alike(x(0).reals(), x(1).reals()).map(|(a, b)| a * b).collect()),
        Operation::Add if real => Data::Real(alike(x(0).reals(), x(1).reals()).map(|(a, b)| a + b).collect()),
        Operation::Add => Data::Int(alike(x(0).integers(), x(1).integers()).map(|(a, b)| a.wrapping_add(*b)).collect()),
        Operation::Requantise { multipliers, shifts, low, high } => {
            let zero = node.value.zero;
            let one = |((x, multiplier), shift): ((&i32, &i32), &u8)| {
                let (low, high) = (low.saturating_sub(zero), high.saturating_sub(zero));
                num::requantise(*x, *multiplier, u32::from(*shift), low, high) + zero
            };
            Data::Int(alike(x(0).integers(), multipliers).zip(shifts).map(one).collect())
        }
        Operation::Lookup { table } => {
            let one = |x: &i32| table[usize::from(*x as u8)];
            Data::Int(x(0).integers().iter().map(one).collect())
        }
        Operation::Trees { features, thresholds, leaves } => {
            Data::Int(vec![trees([features, thresholds, leaves], x(0))])
        }
        Operation::ToF32 { factor, zero } => {
            Data::Real(x(0).integers().iter().map(|x| (x - zero) as f32 * factor).collect())
        }
        Operation::Dequantise { factor, bias } => {
            let reals = x(0).integers().iter().map(|x| *x as f32 * factor);
            Data::Real(match bias {
                Some(bias) => reals.zip(&bias.reals()[bias.bank(bucket)]).map(|(x, bias)| x + bias).collect(),
                None => reals.collect(),
            })
        }
        Operation::Quantise { inverse, low, high } => {
            let one = |x: &f32| num::quantise(*x, *inverse, node.value.zero, *low, *high);
            Data::Int(x(0).reals().iter().map(one).collect())
        }
        Operation::Activation(activation) => Data::Real(activate(*activation, x(0).reals())),
        Operation::Scale(factor) => Data::Real(x(0).reals().iter().map(|x| x * factor).collect()),
        Operation::Convolution(op) => {
            let second = node.reads.get(1).map(|_| map(1));
            Data::Int(maps::convolution(op, map(0), second, &node.value))
        }
        Operation::Pool { window, kind, low, high } => {
            Data::Int(maps::pool(window, *kind, (*low, *high), map(0), node.value.shape))
        }
        Operation::Elementwise { pairing, multipliers, shift, low, high } => {
            let (multipliers, shift, low, high) = (*multipliers, *shift, *low, *high);
            let how = maps::How { pairing: *pairing, multipliers, shift, low, high };
            Data::Int(maps::pairs(&how, map(0), map(1), &node.value))
        }
        Operation::Move { start, steps } => Data::Int(maps::moved(*start, *steps, x(0).integers(), node.value.shape)),
        Operation::Pad { before } => Data::Int(maps::pad(*before, map(0), &node.value)),
        Operation::Resize { taps } => Data::Int(maps::resize(taps, map(0), node.value.shape)),
    }
}

/// Two vectors element by element.
fn alike<'x, A, B>(a: &'x [A], b: &'x [B]) -> impl Iterator<Item = (&'x A, &'x B)> {
    assert_eq!(a.len(), b.len(), "vectors that an operation takes element by element");
    a.iter().zip(b)
}

/// The weights of one feature, or of one input.
fn column<T>(values: &[T], outputs: usize, input: u32) -> &[T] {
    let start = outputs * input as usize;
    &values[start..start + outputs]
}

/// The real value of a 1 in the values of sparse features; 1 without values.
fn sparse_unit(input: &ProgramInput) -> Option<f32> {
    match input {
        ProgramInput::Sparse { unit, .. } => *unit,
        ProgramInput::Dense { .. } | ProgramInput::Features { .. } => None,
    }
}

/// The start of a layer's sums: a bank of its bias, or zeros.
fn start<T: Copy + Default>(bias: Option<&[T]>, len: usize) -> Vec<T> {
    let sums = bias.map_or_else(|| vec![T::default(); len], <[T]>::to_vec);
    assert_eq!(sums.len(), len, "a bias for each output");
    sums
}

fn affine(
    (weights, bias): (&QuantTensor, Option<&QuantTensor>),
    x: &[i32],
    bucket: usize,
    term: fn(i32, i32) -> i32,
) -> Vec<i32> {
    assert_eq!(weights.inputs, x.len(), "inputs of `{}`", weights.name);
    let rows = weights.bank(bucket);
    let mut sums = start(bias.map(|bias| &bias.integers()[bias.bank(bucket)]), rows.len());
    for (column, x) in weights.integers().chunks(weights.outputs).zip(x) {
        let bank = &column[rows.clone()];
        sums.iter_mut().zip(bank).for_each(|(sum, weight)| *sum = sum.wrapping_add(term(*weight, *x)));
    }
    sums
}

fn sparse_affine(weights: &QuantTensor, bias: Option<&QuantTensor>, active: &[(u32, i32)]) -> Vec<i32> {
    let mut sums = start(bias.map(QuantTensor::integers), weights.outputs);
    for (feature, value) in active {
        let column = column(weights.integers(), weights.outputs, *feature);
        sums.iter_mut().zip(column).for_each(|(sum, weight)| *sum = sum.wrapping_add(weight.wrapping_mul(*value)));
    }
    sums
}

fn sparse_affine_f32(
    weights: &QuantTensor,
    bias: Option<&QuantTensor>,
    active: &[(u32, i32)],
    unit: Option<f32>,
) -> Vec<f32> {
    let mut sums = start(bias.map(QuantTensor::reals), weights.outputs);
    for (feature, value) in active {
        let factor = unit.map(|unit| *value as f32 * unit);
        for (sum, weight) in sums.iter_mut().zip(column(weights.reals(), weights.outputs, *feature)) {
            *sum += factor.map_or(*weight, |factor| factor * weight);
        }
    }
    sums
}

fn affine_f32(weights: &QuantTensor, bias: Option<&QuantTensor>, x: &[f32], bucket: usize) -> Vec<f32> {
    assert_eq!(weights.inputs, x.len(), "inputs of `{}`", weights.name);
    let row = |output: usize| {
        let row = weights.reals().iter().skip(output).step_by(weights.outputs);
        sum_f32(x.iter().zip(row).map(|(x, w)| x * w))
    };
    let sums = weights.bank(bucket).map(row);
    match bias {
        Some(bias) => sums.zip(&bias.reals()[bias.bank(bucket)]).map(|(sum, bias)| sum + bias).collect(),
        None => sums.collect(),
    }
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
    let of = |(index, a): (usize, &&[T])| rows[index + 1..].iter().map(|b| product(a, b)).collect::<Vec<U>>();
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
            // −1 in a leaf.
            let Ok(feature) = u32::try_from(features.integers()[at]) else { break at };
            let left = match &thresholds.values {
                Values::F32(values) => x.reals()[feature as usize] <= values[at],
                Values::Int(values) => element(x, feature) <= values[at],
            };
            let next = 2 * node + if left { 1 } else { 2 };
            if next >= nodes {
                break at;
            }
            node = next;
        };
        sum = sum.wrapping_add(leaves.integers()[end]);
    }
    sum
}

/// One element of an integer vector, or the value of a feature, 0 where it is not active.
fn element(x: &Data, feature: u32) -> i32 {
    match x {
        Data::Sparse(active) => match active.iter().find(|(other, _)| *other == feature) {
            Some((_, value)) => *value,
            None => 0,
        },
        Data::Int(values) => values[feature as usize],
        Data::Real(_) => panic!("integer thresholds for reals"),
    }
}
