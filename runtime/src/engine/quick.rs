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
use crate::chess::piece::{Colour, Piece};
use crate::kernels::Moved;

impl Line<'_> {
    /// [`Line::push`]; false, and nothing done, where the move is another or is refused.
    #[inline(always)]
    pub fn push_quickly(&mut self, net: &AnyNetwork<'_>, added: &[Piece], removed: &[Piece]) -> bool {
        let (to, from, taken) = match (added, removed) {
            (&[to], &[from]) => (to, from, None),
            (&[to], &[from, taken]) => (to, from, Some(taken)),
            _ => return false,
        };
        let top = &mut *self.stack.top;
        // No more pieces come than go, so that what was admitted before is now.
        if !top.identity.is_of_load(net.plan().identity())
            || net.is_related()
            || top.plies as usize >= self.stack.plies.len()
        {
            return false;
        }
        let Some(place) = self.stack.plies.get_mut(top.len as usize).filter(|_| top.len > 0) else { return false };
        let is_done = self.board.relocate(to, from, taken);
        if is_done {
            place.relocate(Relocation { to, from, taken });
            top.grow();
        }
        is_done
    }

    /// [`Line::pop`]; false, and nothing done, where the last move is another.
    #[inline(always)]
    pub fn pop_quickly(&mut self) -> bool {
        let top = &mut *self.stack.top;
        // The root has no move, and neither has what lies before it.
        let last = top.len.wrapping_sub(1);
        let Some(ply) = self.stack.plies.get(last as usize) else { return false };
        let Some(Relocation { to, from, taken }) = ply.relocation() else { return false };
        (top.len, top.plies) = (last, top.plies.wrapping_sub(1));
        match taken {
            None => self.board.relocate_back(to, from, None),
            Some(taken) => self.board.relocate_back(to, from, Some(taken)),
        }
        true
    }

    /// [`Line::evaluate`], in a bucket that there is or that of the position, for a network of one layer whose position
    /// is up to date, or is one move behind one that is; `None`, and nothing done, for any other.
    #[inline(always)]
    pub fn evaluate_quickly(&mut self, net: &AnyNetwork<'_>, to_move: Colour, bucket: Option<usize>) -> Option<i32> {
        let plan = net.plan();
        let head = plan.head.as_ref()?;
        if !self.stack.top.identity.is_of_load(plan.identity()) || net.is_related() {
            return None;
        }
        let index = (self.stack.top.len as usize).wrapping_sub(1);
        let pair = 2 * self.stack.hidden;
        let ply = self.stack.plies.get(index)?;
        let bucket = match bucket {
            Some(bucket) => bucket,
            None => net.bucket(self.board, to_move),
        };
        let sum = if ply.mark().is_computed_for_both()? {
            let both = self.stack.accumulators.get(index * pair..(index + 1) * pair)?;
            let (white, black) = both.split_at_checked(pair / 2)?;
            let (own, other) = if to_move == Colour::White { (white, black) } else { (black, white) };
            head.sum(own, other, bucket)
        } else {
            let Relocation { to, from, taken } = ply.relocation()?;
            let before = index.wrapping_sub(1);
            if self.stack.plies.get(before)?.mark().is_computed_for_both() != Some(true) {
                return None;
            }
            let [white, black] = self.numberings.known(self.board)?;
            let features = |piece: Piece| [white.feature(piece.index()), black.feature(piece.index())];
            let (to, from) = (features(to), features(from));
            let moved = match taken {
                None => Moved::Quiet([[to[0], from[0]], [to[1], from[1]]]),
                Some(taken) => {
                    let taken = features(taken);
                    Moved::Capture([[to[0], from[0], taken[0]], [to[1], from[1], taken[1]]])
                }
            };
            let pairs = self.stack.accumulators.get_mut(before * pair..(before + 2) * pair)?;
            let (source, out) = pairs.split_at_mut_checked(pair)?;
            let sum = head.move_and_sum(out, source, &moved, to_move.index(), bucket)?;
            if let Some(ply) = self.stack.plies.get_mut(index) {
                ply.mark_mut().set_computed_for_both();
            }
            sum
        };
        Some(head.end(sum, bucket))
    }
}
