//! Why a network is not the one that an engine was built for, and what a state refuses.

use crate::chess::piece::{Colour, Kind, Piece};
use crate::error::RunError;
use crate::format::ParseError;
use crate::message::worded;

/// Why [`super::Network::load`] refuses a file.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum LoadError {
    /// It is no sound container.
    Parse(ParseError),
    /// It is sound, but takes no chess features.
    NotChess,
    /// Something differs from what the engine was built for.
    Differs {
        /// What.
        what: &'static str,
        /// The file's.
        found: usize,
        /// The engine's.
        expected: usize,
    },
}

impl From<ParseError> for LoadError {
    fn from(error: ParseError) -> Self {
        Self::Parse(error)
    }
}

worded! { LoadError {
    Self::Parse(error) => "{}", error;
    Self::NotChess =>
        "the network takes no chess features; run it through `Plan`, with features that the program makes itself";
    Self::Differs { what, found, expected } =>
        "{}: the file has {}, this program was built for {}; give it a network of its own kind", what, found, expected;
} }

impl core::error::Error for LoadError {}

/// Why [`super::State::refresh`] or [`super::State::push`] refuses pieces, or [`super::State::goto`] a ply: what every
/// network's callers can get wrong, or what only a board can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// As for any other call.
    Run(RunError),
    /// A king that a move only adds or only removes: a king goes from a square to another in one move.
    LoneKing {
        /// Whose.
        colour: Colour,
    },
    /// A piece that a move removes and that is not there, or one that it adds and that is, or that is a second king of
    /// its colour.
    Piece {
        /// Which.
        piece: Piece,
        /// Whether it was to be added.
        is_added: bool,
    },
    /// A ply to go back to that the line does not have: a move was not pushed.
    Ply {
        /// Which.
        found: usize,
        /// The last one.
        last: usize,
    },
    /// More pieces than one move adds or removes.
    TooManyPieces {
        /// How many.
        found: usize,
        /// The most.
        limit: usize,
    },
}

impl From<RunError> for StateError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

worded! { StateError {
    Self::Run(error) => "{}", error;
    Self::LoneKing { colour } =>
        "a king of {:?} comes or goes alone: give the square that it leaves and the one that it goes to in one move",
        colour;
    Self::Piece { piece, is_added: true } if piece.kind() == Kind::King =>
        "{} is to be added, and a king of its colour is there already", piece;
    Self::Piece { piece, is_added: true } => "{} is to be added and is there already", piece;
    Self::Piece { piece, is_added: false } => "{} is to be removed and is not there", piece;
    Self::Ply { found, last } =>
        "goes back to ply {}, and the line has 0 to {}: push every move, and go back before the next", found, last;
    Self::TooManyPieces { found, limit } => "{} pieces added or removed by one move; at most {}", found, limit;
} }

impl core::error::Error for StateError {}
