//! What the kernels of convolutions work on: the shapes of maps, windows over them, the rounding at the end, and the
//! layer as numbers and slices. [`plain`] is their definition.

mod layer;
pub(crate) mod plain;
mod round;
mod window;

pub use layer::Layer;
pub use round::Rounding;
pub(crate) use round::{Beside, rounded};
#[cfg(any(test, microcontroller))]
pub(crate) use round::{HIGH_WORD_ONLY, rounded_words};
#[cfg(any(test, microcontroller))]
pub(crate) use window::Seen;
pub use window::{Geometry, Map};
