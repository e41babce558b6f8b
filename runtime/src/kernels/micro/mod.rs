//! What the tiers of microcontrollers share: loops for few registers, little code and no vectors, each once.
//!
//! | module | kernels | the trick |
//! |---|---|---|
//! | `accumulate` | update | an accumulator is read and written once for several rows |
//! | `dot` | dot_* | a word of two elements is clipped and multiplied whole |
//! | `dense` | affine_u8, affine_i8 | four rows of K4 side by side share the unpacking of their inputs |
//! | `requantise` | requantise_* | shifts above 32 need only the high word of the product |

pub(super) mod accumulate;
pub(super) mod dense;
pub(super) mod dot;
pub(super) mod requantise;
