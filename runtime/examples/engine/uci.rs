//! The conversation: reads commands until `quit`, also while a search runs.

use crate::bench;
use crate::command::{self, Command};
use crate::evaluation::network_state::{self, NetworkState};
use crate::game::Game;
use crate::options::{self, Options};
use crate::pieces;
use crate::root::Task;
use crate::say::say;
use crate::table::Table;
use crate::time::{Deadlines, Limits};
use crate::worker::Worker;
use std::io::{BufRead, Read, stdin};
use std::process::ExitCode;
use std::time::Instant;

/// The longest line that is read: a game of ten thousand moves.
const LONGEST_LINE: u64 = 1 << 16;

/// Exit status 0 after `quit` or at the end of the input.
pub fn converse(options: Options) -> ExitCode {
    let mut engine = Engine { options, game: Game::from_start(), table: None, worker: None };
    let mut input = stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) if line.len() as u64 == LONGEST_LINE && line.last() != Some(&b'\n') => {
                say!("info string a line is longer than {LONGEST_LINE} bytes; the rest is read as another");
                continue;
            }
            Ok(_) => {}
        }
        match engine.obey(&String::from_utf8_lossy(&line)) {
            Ok(true) => {}
            Ok(false) => break,
            Err(why) => say!("info string {}", why.replace(['\r', '\n'], " ")),
        }
    }
    engine.stop();
    ExitCode::SUCCESS
}

struct Engine {
    options: Options,
    game: Game,
    /// With the worker while one searches.
    table: Option<Table>,
    worker: Option<Worker>,
}

impl Engine {
    /// False after `quit`.
    fn obey(&mut self, line: &str) -> Result<bool, String> {
        match command::parse(line, self.game.board.side_to_move())? {
            Command::Uci => {
                say!("id name Tamis example {}\nid author the Tamis authors", env!("CARGO_PKG_VERSION"));
                say!("{}\nuciok", options::list());
            }
            Command::IsReady => {
                // Not on the clock of the first move. A search has the table with it.
                if self.worker.is_none() && self.table.is_none() {
                    self.table = Some(Table::new(self.options.hash_megabytes)?);
                }
                say!("readyok");
            }
            Command::NewGame => {
                self.stop();
                if let Some(table) = &mut self.table {
                    table.clear();
                }
            }
            Command::Position(game) => self.game = game,
            Command::Go(limits) => self.go(limits)?,
            Command::Stop => self.stop(),
            Command::SetOption { name, value } => {
                self.stop();
                let hash_before = self.options.hash_megabytes;
                if let Some(news) = self.options.set(&name, &value)? {
                    say!("info string {news}");
                }
                // Scores of one network say nothing about another's.
                if self.options.hash_megabytes != hash_before || name.eq_ignore_ascii_case("EvalFile") {
                    self.table = None;
                }
            }
            Command::Eval => say!("{}", self.evaluate()?),
            Command::Bench(words) => {
                self.stop();
                bench::run(&words, &self.options)?;
            }
            Command::Quit => return Ok(false),
            Command::Nothing => {}
        }
        Ok(true)
    }

    fn go(&mut self, limits: Limits) -> Result<(), String> {
        let start = Instant::now();
        if self.worker.as_ref().is_some_and(|worker| !worker.has_answered()) {
            return Err("go: a search runs already; `stop` ends it".to_owned());
        }
        self.stop();
        let table = match self.table.take() {
            Some(table) => table,
            None => Table::new(self.options.hash_megabytes)?,
        };
        let task = Task {
            game: self.game.clone(),
            deadlines: Deadlines::new(start, &limits, self.options.overhead),
            limits,
            net: self.options.net.clone(),
            evaluator: self.options.evaluator(),
        };
        self.worker = Some(Worker::start(task, table).map_err(|error| format!("no thread for the search: {error}"))?);
        Ok(())
    }

    /// Ends a search, if one runs, and waits for its answer.
    fn stop(&mut self) {
        if let Some(worker) = self.worker.take() {
            worker.stop();
            self.table = worker.finish();
        }
    }

    /// The network's centipawns for the side to move.
    fn evaluate(&self) -> Result<i32, String> {
        let board = &self.game.board;
        network_state::filled_anew(self.options.net.any(), board)
            .and_then(|mut state| state.evaluate(pieces::colour(board.side_to_move())))
            .map_err(|error| error.to_string())
    }
}
