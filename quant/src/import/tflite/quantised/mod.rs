//! Files of int8 as networks of integers, with the arithmetic of XNNPACK's family: sums times a multiplier of 31 bits,
//! rounded once, halves upwards.
//!
//! A [`QuantisedGraph`] says everything that an engine needs to compute the same: weights, biases, multipliers, clamps,
//! tables. Convolutions, dense layers, transposed ones, sums, pools and what moves bytes are those of XNNPACK to the
//! bit; where another rule than XNNPACK's is kept, the operation says which.

mod build;
mod tables;
mod types;
mod weights;

pub use types::{Clamp, Multiplier, QuantisedGraph, QuantisedNode, QuantisedOp, Quantity, Weights};

use super::error::TfliteError;
use super::read_model;

/// Reads an int8 file.
///
/// # Errors
/// [`TfliteError`], the first that is found, with its place.
pub fn read_quantised(bytes: &[u8], name: &str) -> Result<QuantisedGraph, TfliteError> {
    let model = read_model(bytes)?;
    build::build(&model, name)
}
