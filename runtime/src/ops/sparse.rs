//! The sparse input: sums of weight rows, and the rows themselves.

use super::list::List;
use super::operands::Elements;
use super::{Kind, Places, Running, typed_mut};
use crate::format::{Model, OpRecord, element};
use crate::kernels::Tier;
use crate::num;
use crate::sure::sure;
use bytemuck::Pod;

/// SPARSE_AFFINE.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SparseAffine<'a> {
    weights: Elements<'a>,
    bias: Elements<'a>,
}

impl<'a> Kind<'a> for SparseAffine<'a> {
    fn resolve(model: &Model<'a>, _: &Tier, record: &OpRecord) -> Option<Self> {
        Some(Self {
            weights: Elements::new(model.tensor(record.weights)),
            bias: Elements::new(model.tensor(record.bias)),
        })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let Some(list) = at.list(on) else { return debug_assert!(false, "an input that is no list") };
        let (_, out) = at.bytes(on, workspace);
        let (bucket, bias) = (on.bucket, &self.bias);
        match self.weights {
            Elements::I8(w) => affine(&list, w.bank(bucket), w.stride, bias.i32s(bucket), typed_mut(out)),
            Elements::I16(w) => affine(&list, w.bank(bucket), w.stride, bias.i32s(bucket), typed_mut(out)),
            Elements::F32(w) => affine_f32(&list, w.bank(bucket), w.stride, bias.f32s(bucket), typed_mut(out)),
            Elements::I32(_) | Elements::None => {}
        }
    }
}

/// SPARSE_ROWS.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SparseRows<'a> {
    weights: Elements<'a>,
    width: usize,
    scale: Option<Scale>,
}

/// The factor of SPARSE_ROWS, `multiplier / 2^shift`.
#[derive(Debug, Clone, Copy)]
struct Scale {
    multiplier: i32,
    shift: u32,
}

impl<'a> Kind<'a> for SparseRows<'a> {
    fn resolve(model: &Model<'a>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let weights = model.tensor(record.weights)?;
        let to = model.values().get(record.output as usize)?.element();
        let scaled = to != element::F32 && model.input().element == element::I16;
        let [multiplier, shift, ..] = record.params;
        Some(Self {
            weights: Elements::new(Some(weights)),
            width: weights.record.cols as usize,
            scale: scaled.then_some(Scale { multiplier: multiplier as i32, shift }),
        })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let Some(list) = at.list(on) else { return debug_assert!(false, "an input that is no list") };
        let (_, out) = at.bytes(on, workspace);
        let (bucket, width, scale) = (on.bucket, self.width, self.scale);
        match self.weights {
            Elements::I8(w) => {
                let scaled = |v, w| scaled(v, i32::from(w), scale, i32::from(i8::MAX)) as i8;
                rows(&list, w.bank(bucket), w.stride, width, scaled, scale.is_some(), typed_mut(out));
            }
            Elements::I16(w) => {
                let scaled = |v, w| scaled(v, i32::from(w), scale, i32::from(i16::MAX)) as i16;
                rows(&list, w.bank(bucket), w.stride, width, scaled, scale.is_some(), typed_mut(out));
            }
            Elements::F32(w) => {
                let scaled = |v: i16, w: f32| (f32::from(v) * list.unit) * w;
                rows(&list, w.bank(bucket), w.stride, width, scaled, !list.values.is_empty(), typed_mut(out));
            }
            Elements::I32(_) | Elements::None => {}
        }
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
    sure(w.get(feature.saturating_mul(stride)..))
}
