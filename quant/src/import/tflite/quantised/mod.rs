//! Files of int8 as networks of integers, with the arithmetic of XNNPACK's family: sums times a multiplier of 31 bits,
//! rounded once, halves upwards.
//!
//! A [`QuantisedGraph`] says everything that an engine needs to compute the same: weights, biases, multipliers, clamps,
//! tables; [`QuantisedGraph::lower`] makes a program of it. What moves bytes,
//! sums of two values, pools, tables and softmax are LiteRT's with XNNPACK to the bit.
//! XNNPACK's kernels for x86 multiply sums of products by the quotient of the scales in f32, halves to the even
//! number; that is the same but where f32 cannot tell a product from a half, about one element in 100,000. Scales are
//! kept for those who want that, too.

mod build;
mod values;
mod weights;

use super::error::TfliteError;
use super::read_model;
use crate::quantised::QuantisedGraph;

/// Reads an int8 file.
///
/// # Errors
/// [`TfliteError`], the first that is found, with its place.
pub fn read_quantised(bytes: &[u8], name: &str) -> Result<QuantisedGraph, TfliteError> {
    let model = read_model(bytes)?;
    build::build(&model, name)
}
