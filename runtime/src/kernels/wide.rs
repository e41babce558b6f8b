//! The portable fast tier, in `wide`: vectors of sixteen i16 and eight f32 that the compiler maps to whatever the target
//! has. Tails shorter than a vector go through the scalar definition.
//!
//! The tricks, and why the bits stay the same:
//! - Integer sums wrap, so their order is free. `dot` multiplies sixteen i16 pairs and adds neighbours into eight i32: exact.
//! - SCReLU, short: `clip(x) · w` fits i16 (or wraps as the definition says), then one `dot` with `clip(x)`.
//! - SCReLU, any weights: `clip(x)²` does not fit i16, so that values are widened to i32 and multiplied there, modulo 2³², as
//!   the definition does.
//! - K4 dense layers: four inputs are repeated over four rows, so that one `dot` of sixteen widened weights gives two partial
//!   sums for each of the four rows.
//! - f32: lane k of the vector is lane k of the definition; product and sum stay two operations.

use super::{Kernel, Kernels, scalar};
use crate::format::{Layout, activation};
use crate::num;
use bytemuck::cast;
use wide::{f32x8, i16x8, i16x16, i32x8};

const NAME: &str = "wide";
const SCALAR: &str = "scalar";

pub(super) static KERNELS: Kernels = Kernels {
    name: NAME,
    add_i16: Kernel { call: add_i16, from: NAME },
    sub_i16: Kernel { call: sub_i16, from: NAME },
    add_i8: Kernel { call: add_i8, from: NAME },
    sub_i8: Kernel { call: sub_i8, from: NAME },
    move_i16: Kernel { call: move_i16, from: NAME },
    dot_crelu: Kernel { call: dot_crelu, from: NAME },
    dot_screlu: Kernel { call: dot_screlu, from: NAME },
    dot_screlu_short: Kernel { call: dot_screlu_short, from: NAME },
    dot_sqrrelu: Kernel { call: dot_screlu, from: NAME },
    pairwise_u8: Kernel { call: pairwise_u8, from: NAME },
    activate_f32: Kernel { call: activate_f32, from: NAME },
    affine_u8: Kernel { call: affine_u8, from: NAME },
    affine_i8: Kernel { call: affine_i8, from: NAME },
    affine_f32: Kernel { call: affine_f32, from: NAME },
    activation_f32: Kernel { call: scalar::activation_f32, from: SCALAR },
    requantise_u8: Kernel { call: scalar::requantise_u8, from: SCALAR },
    requantise_i8: Kernel { call: scalar::requantise_i8, from: SCALAR },
    requantise_i32: Kernel { call: scalar::requantise_i32, from: SCALAR },
};

const N: usize = 16;

fn add_i16(acc: &mut [i16], row: &[i16]) {
    for_each_vector(acc, row, |a, b| a + b, i16::wrapping_add);
}

fn sub_i16(acc: &mut [i16], row: &[i16]) {
    for_each_vector(acc, row, |a, b| a - b, i16::wrapping_sub);
}

fn for_each_vector(acc: &mut [i16], row: &[i16], vector: fn(i16x16, i16x16) -> i16x16, single: fn(i16, i16) -> i16) {
    let (sums, sums_rest) = acc.as_chunks_mut::<N>();
    let (weights, weights_rest) = row.as_chunks::<N>();
    for (sum, weight) in sums.iter_mut().zip(weights) {
        *sum = vector(i16x16::new(*sum), i16x16::new(*weight)).to_array();
    }
    for (sum, weight) in sums_rest.iter_mut().zip(weights_rest) {
        *sum = single(*sum, *weight);
    }
}

fn add_i8(acc: &mut [i16], row: &[i8]) {
    let (sums, sums_rest) = acc.as_chunks_mut::<N>();
    let (weights, weights_rest) = row.as_chunks::<N>();
    for (sum, weight) in sums.iter_mut().zip(weights) {
        *sum = (i16x16::new(*sum) + widen(weight)).to_array();
    }
    scalar::add_i8(sums_rest, weights_rest);
}

