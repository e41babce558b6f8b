//! The definition: the plainest loop for every operation. Never optimised; every other tier must give these bits.

use super::maps::plain;
use super::{Dequantisation, Kernel, Moved, RealLayer, TAIL_WIDTH, Tier};
use crate::format::{Layout, activation};
use crate::num;
use crate::sure::{at, bias_at, sure};
use crate::workspace::{range, range_mut};

const NAME: &str = "scalar";

/// The tier that is always there.
pub static KERNELS: Tier = Tier {
    name: NAME,
    #[cfg(short_ways)]
    move_dots: super::MoveDots::NONE,
    #[cfg(short_ways)]
    chains: None,
    #[cfg(short_ways)]
    single_place: plain::single_place,
    #[cfg(batches)]
    batch: BATCH,
    update_i16: Kernel::new(update_i16, NAME),
    update_i8: Kernel::new(update_i8, NAME),
    update_both_i16: Kernel::new(update_both, NAME),
    update_both_i8: Kernel::new(update_both, NAME),
    dot_crelu: Kernel::new(dot_crelu, NAME),
    dot_screlu: Kernel::new(dot_screlu, NAME),
    dot_screlu_short: Kernel::new(dot_screlu_short, NAME),
    dot_sqrrelu: Kernel::new(dot_sqrrelu, NAME),
    dot_screlu_rounded: Kernel::new(dot_screlu_rounded, NAME),
    wide_dot_crelu: Kernel::new(wide_dot_crelu, NAME),
    wide_dot_screlu: Kernel::new(wide_dot_screlu, NAME),
    pairwise_u8: Kernel::new(pairwise_u8, NAME),
    pairwise_u8_rounded: Kernel::new(pairwise_u8_rounded, NAME),
    activate_f32: Kernel::new(activate_f32, NAME),
    affine_u8: Kernel::new(affine_u8, NAME),
    affine_u7: Kernel::new(affine_u8, NAME),
    affine_u7_paired: Kernel::new(affine_u8, NAME),
    affine_u8_paired: Kernel::new(affine_u8, NAME),
    affine_u7_sparse: Kernel::new(affine_u8, NAME),
    affine_i8: Kernel::new(affine_i8, NAME),
    affine_i16: Kernel::new(affine_i16, NAME),
    affine_i16_i8: Kernel::new(affine_i16_i8, NAME),
    affine_f32: Kernel::new(affine_f32, NAME),
    affine_f32_columns: Kernel::new(affine_f32_columns, NAME),
    tail_f32: Kernel::new(tail_f32, NAME),
    activation_f32: Kernel::new(activation_f32, NAME),
    dequantise_f32: Kernel::new(dequantise_f32, NAME),
    requantise_u8: Kernel::new(requantise_u8, NAME),
    requantise_i8: Kernel::new(requantise_i8, NAME),
    requantise_i32: Kernel::new(requantise_i32, NAME),
    convolve: Kernel::new(plain::convolve, NAME),
    depthwise: Kernel::new(plain::depthwise, NAME),
    add_maps: Kernel::new(plain::add, NAME),
}
.of_build();

fn update_i16(out: &mut [i16], source: Option<&[i16]>, rows: &[i16], stride: usize, added: &[u32], removed: &[u32]) {
    update(out, source, rows, stride, added, removed);
}

fn update_i8(out: &mut [i16], source: Option<&[i16]>, rows: &[i8], stride: usize, added: &[u32], removed: &[u32]) {
    update(out, source, rows, stride, added, removed);
}

/// [`super::Update`].
pub(super) fn update<T: Copy + Into<i16>>(
    out: &mut [i16],
    source: Option<&[i16]>,
    rows: &[T],
    stride: usize,
    added: &[u32],
    removed: &[u32],
) {
    let row_of = |row: u32| sure(rows.get(Layout::Rows.offset(stride, row as usize, 0)..));
    if let Some(source) = source {
        out.copy_from_slice(source);
    }
    for row in added {
        for (sum, weight) in out.iter_mut().zip(row_of(*row)) {
            *sum = sum.wrapping_add((*weight).into());
        }
    }
    for row in removed {
        for (sum, weight) in out.iter_mut().zip(row_of(*row)) {
            *sum = sum.wrapping_sub((*weight).into());
        }
    }
}

