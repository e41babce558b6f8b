//! RESCALE: the integer head of engines.

use super::{Banks, Kind, Places, Running, typed, typed_mut};
use crate::format::{Model, OpRecord, Tensor, element};
use crate::kernels::Tier;
use crate::num::{self, Divisor};

/// `(x / pre + bias) · factor / divisor`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rescale<'a> {
    pub pre: Divisor,
    pub factor: i32,
    pub divisor: Divisor,
    pub bias: Bias<'a>,
}

impl<'a> Kind<'a> for Rescale<'a> {
    fn resolve(model: &Model<'a>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let bias = Bias::of(model.tensor(record.bias));
        let [pre, factor, divisor, _] = record.params.map(|param| param as i32);
        Some(Self { pre: Divisor::new(pre), factor, divisor: Divisor::new(divisor), bias })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        for (index, (y, x)) in typed_mut::<i32>(out).iter_mut().zip(typed::<i32>(x)).enumerate() {
            *y = self.one(*x, on.bucket, index);
        }
    }
}

impl Rescale<'_> {
    /// Of the sum at a place.
    #[inline(always)]
    pub fn one(&self, x: i32, bucket: usize, index: usize) -> i32 {
        num::rescale_by(x, self.pre, self.bias.get(bucket, index), self.factor, self.divisor)
    }
}

/// The bias, of either width.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bias<'a> {
    I16(Banks<'a, i16>),
    I32(Banks<'a, i32>),
}

impl<'a> Bias<'a> {
    pub fn of(bias: Option<Tensor<'a>>) -> Self {
        let narrow = bias.is_some_and(|bias| u32::from(bias.record.element) == element::I16);
        if narrow { Self::I16(Banks::new(bias)) } else { Self::I32(Banks::new(bias)) }
    }

    #[cfg_attr(not(short_ways), inline)]
    #[cfg_attr(short_ways, inline(always))]
    pub fn get(self, bucket: usize, index: usize) -> i32 {
        match self {
            Self::I16(bias) => bias.bias(bucket, index).into(),
            Self::I32(bias) => bias.bias(bucket, index),
        }
    }
}
