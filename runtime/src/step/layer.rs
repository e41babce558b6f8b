//! A dense layer on bytes with the rounding behind it.

use crate::features::GENERAL;
use crate::format::element;
use crate::input::Input;
use crate::kernels;
use crate::ops::{AffineI8, Place, Places, Requantisation, Running};
use crate::workspace::{range, range_mut, split, typed_mut};

/// Its operands.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerU8<'a> {
    pub call: kernels::AffineI8<u8>,
    pub affine: AffineI8<'a>,
    /// Where the sums lie.
    pub sums: Place,
    /// To u8 or i32.
    pub requantise: Requantisation<'a>,
}

impl LayerU8<'_> {
    /// First the sums, to a place of their own; so the output may lie where the input did, or where the sums do.
    pub fn run(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        let (x, sums) = match *on.input {
            Input::U8(x) if at.reads_input => (range(x, at.read.range()), range_mut(workspace, self.sums.range())),
            _ => split(workspace, at.read.range(), self.sums.range()),
        };
        let AffineI8 { weights, bias, .. } = &self.affine;
        (self.call)(x, weights.bank(on.bucket), weights.stride, bias.bank(on.bucket), typed_mut(sums));
        self.round(on, at, workspace);
    }

    /// Rounds the sums that lie in their place.
    #[inline(always)]
    pub fn round(&self, on: &Running<'_, '_>, at: &Places, workspace: &mut [u8]) {
        if GENERAL && self.sums == at.write {
            return self.requantise.run_in_place(on.kernels, on.bucket, range_mut(workspace, at.write.range()));
        }
        let (sums, out) = split(workspace, self.sums.range(), at.write.range());
        self.requantise.run(on.kernels, on.bucket, sums, out);
    }
}

/// The elements that it writes.
pub(super) const ELEMENTS: [u32; 2] = [element::U8, element::I32];