/// [`super::UpdateBoth`].
pub(super) fn update_both<T: Copy + Into<i16>>(
    out: &mut [i16],
    source: &[i16],
    rows: &[T],
    stride: usize,
    moved: &Moved,
) {
    let (first, second) = source.split_at(source.len() / 2);
    let (out_first, out_second) = out.split_at_mut(first.len());
    for (side, (out, source)) in [(out_first, first), (out_second, second)].into_iter().enumerate() {
        let (added, removed) = match moved {
            Moved::Quiet(changes) => changes[side].split_at(1),
            Moved::Capture(changes) => changes[side].split_at(1),
        };
        update(out, Some(source), rows, stride, added, removed);
    }
}

fn dot_crelu(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    dot(first, second, w, |x, w| i32::from(num::clip(x, max)) * i32::from(w))
}

fn dot_screlu(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    dot(first, second, w, |x, w| {
        let clipped = i32::from(num::clip(x, max));
        (clipped * clipped).wrapping_mul(i32::from(w))
    })
}

fn dot_screlu_short(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    dot(first, second, w, |x, w| {
        let clipped = num::clip(x, max);
        i32::from(clipped.wrapping_mul(w)) * i32::from(clipped)
    })
}

fn dot(first: &[i16], second: &[i16], w: &[i16], term: impl Fn(i16, i16) -> i32) -> i32 {
    let mut sum = 0i32;
    for (x, w) in first.iter().chain(second).zip(w) {
        sum = sum.wrapping_add(term(*x, *w));
    }
    sum
}

/// `max` is 32767 by the format's rule, so the clip is only the lower one.
fn dot_sqrrelu(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    dot_screlu(first, second, w, max)
}

