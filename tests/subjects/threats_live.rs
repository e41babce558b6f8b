//! Stockfish 18 and 19 as they run under Node, asked on positions that no fixture has: everything that they print of
//! their networks.

use crate::uci::process::Process;
use cozy_chess::{Board as Rules, Color, Move, Piece as RulesKind};
use std::path::PathBuf;
use std::process::Command;
use tamis_quant::run::AlignedBytes;
use tamis_quant::stockfish::{Board, FeatureSet, Net, OUTPUT_SCALE, Parts, evaluate, read};
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Kind, Piece};
use tests::related::{Related, package};
use tests::sample_models::Random;
use tests::stockfish::{container, traces_of};
use tests::trials::{Need, tool};

/// Positions of each engine.
const POSITIONS: usize = 200;

/// An engine's program and its network.
struct Live {
    program: PathBuf,
    net: Net,
}

impl Need for Live {
    const FORMS: &[&str] = &["sf18", "sf19"];

    fn find(form: &'static str) -> Result<Self, String> {
        let program = match form {
            "sf18" => package("TAMIS_STOCKFISH_18")?.join("bin/stockfish-18-single.js"),
            _ => package("TAMIS_STOCKFISH_19")?.join("bin/stockfish-19-single.js"),
        };
        tool("node")?;
        let Related { bytes, .. } = Related::find(form)?;
        Ok(Self { program, net: read(&bytes).unwrap() })
    }
}

/// Every printed digit: both parts and the sum of all eight buckets, which bucket it is, the network's evaluation for
/// white and, where the engine prints it, in whole units for the side to move; and the same units of a container on the
/// default tier, through the engine interface.
#[test]
fn two_hundred_positions_are_what_the_running_engine_prints(live: Live) {
    let Live { program, net } = live;
    let positions = positions(net.shape.features as u64);
    let mut command = Command::new("node");
    command.arg(&program);
    let mut engine = Process::run(command);
    let said: Vec<String> = positions
        .iter()
        .flat_map(|position| {
            engine.send(&format!("position fen {position}"));
            engine.ask("eval", "Final")
        })
        .collect();
    engine.quit();
    let file = container(&net);
    let any = AnyNetwork::load(file.as_ref()).unwrap();
    let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&any, 1, any.keys()).unwrap());
    let mut state = AnyState::create(&any, memory.as_mut(), 1, any.keys()).unwrap();

    let (mut used, mut with_units) = ([0; 8], 0);
    let traces = traces_of(&said.join("\n"));
    assert_eq!((positions.len(), traces.len()), (POSITIONS, POSITIONS));
    for (position, trace) in positions.iter().zip(traces) {
        let fen = position.to_string();
        let trace = trace.unwrap_or_else(|| panic!("{fen} is not in check"));
        let found = evaluate(&net, &Board::from_fen(&fen).unwrap());
        let pawn = pawn(&net, position);
        let row = |parts: &Parts| {
            let (psqt, positional) = (parts.psqt / OUTPUT_SCALE, parts.positional / OUTPUT_SCALE);
            [psqt, positional, psqt + positional].map(|units| printed(units, pawn))
        };
        assert_eq!(found.buckets.iter().map(row).collect::<Vec<_>>(), trace.buckets, "{fen}");
        assert_eq!(found.bucket, trace.bucket, "{fen}");
        let is_white = position.side_to_move() == Color::White;
        let for_white = if is_white { found.value } else { -found.value };
        let below = centipawns(for_white, pawn) as f64 / 100.0;
        assert_eq!(format!("{below:+.2}").parse::<f64>().unwrap(), trace.network.parse::<f64>().unwrap(), "{fen}");
        if let Some(units) = trace.units {
            assert_eq!(found.value, units, "{fen}");
            with_units += 1;
        }
        state.refresh(&any, pieces(position)).unwrap();
        let to_move = if is_white { Colour::White } else { Colour::Black };
        assert_eq!(state.evaluate(&any, to_move).unwrap(), found.value, "{fen}");
        used[found.bucket] += 1;
    }
    assert!(used.iter().all(|count| *count >= 5), "positions of every bucket: {used:?}");
    let is_19 = net.shape.features == FeatureSet::ThreatsAndPairs;
    assert_eq!(with_units, if is_19 { POSITIONS } else { 0 });
    note!("{}: {POSITIONS} positions, {} rows, by bucket {used:?}, none differs", net.shape, 8 * POSITIONS);
}

/// Out of random games, so that every bucket has its share: nobody in check, whom the engines do not evaluate.
fn positions(seed: u64) -> Vec<Rules> {
    let mut random = Random(100 + seed);
    let mut found: Vec<Rules> = Vec::new();
    while found.len() < POSITIONS {
        let mut board = Rules::default();
        let bucket = found.len() % 8;
        for _ in 0..600 {
            let mut moves: Vec<Move> = Vec::new();
            board.generate_moves(|set| {
                moves.extend(set);
                false
            });
            let is_wanted = (board.occupied().len() as usize - 1) / 4 == bucket && random.draw().is_multiple_of(6);
            if is_wanted && board.checkers().is_empty() && !moves.is_empty() && !found.contains(&board) {
                found.push(board);
                break;
            }
            let Some(count) = (!moves.is_empty()).then_some(moves.len() as u64) else { break };
            board.play_unchecked(moves[(random.draw() % count) as usize]);
        }
    }
    found
}

fn pieces(board: &Rules) -> impl Iterator<Item = Piece> {
    let kinds = RulesKind::ALL.into_iter().zip(Kind::ALL);
    let kinds =
        Color::ALL.into_iter().zip(Colour::BOTH).flat_map(move |owner| kinds.clone().map(move |kind| (owner, kind)));
    kinds.flat_map(|((owner, colour), (rules, kind))| {
        board.colored_pieces(owner, rules).into_iter().map(move |square| Piece::new(colour, kind, square as u8))
    })
}

/// Internal units that an engine prints as a pawn, by what is on the board.
fn pawn(net: &Net, position: &Rules) -> f64 {
    let worth = [(RulesKind::Pawn, 1), (RulesKind::Knight, 3), (RulesKind::Bishop, 3), (RulesKind::Rook, 5)];
    let worth = worth.into_iter().chain([(RulesKind::Queen, 9)]);
    let material: i32 = worth.map(|(kind, each)| each * position.pieces(kind).len() as i32).sum();
    let [a, b, c, d] = match net.shape.features {
        FeatureSet::ThreatsAndPairs => [-142.720_526_67, 372.351_763_98, -340.710_735_72, 415.234_902_12],
        _ => [-72.325_658_36, 185.938_320_38, -144.588_621_93, 416.449_504_46],
    };
    let m = f64::from(material.clamp(17, 78)) / 58.0;
    ((a * m + b) * m + c) * m + d
}

/// Hundredths of a pawn, halves away from zero.
fn centipawns(units: i32, pawn: f64) -> i64 {
    (100.0 * f64::from(units) / pawn).round() as i64
}

/// A cell of the table: the sign is that of the units, whatever is left of them.
fn printed(units: i32, pawn: f64) -> String {
    let sign = ["-", "", "+"][(units.signum() + 1) as usize];
    let cents = centipawns(units, pawn).abs();
    format!("{sign}{}.{:02}", cents / 100, cents % 100)
}
