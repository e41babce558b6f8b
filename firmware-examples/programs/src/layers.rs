//! Fully connected layers of bytes, one by one: what a layer costs, and the same results on every board.
//!
//! Each is computed twice through the table of the build's tier, on i8 and on u8 inputs up to 127, requantisation
//! included, and held against the definition. The marks count the sums and the requantisation of a layer apart.

pub mod data;

use crate::Error;
use crate::hash::fnv1a;
use crate::mark::counted;
use data::{BIAS, INPUTS_I8, INPUTS_U7, LAYERS, Layer, MULTIPLIERS, ROWS_MAX, SHIFTS};
use tamis_runtime::kernels::{of_target, scalar};
use tamis_runtime::testing::{AffineI8, Requantise};

/// Computes every layer.
///
/// # Errors
/// A layer whose results are not the definition's.
pub fn run() -> Result<(), Error> {
    let (tier, definition) = (of_target(), &scalar::KERNELS);
    for layer in &LAYERS {
        let signed = compute(layer, &INPUTS_I8, tier.affine_i8.call, tier.requantise_i8.call, -128);
        let small = compute(layer, &INPUTS_U7, tier.affine_u7.call, tier.requantise_u8.call, 0);
        if signed != expected(layer, &INPUTS_I8, definition.affine_i8.call, definition.requantise_i8.call, -128)
            || small != expected(layer, &INPUTS_U7, definition.affine_u7.call, definition.requantise_u8.call, 0)
        {
            return Err(Error::Because("a layer leaves the definition"));
        }
        defmt::println!(
            "{=usize}x{=usize}: i8 {=u32:08x}, u7 {=u32:08x}",
            layer.cols,
            layer.rows,
            fnv1a(signed[..layer.rows].iter().map(|value| *value as u8)),
            fnv1a(small[..layer.rows].iter().copied()),
        );
    }
    Ok(())
}

/// A layer's outputs, its two steps counted.
fn compute<T, U: Copy + Default>(
    layer: &Layer,
    inputs: &[T],
    affine: AffineI8<T>,
    requantise: Requantise<U>,
    low: i32,
) -> [U; ROWS_MAX] {
    let Layer { cols, rows, weights } = *layer;
    let (mut sums, mut outputs) = ([0; ROWS_MAX], [U::default(); ROWS_MAX]);
    let (inputs, stride) = (&inputs[..cols], layer.stride());
    counted(|| affine(inputs, weights, stride, &BIAS[..rows], &mut sums[..rows]));
    counted(|| requantise(&sums[..rows], &MULTIPLIERS[..rows], &SHIFTS[..rows], low, 127, 0, &mut outputs[..rows]));
    outputs
}

/// The same by the definition's kernels, not counted.
fn expected<T, U: Copy + Default>(
    layer: &Layer,
    inputs: &[T],
    affine: AffineI8<T>,
    requantise: Requantise<U>,
    low: i32,
) -> [U; ROWS_MAX] {
    let Layer { cols, rows, weights } = *layer;
    let (mut sums, mut outputs) = ([0; ROWS_MAX], [U::default(); ROWS_MAX]);
    affine(&inputs[..cols], weights, layer.stride(), &BIAS[..rows], &mut sums[..rows]);
    requantise(&sums[..rows], &MULTIPLIERS[..rows], &SHIFTS[..rows], low, 127, 0, &mut outputs[..rows]);
    outputs
}
