//! A ply: which men it moves.

use crate::accumulators::{self, Mark};
use crate::chess::man::{Colour, Kind, Man};
use crate::workspace::range;
use bytemuck::{Pod, Zeroable};

/// Men that one ply adds at most, and men that it removes at most: castling moves two.
pub(super) const MEN: usize = 4;

#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
pub(super) struct Ply {
    men: [[Man; MEN]; 2],
    lens: [u8; 2],
    /// By colour: whether the king moves.
    moves_king: [u8; 2],
    mark: Mark,
}

impl accumulators::Ply for Ply {
    const EMPTY: Self = Self {
        men: [[Man::new(Colour::White, Kind::Pawn, 0); MEN]; 2],
        lens: [0; 2],
        moves_king: [0; 2],
        mark: Mark::EMPTY,
    };

    #[inline]
    fn mark(&self) -> &Mark {
        &self.mark
    }

    #[inline]
    fn mark_mut(&mut self) -> &mut Mark {
        &mut self.mark
    }
}

impl Ply {
    /// `None` if a list is longer than [`MEN`].
    #[inline]
    pub fn new(added: &[Man], removed: &[Man]) -> Option<Self> {
        let mut ply = <Self as accumulators::Ply>::EMPTY;
        if added.len().max(removed.len()) > MEN {
            return None;
        }
        for (list, men) in [added, removed].into_iter().enumerate() {
            for (place, man) in ply.men[list].iter_mut().zip(men) {
                *place = *man;
                ply.moves_king[man.colour().index()] |= u8::from(man.kind() == Kind::King);
            }
            ply.lens[list] = men.len() as u8;
        }
        Some(ply)
    }

    #[inline]
    pub fn added(&self) -> &[Man] {
        range(&self.men[0], 0..self.lens[0].into())
    }

    #[inline]
    pub fn removed(&self) -> &[Man] {
        range(&self.men[1], 0..self.lens[1].into())
    }

    #[inline]
    pub fn moves_any_king(&self) -> bool {
        self.moves_king != [0; 2]
    }

    /// The colour of a king that comes without going, or goes without coming.
    #[inline]
    pub fn lone_king(&self) -> Option<Colour> {
        if !self.moves_any_king() {
            return None;
        }
        let is_lone = |colour: &Colour| self.moves_king[colour.index()] != 0 && self.king_move(*colour).is_none();
        Colour::BOTH.into_iter().find(is_lone)
    }

    /// Where a colour's king goes from and to, if it moves.
    #[inline]
    pub fn king_move(&self, colour: Colour) -> Option<(u8, u8)> {
        if self.moves_king[colour.index()] == 0 {
            return None;
        }
        let king = |men: &[Man]| men.iter().find(|man| man.colour() == colour && man.kind() == Kind::King).copied();
        Some((king(self.removed())?.square(), king(self.added())?.square()))
    }
}