fn sub_i8(acc: &mut [i16], row: &[i8]) {
    let (sums, sums_rest) = acc.as_chunks_mut::<N>();
    let (weights, weights_rest) = row.as_chunks::<N>();
    for (sum, weight) in sums.iter_mut().zip(weights) {
        *sum = (i16x16::new(*sum) - widen(weight)).to_array();
    }
    scalar::sub_i8(sums_rest, weights_rest);
}

fn widen(row: &[i8; N]) -> i16x16 {
    i16x16::from_i8x16(wide::i8x16::new(*row))
}

fn move_i16(out: &mut [i16], source: &[i16], added: &[i16], removed: &[i16]) {
    let (outs, outs_rest) = out.as_chunks_mut::<N>();
    let (sources, sources_rest) = source.as_chunks::<N>();
    let (plus, plus_rest) = added.as_chunks::<N>();
    let (minus, minus_rest) = removed.as_chunks::<N>();
    for (((sum, from), plus), minus) in outs.iter_mut().zip(sources).zip(plus).zip(minus) {
        *sum = (i16x16::new(*from) + i16x16::new(*plus) - i16x16::new(*minus)).to_array();
    }
    (scalar::KERNELS.move_i16.call)(outs_rest, sources_rest, plus_rest, minus_rest);
}

fn clip(x: &[i16; N], max: i16) -> i16x16 {
    i16x16::new(*x).max(i16x16::ZERO).min(i16x16::splat(max))
}

fn sum(lanes: i32x8) -> i32 {
    lanes.to_array().into_iter().fold(0, i32::wrapping_add)
}

fn dot_crelu(x: &[i16], w: &[i16], max: i16) -> i32 {
    let (values, values_rest) = x.as_chunks::<N>();
    let (weights, weights_rest) = w.as_chunks::<N>();
    let mut lanes = i32x8::ZERO;
    for (value, weight) in values.iter().zip(weights) {
        lanes += clip(value, max).dot(i16x16::new(*weight));
    }
    sum(lanes).wrapping_add(scalar::dot_crelu(values_rest, weights_rest, max))
}

/// `c² = high·2¹⁶ + low` with `low` read as signed: where it is negative, `high` is one more.
fn dot_screlu(x: &[i16], w: &[i16], max: i16) -> i32 {
    let (values, values_rest) = x.as_chunks::<N>();
    let (weights, weights_rest) = w.as_chunks::<N>();
    let (mut low_lanes, mut high_lanes) = (i32x8::ZERO, i32x8::ZERO);
    for (value, weight) in values.iter().zip(weights) {
        let (clipped, weight) = (clip(value, max), i16x16::new(*weight));
        let low = clipped * clipped;
        // A comparison gives −1 where it holds.
        let high = clipped.mul_keep_high(clipped) - low.simd_lt(i16x16::ZERO);
        low_lanes += low.dot(weight);
        high_lanes += high.dot(weight);
    }
    let wide = sum(low_lanes).wrapping_add(sum(high_lanes) << 16);
    wide.wrapping_add(scalar::dot_screlu(values_rest, weights_rest, max))
}

fn dot_screlu_short(x: &[i16], w: &[i16], max: i16) -> i32 {
    let (values, values_rest) = x.as_chunks::<N>();
    let (weights, weights_rest) = w.as_chunks::<N>();
    let mut lanes = i32x8::ZERO;
    for (value, weight) in values.iter().zip(weights) {
        let clipped = clip(value, max);
        lanes += (clipped * i16x16::new(*weight)).dot(clipped);
    }
    sum(lanes).wrapping_add(scalar::dot_screlu_short(values_rest, weights_rest, max))
}

/// The product is formed in i32, where `max²` fits for every clip that the format allows.
fn pairwise_u8(x: &[i16], max: i16, shift: u32, out: &mut [u8]) {
    let (first, second) = x.split_at(x.len() / 2);
    let (firsts, firsts_rest) = first.as_chunks::<8>();
    let (seconds, seconds_rest) = second.as_chunks::<8>();
    let (outs, outs_rest) = out.as_chunks_mut::<8>();
    let clip = |x: &[i16; 8]| i32x8::from_i16x8(i16x8::new(*x).max(i16x8::ZERO).min(i16x8::splat(max)));
    for ((value, a), b) in outs.iter_mut().zip(firsts).zip(seconds) {
        let products = (clip(a) * clip(b)) >> shift;
        *value = products.to_array().map(|product| product as u8);
    }
    for ((value, a), b) in outs_rest.iter_mut().zip(firsts_rest).zip(seconds_rest) {
        let product = i32::from(num::clip(*a, max)) * i32::from(num::clip(*b, max));
        *value = (product >> shift) as u8;
    }
}

