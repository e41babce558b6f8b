//! What the tiers of microcontrollers share: loops for few registers, little code and no vectors, each once.
//!
//! | module | kernels | the trick |
//! |---|---|---|
//! | `accumulate` | update, update_both | an accumulator is read and written once for several rows |
//! | `dot` | dot_* | two elements at a time, in one word where the target can |
//! | `dense` | affine_u8, affine_i8 | the rows of a block, four or eight, share their inputs, all blocks the unpacking |
//! | `tile` | convolve | four places share the unpacking of weights, all outputs that of inputs |
//! | `filters` | depthwise | four channels at a time, whose weights are unpacked once for all places |
//! | `words` | both | inputs as words, where the target has no products of halves |
//! | `inputs`, `spread`, `finish` | both | how a place's inputs are read and spread, and how sums become bytes |
//! | `depthwise` | depthwise of i16, and of large windows | a block of channels, tap after tap |
//! | `requantise` | requantise_* | shifts above 32 need only the high word of the product, others have a loop of their own |

pub(super) mod accumulate;
pub(super) mod dense;
pub(super) mod depthwise;
pub(super) mod dot;
pub(super) mod filters;
pub(super) mod finish;
pub(super) mod inputs;
pub(super) mod requantise;
pub(super) mod spread;
pub(super) mod tile;
pub(super) mod words;
