//! What the steps of a plan work with: tensors cut into banks, and the numbers of their records.

use super::Place;
use crate::built::GENERAL;
use crate::format::{Layout, Model, OpRecord, Tensor, ValueRecord, element};
use crate::kernels::{AffineI8, RealLayer};
use crate::workspace::range;
use bytemuck::AnyBitPattern;

/// The operands of a dense layer on u8 with its requantisation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayerU8<'a> {
    pub affine: AffineI8<u8>,
    pub weights: Banks<'a, i8>,
    pub bias: Banks<'a, i32>,
    /// Where the sums lie.
    pub sums: Place,
    pub requantise: Requantisation<'a>,
}

/// The operands of a [`crate::kernels::TailF32`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail<'a> {
    pub factor: f32,
    pub bias: Banks<'a, f32>,
    pub activation: u32,
    pub hidden: RealAffine<'a>,
    pub last: Option<RealAffine<'a>>,
    pub scale: Option<f32>,
}

/// The operands of AFFINE_F32, with an activation behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RealAffine<'a> {
    pub layout: Layout,
    pub weights: Banks<'a, f32>,
    pub bias: Banks<'a, f32>,
    pub activation: u32,
    pub outputs: usize,
}

impl<'a> RealAffine<'a> {
    #[inline]
    pub fn layer(&self, bucket: usize) -> RealLayer<'a> {
        RealLayer {
            layout: self.layout,
            weights: self.weights.bank(bucket),
            stride: self.weights.stride,
            bias: self.bias.bank(bucket),
            activation: self.activation,
            outputs: self.outputs,
        }
    }
}

/// The operands of REQUANTISE.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requantisation<'a> {
    pub multipliers: Banks<'a, i32>,
    pub shifts: Banks<'a, u8>,
    pub low: i32,
    pub high: i32,
    pub element: u32,
}

impl<'a> Requantisation<'a> {
    pub fn resolve(model: &Model<'a>, record: &OpRecord) -> Self {
        let [low, high, ..] = record.params.map(|param| param as i32);
        Self {
            multipliers: Banks::new(model.tensor(record.multipliers)),
            shifts: Banks::new(model.tensor(record.shifts)),
            low,
            high,
            element: model.values().get(record.output as usize).map_or(0, ValueRecord::element),
        }
    }

    /// Whether a tier's kernel does all of it: there is no zero point, and the output is not i16.
    pub fn is_plain(model: &Model<'_>, record: &OpRecord) -> bool {
        let to = model.values().get(record.output as usize).map_or(0, ValueRecord::element);
        !GENERAL || (record.params[2] == 0 && to != element::I16)
    }
}

/// The bias of RESCALE, of either width.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bias<'a> {
    I16(Banks<'a, i16>),
    I32(Banks<'a, i32>),
}

impl Bias<'_> {
    #[inline]
    pub fn get(self, bucket: usize, index: usize) -> i32 {
        match self {
            Self::I16(bias) => bias.bank(bucket).get(index).map_or(0, |bias| i32::from(*bias)),
            Self::I32(bias) => bias.bank(bucket).get(index).copied().unwrap_or(0),
        }
    }
}

/// A tensor's elements, cut into output buckets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Banks<'a, T> {
    all: &'a [T],
    /// Elements of a bank.
    len: usize,
    /// Elements from a bank to the next; 0 where one bank serves all buckets.
    step: usize,
    pub stride: usize,
}

impl<'a, T: AnyBitPattern> Banks<'a, T> {
    const NONE: Self = Self { all: &[], len: 0, step: 0, stride: 0 };

    pub fn new(tensor: Option<Tensor<'a>>) -> Self {
        let Some(tensor) = tensor else { return Self::NONE };
        let (all, len) = (bytemuck::try_cast_slice(tensor.data).unwrap_or(&[]), tensor.bank_len());
        Self { all, len, step: if tensor.record.banks <= 1 { 0 } else { len }, stride: tensor.stride() }
    }

    #[inline]
    pub fn bank(&self, bucket: usize) -> &'a [T] {
        if self.step == 0 { self.all } else { self.start(bucket, self.len) }
    }

    /// The first elements of a bank, which may be padded.
    #[inline]
    pub fn start(&self, bucket: usize, len: usize) -> &'a [T] {
        let start = bucket.wrapping_mul(self.step);
        range(self.all, start..start.wrapping_add(len))
    }
}