/// Conversion of i16 to f32 is exact, so vectors and singles agree; only the plain and squared forms are vectorised.
fn activate_f32(x: &[i16], code: u32, max: i16, inverse: f32, out: &mut [f32]) {
    if code == activation::PAIRWISE_CRELU {
        return scalar::activate_f32(x, code, max, inverse, out);
    }
    let (values, values_rest) = x.as_chunks::<8>();
    let (outs, outs_rest) = out.as_chunks_mut::<8>();
    for (result, value) in outs.iter_mut().zip(values) {
        let clipped = i16x8::new(*value).max(i16x8::ZERO).min(i16x8::splat(max));
        let real = f32x8::from_i32x8(i32x8::from_i16x8(clipped)) * f32x8::splat(inverse);
        *result = if code == activation::CRELU { real } else { real * real }.to_array();
    }
    scalar::activate_f32(values_rest, code, max, inverse, outs_rest);
}

fn affine_u8(x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    affine(x, w, stride, bias, out, i16::from);
}

fn affine_i8(x: &[i8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    affine(x, w, stride, bias, out, i16::from);
}

/// Four rows at a time; rows beyond the last multiple of four are padding in the file, so the last group is cut on writing.
fn affine<T: Copy>(x: &[T], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32], widen_one: fn(T) -> i16) {
    let (groups, rest) = x.as_chunks::<4>();
    for (tile, results) in out.chunks_mut(4).enumerate() {
        let row = tile * 4;
        let mut lanes = i32x8::ZERO;
        for (group, values) in groups.iter().enumerate() {
            lanes += repeat(values.map(widen_one)).dot(weights_of(w, stride, row, group));
        }
        if !rest.is_empty() {
            let mut values = [0i16; 4];
            for (value, x) in values.iter_mut().zip(rest) {
                *value = widen_one(*x);
            }
            lanes += repeat(values).dot(weights_of(w, stride, row, groups.len()));
        }
        let pairs = lanes.to_array();
        for (index, result) in results.iter_mut().enumerate() {
            let sum = pairs[2 * index].wrapping_add(pairs[2 * index + 1]);
            *result = bias.get(row + index).copied().unwrap_or(0).wrapping_add(sum);
        }
    }
}

fn repeat(values: [i16; 4]) -> i16x16 {
    cast([values; 4])
}

/// The sixteen weights of rows `row..row + 4` and columns `4·group..4·group + 4`.
fn weights_of(w: &[i8], stride: usize, row: usize, group: usize) -> i16x16 {
    let start = Layout::K4.offset(stride, row, 4 * group);
    match w.get(start..).and_then(|w| w.first_chunk::<16>()) {
        Some(weights) => widen(weights),
        None => i16x16::ZERO,
    }
}

fn affine_f32(x: &[f32], w: &[f32], stride: usize, bias: &[f32], out: &mut [f32]) {
    let (values, values_rest) = x.as_chunks::<8>();
    for (row, result) in out.iter_mut().enumerate() {
        let start = Layout::Rows.offset(stride, row, 0);
        let weights = w.get(start..start + x.len()).unwrap_or(&[]);
        let (weights, weights_rest) = weights.as_chunks::<8>();
        let mut lanes = f32x8::ZERO;
        for (value, weight) in values.iter().zip(weights) {
            lanes += f32x8::new(*value) * f32x8::new(*weight);
        }
        let mut lanes = lanes.to_array();
        for ((lane, value), weight) in lanes.iter_mut().zip(values_rest).zip(weights_rest) {
            *lane += value * weight;
        }
        *result = num::reduce_f32(lanes);
        if let Some(bias) = bias.get(row) {
            *result += bias;
        }
    }
}
