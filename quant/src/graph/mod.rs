//! Networks as graphs: what the checkpoints of DataCode, lattice-tune and Angel, and described safetensors and npz
//! files, become.
//!
//! ```text
//! checkpoint --import--> Graph --evaluate--> f64 outputs: the float truth
//!                          |
//!                          +--calibrate, quantise--> Program --pack--> quantised.bin
//! ```
//!
//! A [`Graph`] is a list of [`Node`]s, each of which reads values that stand before it. Chess networks, which a
//! description of layers fits better, are [`crate::float::Net`]s.

mod activate;
mod check;
pub mod description;
mod eval;
mod forest;
mod node;
mod scores;
mod shapes;
pub(crate) mod spatial;

pub use crate::spatial::{Axis, Coordinates, Rounding, Sampling, Shape, Window};
pub use check::GraphError;
pub use eval::{Sample, SampleError};
pub use forest::{Forest, Tree};
pub use node::{Activation, Binary, Fill, Graph, Input, Node, Op, Pooling, Value};
