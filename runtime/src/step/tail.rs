//! The last layers on reals in one call, whose values never reach the workspace.

use crate::kernels::{Dequantisation, TAIL_WIDTH, Tier};
use crate::ops::{AffineF32, Dequantise, Places, Running, Work};
use crate::workspace::{range, range_mut, split, typed, typed_mut};

/// The scale of outputs that no SCALE_F32 follows.
const UNSCALED: f32 = 1.0;

/// Its operands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail<'a> {
    pub first: Dequantise<'a>,
    pub hidden: AffineF32<'a>,
    pub last: Option<AffineF32<'a>>,
    /// What the outputs are multiplied with, if they are.
    pub scale: Option<f32>,
}

impl<'a> Tail<'a> {
    /// This and what comes next, if it is a layer that finds room, or an activation or a scale in its place.
    pub fn then(self, next: &Work<'a>) -> Option<Self> {
        match (*next, self.last, self.scale) {
            (Work::AFFINE_F32(layer), None, None) if layer.outputs <= TAIL_WIDTH => {
                Some(Self { last: Some(layer), ..self })
            }
            (Work::ACTIVATION_F32(next), None, None) => {
                Some(Self { hidden: self.hidden.then(next.activation)?, ..self })
            }
            (Work::ACTIVATION_F32(next), Some(last), None) => {
                Some(Self { last: Some(last.then(next.activation)?), ..self })
            }
            (Work::SCALE_F32(next), _, None) => Some(Self { scale: Some(next.factor), ..self }),
            _ => None,
        }
    }

    pub fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (read, write) = (at.read.range(), at.write.range());
        if at.read.is_apart_from(at.write) {
            let (sums, out) = split(workspace, read, write);
            return self.call(on.kernels, on.bucket, typed(sums), typed_mut(out));
        }
        self.run_in_place(on, at, workspace);
    }

    /// The same where the output lies where the input did, which has all been read by then.
    #[cfg_attr(short_ways, inline(never))]
    fn run_in_place(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (read, write) = (at.read.range(), at.write.range());
        let mut values = [0f32; TAIL_WIDTH];
        let values = range_mut(&mut values, 0..write.len() / size_of::<f32>());
        self.call(on.kernels, on.bucket, typed(range(workspace, read)), values);
        for (out, value) in typed_mut::<f32>(range_mut(workspace, write)).iter_mut().zip(values) {
            *out = *value;
        }
    }

    /// A part of both where there is room for it twice.
    #[cfg_attr(short_ways, inline(always))]
    pub fn call(&self, kernels: &Tier, bucket: usize, sums: &[i32], out: &mut [f32]) {
        let Dequantise { factor, bias, activation } = self.first;
        let first = Dequantisation { factor, bias: bias.bank(bucket), activation };
        let hidden = self.hidden.layer(bucket);
        let scale = self.scale.unwrap_or(UNSCALED);
        let call = kernels.tail_f32.call;
        match &self.last {
            Some(last) => call(sums, &first, &[hidden, last.layer(bucket)], scale, out),
            None => call(sums, &first, &[hidden], scale, out),
        }
    }
}
