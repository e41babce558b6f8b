//! What stands on a chessboard, and the one place where it becomes feature numbers.
//!
//! [`sets`] has a row for each feature set that a file can name, [`view`] the numbering of those that are planes of
//! pieces on squares, [`relations`] that of threats and pairs of pawns, for which [`attacks`] says what a piece
//! attacks. Nothing here knows a file, an accumulator or a rule of the game.

pub mod attacks;
pub mod board;
pub mod numbering;
pub mod piece;
pub mod relations;
pub mod sets;
pub mod view;
