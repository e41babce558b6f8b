//! Whole games. The referee knows the rules from cozy-chess and keeps the clocks: a move must be legal and in time, and
//! a game ends by the rules or, as a draw, by its length.

use super::engine;
use super::process::Process;
use cozy_chess::util::{display_uci_move, parse_uci_move};
use cozy_chess::{Board, Color, GameStatus, Move, Piece};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tests::stockfish::Stockfish;

/// Random plies at the start, so that no two games are alike.
const OPENING_PLIES: usize = 8;
/// A game that is longer is a draw.
const MOST_PLIES: usize = 200;

/// What a busy machine may keep a program from running, as match managers grant it too. A clock that runs out within it
/// counts as late, and a match may have few of those: a program that plans badly is late in every game.
const GRACE: Duration = Duration::from_millis(500);
const MOST_LATE: usize = 2;
/// One match at a time: programs that compete for the processors lose each other's time.
static HALL: Mutex<()> = Mutex::new(());

/// How a side thinks.
#[derive(Clone, Copy)]
enum Limits {
    Nodes(u32),
    /// Real time: what is left at the start, and what a move adds, in milliseconds.
    Clock(u64, u64),
}

/// For white: 1, 0 or −1; and why.
struct Ended {
    result: i32,
    by: &'static str,
    /// Moves of both for which the clock ran out.
    late: usize,
}

/// A player: a program, how it thinks, and what is left on its clock.
struct Player<'a> {
    process: &'a mut Process,
    limits: Limits,
    remaining: Duration,
    /// Moves for which the clock ran out.
    late: usize,
}

impl<'a> Player<'a> {
    fn new(process: &'a mut Process, limits: Limits) -> Self {
        process.send("ucinewgame");
        process.ready();
        let remaining = match limits {
            Limits::Nodes(_) => Duration::ZERO,
            Limits::Clock(start, _) => Duration::from_millis(start),
        };
        Self { process, limits, remaining, late: 0 }
    }

    fn answer(&mut self, position: &str, side: Color) -> String {
        self.process.send(position);
        let Limits::Clock(_, increment) = self.limits else {
            let Limits::Nodes(nodes) = self.limits else { unreachable!() };
            return self.process.go(&format!("nodes {nodes}"));
        };
        let (time, plus) = if side == Color::White { ("wtime", "winc") } else { ("btime", "binc") };
        let start = Instant::now();
        let best = self.process.go(&format!("{time} {} {plus} {increment}", self.remaining.as_millis()));
        let spent = start.elapsed();
        let remaining = self.remaining;
        assert!(spent <= remaining + GRACE, "lost on time: {spent:?} of {remaining:?} for {best} in {position}");
        self.late += usize::from(spent > remaining);
        self.remaining = remaining.saturating_sub(spent) + Duration::from_millis(increment);
        best
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(z ^ (z >> 31)) * limit as u128) >> 64) as usize
    }
}

/// A board, the moves that led to it, and the positions on the way.
struct Record {
    board: Board,
    position: String,
    keys: Vec<u64>,
}

impl Record {
    /// Random moves that do not end the game.
    fn opening(seed: u64) -> Self {
        let mut random = Random(seed);
        loop {
            let mut record =
                Self { board: Board::default(), position: "position startpos moves".to_owned(), keys: Vec::new() };
            for _ in 0..OPENING_PLIES {
                let mut moves: Vec<Move> = Vec::new();
                record.board.generate_moves(|set| {
                    moves.extend(set);
                    false
                });
                if !moves.is_empty() {
                    record.play(moves[random.below(moves.len())]);
                }
            }
            if record.ended().is_none() {
                return record;
            }
        }
    }

    fn play(&mut self, mv: Move) {
        self.position.push_str(&format!(" {}", display_uci_move(&self.board, mv)));
        self.board.play(mv);
        self.keys.push(self.board.hash_without_ep());
    }

    fn ended(&self) -> Option<Ended> {
        let loser = if self.board.side_to_move() == Color::White { -1 } else { 1 };
        let board = &self.board;
        let heavy = board.pieces(Piece::Pawn) | board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
        let key = self.keys.last();
        let (result, by) = match board.status() {
            GameStatus::Won => (loser, "mate"),
            GameStatus::Drawn if board.halfmove_clock() >= 100 => (0, "fifty moves"),
            GameStatus::Drawn => (0, "stalemate"),
            _ if heavy.is_empty() && board.occupied().len() <= 3 => (0, "lack of pieces"),
            _ if self.keys.iter().filter(|earlier| Some(*earlier) == key).count() >= 3 => (0, "repetition"),
            _ if self.keys.len() >= MOST_PLIES => (0, "length"),
            _ => return None,
        };
        Some(Ended { result, by, late: 0 })
    }
}

