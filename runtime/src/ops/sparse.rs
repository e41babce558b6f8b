//! The sparse input: checking a caller's list, sums of weight rows, and the rows themselves.

use super::{Elements, General, Scale, trees, typed_mut};
use crate::error::RunError;
use crate::format::element;
use crate::num;
use crate::plan::Plan;
use bytemuck::Pod;

/// A checked list of features.
#[derive(Debug, Clone, Copy)]
pub(super) struct List<'a> {
    /// In ascending order.
    pub features: &'a [u32],
    /// As many, or none: then each is 1.
    pub values: &'a [i16],
    /// The real value of a 1.
    pub unit: f32,
}

impl List<'_> {
    /// Features with their values.
    fn integers(&self) -> impl Iterator<Item = (usize, i16)> {
        let value = |place| self.values.get(place).copied().unwrap_or(1);
        self.features.iter().enumerate().map(move |(place, feature)| (*feature as usize, value(place)))
    }

    /// Features with their real values; `None` where the network has no values.
    fn reals(&self) -> impl Iterator<Item = (usize, Option<f32>)> {
        let value = |place| self.values.get(place).map(|value| f32::from(*value) * self.unit);
        self.features.iter().enumerate().map(move |(place, feature)| (*feature as usize, value(place)))
    }

    /// The value of a feature, 0 if it is not active.
    pub fn at(&self, feature: usize) -> i32 {
        match self.features.binary_search_by(|active| (*active as usize).cmp(&feature)) {
            Ok(place) => self.values.get(place).map_or(1, |value| i32::from(*value)),
            Err(_) => 0,
        }
    }
}

/// An operation on the sparse input.
pub(super) fn run(work: &General<'_>, list: &List<'_>, bucket: usize, out: &mut [u8]) {
    match *work {
        General::SparseAffine { weights, bias } => match weights {
            Elements::I8(w) => affine(list, w.bank(bucket), w.stride, bias.i32s(bucket), typed_mut(out)),
            Elements::I16(w) => affine(list, w.bank(bucket), w.stride, bias.i32s(bucket), typed_mut(out)),
            Elements::F32(w) => affine_f32(list, w.bank(bucket), w.stride, bias.f32s(bucket), typed_mut(out)),
            Elements::I32(_) | Elements::None => {}
        },
        General::SparseRows { weights, width, scale } => match weights {
            Elements::I8(w) => {
                let scaled = |v, w| scaled(v, i32::from(w), scale, i32::from(i8::MAX)) as i8;
                rows(list, w.bank(bucket), w.stride, width, scaled, scale.is_some(), typed_mut(out));
            }
            Elements::I16(w) => {
                let scaled = |v, w| scaled(v, i32::from(w), scale, i32::from(i16::MAX)) as i16;
                rows(list, w.bank(bucket), w.stride, width, scaled, scale.is_some(), typed_mut(out));
            }
            Elements::F32(w) => {
                let scaled = |v: i16, w: f32| (f32::from(v) * list.unit) * w;
                rows(list, w.bank(bucket), w.stride, width, scaled, !list.values.is_empty(), typed_mut(out));
            }
            Elements::I32(_) | Elements::None => {}
        },
        General::Trees(forest) => trees::run_sparse(&forest, list, bucket, out),
        _ => {}
    }
}

/// `out[j] = bias[j] + Σ v·w[f, j]` modulo 2³². w: rows of `stride`, a row a feature · bias: (m,) or empty for zeros ·
/// out: (m,).
fn affine<T: Copy + Into<i32>>(list: &List<'_>, w: &[T], stride: usize, bias: &[i32], out: &mut [i32]) {
    start(bias, out);
    for (feature, value) in list.integers() {
        for (sum, weight) in out.iter_mut().zip(row(w, stride, feature)) {
            *sum = sum.wrapping_add(i32::from(value) * (*weight).into());
        }
    }
}

/// The same in f32, product and sum rounded apart, in the list's order.
fn affine_f32(list: &List<'_>, w: &[f32], stride: usize, bias: &[f32], out: &mut [f32]) {
    start(bias, out);
    for (feature, value) in list.reals() {
        for (sum, weight) in out.iter_mut().zip(row(w, stride, feature)) {
            *sum += value.map_or(*weight, |value| value * weight);
        }
    }
}

fn start<T: Pod>(bias: &[T], out: &mut [T]) {
    if bias.len() == out.len() { out.copy_from_slice(bias) } else { out.fill(T::zeroed()) }
}

/// Each feature's row, `width` elements, times its value if it `has_values`; zeros behind the last.
fn rows<T: Pod>(
    list: &List<'_>,
    w: &[T],
    stride: usize,
    width: usize,
    times: impl Fn(i16, T) -> T,
    has_values: bool,
    out: &mut [T],
) {
    let mut features = list.integers();
    for out in out.chunks_exact_mut(width.max(1)) {
        let Some((feature, value)) = features.next() else {
            out.fill(T::zeroed());
            continue;
        };
        for (out, weight) in out.iter_mut().zip(row(w, stride, feature)) {
            *out = if has_values { times(value, *weight) } else { *weight };
        }
    }
}

fn scaled(value: i16, weight: i32, scale: Option<Scale>, limit: i32) -> i32 {
    let Some(Scale { multiplier, shift }) = scale else { return weight };
    num::requantise(i32::from(value) * weight, multiplier, shift, -limit, limit)
}

fn row<T>(w: &[T], stride: usize, feature: usize) -> &[T] {
    w.get(feature.saturating_mul(stride)..).unwrap_or(&[])
}

impl Plan<'_> {
    /// A list of features, and their values.
    pub(crate) fn check_list(&self, features: &[u32], values: &[i16]) -> Result<(), RunError> {
        let record = self.model.input();
        let (found, limit) = (features.len(), self.max_active());
        if record.exact != 0 && found != limit {
            return Err(RunError::FeatureCount { found, expected: limit });
        }
        if found > limit {
            return Err(RunError::TooManyFeatures { found, limit });
        }
        let expected = if record.element == element::I16 { found } else { 0 };
        if values.len() != expected {
            return Err(RunError::Length { what: "values", found: values.len(), expected });
        }
        if let Some(pair) = features.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(RunError::FeatureOrder { previous: pair[0], found: pair[1] });
        }
        // In ascending order, so that the last one is the largest.
        match features.last() {
            Some(last) if *last >= record.size => Err(RunError::Feature { found: *last, limit: record.size }),
            _ => Ok(()),
        }
    }
}
