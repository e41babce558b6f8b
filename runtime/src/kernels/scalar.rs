//! The definition: the plainest loop for every operation. Never optimised; every other tier must give these bits.

use super::{Kernel, Kernels};
use crate::format::{Layout, activation};
use crate::num;

const NAME: &str = "scalar";

/// The tier that is always there.
pub static KERNELS: Kernels = Kernels {
    name: NAME,
    add_i16: Kernel { call: add_i16, from: NAME },
    sub_i16: Kernel { call: sub_i16, from: NAME },
    add_i8: Kernel { call: add_i8, from: NAME },
    sub_i8: Kernel { call: sub_i8, from: NAME },
    move_i16: Kernel { call: move_i16, from: NAME },
    dot_crelu: Kernel { call: dot_crelu, from: NAME },
    dot_screlu: Kernel { call: dot_screlu, from: NAME },
    dot_screlu_short: Kernel { call: dot_screlu_short, from: NAME },
    dot_sqrrelu: Kernel { call: dot_sqrrelu, from: NAME },
    pairwise_u8: Kernel { call: pairwise_u8, from: NAME },
    activate_f32: Kernel { call: activate_f32, from: NAME },
    affine_u8: Kernel { call: affine_u8, from: NAME },
    affine_i8: Kernel { call: affine_i8, from: NAME },
    affine_f32: Kernel { call: affine_f32, from: NAME },
    activation_f32: Kernel { call: activation_f32, from: NAME },
    requantise_u8: Kernel { call: requantise_u8, from: NAME },
    requantise_i8: Kernel { call: requantise_i8, from: NAME },
    requantise_i32: Kernel { call: requantise_i32, from: NAME },
};

fn add_i16(acc: &mut [i16], row: &[i16]) {
    for (sum, weight) in acc.iter_mut().zip(row) {
        *sum = sum.wrapping_add(*weight);
    }
}

fn sub_i16(acc: &mut [i16], row: &[i16]) {
    for (sum, weight) in acc.iter_mut().zip(row) {
        *sum = sum.wrapping_sub(*weight);
    }
}

pub(super) fn add_i8(acc: &mut [i16], row: &[i8]) {
    for (sum, weight) in acc.iter_mut().zip(row) {
        *sum = sum.wrapping_add(i16::from(*weight));
    }
}

pub(super) fn sub_i8(acc: &mut [i16], row: &[i8]) {
    for (sum, weight) in acc.iter_mut().zip(row) {
        *sum = sum.wrapping_sub(i16::from(*weight));
    }
}

fn move_i16(out: &mut [i16], source: &[i16], added: &[i16], removed: &[i16]) {
    for (((sum, from), plus), minus) in out.iter_mut().zip(source).zip(added).zip(removed) {
        *sum = from.wrapping_add(*plus).wrapping_sub(*minus);
    }
}

pub(super) fn dot_crelu(x: &[i16], w: &[i16], max: i16) -> i32 {
    let mut sum = 0i32;
    for (value, weight) in x.iter().zip(w) {
        let clipped = i32::from(num::clip(*value, max));
        sum = sum.wrapping_add(clipped * i32::from(*weight));
    }
    sum
}

pub(super) fn dot_screlu(x: &[i16], w: &[i16], max: i16) -> i32 {
    let mut sum = 0i32;
    for (value, weight) in x.iter().zip(w) {
        let clipped = i32::from(num::clip(*value, max));
        sum = sum.wrapping_add((clipped * clipped).wrapping_mul(i32::from(*weight)));
    }
    sum
}

pub(super) fn dot_screlu_short(x: &[i16], w: &[i16], max: i16) -> i32 {
    let mut sum = 0i32;
    for (value, weight) in x.iter().zip(w) {
        let clipped = num::clip(*value, max);
        let product = clipped.wrapping_mul(*weight);
        sum = sum.wrapping_add(i32::from(product) * i32::from(clipped));
    }
    sum
}

/// `max` is 32767 by the format's rule, so the clip is only the lower one.
pub(super) fn dot_sqrrelu(x: &[i16], w: &[i16], max: i16) -> i32 {
    dot_screlu(x, w, max)
}

