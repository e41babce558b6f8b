//! What a move and the dot over what it makes are called with, in one pass: of builds with `cfg(short_ways)`.

use super::Moved;

/// The rows of a [`MoveDot`].
#[derive(Debug, Clone, Copy)]
pub struct MoveRows<'a> {
    pub rows: &'a [i16],
    /// Elements a row, of which the first H count.
    pub stride: usize,
}

/// [`super::table::UpdateBoth`], and the [`super::table::Dot`] over what it makes, in one pass: `Some` of the sum, or
/// `None`, and nothing done, where an accumulator is no whole number of vectors or a row is not there. out, source:
/// (2H,) i16 · w: (2H,) · first: the perspective that meets the first half of the weights, 0 or 1.
pub type MoveDot = fn(
    out: &mut [i16],
    source: &[i16],
    rows: &MoveRows<'_>,
    moved: &Moved,
    w: &[i16],
    first: usize,
    max: i16,
) -> Option<i32>;

/// Elements of an accumulator for which a move and its dot are compiled by themselves.
pub const NARROW: usize = 128;
/// Their upper clip.
pub const NARROW_MAX: i16 = 255;
/// Both perspectives' accumulators of [`NARROW`] elements, or the weights of both.
pub type NarrowPair = [i16; 2 * NARROW];
/// [`MoveDots::screlu_short`] of such accumulators and of one kind of move, clipped at [`NARROW_MAX`]: lengths, clip
/// and kind are known, and what is left to say fits the registers of a call. changes: [`Moved`]'s.
pub type NarrowMoveDot<const N: usize> = fn(
    out: &mut NarrowPair,
    source: &NarrowPair,
    rows: &MoveRows<'_>,
    changes: &[[u32; N]; 2],
    w: &NarrowPair,
    first: usize,
) -> Option<i32>;

/// A tier's [`NarrowMoveDot`] of each kind of move.
#[derive(Debug, Clone, Copy)]
pub struct NarrowMoveDots {
    pub quiet: NarrowMoveDot<2>,
    pub capture: NarrowMoveDot<3>,
}

/// The [`MoveDot`] of each [`super::table::Dot`]; [`super::Tier`] has the conditions.
#[derive(Debug, Clone, Copy)]
pub struct MoveDots {
    pub crelu: MoveDot,
    pub screlu: MoveDot,
    pub screlu_short: MoveDot,
    pub screlu_rounded: MoveDot,
    pub narrow: Option<NarrowMoveDots>,
}

impl MoveDots {
    /// Of a tier that makes the move first and then the dot.
    pub(super) const NONE: Self = {
        const fn none(
            _: &mut [i16],
            _: &[i16],
            _: &MoveRows<'_>,
            _: &Moved,
            _: &[i16],
            _: usize,
            _: i16,
        ) -> Option<i32> {
            None
        }
        Self { crelu: none, screlu: none, screlu_short: none, screlu_rounded: none, narrow: None }
    };
}
