//! What the kernels of convolutions work on: the shapes of maps, windows over them, the rounding at the end, and the
//! layer as numbers and slices. [`plain`] is their definition.

mod layer;
pub(crate) mod plain;
mod round;
mod sum;
mod window;

pub use layer::Layer;
#[cfg(short_ways)]
pub(crate) use layer::SINGLE_PLACE_INPUTS;
pub use round::Rounding;
#[cfg(any(test, microcontroller))]
pub(crate) use round::rounded_words;
pub(crate) use round::{Beside, rounded};
pub use sum::Sum;
#[cfg(any(test, microcontroller))]
pub(crate) use window::Seen;
pub use window::{Geometry, Map};
