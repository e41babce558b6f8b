//! What a convolution works with.

use super::{Geometry, Map, Rounding};
#[cfg(short_ways)]
use crate::format::element;

/// Inputs of the longest [`Layer::is_single_place`]: 8 KiB of stack as i16.
#[cfg(short_ways)]
pub(crate) const SINGLE_PLACE_INPUTS: usize = 4_096;

/// The operands of a convolution, but for the maps' bytes.
#[derive(Debug, Clone, Copy)]
pub struct Layer<'a> {
    /// Where the window goes.
    pub geometry: Geometry,
    /// The map that is read.
    pub from: Map,
    /// The map that is written.
    pub to: Map,
    /// As the kernel says: in `K4` or `Rows` a row an output, or in `Rows` a row a tap and a column a channel.
    pub weights: &'a [i8],
    /// Of the weights' layout.
    pub stride: usize,
    /// (channels written,), or empty for zeros.
    pub bias: &'a [i32],
    /// From sums to what is written.
    pub rounding: Rounding<'a>,
}

impl Layer<'_> {
    /// Taps of the window.
    #[inline(always)]
    pub const fn taps(&self) -> usize {
        self.geometry.kernel[0] * self.geometry.kernel[1]
    }

    /// Whether a place sees the pixel where it is, and no other: then places are pixels, one behind the other.
    #[cfg(any(test, microcontroller, short_ways))]
    pub(crate) const fn sees_itself(&self) -> bool {
        let Geometry { kernel, stride, before, transposed, .. } = self.geometry;
        matches!((kernel, stride, before, transposed), ([1, 1], [1, 1], [0, 0], false))
            && self.from.width == self.to.width
            && self.from.height == self.to.height
    }

    /// Whether there is one place, which sees itself, between maps of bytes: a dense layer, of no more inputs than its
    /// kernel holds on the stack, with a multiplier and a shift for each output, and a bias for each or none.
    #[cfg(short_ways)]
    pub(crate) fn is_single_place(&self) -> bool {
        let (from, to) = (&self.from, &self.to);
        let is_one = |map: &Map| map.height * map.width == 1 && matches!(map.element, element::U8 | element::I8);
        is_one(from)
            && is_one(to)
            && self.sees_itself()
            && from.channels <= SINGLE_PLACE_INPUTS
            && (self.bias.is_empty() || self.bias.len() == to.channels)
            && self.rounding.multipliers.len() == to.channels
            && self.rounding.shifts.len() == to.channels
    }

    /// The first element of the pixel that a tap of a place reads; none in the padding. tap, place: down, then across.
    #[inline(always)]
    pub fn pixel(&self, place: [usize; 2], tap: [usize; 2]) -> Option<usize> {
        let row = self.geometry.input(0, place[0], tap[0], self.from.height)?;
        let column = self.geometry.input(1, place[1], tap[1], self.from.width)?;
        Some((row * self.from.width + column) * self.from.channels)
    }
}
