//! How a network that a plan was made of sees a board.

use super::chess::{ChessView, Planes};
use crate::format::feature_set;
use crate::plan::Plan;

impl<'a> Plan<'a> {
    /// How a chess network sees a board: what turns pieces, squares and kings into its features. `None` for other
    /// inputs.
    #[doc(hidden)]
    pub fn chess_view(&self) -> Option<ChessView<'a>> {
        let (planes, mirrored) = match self.model().input().feature_set {
            feature_set::CHESS => (Planes::Both, false),
            feature_set::CHESS_MIRRORED => (Planes::Both, true),
            feature_set::MERGED => (Planes::Merged, false),
            feature_set::MERGED_MIRRORED => (Planes::Merged, true),
            feature_set::NO_KINGS => (Planes::NoKings, false),
            _ => return None,
        };
        Some(ChessView { planes, mirrored, king_table: self.model().king_table()? })
    }
}
