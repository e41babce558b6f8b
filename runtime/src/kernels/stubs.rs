//! Entries that do nothing, for kernels that no operation of this build calls; see [`super::Tier::of_build`].

use super::maps::{Layer, Map};
use super::operands::{Dequantisation, Moved, RealLayer};

pub(super) fn update<T>(_: &mut [i16], _: Option<&[i16]>, _: &[T], _: usize, _: &[u32], _: &[u32]) {}
pub(super) fn update_both<T>(_: &mut [i16], _: &[i16], _: &[T], _: usize, _: &Moved) {}
pub(super) fn dot(_: &[i16], _: &[i16], _: &[i16], _: i16) -> i32 {
    0
}
pub(super) fn wide_dot(_: &[i16], _: &[i16], _: &[i16], _: i16) -> i64 {
    0
}
pub(super) fn pairwise_u8(_: &[i16], _: i16, _: u32, _: &mut [u8]) {}
pub(super) fn activate_f32(_: &[i16], _: u32, _: i16, _: f32, _: &mut [f32]) {}
pub(super) fn affine_i16<T>(_: &[i16], _: &[T], _: usize, _: &[i32], _: &mut [i32]) {}
pub(super) fn affine_f32(_: &[f32], _: &[f32], _: usize, _: &[f32], _: u32, _: &mut [f32]) {}
pub(super) fn tail_f32(_: &[i32], _: &Dequantisation<'_>, _: &[RealLayer<'_>], _: f32, _: &mut [f32]) {}
pub(super) fn activation_f32(_: &[f32], _: u32, _: &mut [f32]) {}
pub(super) fn dequantise_f32(_: &[i32], _: f32, _: &[f32], _: u32, _: &mut [f32]) {}
pub(super) fn convolve(_: &Layer<'_>, _: &[u8], _: Option<(Map, &[u8])>, _: &mut [u8]) {}
