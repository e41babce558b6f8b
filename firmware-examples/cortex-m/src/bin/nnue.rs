//! An NNUE in flash: a short game, its accumulators updated from move to move, every position evaluated.
//!
//! The board is kept as White sees it, so White's features are those of `Perspective::SideToMove` whoever is to move;
//! what the network wants to know first, the side to move, is the order in which the accumulators are handed in.
#![no_std]
#![no_main]

use cortex_m::singleton;
use cortex_m_examples as _;
use cortex_m_rt::entry;
use heapless::Vec;
use semihosting::{println, process};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::scalar;
use tamis_runtime::nnue::AccumulatorPair;
use tamis_runtime::nnue::chess::{ChessView, OPPONENT, Perspective, Planes};
use tamis_runtime::signature::{Buffers, signature};
use tamis_runtime::{Output, Plan, Workspace, include_model};

/// The reference network of tests/reference; `firmware-examples/run` writes the file.
static MODEL: &[u8] = include_model!("../../../target/reference.quantised.bin");

/// Width of the network's accumulators.
const HIDDEN: usize = 128;
/// Scratch memory in bytes.
const WORKSPACE: usize = 256;
/// Colours: also the indices of an [`AccumulatorPair`].
const SIDES: [(usize, Perspective); 2] = [(0, Perspective::SideToMove), (1, Perspective::Other)];

const PAWN: u8 = 0;
const KNIGHT: u8 = 1;
/// Types on the back rank, file a to file h.
const BACK_RANK: [u8; 8] = [3, KNIGHT, 2, 4, 5, 2, KNIGHT, 3];

/// A move: what it is called, the piece, from, to, and what stands there before.
type Ply = (&'static str, u8, u8, u8, Option<u8>);
/// 1. e4 d5 2. exd5 Nf6 3. Nc3 Nxd5
const GAME: [Ply; 6] = [
    ("e2e4", PAWN, 12, 28, None),
    ("d7d5", PAWN | OPPONENT, 51, 35, None),
    ("e4d5", PAWN, 28, 35, Some(PAWN | OPPONENT)),
    ("g8f6", KNIGHT | OPPONENT, 62, 45, None),
    ("b1c3", KNIGHT, 1, 18, None),
    ("f6d5", KNIGHT | OPPONENT, 45, 35, Some(PAWN)),
];

/// Pieces and their squares, a1 = 0.
type Board = Vec<(u8, u8), 32>;

#[entry]
fn main() -> ! {
    match play() {
        Ok(()) => process::exit(0),
        Err(error) => {
            println!("{error}");
            process::exit(1)
        }
    }
}

fn play() -> Result<(), &'static str> {
    let model = Model::parse(MODEL).map_err(|_| "the container is damaged")?;
    let plan = Plan::new(model, &scalar::KERNELS);
    let workspace = singleton!(: Workspace<WORKSPACE> = Workspace::new()).ok_or("the workspace is taken")?.as_mut();
    let (Some(king_table), Some(bucket_table)) = (model.king_table(), model.bucket_table()) else {
        return Err("not a chess network with output buckets");
    };
    let view = ChessView { planes: Planes::Both, mirrored: false, king_table };
    println!(
        "nnue: {} bytes, {} features, {} buckets, workspace {} of {WORKSPACE} bytes",
        MODEL.len(),
        model.input().size,
        model.input().bucket_count,
        model.workspace_len_bytes(),
    );

    let mut board = start();
    let mut now = singleton!(: AccumulatorPair<HIDDEN> = AccumulatorPair::new()).ok_or("the accumulators are taken")?;
    let mut before =
        singleton!(: AccumulatorPair<HIDDEN> = AccumulatorPair::new()).ok_or("the accumulators are taken")?;
    refresh(&plan, &view, &board, now)?;
    let mut evaluate = |name, board: &Board, pair: &AccumulatorPair<HIDDEN>, side| {
        let bucket = bucket_table.get(board.len()).copied().unwrap_or(0);
        match pair.evaluate(&plan, side, bucket.into(), workspace) {
            Ok(Output::I32([centipawns])) => println!("{name}: {centipawns}"),
            _ => return Err("the plan refused the accumulators"),
        }
        Ok(())
    };
    evaluate("start", &board, now, 0)?;
    for (ply, (name, piece, from, to, captured)) in GAME.into_iter().enumerate() {
        core::mem::swap(&mut now, &mut before);
        for (side, perspective) in SIDES {
            let feature = |piece, square| view.feature(perspective, piece, square, king(&board, perspective));
            let mut removed = Vec::<u32, 2>::from([feature(piece, from)]);
            if let Some(captured) = captured {
                removed.push(feature(captured, to)).map_err(|_| "a move removes two men at most")?;
            }
            let added = [feature(piece, to)];
            now.update(&plan, before, side, &added, &removed).map_err(|_| "a feature is not the network's")?;
        }
        board.retain(|(_, square)| *square != from && *square != to);
        board.push((piece, to)).map_err(|_| "the board is full")?;
        evaluate(name, &board, now, (ply + 1) % 2)?;

        // The accumulators that were carried along are those that a refresh makes.
        refresh(&plan, &view, &board, before)?;
        if now != before {
            return Err("update and refresh differ");
        }
    }

    let mut spare = [[0; HIDDEN]; 3];
    let [own, other, spare] = &mut spare;
    let workspace = singleton!(: Workspace<WORKSPACE> = Workspace::new()).ok_or("the workspace is taken")?.as_mut();
    let buffers = Buffers { own, other, spare, bytes: &mut [], words: &mut [], workspace };
    let signature = signature(&plan, buffers).map_err(|_| "the signature's buffers do not fit")?;
    println!("signature {signature:016x} on {}", plan.kernels().name);
    Ok(())
}

fn start() -> Board {
    let mut board = Board::new();
    for (file, piece) in (0..8).zip(BACK_RANK) {
        // Thirty-two men fit.
        let _ = board.extend_from_slice(&[(piece, file), (PAWN, file + 8)]);
        let _ = board.extend_from_slice(&[(PAWN | OPPONENT, file + 48), (piece | OPPONENT, file + 56)]);
    }
    board
}

/// The square of a side's king in its own view. This network has one king bucket, so any square would do.
fn king(board: &Board, perspective: Perspective) -> u8 {
    let (piece, flip) = match perspective {
        Perspective::SideToMove => (5, 0),
        Perspective::Other => (5 | OPPONENT, 56),
    };
    board.iter().find(|(found, _)| *found == piece).map_or(0, |(_, square)| square ^ flip)
}

fn refresh(
    plan: &Plan<'_>,
    view: &ChessView<'_>,
    board: &Board,
    pair: &mut AccumulatorPair<HIDDEN>,
) -> Result<(), &'static str> {
    for (side, perspective) in SIDES {
        let features: Vec<u32, 32> = board
            .iter()
            .map(|(piece, square)| view.feature(perspective, *piece, *square, king(board, perspective)))
            .collect();
        pair.refresh(plan, side, &features).map_err(|_| "a feature is not the network's")?;
    }
    Ok(())
}
