//! What the tiers of microcontrollers share: loops for few registers, little code and no vectors, each once.
//!
//! | module | kernels | the trick |
//! |---|---|---|
//! | `accumulate` | update, update_both | an accumulator is read and written once for several rows |
//! | `dot` | dot_* | two elements at a time, in one word where the target can |
//! | `dense` | affine_u8, affine_i8 | the rows of a block, four or eight, share the unpacking of their inputs |
//! | `convolve` | convolve | the blocks of `dense` on a pixel's inputs, as bytes |
//! | `depthwise` | depthwise | a block of channels, tap after tap |
//! | `requantise` | requantise_* | shifts above 32 need only the high word of the product |

pub(super) mod accumulate;
pub(super) mod convolve;
pub(super) mod dense;
pub(super) mod depthwise;
pub(super) mod dot;
pub(super) mod requantise;
