//! Interactions of embeddings: sums of products of pairs.
//!
//! `Σ over k < l of e[k]·e[l]` is `Σ over l of e[l] · (Σ over k < l of e[k])`: one pass with a running sum, instead of
//! all pairs, and without the difference of two large numbers that `½ ((Σ e)² − Σ e²)` is. Of integers both are the
//! same.

use super::{Kind, Places, Running, typed, typed_mut};
use crate::format::{Model, OpRecord, element, op};
use crate::kernels::Tier;
use crate::num;
use bytemuck::Pod;

/// FM_TERM, BI_INTERACTION and INNER_PRODUCTS on (slots · width,) of `element`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interactions {
    kind: u32,
    width: usize,
    element: u32,
}

impl Kind<'_> for Interactions {
    fn resolve(model: &Model<'_>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let element = model.values().get(record.input as usize)?.element();
        Some(Self { kind: record.kind, width: record.params[0] as usize, element })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        match self.element {
            element::I8 => integers::<i8>(self.kind, typed(x), self.width, typed_mut(out)),
            element::I16 => integers::<i16>(self.kind, typed(x), self.width, typed_mut(out)),
            _ => reals(self.kind, typed(x), self.width, typed_mut(out)),
        }
    }
}

/// Modulo 2³².
fn integers<T: Pod + Into<i32>>(kind: u32, x: &[T], width: usize, out: &mut [i32]) {
    let of_column = |column: usize| {
        let (mut before, mut sum) = (0i32, 0i32);
        for e in column_of(x, width, column) {
            sum = sum.wrapping_add(before.wrapping_mul(e.into()));
            before = before.wrapping_add(e.into());
        }
        sum
    };
    match kind {
        op::FM_TERM => {
            let sum = (0..width).map(of_column).fold(0, i32::wrapping_add);
            out.iter_mut().for_each(|out| *out = sum);
        }
        op::BI_INTERACTION => out.iter_mut().enumerate().for_each(|(column, out)| *out = of_column(column)),
        _ => pairs(x, width, out, |a, b| {
            let products = a.iter().zip(b).map(|(a, b)| (*a).into() * (*b).into());
            products.fold(0, i32::wrapping_add)
        }),
    }
}

fn reals(kind: u32, x: &[f32], width: usize, out: &mut [f32]) {
    let of_column = |column: usize| {
        let (mut before, mut sum) = (0f32, 0f32);
        for e in column_of(x, width, column) {
            sum += before * e;
            before += e;
        }
        sum
    };
    match kind {
        op::FM_TERM => {
            let sum = in_lanes((0..width).map(of_column));
            out.iter_mut().for_each(|out| *out = sum);
        }
        op::BI_INTERACTION => out.iter_mut().enumerate().for_each(|(column, out)| *out = of_column(column)),
        _ => pairs(x, width, out, |a, b| in_lanes(a.iter().zip(b).map(|(a, b)| a * b))),
    }
}

/// Element `column` of every embedding.
fn column_of<T: Copy>(x: &[T], width: usize, column: usize) -> impl Iterator<Item = T> {
    x.iter().skip(column).step_by(width.max(1)).copied()
}

/// `of` every pair of embeddings, in the order (0,1), (0,2), …, (1,2), ….
fn pairs<T, R>(x: &[T], width: usize, out: &mut [R], of: impl Fn(&[T], &[T]) -> R) {
    let mut out = out.iter_mut();
    let mut rest = x;
    while let Some((a, others)) = rest.split_at_checked(width.max(1)) {
        for (b, out) in others.chunks_exact(width.max(1)).zip(out.by_ref()) {
            *out = of(a, b);
        }
        rest = others;
    }
}

/// A sum in the eight lanes of [`num::reduce_f32`], term `i` in lane `i mod 8`.
pub(super) fn in_lanes(terms: impl Iterator<Item = f32>) -> f32 {
    let mut lanes = [0f32; 8];
    for (index, term) in terms.enumerate() {
        lanes[index % 8] += term;
    }
    num::reduce_f32(lanes)
}
