//! Single rows of a network's last layer: what a search tree wants of a large output.
//!
//! A row's sum is what the layer's own kernel makes of that row's weights, or a plain loop where rows do not lie by
//! themselves; what follows it is the operation's kernel on one element. So the bits are those of the whole output.

use super::operands::Elements;
use super::{AffineF32, AffineI8, Banks, ByInput, Places, Requantise, Running, Work, convert, typed};
use crate::features::GENERAL_OR_CONVOLUTIONS;
use crate::format::{Layout, OpRecord, activation, element, op};
use crate::num;
use crate::sure::{at, bias_at};
use crate::workspace::range;
use bytemuck::AnyBitPattern;

/// An element of 32 bits, of either kind.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Row {
    I32(i32),
    F32(f32),
}

impl Row {
    /// As it lies in memory.
    pub const fn bytes(self) -> [u8; 4] {
        match self {
            Self::I32(value) => value.to_le_bytes(),
            Self::F32(value) => value.to_le_bytes(),
        }
    }

    const fn integer(self) -> i32 {
        match self {
            Self::I32(value) => value,
            Self::F32(_) => 0,
        }
    }

    const fn real(self) -> f32 {
        match self {
            Self::F32(value) => value,
            Self::I32(_) => 0.0,
        }
    }
}

impl Work<'_> {
    /// Whether it makes each element of what it reads with weights of its own.
    pub const fn is_layer(&self) -> bool {
        matches!(
            self,
            Self::ACTIVATE_DOT(_)
                | Self::ROUNDED_DOT(_)
                | Self::WIDE_HEAD(_)
                | Self::AFFINE_I8(_)
                | Self::AFFINE_I16(_)
                | Self::AFFINE_I32(_)
                | Self::AFFINE_F32(_)
        )
    }

    /// Whether it makes of each element one of 32 bits, by itself.
    pub fn is_by_element(&self, record: &OpRecord) -> bool {
        match self {
            Self::RESCALE(_) | Self::DEQUANTISE(_) | Self::SCALE_F32(_) => true,
            Self::REQUANTISE(Requantise::Plain(plain)) => plain.element == element::I32,
            Self::ACTIVATION_F32(_) => {
                let others = [activation::PAIRWISE_CRELU, activation::DUAL_CRELU, activation::SOFTMAX];
                record.kind == op::ACTIVATION_F32 && !others.contains(&record.activation)
            }
            _ => false,
        }
    }

    /// One row of a layer.
    // Part of the loop over rows, what it asks of one kind of layer would be asked before the loop for all kinds, of
    // memory that only the one kind has written: the answer is not used, and tools that watch memory report it.
    #[inline(never)]
    pub fn row(&self, on: &Running<'_, '_>, places: &Places, workspace: &[u8], row: usize) -> Row {
        let (first, second) = places.sides(on);
        let x = places.source(on, workspace);
        let len = first.len() + second.len();
        Row::I32(match self {
            Self::ACTIVATE_DOT(dot) => (dot.dot)(first, second, weights(&dot.weights, on.bucket, row, len), dot.max),
            Self::ROUNDED_DOT(dot) => {
                let sum = (dot.dot)(first, second, weights(&dot.weights, on.bucket, row, len), dot.max);
                sum.wrapping_add(bias_at(dot.bias.bank(on.bucket), row))
            }
            Self::WIDE_HEAD(head) => {
                let sum = (head.dot)(first, second, weights(&head.weights, on.bucket, row, len), head.max);
                num::rescale_wide(sum, head.pre, head.bias.get(on.bucket, row), head.factor, head.divisor)
            }
            Self::AFFINE_I8(layer) => bytes(layer, on.bucket, x, row),
            Self::AFFINE_I16(layer) => {
                let (mut sum, x) = ([0], typed(x));
                let bias = one(layer.bias.bank(on.bucket), row);
                match &layer.weights {
                    Elements::I8(w) => {
                        let all = weights(w, on.bucket, row, x.len());
                        (on.kernels.affine_i16_i8.call)(x, all, w.stride, bias, &mut sum);
                    }
                    Elements::I16(w) => {
                        let all = weights(w, on.bucket, row, x.len());
                        (on.kernels.affine_i16.call)(x, all, w.stride, bias, &mut sum);
                    }
                    _ => {}
                }
                sum[0]
            }
            Self::AFFINE_I32(layer) => {
                let mut sum = [bias_at(layer.bias.bank(on.bucket), row)];
                match &layer.weights {
                    Elements::I8(w) => layer.add(typed(x), from(w, on.bucket, row), w.stride, &mut sum),
                    Elements::I16(w) => layer.add(typed(x), from(w, on.bucket, row), w.stride, &mut sum),
                    Elements::I32(w) => layer.add(typed(x), from(w, on.bucket, row), w.stride, &mut sum),
                    _ => {}
                }
                sum[0]
            }
            Self::AFFINE_F32(layer) => return Row::F32(reals(layer, on, typed(x), row)),
            _ => 0,
        })
    }

    /// What becomes of one element of a row.
    pub fn of_row(&self, on: &Running<'_, '_>, x: Row, row: usize) -> Row {
        match self {
            Self::RESCALE(rescale) => Row::I32(rescale.one(x.integer(), on.bucket, row)),
            Self::REQUANTISE(Requantise::Plain(plain)) => {
                let (multiplier, shift) =
                    (at(plain.multipliers.bank(on.bucket), row), at(plain.shifts.bank(on.bucket), row));
                Row::I32(num::requantise(x.integer(), multiplier, shift.into(), plain.low, plain.high))
            }
            Self::DEQUANTISE(to) => {
                let (bias, mut y) = (one(to.bias.bank(on.bucket), row), [0.0]);
                (on.kernels.dequantise_f32.call)(&[x.integer()], to.factor, bias, to.activation, &mut y);
                Row::F32(y[0])
            }
            Self::SCALE_F32(scale) => Row::F32(x.real() * scale.factor),
            Self::ACTIVATION_F32(function) => {
                let mut y = [0.0];
                if GENERAL_OR_CONVOLUTIONS && function.activation > activation::DUAL_CRELU {
                    convert::activation(function.activation, function.alpha, &[x.real()], &mut y);
                } else {
                    (on.kernels.activation_f32.call)(&[x.real()], function.activation, &mut y);
                }
                Row::F32(y[0])
            }
            _ => x,
        }
    }
}

