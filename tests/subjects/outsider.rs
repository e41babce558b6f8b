//! A new program outside the repository, made of what the guide for engines says, prints what the host tool says.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use tests::own;

/// Moves and positions of the guide's program, in the order in which it prints them.
const POSITIONS: [&str; 2] = ["4k3/8/8/8/4P3/8/8/4K3 b - - 0 1", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"];

/// Where all programs are built, so that the runtime is built once for all, and not again in the next run.
pub const TARGET: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/programs");

/// Runs cargo in a folder; gives what it printed.
pub fn cargo(folder: &Path, arguments: &[&str]) -> String {
    try_cargo(folder, arguments).unwrap_or_else(|said| panic!("cargo {arguments:?}: {said}"))
}

/// The same, or what it said when it failed.
pub fn try_cargo(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or(OsString::from("cargo"));
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", TARGET)
        .env("CARGO_INCREMENTAL", "0") // the next run's program lies elsewhere
        .env("CARGO_PROFILE_DEV_DEBUG", "0") // nobody looks at it; it costs time
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Makes a folder a package that depends on the runtime.
pub fn new_program(folder: &Path, name: &str) {
    cargo(folder, &["init", "--quiet", "--vcs", "none", "--name", name]);
    // The versions that are at hand; without them cargo would ask the registry for the newest.
    fs::copy(own("../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let runtime = own("../runtime");
    cargo(folder, &["add", "--quiet", "--offline", "tamis-runtime", "--path", runtime.to_str().unwrap()]);
}

/// The guide's program that embeds a network.
fn program() -> String {
    let guide = fs::read_to_string(own("../runtime/ENGINE.md")).unwrap();
    let blocks = guide.split("```rust").skip(1).filter_map(|rest| rest.split_once('\n')?.1.split_once("\n```"));
    let found = blocks.map(|(block, _)| block).find(|block| block.contains("include_model!")).map(str::to_owned);
    found.expect("ENGINE.md has a program that embeds a network")
}

#[test]
fn the_guide_works_in_a_new_directory() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    new_program(folder, "outsider");
    fs::write(folder.join("src/main.rs"), program()).unwrap();
    fs::copy(super::uci::embedded(), folder.join("src/quantised.bin")).unwrap();
    let printed = cargo(folder, &["run", "--quiet", "--offline"]);

    let network = folder.join("src/quantised.bin");
    let expected = POSITIONS.map(|fen| {
        let output =
            Command::new(super::cli::binary()).arg("eval").arg(&network).args(["--fen", fen]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    });
    assert_eq!(printed, expected.concat());
}
