//! What reads accumulators: activation and dot product in one, reals, and products of halves.

use super::{Banks, Kind, Places, Running, typed_mut};
use crate::features::ACCUMULATORS;
use crate::format::{Model, OpRecord, Tensor, activation, claim};
use crate::kernels::{self, Dot, Tier};
use crate::sure::bias_at;
use crate::workspace::range;

/// ACTIVATE_DOT.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActivateDot<'a> {
    pub dot: Dot,
    pub max: i16,
    pub weights: Banks<'a, i16>,
}

impl<'a> Kind<'a> for ActivateDot<'a> {
    fn resolve(model: &Model<'a>, kernels: &Tier, record: &OpRecord) -> Option<Self> {
        let weights = model.tensor(record.weights);
        let dot = match DotForm::of(weights, record) {
            DotForm::Crelu => kernels.dot_crelu.call,
            DotForm::Sqrrelu => kernels.dot_sqrrelu.call,
            DotForm::ScreluShort => kernels.dot_screlu_short.call,
            DotForm::Screlu => kernels.dot_screlu.call,
        };
        Some(Self { dot, max: record.params[0] as i16, weights: Banks::new(weights) })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (first, second, out) = at.accumulators(on, workspace);
        let bank = self.weights.bank(on.bucket);
        for (row, sum) in typed_mut::<i32>(out).iter_mut().enumerate() {
            let start = row * self.weights.stride;
            let w = range(bank, start..start + first.len() + second.len());
            *sum = (self.dot)(first, second, w, self.max);
        }
    }
}

/// Which kernels an ACTIVATE_DOT takes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DotForm {
    Crelu,
    Sqrrelu,
    ScreluShort,
    Screlu,
}

impl DotForm {
    #[inline(always)]
    pub fn of(weights: Option<Tensor<'_>>, record: &OpRecord) -> Self {
        let is_short = weights.is_some_and(|weights| weights.record.claims & claim::PRODUCT_FITS_I16 != 0);
        match record.activation {
            activation::CRELU => Self::Crelu,
            activation::SQRRELU => Self::Sqrrelu,
            _ if is_short => Self::ScreluShort,
            _ => Self::Screlu,
        }
    }
}

/// ROUNDED_DOT.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundedDot<'a> {
    pub dot: Dot,
    pub max: i16,
    pub weights: Banks<'a, i16>,
    pub bias: Banks<'a, i32>,
}

impl<'a> Kind<'a> for RoundedDot<'a> {
    fn resolve(model: &Model<'a>, kernels: &Tier, record: &OpRecord) -> Option<Self> {
        Some(Self {
            dot: kernels.dot_screlu_rounded.call,
            max: record.params[0] as i16,
            weights: Banks::new(model.tensor(record.weights)),
            bias: Banks::new(model.tensor(record.bias)),
        })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (first, second, out) = at.accumulators(on, workspace);
        let (bank, bias) = (self.weights.bank(on.bucket), self.bias.bank(on.bucket));
        for (row, sum) in typed_mut::<i32>(out).iter_mut().enumerate() {
            let start = row * self.weights.stride;
            let w = range(bank, start..start + first.len() + second.len());
            *sum = (self.dot)(first, second, w, self.max).wrapping_add(bias_at(bias, row));
        }
    }
}

/// ACTIVATE_F32.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActivateF32 {
    activation: u32,
    max: i16,
    inverse: f32,
    /// Elements at the end of each accumulator that are not read.
    left_out: usize,
}

impl Kind<'_> for ActivateF32 {
    fn resolve(_: &Model<'_>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let [max, inverse, left_out, _] = record.params;
        // Who has no accumulators cannot read them.
        ACCUMULATORS.then_some(Self {
            activation: record.activation,
            max: max as i16,
            inverse: f32::from_bits(inverse),
            left_out: left_out as usize,
        })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (first, second, out) = at.accumulators(on, workspace);
        let (first, second) = (without(first, self.left_out), without(second, self.left_out));
        let out = typed_mut::<f32>(out);
        let share = if second.is_empty() { out.len() } else { out.len() / 2 };
        let (low, high) = out.split_at_mut(share);
        (on.kernels.activate_f32.call)(first, self.activation, self.max, self.inverse, low);
        if !second.is_empty() {
            (on.kernels.activate_f32.call)(second, self.activation, self.max, self.inverse, high);
        }
    }
}

/// PAIRWISE_U8.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairwiseU8(Products);

impl Kind<'_> for PairwiseU8 {
    fn resolve(_: &Model<'_>, kernels: &Tier, record: &OpRecord) -> Option<Self> {
        Some(Self(Products::of(record, kernels.pairwise_u8.call)))
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        self.0.run(on, at, workspace);
    }
}

/// PAIRWISE_ROUNDED.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairwiseRounded(Products);

impl Kind<'_> for PairwiseRounded {
    fn resolve(_: &Model<'_>, kernels: &Tier, record: &OpRecord) -> Option<Self> {
        Some(Self(Products::of(record, kernels.pairwise_u8_rounded.call)))
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        self.0.run(on, at, workspace);
    }
}

#[cfg(short_ways)]
impl PairwiseU8 {
    pub const fn products(&self) -> &Products {
        &self.0
    }
}

#[cfg(short_ways)]
impl PairwiseRounded {
    pub const fn products(&self) -> &Products {
        &self.0
    }
}

/// Products of an accumulator's halves, cut or rounded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Products {
    call: kernels::PairwiseU8,
    max: i16,
    shift: u32,
    /// Elements at the end of each accumulator that are not read.
    left_out: usize,
}

impl Products {
    const fn of(record: &OpRecord, call: kernels::PairwiseU8) -> Self {
        let [max, shift, left_out, _] = record.params;
        Self { call, max: max as i16, shift, left_out: left_out as usize }
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (first, second, out) = at.accumulators(on, workspace);
        if second.is_empty() {
            self.one(first, out);
        } else {
            self.both(first, second, out);
        }
    }

    /// Those of one accumulator.
    #[inline(always)]
    pub fn one(&self, x: &[i16], out: &mut [u8]) {
        (self.call)(without(x, self.left_out), self.max, self.shift, out);
    }

    /// Those of two, one behind the other.
    #[inline(always)]
    pub fn both(&self, first: &[i16], second: &[i16], out: &mut [u8]) {
        let (low, high) = out.split_at_mut(out.len() / 2);
        self.one(first, low);
        self.one(second, high);
    }
}

/// An accumulator without its last elements.
pub(super) fn without(accumulator: &[i16], left_out: usize) -> &[i16] {
    range(accumulator, 0..accumulator.len().saturating_sub(left_out))
}
