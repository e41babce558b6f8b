//! Calls of the engine interface in any order, beside a list of boards: what is refused changes nothing, and an
//! evaluation is the second reader's of the board.

use std::sync::LazyLock;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Kind, Piece};
use tamis_runtime::kernels::tiers;
use tests::held::evaluate_board;
use tests::second_reader::Container;

/// Plies of a state.
const PLIES: usize = 6;

/// Chess networks of few units, with and without king buckets, mirrored, and with relations.
static NETWORKS: LazyLock<Vec<AlignedBytes>> = LazyLock::new(|| {
    let is_chess = |bytes: &AlignedBytes| AnyNetwork::load(bytes.as_ref()).is_ok_and(|net| net.hidden() <= 64);
    let samples = tests::sample_models::small().into_iter().map(|sample| sample.bytes);
    samples.filter(is_chess).collect()
});

/// Bytes that are taken one after the other.
struct Calls<'b>(&'b [u8]);

impl Calls<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn piece(&mut self) -> Option<Piece> {
        let (which, square) = (self.byte()?, self.byte()?);
        let colour = Colour::BOTH[usize::from(which & 1)];
        Some(Piece::new(colour, Kind::ALL[usize::from(which >> 1) % Kind::ALL.len()], square & 63))
    }
}

/// Any calls; accepted if one evaluates.
pub fn calls(data: &[u8]) -> bool {
    let mut calls = Calls(data);
    let (Some(which), Some(tier)) = (calls.byte(), calls.byte()) else { return false };
    assert!(!NETWORKS.is_empty());
    let bytes = NETWORKS[usize::from(which) % NETWORKS.len()].as_ref();
    let all: Vec<_> = tiers().collect();
    let net = AnyNetwork::load_on(bytes, all[usize::from(tier) % all.len()]).unwrap();
    let container = Container::read(bytes).unwrap();
    let keys = net.keys().min(usize::from(which >> 4));
    let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&net, PLIES, keys).unwrap());
    let mut state = AnyState::create(&net, memory.as_mut(), PLIES, keys).unwrap();
    // The root first; empty before the first refresh.
    let mut boards: Vec<Vec<Piece>> = Vec::new();
    let mut evaluated = false;
    while let Some(call) = calls.byte() {
        match call % 8 {
            0 => {
                let count = 2 + usize::from(call >> 4);
                let mut pieces: Vec<Piece> = (0..count).filter_map(|_| calls.piece()).collect();
                if call & 8 == 0 {
                    make_legal(&mut pieces);
                }
                // What is refused leaves no position.
                boards.clear();
                if state.refresh(&net, pieces.iter().copied()).is_ok() {
                    assert!(is_taken(&pieces), "a refresh took {pieces:?}");
                    boards.push(pieces);
                }
            }
            1..=3 => push(&mut state, &net, &mut calls, call, &mut boards),
            4 => {
                if state.push_null().is_ok() {
                    let top = boards.last().expect("a null move needs a position").clone();
                    boards.push(top);
                }
            }
            5 => {
                let popped = state.pop().is_ok();
                assert_eq!(popped, boards.len() > 1, "a pop with {} positions", boards.len());
                if popped {
                    boards.pop();
                }
            }
            6 => {
                let ply = usize::from(call >> 3) % (PLIES + 1);
                let went = state.goto(ply).is_ok();
                assert_eq!(went, ply < boards.len(), "goto {ply} of {} positions", boards.len());
                if went {
                    boards.truncate(ply + 1);
                }
            }
            _ => {
                let mover = Colour::BOTH[usize::from(call >> 7)];
                let found = state.evaluate(&net, mover);
                match boards.last() {
                    None => assert!(found.is_err(), "an evaluation of nothing"),
                    Some(board) => {
                        let Ok(found) = found else { continue };
                        if !is_board(board) {
                            continue;
                        }
                        assert_eq!(found, evaluate_board(&net, &container, board, mover), "{board:?}, {mover:?}");
                        evaluated = true;
                    }
                }
            }
        }
        let expected = boards.len().saturating_sub(1);
        assert_eq!(state.height(), expected, "height of {} positions", boards.len());
        if let Some(board) = boards.last() {
            assert_eq!(sorted(state.pieces().collect()), sorted(board.clone()), "the pieces of a state");
        }
    }
    evaluated
}

/// A move of a piece, with what it takes and what it becomes, or any lists.
fn push(state: &mut AnyState<'_>, net: &AnyNetwork<'_>, calls: &mut Calls<'_>, call: u8, boards: &mut Vec<Vec<Piece>>) {
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    if call & 0x80 == 0 {
        let Some(board) = boards.last() else { return };
        let (Some(mover), Some(square)) = (calls.byte(), calls.byte()) else { return };
        let piece = board[usize::from(mover) % board.len()];
        let square = square & 63;
        removed.push(piece);
        removed.extend(board.iter().filter(|other| other.square() == square && **other != piece));
        added.push(piece.at(square));
    } else {
        added.extend((0..call >> 3 & 3).filter_map(|_| calls.piece()));
        removed.extend((0..call >> 5 & 3).filter_map(|_| calls.piece()));
    }
    if state.push(net, &added, &removed).is_ok() {
        let mut board = boards.last().expect("a move needs a position").clone();
        // What a move both adds and removes is in neither list.
        let is_both = |piece: &Piece| added.contains(piece) && removed.contains(piece);
        for piece in removed.iter().filter(|piece| !is_both(piece)) {
            let at = board.iter().position(|other| other == piece).expect("what is removed was there");
            board.remove(at);
        }
        board.extend(added.iter().filter(|piece| !is_both(piece)));
        assert!(is_taken(&board), "a move made {board:?}");
        boards.push(board);
    }
}

/// What a state takes: nothing twice, and a king of each side at most.
fn is_taken(pieces: &[Piece]) -> bool {
    let is_once = |piece: &Piece| pieces.iter().filter(|other| *other == piece).count() == 1;
    pieces.iter().all(is_once) && Colour::BOTH.iter().all(|colour| kings(pieces, *colour) <= 1)
}

/// What a game has beside that, and the second reader asks for: one king of each side, and a piece a square.
fn is_board(pieces: &[Piece]) -> bool {
    let mut squares: Vec<u8> = pieces.iter().map(|piece| piece.square()).collect();
    squares.sort_unstable();
    squares.windows(2).all(|pair| pair[0] != pair[1]) && Colour::BOTH.iter().all(|colour| kings(pieces, *colour) == 1)
}

fn kings(pieces: &[Piece], colour: Colour) -> usize {
    pieces.iter().filter(|piece| piece.kind() == Kind::King && piece.colour() == colour).count()
}

/// Two kings, and no square twice.
fn make_legal(pieces: &mut Vec<Piece>) {
    pieces.retain(|piece| piece.kind() != Kind::King);
    pieces.insert(0, Piece::new(Colour::White, Kind::King, 4));
    pieces.insert(1, Piece::new(Colour::Black, Kind::King, 60));
    let mut seen = 0u64;
    pieces.retain(|piece| {
        let bit = 1 << piece.square();
        let is_free = seen & bit == 0;
        seen |= bit;
        is_free
    });
}

fn sorted(mut pieces: Vec<Piece>) -> Vec<u8> {
    let key = |piece: &Piece| [piece.square(), piece.kind() as u8, u8::from(piece.colour() == Colour::Black)];
    pieces.sort_by_key(key);
    pieces.iter().flat_map(key).collect()
}
