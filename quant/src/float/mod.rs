//! The network in real numbers: what every integer is measured against.
//!
//! [`Net<f32>`] is what a checkpoint holds, factoriser merged, exactly as a trainer would hand it to its quantiser.
//! [`Net<f64>`] evaluates it, as one page of obvious code, in a precision in which rounding does not matter.

mod activation;
mod error;
mod eval;
mod example;
mod matrix;
mod net;

pub use activation::activate;
pub use error::EvalError;
pub use eval::Trace;
pub use example::{Example, example, examples};
pub use matrix::Matrix;
pub use net::{Affine, Net, ShapeMismatch};
