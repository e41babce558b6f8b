//! Element by element: tables, integers to reals and back, zero points, and the activations that need the exponential
//! function.

use super::interact::in_lanes;
use super::{typed, typed_mut};
use crate::format::{activation, element};
use crate::kernels::Tier;
use crate::num;
use crate::step::Requantisation;
use bytemuck::Pod;

/// Sums that are requantised at once, on the stack.
const BLOCK: usize = 64;

/// `out[i] = table[x[i]]`. table: (256,).
pub(super) fn lookup(x: &[u8], table: &[u8], out: &mut [u8]) {
    let Some(table) = table.first_chunk::<256>() else { return };
    for (out, x) in out.iter_mut().zip(x) {
        *out = table[usize::from(*x)];
    }
}

/// `out[i] = f32(x[i] − zero) · factor`.
pub(super) fn to_f32(element: u32, x: &[u8], factor: f32, zero: i32, out: &mut [f32]) {
    let real = |x: i32| (x - zero) as f32 * factor;
    match element {
        element::U8 => out.iter_mut().zip(x).for_each(|(out, x)| *out = real(i32::from(*x))),
        element::I8 => out.iter_mut().zip(typed::<i8>(x)).for_each(|(out, x)| *out = real(i32::from(*x))),
        _ => out.iter_mut().zip(typed::<i16>(x)).for_each(|(out, x)| *out = real(i32::from(*x))),
    }
}

/// `one` of every element, whose result fits `element`.
pub(super) fn quantise(element: u32, x: &[f32], one: impl Fn(f32) -> i32, out: &mut [u8]) {
    match element {
        element::I16 => out_of(x, typed_mut::<i16>(out), |x| one(x) as i16),
        _ => out_of(x, out, |x| one(x) as u8),
    }
}

fn out_of<T>(x: &[f32], out: &mut [T], one: impl Fn(f32) -> T) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out = one(*x));
}

/// REQUANTISE with a zero point, or to i16: the tier's kernel to i32 with clamps that leave room for the zero point,
/// which is added behind it. `clamp(r, low − zero, high − zero) + zero` is `clamp(r + zero, low, high)`.
pub(super) fn requantise(
    kernels: &Tier,
    requantise: &Requantisation<'_>,
    zero: i32,
    bucket: usize,
    x: &[i32],
    out: &mut [u8],
) {
    let (multipliers, shifts) = (requantise.multipliers.bank(bucket), requantise.shifts.bank(bucket));
    let (low, high) = (requantise.low.wrapping_sub(zero), requantise.high.wrapping_sub(zero));
    let mut sums = [0; BLOCK];
    let blocks = x.chunks(BLOCK).zip(multipliers.chunks(BLOCK)).zip(shifts.chunks(BLOCK));
    let mut each = |((x, multipliers), shifts): ((&[i32], &[i32]), &[u8]), take: &mut dyn FnMut(&[i32])| {
        let sums = sums.get_mut(..x.len()).unwrap_or(&mut []);
        (kernels.requantise_i32.call)(x, multipliers, shifts, low, high, sums);
        take(sums);
    };
    match requantise.element {
        element::I16 => {
            let out = typed_mut::<i16>(out).chunks_mut(BLOCK);
            blocks.zip(out).for_each(|(block, out)| each(block, &mut |sums| narrow(sums, zero, out, |y| y as i16)));
        }
        _ => {
            let out = out.chunks_mut(BLOCK);
            blocks.zip(out).for_each(|(block, out)| each(block, &mut |sums| narrow(sums, zero, out, |y| y as u8)));
        }
    }
}

fn narrow<T: Pod>(sums: &[i32], zero: i32, out: &mut [T], narrow: impl Fn(i32) -> T) {
    out.iter_mut().zip(sums).for_each(|(out, sum)| *out = narrow(sum.wrapping_add(zero)));
}

/// Leaky ReLU, sigmoid, tanh of every element, or softmax of all. x, out: (n,).
pub(super) fn activation(code: u32, alpha: f32, x: &[f32], out: &mut [f32]) {
    match code {
        activation::LEAKY_RELU => out_of(x, out, |x| if x > 0.0 { x } else { alpha * x }),
        activation::SIGMOID => out_of(x, out, num::sigmoid),
        activation::TANH => out_of(x, out, num::tanh),
        _ => softmax(x, out),
    }
}

/// The largest is taken off first, so that no power overflows and at least one is 1.
fn softmax(x: &[f32], out: &mut [f32]) {
    let Some((first, others)) = x.split_first() else { return };
    let largest = others.iter().fold(*first, |largest, x| if *x > largest { *x } else { largest });
    out_of(x, out, |x| num::exp(x - largest));
    let sum = in_lanes(out.iter().copied());
    out.iter_mut().for_each(|power| *power /= sum);
}
