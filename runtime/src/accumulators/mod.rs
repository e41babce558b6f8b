//! The accumulators of a line of play, once for whoever finds the features: a stack of plies that is brought up to date
//! only where it is asked, and a cache of earlier fillings. Both work over memory of somebody's and know no game.
//!
//! What finds features implements [`Source`] for the stack, and [`Contents`] for the cache: `engine` from the pieces of
//! a board, `nnue` from lists that its caller numbers.

mod cache;
mod stack;

pub use cache::{Cache, Contents, change};
pub use stack::{Stack, Top};

use crate::kernels::Moved;
use crate::plan::Plan;
use bytemuck::{Pod, Zeroable};

/// Features that one pass adds at most, and features that it removes; a filling takes as many passes as it needs.
pub const ROWS: usize = 32;

/// Features of a pass.
pub type Rows = heapless::Vec<u32, ROWS>;

/// How the features of a line of play are found, with what is known of its last position.
pub trait Source {
    /// What a ply notes of its move.
    type Ply: Ply;
    /// How a side numbers its features in the last position: looked up once for all plies that are brought up to date.
    type Numbering;

    /// The plan that is to be evaluated.
    fn plan(&self) -> &Plan<'_>;

    /// The numbering of a side.
    fn numbering(&self, side: usize) -> Self::Numbering;

    /// Whether a ply gives a side other features altogether, so that its accumulator does not follow from the parent's.
    fn is_whole(&self, ply: &Self::Ply, side: usize) -> bool;

    /// The same for either side.
    #[inline]
    fn is_whole_for_any(&self, ply: &Self::Ply) -> bool {
        self.is_whole(ply, 0) || self.is_whole(ply, 1)
    }

    /// The rows of both sides, where a ply is one of the commonest moves.
    fn moved(&self, ply: &Self::Ply, numberings: &[Self::Numbering; 2]) -> Option<Moved>;

    /// The features that a ply adds to a side and those that it removes. rows: room for lists that are made, of at most
    /// [`ROWS`] features.
    fn changes<'r>(
        &self,
        ply: &'r Self::Ply,
        side: usize,
        numbering: &Self::Numbering,
        rows: &'r mut [Rows; 2],
    ) -> [&'r [u32]; 2];
}

/// A ply: its move, and a mark of the stack's.
pub trait Ply: Copy {
    /// Nothing moved, nothing computed.
    const EMPTY: Self;

    fn mark(&self) -> &Mark;

    fn mark_mut(&mut self) -> &mut Mark;
}

/// Sides of a ply that are computed, as one number.
const NEITHER: u16 = 0;
const BOTH: u16 = u16::from_ne_bytes([1; 2]);

/// How far a ply is.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
pub struct Mark {
    /// By side: whether the accumulator is computed.
    computed: [u8; 2],
    /// Null moves behind this ply, before the next.
    nulls: u16,
}

impl Mark {
    pub const EMPTY: Self = Self { computed: [0; 2], nulls: 0 };

    /// Whether the accumulators of both sides are computed, or of neither; `None` where only one is.
    #[inline(always)]
    pub const fn is_computed_for_both(&self) -> Option<bool> {
        match u16::from_ne_bytes(self.computed) {
            NEITHER => Some(false),
            BOTH => Some(true),
            _ => None,
        }
    }

    #[inline(always)]
    pub const fn set_computed_for_both(&mut self) {
        self.computed = [1; 2];
    }

    #[inline]
    pub const fn is_computed(&self, side: usize) -> bool {
        self.computed[side] != 0
    }

    #[inline]
    pub const fn set_computed(&mut self, side: usize) {
        self.computed[side] = 1;
    }
}
