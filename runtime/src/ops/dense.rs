//! Dense layers of integers: sums of products, which another operation rounds.

use super::operands::{Elements, bank_bytes};
use super::{Banks, Bytes, Kind, Places, Running, typed, typed_mut};
use crate::features::{ACCUMULATORS, GENERAL, TELLS_U7};
use crate::format::{Model, OpRecord, Tensor, ValueRecord, activation, claim, element, op};
use crate::kernels::{self, Tier};
use crate::num;
use crate::sure::sure;
use crate::workspace::range;
use bytemuck::cast_slice;

/// AFFINE_I8.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AffineI8<'a> {
    pub affine: ByInput,
    pub weights: Banks<'a, i8>,
    pub bias: Banks<'a, i32>,
    /// For a chain of layers, whether the weights have [`claim::QUADS_FIT_I16`]; `None` where inputs are none that it
    /// takes.
    #[cfg(short_ways)]
    pub has_quads: Option<bool>,
}

/// The kernel for the input's element.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ByInput {
    U8(kernels::AffineI8<u8>),
    I8,
}

impl<'a> Kind<'a> for AffineI8<'a> {
    fn resolve(model: &Model<'a>, kernels: &Tier, record: &OpRecord) -> Option<Self> {
        let weights = model.tensor(record.weights);
        let from = model.values().get(record.input as usize).map(ValueRecord::element);
        let affine = if from == Some(element::I8) {
            ByInput::I8
        } else if TELLS_U7 {
            ByInput::U8(affine_of(model, kernels, record, weights))
        } else {
            ByInput::U8(kernels.affine_u8.call)
        };
        Some(Self {
            affine,
            weights: Banks::new(weights),
            bias: Banks::new(model.tensor(record.bias)),
            #[cfg(short_ways)]
            has_quads: match Source::of(model, record.input) {
                Source::Caller | Source::Narrow if from == Some(element::U8) => Some(has_quads(weights)),
                _ => None,
            },
        })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        let (weights, stride, bias) = (self.weights.bank(on.bucket), self.weights.stride, self.bias.bank(on.bucket));
        match self.affine {
            ByInput::U8(affine) => affine(x, weights, stride, bias, typed_mut(out)),
            ByInput::I8 => (on.kernels.affine_i8.call)(cast_slice(x), weights, stride, bias, typed_mut(out)),
        }
    }

    fn run_once(on: &Running<'_, 'a>, record: &OpRecord, workspace: &mut [u8]) {
        if let Some(bytes) = on.bytes(record, workspace) {
            Self::run_on_bytes(on, record, bytes);
        }
    }
}

impl AffineI8<'_> {
    /// Straight from the record.
    #[inline(always)]
    pub fn run_on_bytes(on: &Running<'_, '_>, record: &OpRecord, (_, x, out): Bytes<'_>) {
        let (model, kernels) = (on.model, on.kernels);
        let stride = sure(model.tensors().get(record.weights as usize).map(|weights| weights.stride as usize));
        let (w, bias) = (
            cast_slice(bank_bytes(model, record.weights, on.bucket)),
            typed(bank_bytes(model, record.bias, on.bucket)),
        );
        let sums = typed_mut(out);
        if model.values().get(record.input as usize).is_some_and(|value| value.element() == element::I8) {
            (kernels.affine_i8.call)(cast_slice(x), w, stride, bias, sums);
        } else if TELLS_U7 {
            affine_of(model, kernels, record, model.tensor(record.weights))(x, w, stride, bias, sums);
        } else {
            (kernels.affine_u8.call)(x, w, stride, bias, sums);
        }
    }
}

/// The kernel of a dense layer on u8, by what is known of its inputs and its weights.
fn affine_of(
    model: &Model<'_>,
    kernels: &Tier,
    record: &OpRecord,
    weights: Option<Tensor<'_>>,
) -> kernels::AffineI8<u8> {
    let quads = has_quads(weights);
    let source = Source::of(model, record.input);
    match source {
        Source::Products => kernels.affine_u7_sparse.call,
        Source::Narrow if quads => kernels.affine_u7_paired.call,
        Source::Narrow => kernels.affine_u7.call,
        Source::Caller if quads => kernels.affine_u8_paired.call,
        Source::Caller | Source::Wide => kernels.affine_u8.call,
    }
}

fn has_quads(weights: Option<Tensor<'_>>) -> bool {
    weights.is_some_and(|weights| weights.record.claims & claim::QUADS_FIT_I16 != 0)
}

/// Widest input of the kernels that take u7.
const U7_MAX: u32 = 127;

/// Where bytes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The network's input.
    Caller,
    /// Products of clipped halves, most of them zero, up to 127.
    Products,
    /// Another operation that clamps to 127.
    Narrow,
    /// One that does not.
    Wide,
}

