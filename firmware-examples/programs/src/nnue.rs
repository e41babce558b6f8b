//! An NNUE in flash: a short game, its accumulators updated from move to move, every position evaluated.
//!
//! The board is kept as White sees it, so White's features are those of `Perspective::SideToMove` whoever is to move;
//! what the network wants to know first, the side to move, is the order in which the accumulators are handed in.

use crate::Error;
use crate::mark::counted;
use heapless::Vec;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::of_target;
use tamis_runtime::nnue::AccumulatorPair;
use tamis_runtime::raw::chess::{ChessView, OPPONENT, Perspective, Planes};
use tamis_runtime::signature::{Buffers, signature};
use tamis_runtime::{Output, Plan, RunError, Workspace, include_model};

/// The reference network of tests/reference; `firmware-examples/run` writes the file.
static MODEL: &[u8] = include_model!("../../target/reference.quantised.bin");

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
/// A list of features for each side.
type Features<const N: usize> = [Vec<u32, N>; 2];

/// Plays the game, then prints the network's signature.
///
/// # Errors
/// What the runtime refuses, and accumulators that were carried along and differ from fresh ones.
pub fn run() -> Result<(), Error> {
    let model = Model::parse(MODEL)?;
    let plan = &Plan::new(model, of_target());
    let mut workspace = Workspace::<WORKSPACE>::new();
    let (Some(king_table), Some(bucket_table)) = (model.king_table(), model.bucket_table()) else {
        return Err(Error::Because("not a chess network with output buckets"));
    };
    let view = ChessView { planes: Planes::Both, mirrored: false, king_table };
    defmt::println!(
        "nnue: {=usize} bytes, {=u32} features, {=u32} buckets, workspace {=usize} of {=usize} bytes",
        MODEL.len(),
        model.input().size,
        model.input().bucket_count,
        model.workspace_len_bytes(),
        WORKSPACE,
    );

    let mut board = start();
    let mut pairs = [AccumulatorPair::<HIDDEN>::new(), AccumulatorPair::new()];
    let [mut now, mut before] = pairs.each_mut();
    let features = active(&view, &board);
    counted(|| refresh(plan, &features, now))?;
    let mut evaluate = |name: &str, board: &Board, pair: &AccumulatorPair<HIDDEN>, side| {
        let bucket = bucket_table.get(board.len()).copied().unwrap_or(0).into();
        match counted(|| pair.evaluate(plan, side, bucket, workspace.as_mut()))? {
            Output::I32([centipawns]) => defmt::println!("{=str}: {=i32}", name, *centipawns),
            _ => return Err(Error::Because("the network has one integer output")),
        }
        Ok(())
    };
    evaluate("start", &board, now, 0)?;
    for (ply, (name, piece, from, to, captured)) in GAME.into_iter().enumerate() {
        core::mem::swap(&mut now, &mut before);
        let (added, removed) = changes(&view, &board, (piece, from, to, captured));
        let (added, removed) = (added.each_ref().map(|list| &list[..]), removed.each_ref().map(|list| &list[..]));
        counted(|| now.update_both(plan, before, added, removed))?;
        board.retain(|(_, square)| *square != from && *square != to);
        board.push((piece, to)).map_err(|_| Error::Because("the board is full"))?;
        evaluate(name, &board, now, (ply + 1) % 2)?;

        // The accumulators that were carried along are those that a refresh makes.
        refresh(plan, &active(&view, &board), before)?;
        if now != before {
            return Err(Error::Because("update and refresh differ"));
        }
    }

    let mut spare = [[0; HIDDEN]; 3];
    let [own, other, spare] = &mut spare;
    let workspace = workspace.as_mut();
    let signature = signature(plan, Buffers { own, other, spare, bytes: &mut [], words: &mut [], workspace })?;
    defmt::println!("signature {=u64:016x}", signature);
    Ok(())
}

fn start() -> Board {
    let mut board = Board::new();
    for (file, piece) in (0..8).zip(BACK_RANK) {
        // Thirty-two pieces fit.
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

/// The features of a position.
fn active(view: &ChessView<'_>, board: &Board) -> Features<32> {
    SIDES.map(|(_, perspective)| {
        let king = king(board, perspective);
        board.iter().map(|(piece, square)| view.feature(perspective, *piece, *square, king)).collect()
    })
}

/// The features that a move adds, and those that it removes.
fn changes(view: &ChessView<'_>, board: &Board, ply: (u8, u8, u8, Option<u8>)) -> (Features<1>, Features<2>) {
    let (piece, from, to, captured) = ply;
    let lists = SIDES.map(|(_, perspective)| {
        let feature = |piece, square| view.feature(perspective, piece, square, king(board, perspective));
        let added = Vec::from([feature(piece, to)]);
        let removed = [Some(feature(piece, from)), captured.map(|captured| feature(captured, to))];
        (added, removed.into_iter().flatten().collect())
    });
    let [(own_added, own_removed), (other_added, other_removed)] = lists;
    ([own_added, other_added], [own_removed, other_removed])
}

/// Both accumulators from the lists of features.
fn refresh(plan: &Plan<'_>, features: &Features<32>, pair: &mut AccumulatorPair<HIDDEN>) -> Result<(), RunError> {
    SIDES.iter().zip(features).try_for_each(|((side, _), features)| pair.refresh(plan, *side, features))
}
