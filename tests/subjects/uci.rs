//! The example engine as a referee, a user and a script meet it.
//!
//! The binary is the one that `cargo test --workspace` builds beside this test's own executable.

#[path = "uci/bench.rs"]
mod bench; // the signature: one on every tier, with every evaluator
#[path = "uci/conversation.rs"]
mod conversation; // commands, answers, and what is refused
#[path = "uci/games.rs"]
mod games; // whole games, refereed
#[path = "uci/process.rs"]
mod process; // a program behind two pipes

use std::path::PathBuf;

/// The example engine.
fn engine() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let name = format!("examples/engine{}", std::env::consts::EXE_SUFFIX);
    let path = test.ancestors().nth(2).unwrap().join(name);
    assert!(
        path.is_file(),
        "{} is missing: build it with `cargo test --workspace`, or `cargo build --release -p tamis-runtime --example engine`",
        path.display()
    );
    path
}

/// The container that it embeds.
pub fn embedded() -> PathBuf {
    tests::own("../runtime/examples/engine/reference.quantised.bin")
}
