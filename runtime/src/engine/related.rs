//! Networks whose features are also relations between pieces: which pairs a move makes and breaks follows from the
//! boards before and after it, not from its pieces alone.
//!
//! No ply notes its relations. A position's accumulator is brought up to date in one step from the last that is
//! computed: the moves since are taken back on a copy of the board, and what differs between the two boards is added
//! and removed. The sums are those of going move by move.

use super::pieces::{Pieces, numbered};
use super::ply::Ply;
use crate::accumulators::{Cache, Contents, Stack, change};
use crate::chess::board::Board;
use crate::chess::numbering::Numbering;
use crate::chess::piece::Colour;
use crate::chess::relations::RelationView;
use crate::error::RunError;
use crate::workspace::range;
use bytemuck::{Pod, Zeroable};

/// A board of which pieces on squares and relations are features.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(transparent)]
struct Related(Board);

/// How a side numbers both.
struct Both {
    pieces: Numbering,
    relations: RelationView,
}

impl Contents for Related {
    const EMPTY: Self = Self(Board::EMPTY);
    type Numbering = Both;

    fn distance(&self, other: &Self) -> usize {
        self.0.distance(&other.0)
    }

    fn without(&self, other: &Self, numbering: &Both) -> impl Iterator<Item = u32> {
        let pieces = numbered(self.0.without(&other.0), &numbering.pieces);
        pieces.chain(numbering.relations.without(&self.0, &other.0))
    }
}

impl Both {
    fn of(pieces: &Pieces<'_>, colour: Colour) -> Option<Self> {
        let relations = pieces.net.relation_view(colour, pieces.board.king(colour))?;
        Some(Self { pieces: pieces.numberings[colour.index()], relations })
    }
}

/// Brings the last position's accumulator of a colour up to date: in one step from the last that is computed and
/// numbers alike, or, where there is none, through the cache's entry for its king's place.
#[inline(never)]
pub(super) fn bring_up_to_date(
    stack: &mut Stack<'_, Ply>,
    cache: &mut Cache<'_, Board>,
    pieces: Pieces<'_>,
    colour: Colour,
) -> Result<(), RunError> {
    let (side, top) = (colour.index(), stack.top.index());
    let from = stack.computed_from(&pieces, side);
    if from.is_some() && from == top {
        return Ok(());
    }
    let Pieces { net, board, .. } = pieces;
    let Some(numbering) = Both::of(&pieces, colour) else { return Err(RunError::InputKind) };
    let (plan, now) = (net.plan(), Related(*board));
    if let (Some(from), Some(top)) = (from, top) {
        let mut before = *board;
        for ply in range(stack.plies, from + 1..top + 1).iter().rev() {
            before.undo(ply.added(), ply.removed());
        }
        stack.leap(side, from, |accumulator| change(plan, accumulator, &Related(before), &now, &numbering));
        return Ok(());
    }
    let mut related = Cache {
        accumulators: &mut *cache.accumulators,
        contents: bytemuck::must_cast_slice_mut::<Board, Related>(cache.contents),
        filled: &mut *cache.filled,
    };
    stack.fill(side, |out| {
        related.fill(plan, [net.key(colour, board.king(colour)), side], &now, &numbering, out);
        Ok(())
    })
}
