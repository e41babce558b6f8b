//! Element by element: tables, integers to reals and back, and the activations that need the exponential function.

use super::interact::in_lanes;
use super::{Banks, Kind, Places, Running, typed, typed_mut};
use crate::features::IS_SMALL;
use crate::format::{Model, OpRecord, activation, element};
use crate::kernels::Tier;
use crate::num;
use crate::sure::at;

/// LOOKUP.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup<'a> {
    table: Banks<'a, u8>,
}

impl<'a> Kind<'a> for Lookup<'a> {
    fn resolve(model: &Model<'a>, _: &Tier, record: &OpRecord) -> Option<Self> {
        Some(Self { table: Banks::new(model.tensor(record.weights)) })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        lookup(x, self.table.bank(on.bucket), out);
    }
}

/// `out[i] = table[x[i]]`. table: (256,).
fn lookup(x: &[u8], table: &[u8], out: &mut [u8]) {
    let Some(table) = table.first_chunk::<256>() else { return };
    for (out, x) in out.iter_mut().zip(x) {
        *out = table[usize::from(*x)];
    }
}

/// TO_F32.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToF32 {
    element: u32,
    factor: f32,
    zero: i32,
}

impl Kind<'_> for ToF32 {
    fn resolve(model: &Model<'_>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let element = model.values().get(record.input as usize)?.element();
        let [factor, zero, ..] = record.params;
        Some(Self { element, factor: f32::from_bits(factor), zero: zero as i32 })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        to_f32(self.element, x, self.factor, self.zero, typed_mut(out));
    }
}

/// `out[i] = f32(x[i] − zero) · factor`.
fn to_f32(element: u32, x: &[u8], factor: f32, zero: i32, out: &mut [f32]) {
    let real = |x: i32| (x - zero) as f32 * factor;
    if IS_SMALL {
        // Of a few outputs: a loop for each kind of element would be there three times.
        return out.iter_mut().enumerate().for_each(|(index, out)| *out = real(integer(element, x, index)));
    }
    match element {
        element::U8 => out.iter_mut().zip(x).for_each(|(out, x)| *out = real(i32::from(*x))),
        element::I8 => out.iter_mut().zip(typed::<i8>(x)).for_each(|(out, x)| *out = real(i32::from(*x))),
        _ => out.iter_mut().zip(typed::<i16>(x)).for_each(|(out, x)| *out = real(i32::from(*x))),
    }
}

/// An element of u8, i8 or i16.
#[inline(never)]
fn integer(element: u32, x: &[u8], index: usize) -> i32 {
    match element {
        element::U8 => at(x, index).into(),
        element::I8 => at(typed::<i8>(x), index).into(),
        _ => at(typed::<i16>(x), index).into(),
    }
}

/// QUANTISE.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantise {
    element: u32,
    inverse: f32,
    low: i32,
    high: i32,
    zero: i32,
}

impl Kind<'_> for Quantise {
    fn resolve(model: &Model<'_>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let element = model.values().get(record.output as usize)?.element();
        let [inverse, low, high, zero] = record.params;
        let (low, high, zero) = (low as i32, high as i32, zero as i32);
        Some(Self { element, inverse: f32::from_bits(inverse), low, high, zero })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        let one = |x: f32| num::quantise(x, self.inverse, self.zero, self.low, self.high);
        match self.element {
            element::I16 => out_of(typed(x), typed_mut::<i16>(out), |x| one(x) as i16),
            _ => out_of(typed(x), out, |x| one(x) as u8),
        }
    }
}

/// `one` of every element.
fn out_of<T>(x: &[f32], out: &mut [T], one: impl Fn(f32) -> T) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out = one(*x));
}

/// Leaky ReLU, sigmoid, tanh, hard-swish of every element, or softmax of all. x, out: (n,).
pub(super) fn activation(code: u32, alpha: f32, x: &[f32], out: &mut [f32]) {
    match code {
        activation::LEAKY_RELU => out_of(x, out, |x| if x > 0.0 { x } else { alpha * x }),
        activation::SIGMOID => out_of(x, out, num::sigmoid),
        activation::TANH => out_of(x, out, num::tanh),
        activation::HARD_SWISH => out_of(x, out, num::hard_swish),
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