pub(super) fn pairwise_u8(x: &[i16], max: i16, shift: u32, out: &mut [u8]) {
    let (first, second) = x.split_at(x.len() / 2);
    for ((value, a), b) in out.iter_mut().zip(first).zip(second) {
        let product = i32::from(num::clip(*a, max)) * i32::from(num::clip(*b, max));
        *value = (product >> shift) as u8;
    }
}

pub(super) fn activate_f32(x: &[i16], code: u32, max: i16, inverse: f32, out: &mut [f32]) {
    let real = |value: i16| f32::from(num::clip(value, max)) * inverse;
    match code {
        activation::PAIRWISE_CRELU => {
            let (first, second) = x.split_at(x.len() / 2);
            for ((value, a), b) in out.iter_mut().zip(first).zip(second) {
                *value = real(*a) * real(*b);
            }
        }
        activation::CRELU => {
            for (value, a) in out.iter_mut().zip(x) {
                *value = real(*a);
            }
        }
        _ => {
            for (value, a) in out.iter_mut().zip(x) {
                *value = real(*a) * real(*a);
            }
        }
    }
}

fn affine_u8(x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    affine(x, w, stride, bias, out);
}

fn affine_i8(x: &[i8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    affine(x, w, stride, bias, out);
}

fn affine<T: Copy + Into<i32>>(x: &[T], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    for (row, sum) in out.iter_mut().enumerate() {
        *sum = bias.get(row).copied().unwrap_or(0);
        for (col, value) in x.iter().enumerate() {
            let value: i32 = (*value).into();
            let weight = i32::from(w[Layout::K4.offset(stride, row, col)]);
            *sum = sum.wrapping_add(value * weight);
        }
    }
}

/// Lane `k mod 8` collects product `k`; the lanes are then added in the order of [`num::reduce_f32`], the bias last.
fn affine_f32(x: &[f32], w: &[f32], stride: usize, bias: &[f32], out: &mut [f32]) {
    for (row, sum) in out.iter_mut().enumerate() {
        let mut lanes = [0f32; 8];
        for (col, value) in x.iter().enumerate() {
            lanes[col % 8] += value * w[Layout::Rows.offset(stride, row, col)];
        }
        *sum = num::reduce_f32(lanes);
        if let Some(bias) = bias.get(row) {
            *sum += bias;
        }
    }
}

pub(super) fn activation_f32(x: &[f32], code: u32, out: &mut [f32]) {
    match code {
        activation::PAIRWISE_CRELU => {
            let (first, second) = x.split_at(x.len() / 2);
            for ((value, a), b) in out.iter_mut().zip(first).zip(second) {
                *value = num::crelu(*a) * num::crelu(*b);
            }
        }
        activation::DUAL_CRELU => {
            let (plain, squared) = out.split_at_mut(x.len());
            for ((value, square), a) in plain.iter_mut().zip(squared).zip(x) {
                *value = num::crelu(*a);
                *square = num::crelu(a * a);
            }
        }
        _ => {
            for (value, a) in out.iter_mut().zip(x) {
                *value = match code {
                    activation::RELU => num::relu(*a),
                    activation::CRELU => num::crelu(*a),
                    activation::SCRELU => num::crelu(*a) * num::crelu(*a),
                    activation::SQRRELU => num::relu(*a) * num::relu(*a),
                    _ => *a,
                };
            }
        }
    }
}

pub(super) fn requantise_u8(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, out: &mut [u8]) {
    requantise(x, multipliers, shifts, low, high, out, |value| value as u8);
}

pub(super) fn requantise_i8(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, out: &mut [i8]) {
    requantise(x, multipliers, shifts, low, high, out, |value| value as i8);
}

pub(super) fn requantise_i32(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, out: &mut [i32]) {
    requantise(x, multipliers, shifts, low, high, out, |value| value);
}

fn requantise<T>(
    x: &[i32],
    multipliers: &[i32],
    shifts: &[u8],
    low: i32,
    high: i32,
    out: &mut [T],
    narrow: fn(i32) -> T,
) {
    for (((value, sum), multiplier), shift) in out.iter_mut().zip(x).zip(multipliers).zip(shifts) {
        *value = narrow(num::requantise(*sum, *multiplier, u32::from(*shift), low, high));
    }
}
