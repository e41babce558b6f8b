//! What a network is asked about.

use tamis_runtime::raw::chess::{ChessView, Perspective};

use super::error::EvalError;
use crate::arch::{Architecture, InputKind};
use crate::parallel;
use crate::positions::Position;
use std::borrow::Borrow;

/// One input of a network.
#[derive(Debug, Clone, PartialEq)]
pub enum Example {
    /// Active features.
    Features {
        /// Indices, in the order in which the network puts the perspectives: the side to move's first, unless the
        /// description says `other_first`. A network of one perspective has an empty second list.
        lists: [Vec<u32>; 2],
        /// Output bucket; 0 of a network without buckets.
        bucket: usize,
    },
    /// A vector in real units, (size,).
    Dense(Vec<f64>),
}

/// A chess position as a network sees it: the features of both perspectives and the output bucket.
///
/// # Errors
/// [`EvalError::NotChess`] if the network's input is no chess board.
pub fn example(arch: &Architecture, position: &Position) -> Result<Example, EvalError> {
    if arch.input.kind != InputKind::Chess {
        return Err(EvalError::NotChess);
    }
    let view = ChessView { planes: arch.planes(), mirrored: arch.input.mirrored, king_table: &arch.king_table() };
    let list = |perspective| {
        let pieces = position.pieces().iter().copied();
        view.features(pieces, position.own_king(), position.opponent_king(), perspective).collect()
    };
    let other = if arch.perspectives() == 2 { list(Perspective::Other) } else { Vec::new() };
    let [own_counts, other_counts] = position.counts();
    let bucket = arch.bucket_of(own_counts, other_counts);
    let own = list(Perspective::SideToMove);
    let lists = if arch.input.other_first { [other, own] } else { [own, other] };
    Ok(Example::Features { lists, bucket })
}

/// Positions of a piece of work.
const POSITIONS: usize = 256;

/// The same of many positions, on all threads.
///
/// # Errors
/// The number of the first that is refused, and [`EvalError::NotChess`] if the network's input is no chess board.
pub fn examples(
    arch: &Architecture,
    positions: &[impl Borrow<Position> + Sync],
) -> Result<Vec<Example>, (usize, EvalError)> {
    parallel::gather(positions.len(), POSITIONS, |range| {
        let one = |index: usize| example(arch, positions[index].borrow()).map_err(|error| (index, error));
        range.map(one).collect()
    })
}
