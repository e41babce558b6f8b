//! Layers of reals: from sums, dense, activations, scales.

use super::{Banks, Kind, Places, Running, convert, typed, typed_mut};
use crate::features::GENERAL_OR_CONVOLUTIONS;
use crate::format::{Layout, Model, OpRecord, activation};
use crate::kernels::{RealLayer, Tier};

/// DEQUANTISE, with an activation behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dequantise<'a> {
    pub factor: f32,
    pub bias: Banks<'a, f32>,
    pub activation: u32,
}

impl<'a> Kind<'a> for Dequantise<'a> {
    fn resolve(model: &Model<'a>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let factor = f32::from_bits(record.params[0]);
        Some(Self { factor, bias: Banks::new(model.tensor(record.bias)), activation: activation::IDENTITY })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        let bias = self.bias.bank(on.bucket);
        (on.kernels.dequantise_f32.call)(typed(x), self.factor, bias, self.activation, typed_mut(out));
    }
}

/// AFFINE_F32, with an activation behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AffineF32<'a> {
    layout: Layout,
    weights: Banks<'a, f32>,
    bias: Banks<'a, f32>,
    pub activation: u32,
    pub outputs: usize,
}

impl<'a> Kind<'a> for AffineF32<'a> {
    fn resolve(model: &Model<'a>, _: &Tier, record: &OpRecord) -> Option<Self> {
        let (weights, bias) = (model.tensor(record.weights), Banks::new(model.tensor(record.bias)));
        let layout = weights.map_or(Layout::Rows, |weights| weights.layout);
        let outputs = model.values().get(record.output as usize)?.len as usize;
        Some(Self { layout, weights: Banks::new(weights), bias, activation: activation::IDENTITY, outputs })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        let is_columns = self.layout == Layout::Columns;
        let affine = if is_columns { on.kernels.affine_f32_columns } else { on.kernels.affine_f32 };
        let RealLayer { weights, stride, bias, activation, .. } = self.layer(on.bucket);
        (affine.call)(typed(x), weights, stride, bias, activation, typed_mut(out));
    }
}

impl<'a> AffineF32<'a> {
    /// As kernels take it.
    #[cfg_attr(short_ways, inline(always))]
    #[cfg_attr(not(short_ways), inline)]
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

    /// The same with an activation, where it had none and the kernels have it.
    pub fn then(self, activation: u32) -> Option<Self> {
        let fits = self.activation == activation::IDENTITY && activation <= activation::SQRRELU;
        fits.then_some(Self { activation, ..self })
    }
}

/// ACTIVATION_F32.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActivationF32 {
    pub activation: u32,
    pub(super) alpha: f32,
}

impl Kind<'_> for ActivationF32 {
    fn resolve(_: &Model<'_>, _: &Tier, record: &OpRecord) -> Option<Self> {
        Some(Self { activation: record.activation, alpha: f32::from_bits(record.params[0]) })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        if GENERAL_OR_CONVOLUTIONS && self.activation > activation::DUAL_CRELU {
            convert::activation(self.activation, self.alpha, typed(x), typed_mut(out));
        } else {
            (on.kernels.activation_f32.call)(typed(x), self.activation, typed_mut(out));
        }
    }
}

/// SCALE_F32.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScaleF32 {
    pub factor: f32,
}

impl Kind<'_> for ScaleF32 {
    fn resolve(_: &Model<'_>, _: &Tier, record: &OpRecord) -> Option<Self> {
        Some(Self { factor: f32::from_bits(record.params[0]) })
    }

    fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, out) = at.bytes(on, workspace);
        for (y, x) in typed_mut::<f32>(out).iter_mut().zip(typed::<f32>(x)) {
            *y = x * self.factor;
        }
    }
}
