//! A chess engine in about sixty lines: alpha-beta to a fixed depth, over an evaluation that follows make and unmake.
//!
//! `cargo run --release -p tamis-runtime --example small_engine -- "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"`
//!
//! A whole engine, with UCI, threads and a search that knows more than this one, is in `examples/engine`.

use cozy_chess::{Board, GameStatus, Move};
use tamis_runtime::engine::{Colour, Expected, Features, Kind, Network, Piece, State, StateError};

/// What `host-tools inspect` prints of the network.
const WIDTH: usize = 128;
const EXPECTED: Expected = Expected { features: Features::CHESS_768, output_buckets: 8, outputs: 1 };
static NET: &[u8] = tamis_runtime::include_model!("engine/reference.quantised.bin");

const DEPTH: i32 = 4;
const MATE: i32 = 30_000;

/// Everything on a board. Both crates number white and black, pawn to king, and a1, b1, … h8 from 0 on.
fn pieces(board: &Board) -> Vec<Piece> {
    let piece = |square| {
        let (owner, kind) = (board.color_on(square)?, board.piece_on(square)?);
        Some(Piece::new(Colour::BOTH[owner as usize], Kind::ALL[kind as usize], square as u8))
    };
    board.occupied().into_iter().filter_map(piece).collect()
}

/// The side to move's score in centipawns, and the move that has it.
fn search(
    net: &Network<'_, WIDTH>,
    state: &mut State<WIDTH>,
    board: &Board,
    depth: i32,
    (mut alpha, beta): (i32, i32),
) -> Result<(i32, Option<Move>), StateError> {
    match board.status() {
        GameStatus::Won => return Ok((-MATE - depth, None)), // sooner is worse
        GameStatus::Drawn => return Ok((0, None)),
        GameStatus::Ongoing if depth == 0 => {
            return Ok((state.evaluate(net, Colour::BOTH[board.side_to_move() as usize])?, None));
        }
        GameStatus::Ongoing => {}
    }
    let mut moves = Vec::new();
    let _ = board.generate_moves(|of_one_piece| {
        moves.extend(of_one_piece);
        false
    });
    moves.sort_by_key(|mv| !board.occupied().has(mv.to)); // captures first
    let (before, mut best) = (pieces(board), None);
    for mv in moves {
        let mut next = board.clone();
        next.play_unchecked(mv);
        let after = pieces(&next);
        let added: Vec<Piece> = after.iter().filter(|piece| !before.contains(piece)).copied().collect();
        let removed: Vec<Piece> = before.iter().filter(|piece| !after.contains(piece)).copied().collect();
        state.push(net, &added, &removed)?; // notes them; an evaluation computes
        let (score, _) = search(net, state, &next, depth - 1, (-beta, -alpha))?;
        state.pop()?;
        if -score > alpha {
            (alpha, best) = (-score, Some(mv));
        }
        if alpha >= beta {
            break;
        }
    }
    Ok((alpha, best))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fen = std::env::args().nth(1).unwrap_or_else(|| Board::default().to_string());
    let board: Board = fen.parse().map_err(|error| format!("{fen}: {error}"))?;
    let net = Network::load(NET, &EXPECTED)?; // shared by all threads
    let mut state = Box::new(State::new()); // one a thread
    state.refresh(&net, pieces(&board))?;
    let (score, best) = search(&net, &mut state, &board, DEPTH, (-2 * MATE, 2 * MATE))?;
    println!("{} {score}", best.map_or("no move".to_owned(), |mv| mv.to_string()));
    Ok(())
}
