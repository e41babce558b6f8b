//! Shapes of values, and windows that slide over them: what graphs of reals and programs of integers have in common.

mod moves;
mod resize;
mod shape;
mod window;

pub use moves::Move;
pub use resize::{Coordinates, Rounding, Sampling, Tap, taps};
pub use shape::Shape;
pub use window::Window;

/// Down, across, or within a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Rows of pixels.
    Height,
    /// Pixels of a row.
    Width,
    /// Elements of a pixel.
    Channels,
}

impl Axis {
    /// Its place among the axes of a [`Shape`].
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Height => 0,
            Self::Width => 1,
            Self::Channels => 2,
        }
    }
}
