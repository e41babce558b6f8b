//! A line of sixteen plies in less than 5 KiB: a chess network of 64 hidden units is carried along as moves are made,
//! evaluated at every ply, and held against accumulators that are filled from nothing. The weights stay in flash. It
//! runs twice: at the trainer's scales, and at those that `quantise` chooses, where the head's products are rounded.

use crate::Error;
use crate::mark::counted;
use heapless::Vec;
use tamis_runtime::engine::{Colour, Expected, Features, Kind, Network, Piece, State};
use tamis_runtime::include_model;
use tamis_runtime::kernels::of_target;

/// Half of the reference network, at the trainer's scales; `firmware-examples/run` writes both files.
static TRAINERS: &[u8] = include_model!("../../target/half.quantised.bin");
/// The same at chosen scales.
static CHOSEN: &[u8] = include_model!("../../target/half-chosen.quantised.bin");
const EXPECTED: Expected = Expected { features: Features::CHESS_768, output_buckets: 8, outputs: 1 };

/// Width of the network's accumulators.
const HIDDEN: usize = 64;
const PLIES: usize = 16;
/// The root and sixteen plies, without a refresh cache, which pays where kings have buckets, and without scratch, which
/// networks of one layer behind their accumulators do not need.
type Line = State<HIDDEN, { PLIES + 1 }, 0, 0>;
/// Accumulators, what each ply changes, and the board.
const _: () = assert!(size_of::<Line>() <= 5 * 1024);

/// A move: what comes and what goes.
type Ply = (&'static [Piece], &'static [Piece]);

const fn white(kind: Kind, square: u8) -> Piece {
    Piece::new(Colour::White, kind, square)
}
const fn black(kind: Kind, square: u8) -> Piece {
    Piece::new(Colour::Black, kind, square)
}

/// 1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 dxc6 5. O-O f6 6. d4 exd4 7. Nxd4 c5 8. Nb3 Qxd1
const GAME: [Ply; PLIES] = [
    (&[white(Kind::Pawn, 28)], &[white(Kind::Pawn, 12)]),
    (&[black(Kind::Pawn, 36)], &[black(Kind::Pawn, 52)]),
    (&[white(Kind::Knight, 21)], &[white(Kind::Knight, 6)]),
    (&[black(Kind::Knight, 42)], &[black(Kind::Knight, 57)]),
    (&[white(Kind::Bishop, 33)], &[white(Kind::Bishop, 5)]),
    (&[black(Kind::Pawn, 40)], &[black(Kind::Pawn, 48)]),
    (&[white(Kind::Bishop, 42)], &[white(Kind::Bishop, 33), black(Kind::Knight, 42)]),
    (&[black(Kind::Pawn, 42)], &[black(Kind::Pawn, 51), white(Kind::Bishop, 42)]),
    (&[white(Kind::King, 6), white(Kind::Rook, 5)], &[white(Kind::King, 4), white(Kind::Rook, 7)]),
    (&[black(Kind::Pawn, 45)], &[black(Kind::Pawn, 53)]),
    (&[white(Kind::Pawn, 27)], &[white(Kind::Pawn, 11)]),
    (&[black(Kind::Pawn, 27)], &[black(Kind::Pawn, 36), white(Kind::Pawn, 27)]),
    (&[white(Kind::Knight, 27)], &[white(Kind::Knight, 21), black(Kind::Pawn, 27)]),
    (&[black(Kind::Pawn, 34)], &[black(Kind::Pawn, 42)]),
    (&[white(Kind::Knight, 17)], &[white(Kind::Knight, 27)]),
    (&[black(Kind::Queen, 3)], &[black(Kind::Queen, 59), white(Kind::Queen, 3)]),
];
/// Types on the back rank, file a to file h.
const BACK_RANK: [Kind; 8] =
    [Kind::Rook, Kind::Knight, Kind::Bishop, Kind::Queen, Kind::King, Kind::Bishop, Kind::Knight, Kind::Rook];

/// Plays the game with both networks.
///
/// # Errors
/// What the runtime refuses, and evaluations that are not those of a refresh.
pub fn run() -> Result<(), Error> {
    play(TRAINERS)?;
    play(CHOSEN)
}

/// Makes the game's moves and takes them back.
#[inline(never)]
fn play(model: &'static [u8]) -> Result<(), Error> {
    let net = Network::<HIDDEN>::load_on(model, &EXPECTED, of_target())
        .map_err(|_| Error::Because("not the network of the program"))?;
    let mut line = Line::new();
    defmt::println!(
        "plies: root and {=usize} plies of {=usize} hidden units in {=usize} bytes",
        PLIES,
        HIDDEN,
        size_of::<Line>()
    );

    line.refresh(&net, start())?;
    let mut evaluations = [0; PLIES + 1];
    for (ply, evaluation) in evaluations.iter_mut().enumerate() {
        if let Some((added, removed)) = ply.checked_sub(1).and_then(|ply| GAME.get(ply)) {
            line.push(&net, added, removed)?;
        }
        *evaluation = counted(|| line.evaluate(&net, to_move(ply)))?;
    }
    defmt::println!("made: {}", evaluations);

    let mut unmade = evaluations;
    for (ply, evaluation) in unmade.iter_mut().enumerate().rev() {
        *evaluation = line.evaluate(&net, to_move(ply))?;
        if ply > 0 {
            line.pop()?;
        }
    }
    let mut filled = evaluations;
    for (ply, evaluation) in filled.iter_mut().enumerate() {
        line.refresh(&net, start())?;
        for (added, removed) in GAME.iter().take(ply) {
            line.push(&net, added, removed)?;
        }
        let pieces: Vec<Piece, 32> = line.pieces().collect();
        line.refresh(&net, pieces)?;
        *evaluation = line.evaluate(&net, to_move(ply))?;
    }
    if unmade != evaluations || filled != evaluations {
        return Err(Error::Because("what was carried along is not what a refresh gives"));
    }
    defmt::println!("unmade, and filled from nothing: the same");
    Ok(())
}

/// White moves first.
const fn to_move(ply: usize) -> Colour {
    if ply.is_multiple_of(2) { Colour::White } else { Colour::Black }
}

/// The pieces of the position that a game starts with.
fn start() -> impl Iterator<Item = Piece> {
    BACK_RANK.into_iter().zip(0..).flat_map(|(kind, file)| {
        [white(kind, file), white(Kind::Pawn, 8 + file), black(Kind::Pawn, 48 + file), black(kind, 56 + file)]
    })
}
