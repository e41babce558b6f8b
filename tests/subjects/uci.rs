//! The example engine as a referee, a user and a script meet it.

#[path = "uci/bench.rs"]
mod bench; // the signature: one on every tier, with every evaluator
#[path = "uci/conversation.rs"]
mod conversation; // commands, answers, and what is refused
#[path = "uci/games.rs"]
mod games; // whole games, refereed
#[path = "uci/process.rs"]
pub mod process; // a program behind two pipes

use std::path::PathBuf;

/// The example engine.
fn engine() -> PathBuf {
    super::examples::built("engine")
}

/// The container that it embeds.
pub fn embedded() -> PathBuf {
    tests::own("../runtime/examples/engine/reference.quantised.bin")
}
