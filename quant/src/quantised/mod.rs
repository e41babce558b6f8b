//! Networks in integers as their front ends have them, before they are operations of a program.
//!
//! [`QuantNet`] is a network of bullet's: a tensor of integers for each tensor of its description, in training order.
//! [`QuantisedGraph`] is what a file of int8, TFLite's or ONNX's, says that is computed:
//!
//! ```text
//! TFLite's int8 files ----------------------+
//! graphs with roundings, as ONNX's are --from_graph--> QuantisedGraph --lower--> Program of integers
//! ```
//!
//! A [`QuantisedGraph`] says everything that an engine needs to compute the same: weights, biases, scales and zero
//! points, clamps, tables. Sums become bytes by the quotient of the scales, one f32, and one rounding, halves to the
//! even number, as XNNPACK's kernels do it; [`fit`] finds the integers that give the same bytes, or says for how many
//! sums there are none.

mod activation;
mod error;
mod fit;
mod from_graph;
mod head;
mod net;
mod neuron_scales;
mod permutation;
mod psqt;
pub(crate) mod tables;
mod types;

pub use activation::{IntegerActivation, sum_factor};
pub use error::QuantisedError;
pub use fit::{Fitted, Sums, fit};
pub use from_graph::{from_graph, without_roundings};
pub use head::{IntegerHead, IntegerTail, SumActivation, head, integer_tail, rounded_scale};
pub use net::{QuantLayer, QuantNet, reorderable_pairs};
pub(crate) use net::{permutation_name, reorder};
pub use neuron_scales::{NeuronScales, as_stored};
pub use permutation::{NotAPermutation, Permutation};
pub use psqt::PsqtColumns;
pub use types::{Clamp, Multiplier, QuantisedGraph, QuantisedNode, QuantisedOp, Quantity, Weights};
