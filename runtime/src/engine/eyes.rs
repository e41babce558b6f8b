//! A side's way to number the men: what [`ChessView::feature`] does, with all that depends on the king looked up once.

use super::man::{Colour, Man};
use crate::nnue::chess::{ChessView, Perspective, Planes};

/// Numbers of one colour's men.
const COLOUR: u16 = Man::COUNT / 2;
/// Squares of a plane.
const PLANE: u16 = 64;

/// Whose eyes, and with which features.
#[derive(Debug, Clone, Copy)]
pub(super) struct Eyes {
    /// Of the king's bucket.
    first_feature: u32,
    /// What a square becomes in this view: exclusive or with this, before the colours are told apart and after.
    turn: u16,
    flip: u16,
    is_black: bool,
    planes: Planes,
}

impl Eyes {
    /// Of `colour`, whose king stands on `king` as white sees it.
    #[inline]
    pub fn new(view: &ChessView<'_>, colour: Colour, king: u8) -> Self {
        let king = view.seen(perspective(colour), king);
        let key = view.refresh_key(king);
        Self {
            first_feature: view.planes.features_per_king_bucket() * (key / 2),
            turn: view.seen(perspective(colour), 0).into(),
            flip: if key % 2 == 1 { 7 } else { 0 },
            is_black: colour == Colour::Black,
            planes: view.planes,
        }
    }

    /// The number of a man's feature. A king where kings are no features gives that of some other man.
    #[inline]
    pub fn feature(&self, man: Man) -> u32 {
        let mut plain = man.index() ^ self.turn;
        if self.is_black {
            plain = if plain < COLOUR { plain + COLOUR } else { plain - COLOUR };
        }
        match self.planes {
            Planes::Both => {}
            // The last plane of all is the opponent's king.
            Planes::Merged if plain >= Man::COUNT - PLANE => plain -= COLOUR,
            Planes::Merged => {}
            Planes::NoKings if plain >= COLOUR => plain -= PLANE,
            Planes::NoKings => {}
        }
        self.first_feature + u32::from(plain ^ self.flip)
    }
}

/// White is who sees the board as it is stored.
pub(super) const fn perspective(colour: Colour) -> Perspective {
    match colour {
        Colour::White => Perspective::SideToMove,
        Colour::Black => Perspective::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::{Eyes, perspective};
    use crate::engine::man::{Colour, Kind, Man};
    use crate::nnue::chess::{ChessView, OPPONENT, Planes};

    #[test]
    fn eyes_number_men_as_the_view_does() {
        let king_table = core::array::from_fn(|square| (square / 5) as u8);
        for planes in [Planes::Both, Planes::Merged, Planes::NoKings] {
            for mirrored in [false, true] {
                let view = ChessView { planes, mirrored, king_table: &king_table };
                for (colour, king) in
                    Colour::BOTH.into_iter().flat_map(|colour| (0..64).map(move |king| (colour, king)))
                {
                    let eyes = Eyes::new(&view, colour, king);
                    for man in (0..Man::COUNT).filter_map(Man::from_index) {
                        if man.kind() == Kind::King && !view.has_king_features() {
                            continue;
                        }
                        let side = perspective(colour);
                        let piece = man.kind() as u8 | if man.colour() == Colour::Black { OPPONENT } else { 0 };
                        let expected = view.feature(side, piece, man.square(), view.seen(side, king));
                        assert_eq!(eyes.feature(man), expected, "{view:?} {colour:?} {king} {man}");
                    }
                }
            }
        }
    }
}
