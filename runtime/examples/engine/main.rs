//! A small chess engine that plays with the repository's own network or with any other of chess, to show how an engine
//! uses `tamis_runtime::engine`.
//!
//! ```sh
//! cargo run --release --example engine            # speaks UCI
//! cargo run --release --example engine -- bench   # nodes as a signature, nodes a second
//! cargo run --release --example engine -- bench 6 --net threats.quantised.bin
//! ```
//!
//! What meets Tamis is in `network` (the file), `load` (the file, checked), `pieces` (a move as pieces that come and
//! go), `evaluation::network_state` (a state and its network) and `evaluation::tamis` (make, go back, evaluate). The
//! rest is what every engine has; the rules are cozy-chess's.

mod bench;
mod command;
mod evaluation;
mod game;
mod load;
mod network;
mod options;
mod order;
mod pieces;
mod positions;
mod quiescence;
mod root;
mod say;
mod score;
mod search;
mod table;
mod time;
mod uci;
mod worker;

use options::Options;
use std::process::ExitCode;

/// Plies of the longest line, the root included.
const MAX_PLY: usize = 128;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let ended = Options::new().and_then(|options| match words.split_first() {
        None => Ok(uci::converse(options)),
        Some((command, rest)) if command == "bench" => bench::run(rest, &options).map(|()| ExitCode::SUCCESS),
        Some((command, _)) => Err(format!("`{command}` is no command; without one it speaks UCI; {}", bench::USAGE)),
    });
    ended.unwrap_or_else(|why| {
        eprintln!("engine: {why}");
        ExitCode::FAILURE
    })
}
