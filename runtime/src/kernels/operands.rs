//! What kernels are called with beside slices and numbers.

use crate::format::Layout;

/// Elements of the widest value within a [`super::table::TailF32`].
pub const TAIL_WIDTH: usize = 64;

/// The operands of [`super::table::DequantiseF32`].
#[derive(Debug, Clone, Copy)]
pub struct Dequantisation<'a> {
    /// What a sum of 1 stands for.
    pub factor: f32,
    /// As many as sums, or none.
    pub bias: &'a [f32],
    /// One of [`crate::num::activate`].
    pub activation: u32,
}

/// The operands of [`super::table::AffineF32`].
#[derive(Debug, Clone, Copy)]
pub struct RealLayer<'a> {
    /// How the weights lie: `Rows` or `Columns`.
    pub layout: Layout,
    /// One bank, (outputs, inputs) in this layout.
    pub weights: &'a [f32],
    /// Elements a row, or a column.
    pub stride: usize,
    /// (outputs,), or empty for none.
    pub bias: &'a [f32],
    /// One of [`crate::num::activate`].
    pub activation: u32,
    /// Rows.
    pub outputs: usize,
}

/// The rows that a move adds and removes, a perspective each: one that comes, then those that go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Moved {
    /// `[added, removed]`: a piece goes from one square to another.
    Quiet([[u32; 2]; 2]),
    /// `[added, removed, removed]`: and takes one.
    Capture([[u32; 3]; 2]),
}

impl Moved {
    /// Both perspectives' lists as a move; `None` for any other.
    #[inline]
    pub const fn of(added: [&[u32]; 2], removed: [&[u32]; 2]) -> Option<Self> {
        match (added, removed) {
            ([[a], [b]], [[c], [d]]) => Some(Self::Quiet([[*a, *c], [*b, *d]])),
            ([[a], [b]], [[c, d], [e, f]]) => Some(Self::Capture([[*a, *c, *d], [*b, *e, *f]])),
            _ => None,
        }
    }

    /// The largest row.
    #[inline]
    pub fn largest(&self) -> u32 {
        let rows = match self {
            Self::Quiet(changes) => changes.as_flattened(),
            Self::Capture(changes) => changes.as_flattened(),
        };
        rows.iter().fold(0, |largest, row| largest.max(*row))
    }
}
