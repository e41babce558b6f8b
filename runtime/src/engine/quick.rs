//! The short ways through the commonest calls of a search, in builds with `cfg(short_ways)`: a piece that goes from one
//! square to another and perhaps takes one is pushed, evaluated behind a position that was, and taken back.
//!
//! Each does all of its work or none: what it does not know, or would refuse, is left to [`Line`], which does the same
//! for any move and has the words of every refusal. They are inlined into the calls of a state, where its sizes are
//! known, and nothing that they call takes a [`Line`], so that its parts stay in registers.

use super::line::Line;
use super::network::AnyNetwork;
use super::ply::Relocation;
use crate::accumulators::Ply as _;
use crate::chess::numbering::Numbering;
use crate::chess::piece::{Colour, Piece};
use crate::kernels::Moved;
use crate::step::FusedHead;

impl Line<'_> {
    /// [`Line::push`]; false, and nothing done, where the move is another or is refused.
    #[inline(always)]
    pub fn push_quickly(&mut self, net: &AnyNetwork<'_>, added: &[Piece], removed: &[Piece]) -> bool {
        // Each with what it is known of.
        match (added, removed) {
            (&[to], &[from]) => self.relocate(net, Relocation { to, from, taken: None }),
            (&[to], &[from, taken]) => self.relocate(net, Relocation { to, from, taken: Some(taken) }),
            _ => false,
        }
    }

    /// The same.
    #[inline(always)]
    pub fn relocate(&mut self, net: &AnyNetwork<'_>, relocation: Relocation) -> bool {
        let top = &mut *self.stack.top;
        // No more pieces come than go, so that what was admitted before is now.
        if !net.is_unrelated(top.identity) || top.plies() >= self.stack.plies.len() {
            return false;
        }
        let len = top.len.wrapping_add(1);
        let Some([_, .., place]) = self.stack.plies.get_mut(..len as usize) else { return false };
        let Relocation { to, from, taken } = relocation;
        if !self.board.relocate(to, from, taken) {
            return false;
        }
        place.relocate(relocation);
        top.len = len;
        true
    }

    /// [`Line::pop`]; false, and nothing done, where the last move is another.
    #[inline(always)]
    pub fn pop_quickly(&mut self) -> bool {
        let top = &mut *self.stack.top;
        // The root has no move, and neither has what lies before it.
        let last = (top.len as usize).wrapping_sub(1);
        // Copied, so that no pointer to it is worked out.
        let Some(Relocation { to, from, taken }) = self.stack.plies.get(last).copied().and_then(|ply| ply.relocation())
        else {
            return false;
        };
        top.len = last as u32;
        match taken {
            None => self.board.relocate_back(to, from, None),
            Some(taken) => self.board.relocate_back(to, from, Some(taken)),
        }
        true
    }

    /// [`Line::evaluate`], in a bucket that there is or that of the position's number of pieces, for a network of one
    /// layer whose position is up to date, or is one move behind one that is; `None`, and nothing done, for any other.
    #[inline(always)]
    pub fn evaluate_quickly(&mut self, net: &AnyNetwork<'_>, to_move: Colour, bucket: Option<usize>) -> Option<i32> {
        let head = net.plan().head.as_ref()?;
        let bucket = match bucket {
            Some(_) if !net.is_unrelated(self.stack.top.identity) => return None,
            Some(bucket) => bucket,
            None => net.bucket_of_count(self.stack.top.identity, self.board)?,
        };
        let hidden = self.stack.hidden();
        let [before @ .., ply] = self.stack.plies.get_mut(..self.stack.top.len as usize)? else { return None };
        let index = before.len();
        let sum = if ply.mark().is_computed_for_both() == Some(true) {
            let both = self.stack.accumulators.get(2 * index * hidden..)?.get(..2 * hidden)?;
            let (white, black) = both.split_at_checked(hidden)?;
            let (own, other) = if to_move == Colour::White { (white, black) } else { (black, white) };
            head.sum(own, other, bucket)
        } else {
            let [.., last] = before else { return None };
            if last.mark().is_computed_for_both() != Some(true) {
                return None;
            }
            // Not mapped, which would be a call.
            let [white, black] = self.numberings.known(self.board)?;
            let pair = 2 * hidden;
            let pairs = self.stack.accumulators.get_mut((index - 1) * pair..)?.get_mut(..2 * pair)?;
            let ahead = Ahead { head, pairs, pair, white, black, to_move, bucket };
            // Each with what it is known of.
            let sum = match ply.relocation_ahead()? {
                Relocation { to, from, taken: None } => ahead.sum(Relocation { to, from, taken: None })?,
                Relocation { to, from, taken: Some(taken) } => {
                    ahead.sum(Relocation { to, from, taken: Some(taken) })?
                }
            };
            ply.mark_mut().set_computed_for_both();
            sum
        };
        Some(head.end(sum, bucket))
    }
}

/// A move behind a position that is up to date, and what its dot takes.
struct Ahead<'q> {
    head: &'q FusedHead<'q>,
    /// Of the position before, then of the one behind: (2, 2, hidden), `pair` each.
    pairs: &'q mut [i16],
    pair: usize,
    white: &'q Numbering,
    black: &'q Numbering,
    to_move: Colour,
    bucket: usize,
}

impl Ahead<'_> {
    #[inline(always)]
    fn sum(self, Relocation { to, from, taken }: Relocation) -> Option<i32> {
        let Self { head, pairs, pair, white, black, to_move, bucket } = self;
        // The piece stays what it is.
        let pieces = [to.index(), from.index()];
        let [white_to, white_from] = white.features_of_plane(pieces);
        let [black_to, black_from] = black.features_of_plane(pieces);
        let moved = match taken.map(Piece::index) {
            None => Moved::Quiet([[white_to, white_from], [black_to, black_from]]),
            Some(taken) => {
                let (white, black) = (white.feature(taken), black.feature(taken));
                Moved::Capture([[white_to, white_from, white], [black_to, black_from, black]])
            }
        };
        let (source, out) = pairs.split_at_mut_checked(pair)?;
        head.move_and_sum(out, source, &moved, to_move.index(), bucket)
    }
}
