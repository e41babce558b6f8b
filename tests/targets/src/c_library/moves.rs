//! A line of play: roots, moves, null moves and ways back.

use super::places::Spoilt;
use super::{NETWORKS, World, shape_of};
use crate::boards::{Calls, Line, is_board};
use tamis::Status;
use tamis_runtime::engine::Piece;

impl World {
    pub(super) fn refresh(&mut self, net: usize, state: usize, call: u8, calls: &mut Calls<'_>) -> Option<()> {
        let (spoilt, wrong) = (Spoilt::of(calls.byte()?), calls.byte()?);
        let pieces = calls.root(call);
        let mut numbers: Vec<u16> = pieces.iter().map(|piece| piece.index()).collect();
        let (handle, loaded) = (self.nets[net].0.handle(spoilt), self.nets[net].1);
        let (place, created) = &mut self.states[state];
        let mut wanted = match (&created, loaded) {
            (None, _) => Some(Status::NotAHandle),
            (_, None) => Some(spoilt.handle_status().unwrap_or(Status::NotAHandle)),
            _ => spoilt.handle_status(),
        };
        let status = match wrong % 16 {
            0 => {
                wanted = wanted.or(Some(Status::NullPointer));
                place.refresh(handle, None, numbers.len())
            }
            1 => {
                numbers.push(768);
                wanted = wanted.or(Some(Status::OutOfRange));
                place.refresh(handle, Some(&numbers), numbers.len())
            }
            _ => place.refresh(handle, Some(&numbers), numbers.len()),
        };
        let Some(created) = created else {
            assert_eq!(status, Status::NotAHandle, "a refresh of nothing");
            return Some(());
        };
        // Whatever the reason of a failure, there is no position that could be taken for the new one.
        created.line.clear();
        if let Some(wanted) = wanted {
            assert_eq!(status, wanted, "a refresh");
            return Some(());
        }
        let loaded = loaded?;
        let fits = shape_of(NETWORKS[loaded.file].as_ref()).hidden as usize == created.hidden;
        match status {
            Status::Ok => {
                assert!(fits, "a refresh of {} with a network of another width", created.hidden);
                created.line.refresh(pieces);
                created.of = Some(loaded);
            }
            Status::WrongLength => assert!(!fits, "a refresh of the right width"),
            Status::MemoryTooShort | Status::PiecePresent | Status::TooMany => {
                assert!(fits, "a refresh of another width: {status:?}");
                let is_plain = is_board(&pieces) && pieces.len() <= 4 && status != Status::MemoryTooShort;
                assert!(!is_plain, "a refresh with {pieces:?}: {status:?}");
            }
            other => panic!("a refresh with {pieces:?}: {other:?}"),
        }
        Some(())
    }

    pub(super) fn push(&mut self, net: usize, state: usize, call: u8, calls: &mut Calls<'_>) -> Option<()> {
        let (spoilt, rest) = (Spoilt::of(calls.byte()?), calls.byte()?);
        let handle = self.nets[net].0.handle(spoilt);
        let (loaded, no_line) = (self.nets[net].1, Line::default());
        let (place, created) = &mut self.states[state];
        let line = created.as_ref().map_or(&no_line, |created| &created.line);
        let Some((added, removed)) = calls.change((call & 0x70) | (rest & 0x8F), line) else { return Some(()) };
        let numbers = |pieces: &[Piece]| pieces.iter().map(|piece| piece.index()).collect::<Vec<u16>>();
        let is_plain = line.last().is_some_and(|board| is_plain(board, &added, &removed));
        let status = place.push(handle, &numbers(&added), &numbers(&removed));
        match (created, loaded, spoilt.handle_status()) {
            (None, ..) => assert_eq!(status, Status::NotAHandle, "a move of nothing"),
            (_, _, Some(wanted)) => assert_eq!(status, wanted, "a move with a spoilt handle"),
            (_, None, _) => assert_eq!(status, Status::NotAHandle, "a move without a network"),
            (Some(created), Some(loaded), None) => match status {
                Status::Ok => {
                    assert_eq!(created.of, Some(loaded), "a move with another network");
                    created.line.push(added, removed);
                }
                Status::StateEmpty => assert_eq!(created.line.len(), 0, "a state with a position"),
                Status::OtherNet => assert_ne!(created.of, Some(loaded), "the same network"),
                Status::StateFull => assert!(created.line.len() >= created.plies, "a state that is not full"),
                Status::PieceMissing | Status::PiecePresent | Status::TooMany => {
                    assert!(!is_plain, "{status:?}: +{added:?} -{removed:?} of {:?}", created.line.last());
                }
                other => panic!("a move: {other:?}"),
            },
        }
        Some(())
    }

    /// Null moves and ways back.
    pub(super) fn back(&mut self, state: usize, call: u8, calls: &mut Calls<'_>) -> Option<()> {
        let ply = usize::from(calls.byte()? % 8);
        let (place, created) = &mut self.states[state];
        let status = match call >> 4 {
            0..=5 => place.push_null(),
            6..=10 => place.pop(),
            _ => place.goto(ply),
        };
        let Some(created) = created else {
            assert_eq!(status, Status::NotAHandle, "a way back of nothing");
            return Some(());
        };
        let before = created.line.len();
        let line = &mut created.line;
        let wanted = match call >> 4 {
            _ if before == 0 => Status::StateEmpty,
            0..=5 if status == Status::StateFull => Status::StateFull,
            0..=5 => {
                line.push_null();
                Status::Ok
            }
            6..=10 if line.pop() => Status::Ok,
            6..=10 => Status::StateEmpty,
            _ if line.goto(ply) => Status::Ok,
            _ => Status::OutOfRange,
        };
        assert_eq!(status, wanted, "of {before} positions, ply {ply}");
        Some(())
    }
}

/// A piece to an empty square, which every network and state takes.
fn is_plain(board: &[Piece], added: &[Piece], removed: &[Piece]) -> bool {
    let ([to], [from]) = (added, removed) else { return false };
    let is_free = board.iter().all(|piece| piece.square() != to.square());
    is_board(board) && board.len() <= 4 && board.contains(from) && is_free && from.at(to.square()) == *to
}
