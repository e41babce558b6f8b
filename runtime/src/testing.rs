//! What this repository's own tests, benches, tools and emulated hosts call, and nobody else may count on: the entries
//! of a tier's table and their operands, the suite that holds tiers to the definition, the names of all tiers, a hint
//! to the memory, the length of an engine's state, and the signature's generator.

pub use crate::engine::state::state_len_bytes;
pub use crate::kernels::maps::{Geometry, Layer, Map, Rounding};
pub use crate::kernels::operands::{Dequantisation, Moved, RealLayer, TAIL_WIDTH};
pub use crate::kernels::prefetch::prefetch;
pub use crate::kernels::table::{
    ALL_NAMES, ActivateF32, ActivationF32, AffineF32, AffineI8, AffineI16, Convolve, Depthwise, DequantiseF32, Dot,
    Kernel, PairwiseU8, Requantise, TailF32, TierName, Update, UpdateBoth,
};
pub use crate::signature::random::SplitMix;

/// Every tier against the definition.
pub mod suite {
    pub use crate::kernels::suite::{Mismatch, check};
}
