//! The shape of a value.

use std::fmt;

/// Height × width × channels, channels last: element (y, x, c) is number `(y · width + x) · channels + c`. A vector is
/// one pixel: 1 × 1 × n.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of pixels.
    pub height: usize,
    /// Pixels of a row.
    pub width: usize,
    /// Elements of a pixel.
    pub channels: usize,
}

impl Shape {
    /// A map of features, or a picture.
    #[must_use]
    pub const fn map(height: usize, width: usize, channels: usize) -> Self {
        Self { height, width, channels }
    }

    /// (n,), one pixel.
    #[must_use]
    pub const fn vector(len: usize) -> Self {
        Self::map(1, 1, len)
    }

    /// Number of elements; the greatest number where that is beyond it.
    #[must_use]
    pub const fn len(self) -> usize {
        self.height.saturating_mul(self.width).saturating_mul(self.channels)
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Number of pixels.
    #[must_use]
    pub const fn pixels(self) -> usize {
        self.height.saturating_mul(self.width)
    }

    /// Whether it is one pixel.
    #[must_use]
    pub const fn is_vector(self) -> bool {
        self.height == 1 && self.width == 1
    }

    /// Height, width and channels.
    #[must_use]
    pub const fn axes(self) -> [usize; 3] {
        [self.height, self.width, self.channels]
    }

    /// The shape of these axes.
    #[must_use]
    pub const fn of_axes([height, width, channels]: [usize; 3]) -> Self {
        Self { height, width, channels }
    }

    /// The number of element (y, x, c).
    #[must_use]
    pub const fn at(self, y: usize, x: usize, channel: usize) -> usize {
        (y * self.width + x) * self.channels + channel
    }
}

impl fmt::Display for Shape {
    /// `128` of a vector, `25×5×64` of a map.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { height, width, channels } = self;
        if self.is_vector() { write!(out, "{channels}") } else { write!(out, "{height}×{width}×{channels}") }
    }
}