/// A bank from a row on.
fn from<'a, T: AnyBitPattern>(weights: &Banks<'a, T>, bucket: usize, row: usize) -> &'a [T] {
    let bank = weights.bank(bucket);
    range(bank, row * weights.stride..bank.len())
}

/// The weights of a row.
fn weights<'a, T: AnyBitPattern>(weights: &Banks<'a, T>, bucket: usize, row: usize, len: usize) -> &'a [T] {
    let start = row * weights.stride;
    range(weights.bank(bucket), start..start + len)
}

/// The bias of a row, of a layer that has one.
fn one<T>(biases: &[T], row: usize) -> &[T] {
    if biases.is_empty() { biases } else { range(biases, row..row + 1) }
}

/// A row of K4 is four bytes of every group.
fn bytes(layer: &AffineI8<'_>, bucket: usize, x: &[u8], row: usize) -> i32 {
    let (weights, _) = layer.weights.bank(bucket).as_chunks::<4>();
    let mut weights = weights.iter().skip(row).step_by(layer.weights.stride.max(1));
    let is_signed = matches!(layer.affine, ByInput::I8);
    let (groups, rest) = x.as_chunks::<4>();
    let mut sum = bias_at(layer.bias.bank(bucket), row);
    for (x, w) in groups.iter().zip(weights.by_ref()) {
        sum = sum.wrapping_add(four(x, w, is_signed));
    }
    if let Some(w) = weights.next().filter(|_| !rest.is_empty()) {
        let mut last = [0; 4];
        last.iter_mut().zip(rest).for_each(|(last, x)| *last = *x);
        sum = sum.wrapping_add(four(&last, w, is_signed));
    }
    sum
}

/// Four products of bytes.
fn four(x: &[u8; 4], w: &[i8; 4], is_signed: bool) -> i32 {
    let products = x.iter().zip(w).map(|(x, w)| {
        let x = if is_signed { i32::from(*x as i8) } else { i32::from(*x) };
        x * i32::from(*w)
    });
    products.sum()
}

/// A row of reals: by the kernel where rows lie by themselves, else in the lanes that the kernels have.
fn reals(layer: &AffineF32<'_>, on: &Running<'_, '_>, x: &[f32], row: usize) -> f32 {
    let all = layer.layer(on.bucket);
    let bias = one(all.bias, row);
    if all.layout == Layout::Rows {
        let (start, mut y) = (row * all.stride, [0.0]);
        let weights = range(all.weights, start..start + x.len());
        (on.kernels.affine_f32.call)(x, weights, all.stride, bias, all.activation, &mut y);
        return y[0];
    }
    let mut lanes = [0f32; 8];
    for (column, x) in x.iter().enumerate() {
        if let Some(lane) = lanes.get_mut(column % 8) {
            *lane += x * at(all.weights, column * all.stride + row);
        }
    }
    let sum = num::reduce_f32(lanes);
    let sum = if let [bias] = bias { sum + bias } else { sum };
    num::activate(sum, all.activation)
}