fn dot_screlu_rounded(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i32 {
    dot(first, second, w, |x, w| {
        let clipped = num::clip(x, max);
        i32::from(num::mul_round(clipped, w)) * i32::from(clipped)
    })
}

fn wide_dot_crelu(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i64 {
    wide_dot(first, second, w, |x, w| i64::from(num::clip(x, max)) * i64::from(w))
}

fn wide_dot_screlu(first: &[i16], second: &[i16], w: &[i16], max: i16) -> i64 {
    wide_dot(first, second, w, |x, w| {
        let clipped = i64::from(num::clip(x, max));
        clipped * clipped * i64::from(w)
    })
}

/// Nothing overflows: a term has at most 45 bits, and there are fewer than 2¹⁸.
fn wide_dot(first: &[i16], second: &[i16], w: &[i16], term: impl Fn(i16, i16) -> i64) -> i64 {
    first.iter().chain(second).zip(w).map(|(x, w)| term(*x, *w)).sum()
}

pub(super) fn pairwise_u8(x: &[i16], max: i16, shift: u32, out: &mut [u8]) {
    let (first, second) = x.split_at(x.len() / 2);
    for ((value, a), b) in out.iter_mut().zip(first).zip(second) {
        *value = pair_u8(*a, *b, max, shift);
    }
}

/// One product of [`pairwise_u8`].
pub(super) const fn pair_u8(a: i16, b: i16, max: i16, shift: u32) -> u8 {
    let product = num::clip(a, max) as i32 * num::clip(b, max) as i32;
    (product >> shift) as u8
}

pub(super) fn pairwise_u8_rounded(x: &[i16], max: i16, shift: u32, out: &mut [u8]) {
    let (first, second) = x.split_at(x.len() / 2);
    for ((value, a), b) in out.iter_mut().zip(first).zip(second) {
        *value = pair_u8_rounded(*a, *b, max, shift);
    }
}

/// One product of [`pairwise_u8_rounded`].
pub(super) const fn pair_u8_rounded(a: i16, b: i16, max: i16, shift: u32) -> u8 {
    num::shift_round(num::clip(a, max) as i32 * num::clip(b, max) as i32, shift) as u8
}

pub(super) fn activate_f32(x: &[i16], code: u32, max: i16, inverse: f32, out: &mut [f32]) {
    let real = |value: i16| f32::from(num::clip(value, max)) * inverse;
    match code {
        activation::PAIRWISE_CRELU => {
            let (first, second) = x.split_at(x.len() / 2);
            activate_pairs(first, second, max, inverse, out);
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

/// The products of [`activate_f32`]'s pairs.
pub(super) fn activate_pairs(first: &[i16], second: &[i16], max: i16, inverse: f32, out: &mut [f32]) {
    let real = |value: i16| f32::from(num::clip(value, max)) * inverse;
    for ((value, a), b) in out.iter_mut().zip(first).zip(second) {
        *value = real(*a) * real(*b);
    }
}

fn affine_u8(x: &[u8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    affine(x, w, stride, bias, out);
}

fn affine_i8(x: &[i8], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    affine(x, w, stride, bias, out);
}

/// [`super::AffineI8`].
pub(super) fn affine<T: Copy + Into<i32>>(x: &[T], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    for (row, sum) in out.iter_mut().enumerate() {
        *sum = bias_at(bias, row);
        for (col, value) in x.iter().enumerate() {
            let value: i32 = (*value).into();
            let weight = at(w, Layout::K4.offset(stride, row, col));
            *sum = sum.wrapping_add(value * i32::from(weight));
        }
    }
}

fn affine_i16(x: &[i16], w: &[i16], stride: usize, bias: &[i32], out: &mut [i32]) {
    affine_rows(x, w, stride, bias, out);
}

fn affine_i16_i8(x: &[i16], w: &[i8], stride: usize, bias: &[i32], out: &mut [i32]) {
    affine_rows(x, w, stride, bias, out);
}

fn affine_rows<T: Copy + Into<i32>>(x: &[i16], w: &[T], stride: usize, bias: &[i32], out: &mut [i32]) {
    for (row, sum) in out.iter_mut().enumerate() {
        *sum = bias_at(bias, row);
        for (col, value) in x.iter().enumerate() {
            let weight = sure(w.get(Layout::Rows.offset(stride, row, col)).map(|weight| (*weight).into()));
            *sum = sum.wrapping_add(i32::from(*value) * weight);
        }
    }
}

/// Batches input by input, number by number.
#[cfg(batches)]
pub(super) const BATCH: super::BatchKernels = {
    fn affine_u8(x: &[&[u8]], w: &[i8], stride: usize, bias: &[i32], out: &mut [&mut [i32]]) {
        x.iter().zip(out).for_each(|(x, out)| affine(x, w, stride, bias, out));
    }
    fn affine_i8(x: &[&[u8]], w: &[i8], stride: usize, bias: &[i32], out: &mut [&mut [i32]]) {
        x.iter().zip(out).for_each(|(x, out)| affine::<i8>(bytemuck::cast_slice(x), w, stride, bias, out));
    }
    fn store(x: &[f32], unit: f32, zero: i32, [low, high]: [i32; 2], out: &mut [u8]) -> bool {
        for (out, x) in out.iter_mut().zip(x) {
            *out = num::store((*x).into(), unit.into(), zero, low, high) as u8;
        }
        all_finite(x)
    }
    fn store_u8(x: &[f32], unit: f32, zero: i32, out: &mut [u8]) -> bool {
        store(x, unit, zero, num::U8_ENDS, out)
    }
    fn store_i8(x: &[f32], unit: f32, zero: i32, out: &mut [u8]) -> bool {
        store(x, unit, zero, num::I8_ENDS, out)
    }
    super::BatchKernels { affine_u8, affine_i8, store_u8, store_i8 }
};

/// Whether real numbers can be stored.
#[cfg(batches)]
pub(super) fn all_finite(x: &[f32]) -> bool {
    x.iter().all(|x| x.is_finite())
}

/// What a tier's dense kernel does with slices whose lengths break its contract, instead of reading where nothing is.
pub(super) fn out_of_contract(out: &mut [i32]) {
    out.fill(0);
}

/// Lane `k mod 8` collects product `k`; the lanes are then added in the order of [`num::reduce_f32`], the bias last.
fn affine_f32(x: &[f32], w: &[f32], stride: usize, bias: &[f32], code: u32, out: &mut [f32]) {
    affine_reals(Layout::Rows, x, w, stride, bias, code, out);
}

/// The same on weights in Columns.
pub(super) fn affine_f32_columns(x: &[f32], w: &[f32], stride: usize, bias: &[f32], code: u32, out: &mut [f32]) {
    affine_reals(Layout::Columns, x, w, stride, bias, code, out);
}

#[inline(always)]
fn affine_reals(layout: Layout, x: &[f32], w: &[f32], stride: usize, bias: &[f32], code: u32, out: &mut [f32]) {
    for (row, sum) in out.iter_mut().enumerate() {
        let mut lanes = [0f32; 8];
        for (col, value) in x.iter().enumerate() {
            lanes[col % 8] += value * at(w, layout.offset(stride, row, col));
        }
        *sum = num::reduce_f32(lanes);
        if let Some(bias) = bias.get(row) {
            *sum += bias;
        }
        *sum = num::activate(*sum, code);
    }
}

/// The single steps, one after the other.
fn tail_f32(sums: &[i32], first: &Dequantisation<'_>, layers: &[RealLayer<'_>], scale: f32, out: &mut [f32]) {
    let (mut values, mut len) = ([0f32; TAIL_WIDTH], sums.len().min(TAIL_WIDTH));
    dequantise_f32(sums, first.factor, first.bias, first.activation, range_mut(&mut values, 0..len));
    for layer in layers {
        let x = values;
        let RealLayer { layout, weights, stride, bias, activation, outputs } = *layer;
        let (x, y) = (range(&x, 0..len), range_mut(&mut values, 0..outputs));
        affine_reals(layout, x, weights, stride, bias, activation, y);
        len = y.len();
    }
    for (out, value) in out.iter_mut().zip(values.iter().take(len)) {
        *out = value * scale;
    }
}

fn activation_f32(x: &[f32], code: u32, out: &mut [f32]) {
    match code {
        activation::PAIRWISE_CRELU => {
            let (first, second) = x.split_at(x.len() / 2);
            for ((value, a), b) in out.iter_mut().zip(first).zip(second) {
                *value = num::crelu(*a) * num::crelu(*b);
            }
        }
        activation::DUAL_CRELU => {
            let (plain, squared) = sure(out.split_at_mut_checked(x.len()));
            for ((value, square), a) in plain.iter_mut().zip(squared).zip(x) {
                *value = num::crelu(*a);
                *square = num::crelu(a * a);
            }
        }
        _ => {
            for (value, a) in out.iter_mut().zip(x) {
                *value = num::activate(*a, code);
            }
        }
    }
}

pub(super) fn dequantise_f32(x: &[i32], factor: f32, bias: &[f32], code: u32, out: &mut [f32]) {
    for (index, (y, x)) in out.iter_mut().zip(x).enumerate() {
        *y = *x as f32 * factor;
        if let Some(bias) = bias.get(index) {
            *y += bias;
        }
        *y = num::activate(*y, code);
    }
}

fn requantise_u8(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, zero: i32, out: &mut [u8]) {
    requantise(x, multipliers, shifts, low, high, zero, out, |value| value as u8);
}

fn requantise_i8(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, zero: i32, out: &mut [i8]) {
    requantise(x, multipliers, shifts, low, high, zero, out, |value| value as i8);
}

fn requantise_i32(x: &[i32], multipliers: &[i32], shifts: &[u8], low: i32, high: i32, zero: i32, out: &mut [i32]) {
    requantise(x, multipliers, shifts, low, high, zero, out, |value| value);
}

/// [`super::Requantise`] of every element, narrowed.
pub(super) fn requantise<T>(
    x: &[i32],
    multipliers: &[i32],
    shifts: &[u8],
    low: i32,
    high: i32,
    zero: i32,
    out: &mut [T],
    narrow: fn(i32) -> T,
) {
    let (low, high, zero) = num::around_zero(low, high, zero);
    // By an index, so that the compiler makes one function of those for u8 and i8; four slices side by side it takes
    // apart otherwise in each.
    for (index, value) in out.iter_mut().enumerate() {
        let (Some(sum), Some(multiplier), Some(shift)) = (x.get(index), multipliers.get(index), shifts.get(index))
        else {
            return;
        };
        *value = narrow(num::requantise(*sum, *multiplier, u32::from(*shift), low, high).wrapping_add(zero));
    }
}
