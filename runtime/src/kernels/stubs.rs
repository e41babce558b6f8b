//! Entries that do nothing, for kernels that no operation of this build or of its network calls; see
//! [`super::Tier::of_build`] and [`super::Tier::without`].

use super::maps::{Layer, Map, Sum};
use super::operands::{Dequantisation, Moved, RealLayer};

/// Nothing calls what a table leaves out.
fn absent() {
    debug_assert!(false, "a kernel that this build leaves out");
}

pub(super) fn update<T>(_: &mut [i16], _: Option<&[i16]>, _: &[T], _: usize, _: &[u32], _: &[u32]) {
    absent();
}
pub(super) fn update_both<T>(_: &mut [i16], _: &[i16], _: &[T], _: usize, _: &Moved) {
    absent();
}
pub(super) fn dot(_: &[i16], _: &[i16], _: &[i16], _: i16) -> i32 {
    absent();
    0
}
pub(super) fn wide_dot(_: &[i16], _: &[i16], _: &[i16], _: i16) -> i64 {
    absent();
    0
}
pub(super) fn pairwise_u8(_: &[i16], _: i16, _: u32, _: &mut [u8]) {
    absent();
}
pub(super) fn activate_f32(_: &[i16], _: u32, _: i16, _: f32, _: &mut [f32]) {
    absent();
}
pub(super) fn affine_i8<T>(_: &[T], _: &[i8], _: usize, _: &[i32], _: &mut [i32]) {
    absent();
}
pub(super) fn requantise<T>(_: &[i32], _: &[i32], _: &[u8], _: i32, _: i32, _: i32, _: &mut [T]) {
    absent();
}
pub(super) fn affine_i16<T>(_: &[i16], _: &[T], _: usize, _: &[i32], _: &mut [i32]) {
    absent();
}
pub(super) fn affine_f32(_: &[f32], _: &[f32], _: usize, _: &[f32], _: u32, _: &mut [f32]) {
    absent();
}
pub(super) fn tail_f32(_: &[i32], _: &Dequantisation<'_>, _: &[RealLayer<'_>], _: f32, _: &mut [f32]) {
    absent();
}
pub(super) fn activation_f32(_: &[f32], _: u32, _: &mut [f32]) {
    absent();
}
pub(super) fn dequantise_f32(_: &[i32], _: f32, _: &[f32], _: u32, _: &mut [f32]) {
    absent();
}
pub(super) fn convolve(_: &Layer<'_>, _: &[u8], _: Option<(Map, &[u8])>, _: &mut [u8]) {
    absent();
}
#[cfg(short_ways)]
pub(super) fn single_place(_: &Layer<'_>, _: &[u8], _: &mut [u8]) {
    absent();
}
pub(super) fn add_maps(_: &Sum, _: (Map, &[u8]), _: (Map, &[u8]), _: (Map, &mut [u8])) {
    absent();
}
