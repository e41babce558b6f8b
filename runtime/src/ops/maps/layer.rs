//! What a convolution works with.

use super::Banks;
use super::round::Rounding;
use super::window::Geometry;

/// The operands of a convolution.
pub(super) struct Layer<'a> {
    pub geometry: Geometry,
    /// A row an output, which reads its group's inputs; or with a filter for every channel a row a tap, a column a
    /// channel.
    pub weights: Banks<'a, i8>,
    pub groups: usize,
    pub bias: &'a [i32],
    pub rounding: Rounding<'a>,
}
