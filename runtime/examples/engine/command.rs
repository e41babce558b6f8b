//! A line of UCI as what it means.

use crate::game::Game;
use crate::time::{Clock, Limits};
use cozy_chess::Color;
use std::time::Duration;

/// A day; a clock that shows more is as good as none.
const LONGEST_MS: i64 = 86_400_000;

pub enum Command {
    Uci,
    IsReady,
    NewGame,
    Position(Game),
    Go(Limits),
    Stop,
    SetOption {
        name: String,
        value: String,
    },
    Eval,
    Bench(Vec<String>),
    Quit,
    /// An empty line, or a word that UCI leaves to others.
    Nothing,
}

/// to_move: the side whose clock counts.
pub fn parse(line: &str, to_move: Color) -> Result<Command, String> {
    let mut words = line.split_whitespace();
    let Some(command) = words.next() else { return Ok(Command::Nothing) };
    let rest: Vec<&str> = words.collect();
    Ok(match command {
        "uci" => Command::Uci,
        "isready" => Command::IsReady,
        "ucinewgame" => Command::NewGame,
        "position" => Command::Position(position(&rest)?),
        "go" => Command::Go(limits(&rest, to_move)?),
        "stop" => Command::Stop,
        "setoption" => set_option(&rest)?,
        "eval" => Command::Eval,
        "bench" => Command::Bench(rest.iter().map(|word| (*word).to_owned()).collect()),
        "quit" => Command::Quit,
        "debug" | "register" | "ponderhit" => Command::Nothing,
        _ => return Err(format!("`{command}` is no command of UCI that this engine knows")),
    })
}

/// `startpos` or `fen …`, then `moves …`.
fn position(words: &[&str]) -> Result<Game, String> {
    let (setup, moves) = match words.iter().position(|word| *word == "moves") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words, &[][..]),
    };
    let mut game = match setup {
        ["startpos"] => Game::from_start(),
        ["fen", fen @ ..] => Game::from_fen(&fen.join(" "))?,
        _ => return Err("position: expected `startpos` or `fen` and a position".to_owned()),
    };
    moves.iter().try_for_each(|text| game.play(text))?;
    Ok(game)
}

fn limits(words: &[&str], to_move: Color) -> Result<Limits, String> {
    let mut limits = Limits::default();
    let (own_time, own_increment) = match to_move {
        Color::White => ("wtime", "winc"),
        Color::Black => ("btime", "binc"),
    };
    let (mut remaining, mut increment, mut moves_to_go) = (None, Duration::ZERO, None);
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if word == "infinite" {
            limits.is_infinite = true;
            continue;
        }
        // UCI wants words that an engine does not know passed over, so that the answer comes.
        if !["wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "movetime"].contains(&word) {
            continue;
        }
        let text = words.next().unwrap_or("nothing");
        let number: i64 = text.parse().map_err(|_| format!("go {word}: {text} is no whole number"))?;
        // A clock that has run out shows less than nothing.
        let time = Duration::from_millis(number.clamp(0, LONGEST_MS).unsigned_abs());
        match word {
            "depth" => limits.depth = usize::try_from(number.max(1)).ok(),
            "nodes" => limits.nodes = Some(number.max(1).unsigned_abs()),
            "movetime" => limits.move_time = Some(time),
            "movestogo" => moves_to_go = u32::try_from(number.max(1)).ok(),
            _ if word == own_time => remaining = Some(time),
            _ if word == own_increment => increment = time,
            _ => {} // the other side's clock
        }
    }
    limits.clock = remaining.map(|remaining| Clock { remaining, increment, moves_to_go });
    Ok(limits)
}

/// `name …` and perhaps `value …`; both may have spaces.
fn set_option(words: &[&str]) -> Result<Command, String> {
    let ["name", rest @ ..] = words else { return Err("setoption: expected `name` and an option".to_owned()) };
    let (name, value) = match rest.iter().position(|word| *word == "value") {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, &[][..]),
    };
    Ok(Command::SetOption { name: name.join(" "), value: value.join(" ") })
}