/// Plays a game to its end.
fn play(seed: u64, white: Player<'_>, black: Player<'_>) -> Ended {
    let mut record = Record::opening(seed);
    let mut players = [white, black];
    loop {
        if let Some(ended) = record.ended() {
            return Ended { late: players[0].late + players[1].late, ..ended };
        }
        let side = record.board.side_to_move();
        let text = players[side as usize].answer(&record.position, side);
        let mv = parse_uci_move(&record.board, &text).ok().filter(|mv| record.board.is_legal(*mv));
        let mv = mv.unwrap_or_else(|| panic!("seed {seed}: `{text}` is illegal in {}", record.position));
        record.play(mv);
    }
}

/// A match, colours in turn; says how it went. `limits` of the first and the second program.
fn contest(name: &str, programs: [&Path; 2], games: u64, limits: [Limits; 2]) -> Vec<Ended> {
    let _hall = HALL.lock().unwrap_or_else(PoisonError::into_inner);
    let [mut first, mut second] = programs.map(Process::start);
    let mut all = Vec::new();
    let mut score = [0; 3];
    for game in 0..games {
        let one = Player::new(&mut first, limits[0]);
        let two = Player::new(&mut second, limits[1]);
        let is_white = game % 2 == 0;
        let ended = if is_white { play(game, one, two) } else { play(game, two, one) };
        score[(1 - if is_white { ended.result } else { -ended.result }) as usize] += 1;
        all.push(ended);
    }
    let [won, drawn, lost] = score;
    let ends: Vec<&str> = all.iter().map(|ended| ended.by).collect();
    note!("{name}: {won} won, {drawn} drawn, {lost} lost, by {}", ends.join(", "));
    assert_eq!((first.quit(), second.quit()), (0, 0));
    all
}

#[test]
fn thirty_two_games_by_nodes_are_legal_to_the_end() {
    let ended = contest("itself, nodes", [&engine(), &engine()], 32, [Limits::Nodes(1500); 2]);
    let decided = ended.iter().filter(|ended| ended.result != 0).count();
    assert!(decided >= 4, "only {decided} games were decided: the engine cannot mate");
    assert!(ended.iter().filter(|ended| ended.by == "length").count() <= 16, "most games came to no end");
}

/// Both programs are asked in every position: the one goes back to a node's ply, the other takes back move by move.
#[test]
fn forty_games_through_goto_are_those_of_push_and_pop() {
    let _hall = HALL.lock().unwrap_or_else(PoisonError::into_inner);
    let [mut goto, mut pop] = ["tamis", "popped"].map(|evaluator| {
        let mut process = Process::start(&engine());
        process.send(&format!("setoption name Evaluator value {evaluator}"));
        process.send("ucinewgame");
        process.ready();
        process
    });
    let mut plies = 0;
    for seed in 0..40 {
        let mut record = Record::opening(seed);
        while record.ended().is_none() {
            let answers = [&mut goto, &mut pop].map(|process| {
                process.send(&record.position);
                process.ask("go nodes 1500", "bestmove").iter().map(|line| without_times(line)).collect::<Vec<_>>()
            });
            assert_eq!(answers[0], answers[1], "seed {seed}: {}", record.position);
            let best = answers[0].last().unwrap().strip_prefix("bestmove ").unwrap();
            let mv = parse_uci_move(&record.board, best).ok().filter(|mv| record.board.is_legal(*mv));
            record.play(mv.unwrap_or_else(|| panic!("seed {seed}: `{best}` is illegal in {}", record.position)));
            plies += 1;
        }
    }
    note!("goto, pop: 40 games, {plies} moves, and depths, scores, nodes and lines of each the same");
    assert_eq!((goto.quit(), pop.quit()), (0, 0));
}

/// What an engine says, without what depends on the clock.
fn without_times(line: &str) -> String {
    let mut words = line.split(' ');
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "nps" | "time" => drop(words.next()),
            _ => kept.push(word),
        }
    }
    kept.join(" ")
}

#[test]
fn eight_games_on_the_clock_lose_none_on_time() {
    let ended = contest("itself, clock", [&engine(), &engine()], 8, [Limits::Clock(500, 10), Limits::Clock(1000, 5)]);
    let late: usize = ended.iter().map(|ended| ended.late).sum();
    assert!(late <= MOST_LATE, "{late} moves were late");
}

#[test]
fn ten_games_against_a_strong_program(stockfish: Stockfish) {
    contest("Stockfish", [&engine(), &stockfish], 10, [Limits::Nodes(2000), Limits::Nodes(200)]);
}
