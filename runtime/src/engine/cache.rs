//! Accumulators that were filled before: an entry for each place of a king that numbers the men differently, and each
//! colour. The next filling for the same place takes the men that have come and gone since.

use super::board::Board;
use super::eyes::Eyes;
use super::man::{Colour, Man};
use super::network::AnyNetwork;
use bytemuck::{Pod, Zeroable};

/// Men that one pass adds at most, and men that it removes; a filling takes as many passes as it needs.
const DIFFERENT: usize = 32;

/// What an entry of the cache was last filled for.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
pub(super) struct Entry {
    pub board: Board,
    pub is_filled: u64,
}

impl Entry {
    pub const EMPTY: Self = Self { board: Board::EMPTY, is_filled: 0 };
}

/// The entries, over memory that somebody else owns.
#[derive(Debug)]
pub(super) struct Cache<'s> {
    /// (keys, 2, hidden)
    pub accumulators: &'s mut [i16],
    /// (keys, 2)
    pub entries: &'s mut [Entry],
}

impl Cache<'_> {
    /// Forgets all.
    pub fn empty(&mut self) {
        self.entries.fill(Entry::EMPTY);
    }

    /// Fills `out`, (hidden,), for a colour whose king stands on `king`; from nothing where there is no entry for its
    /// place.
    pub fn fill(&mut self, net: &AnyNetwork<'_>, colour: Colour, king: u8, board: &Board, out: &mut [i16]) {
        let (hidden, eyes) = (out.len(), net.eyes(colour, king));
        let place = 2 * net.key(colour, king) + colour.index();
        let cached = self.accumulators.get_mut(place * hidden..(place + 1) * hidden);
        let (Some(entry), Some(cached)) = (self.entries.get_mut(place), cached) else {
            net.plan().start(out);
            return change(net, &eyes, out, &Board::EMPTY, board);
        };
        if entry.is_filled == 0 {
            net.plan().start(cached);
            entry.board = Board::EMPTY;
        }
        change(net, &eyes, cached, &entry.board, board);
        (entry.board, entry.is_filled) = (*board, 1);
        out.copy_from_slice(cached);
    }
}

/// Takes an accumulator from one board to another.
fn change(net: &AnyNetwork<'_>, eyes: &Eyes, accumulator: &mut [i16], from: &Board, to: &Board) {
    let (mut added, mut removed) = (to.without(from).peekable(), from.without(to).peekable());
    while added.peek().is_some() || removed.peek().is_some() {
        let plus = features(net, eyes, added.by_ref().take(DIFFERENT));
        let minus = features(net, eyes, removed.by_ref().take(DIFFERENT));
        net.plan().change(accumulator, None, &plus, &minus);
    }
}

/// The features of a few men, those that are features.
pub(super) fn features(
    net: &AnyNetwork<'_>,
    eyes: &Eyes,
    men: impl Iterator<Item = Man>,
) -> heapless::Vec<u32, DIFFERENT> {
    men.filter(|man| net.has_feature(*man)).map(|man| eyes.feature(man)).collect()
}
