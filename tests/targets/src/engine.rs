//! Calls of the engine interface in any order, beside a list of boards: what is refused changes nothing, and an
//! evaluation is the second reader's of the board.

use crate::boards::{Calls, Line, is_board, networks};
use std::sync::LazyLock;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Piece};
use tamis_runtime::kernels::tiers;
use tests::held::evaluate_board;
use tests::second_reader::Container;

/// Plies of a state.
const PLIES: usize = 6;

static NETWORKS: LazyLock<Vec<AlignedBytes>> = LazyLock::new(networks);

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
    let mut line = Line::default();
    let mut evaluated = false;
    while let Some(call) = calls.byte() {
        match call % 8 {
            0 => {
                let pieces = calls.root(call);
                line.clear();
                if state.refresh(&net, pieces.iter().copied()).is_ok() {
                    line.refresh(pieces);
                }
            }
            1..=3 => {
                let Some((added, removed)) = calls.change(call, &line) else { continue };
                if state.push(&net, &added, &removed).is_ok() {
                    line.push(added, removed);
                }
            }
            4 => {
                if state.push_null().is_ok() {
                    line.push_null();
                }
            }
            5 => assert_eq!(state.pop().is_ok(), line.pop(), "a pop to {} positions", line.len()),
            6 => {
                let ply = usize::from(call >> 3) % (PLIES + 1);
                assert_eq!(state.goto(ply).is_ok(), line.goto(ply), "goto {ply}, {} positions", line.len());
            }
            _ => {
                let mover = Colour::BOTH[usize::from(call >> 7)];
                let found = state.evaluate(&net, mover);
                match line.last() {
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
        assert_eq!(state.height(), line.height(), "height of {} positions", line.len());
        if let Some(board) = line.last() {
            assert_eq!(sorted(state.pieces().collect()), sorted(board.clone()), "the pieces of a state");
        }
    }
    evaluated
}

fn sorted(mut pieces: Vec<Piece>) -> Vec<u8> {
    let key = |piece: &Piece| [piece.square(), piece.kind() as u8, u8::from(piece.colour() == Colour::Black)];
    pieces.sort_by_key(key);
    pieces.iter().flat_map(key).collect()
}