impl Source {
    fn of(model: &Model<'_>, value: u32) -> Self {
        let Some(writer) = value.checked_sub(1).and_then(|index| model.ops().get(index as usize)) else {
            return Self::Caller;
        };
        let [first, second, ..] = writer.params;
        match writer.kind {
            op::REQUANTISE if second <= U7_MAX => Self::Narrow,
            op::PAIRWISE_U8 if ACCUMULATORS && (first * first) >> second <= U7_MAX => Self::Products,
            op::PAIRWISE_ROUNDED
                if ACCUMULATORS && num::shift_round((first * first) as i32, second) <= U7_MAX as i32 =>
            {
                Self::Products
            }
            _ if !GENERAL => Self::Wide,
            op::CLIP_U8 if first >> second <= U7_MAX => Self::Narrow,
            op::ACTIVATE_U8 if first <= U7_MAX => Self::Narrow,
            op::QUANTISE if writer.params[2] <= U7_MAX => Self::Narrow,
            op::LOOKUP if model.tensor(writer.weights).is_some_and(|table| table.data.is_ascii()) => Self::Narrow,
            _ => Self::Wide,
        }
    }
}

/// AFFINE_I16.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AffineI16<'a> {
    pub(super) weights: Elements<'a>,
    pub(super) bias: Banks<'a, i32>,
}

impl<'a> Kind<'a> for AffineI16<'a> {
    fn resolve(model: &Model<'a>, _: &Tier, record: &OpRecord) -> Option<Self> {
        Some(Self { weights: Elements::new(model.tensor(record.weights)), bias: Banks::new(model.tensor(record.bias)) })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        let (x, bias, out) = (typed(x), self.bias.bank(on.bucket), typed_mut(out));
        match self.weights {
            Elements::I8(w) => (on.kernels.affine_i16_i8.call)(x, w.bank(on.bucket), w.stride, bias, out),
            Elements::I16(w) => (on.kernels.affine_i16.call)(x, w.bank(on.bucket), w.stride, bias, out),
            Elements::None | Elements::I32(_) | Elements::F32(_) => {}
        }
    }
}

/// Activations that are made at once, on the stack.
const BLOCK: usize = 64;

/// AFFINE_I32.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AffineI32<'a> {
    activation: u32,
    max: i32,
    shift: u32,
    pub(super) weights: Elements<'a>,
    pub(super) bias: Banks<'a, i32>,
}

impl<'a> Kind<'a> for AffineI32<'a> {
    fn resolve(model: &Model<'a>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let [max, shift, ..] = record.params;
        Some(Self {
            activation: record.activation,
            max: max as i32,
            shift,
            weights: Elements::new(model.tensor(record.weights)),
            bias: Banks::new(model.tensor(record.bias)),
        })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        let (x, bias, out) = (typed(x), self.bias.bank(on.bucket), typed_mut::<i32>(out));
        out.fill(0);
        out.iter_mut().zip(bias).for_each(|(sum, bias)| *sum = *bias);
        match self.weights {
            Elements::I8(w) => self.add(x, w.bank(on.bucket), w.stride, out),
            Elements::I16(w) => self.add(x, w.bank(on.bucket), w.stride, out),
            Elements::I32(w) => self.add(x, w.bank(on.bucket), w.stride, out),
            Elements::None | Elements::F32(_) => {
                debug_assert!(false, "weights that the loader refuses");
            }
        }
    }
}

impl AffineI32<'_> {
    /// Adds the products to the sums. A block of activations is made once and meets every row; of the dual activation
    /// the clipped come first and the squares behind them. x: (n,) · weights: rows of `stride`
    pub(super) fn add<T: Copy + Into<i32>>(&self, x: &[i32], weights: &[T], stride: usize, sums: &mut [i32]) {
        let squares = (self.activation == activation::DUAL_CRELU).then_some(true);
        let mut first = 0;
        for is_squares in core::iter::once(false).chain(squares) {
            for x in x.chunks(BLOCK) {
                let mut active = [0; BLOCK];
                active.iter_mut().zip(x).for_each(|(active, x)| *active = self.activated(*x, is_squares));
                for (row, sum) in weights.chunks(stride.max(1)).zip(&mut *sums) {
                    let row = range(row, first..first + x.len());
                    let products =
                        row.iter().zip(&active).map(|(weight, active)| active.wrapping_mul((*weight).into()));
                    *sum = products.fold(*sum, i32::wrapping_add);
                }
                first += x.len();
            }
        }
    }

    /// At most the square of 15 bits, but for ReLU and the identity.
    fn activated(&self, sum: i32, is_squares: bool) -> i32 {
        let (shifted, max) = (sum.wrapping_shr(self.shift), self.max);
        let clipped = shifted.max(0).min(max);
        match self.activation {
            activation::IDENTITY => shifted,
            activation::RELU => shifted.max(0),
            activation::CRELU => clipped,
            activation::DUAL_CRELU if is_squares => {
                let both = shifted.max(max.wrapping_neg()).min(max);
                both.wrapping_mul(both)
            }
            activation::DUAL_CRELU => clipped.wrapping_mul(max),
            _ => clipped.wrapping_mul(clipped),
        }
    }
}
