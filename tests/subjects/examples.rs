//! The runtime's examples print what they are for, on files of the repository.
//!
//! Their binaries are those that `cargo test --workspace` builds beside this test's own executable.

use std::path::PathBuf;
use std::process::{Command, Output};
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::Model;
use tests::own;

/// An example of the runtime.
pub fn built(example: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let name = format!("examples/{example}{}", std::env::consts::EXE_SUFFIX);
    let path = test.ancestors().nth(2).unwrap().join(name);
    assert!(
        path.is_file(),
        "{} is missing: build it with `cargo test --workspace`, or `cargo build --release -p tamis-runtime --examples`",
        path.display()
    );
    path
}

fn run(example: &str, arguments: &[&str]) -> Output {
    Command::new(built(example)).args(arguments).output().unwrap()
}

/// What an example prints that ends well.
fn printed(example: &str, arguments: &[&str]) -> String {
    let output = run(example, arguments);
    assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_dense_network_knows_its_digit() {
    let said = printed("dense", &[]);
    assert!(said.starts_with("it is a 7: ["), "{said}");
}

#[test]
fn sparse_lists_have_their_probabilities() {
    let said = printed("sparse", &[]);
    let lists: Vec<&str> = said.lines().map(|line| line.split_once(": [").unwrap().0).collect();
    assert_eq!(lists, ["[]", "[2, 5, 8]", "[0, 1, 2, 3, 4]"], "{said}");
}

#[test]
fn the_small_engine_mates() {
    assert_eq!(printed("small_engine", &["6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"]), "d1d8 30003\n");
    assert_eq!(printed("small_engine", &["3R2k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1"]), "no move -30004\n");
    // Castling, en passant and promotions are among the moves that are tried.
    let said = printed("small_engine", &["r3k2r/1P6/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1"]);
    assert!(said.starts_with("b7"), "{said}");
}

/// A file is read to where it may lie, whatever its length.
#[test]
fn a_file_is_loaded_from_disk() {
    for file in [
        "vectors/tiny.bin",
        "fuzz/corpus/loader/dense-u7.bin",
        "fuzz/corpus/loader/sparse-with-values-rows-and-trees.bin",
    ] {
        let path = own(file);
        let bytes = AlignedBytes::copy_of(&std::fs::read(&path).unwrap());
        let model = Model::parse(bytes.as_ref()).unwrap();
        let said = printed("load", &[path.to_str().unwrap()]);
        assert!(said.contains(&format!("checksum {:016x}", model.header().checksum())), "{said}");
        assert!(said.contains(&format!("{} bytes of scratch memory", model.workspace_len_bytes())), "{said}");
    }
    let refused = run("load", &[own("vectors/tiny.toml").to_str().unwrap()]);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("NotAContainer"));
}

/// A line an operation, with the multiplications by its weights; of tiers only those that are there.
#[test]
fn a_profile_has_a_line_an_operation() {
    let path = own("../firmware-examples/programs/src/keywords.quantised.bin");
    let path = path.to_str().unwrap();
    let said = printed("profile", &[path, "scalar", "1"]);
    let lines: Vec<&str> = said.lines().collect();
    let bytes = AlignedBytes::copy_of(&std::fs::read(path).unwrap());
    let model = Model::parse(bytes.as_ref()).unwrap();
    assert!(lines[0].ends_with("tier scalar, the least of 1 runs"), "{said}");
    assert_eq!(lines.len(), model.ops().len() + 3, "{said}");
    assert!(said.contains(" 320000 ") && said.contains("convolution 10x4/2 49x10x1 -> 25x5x64"), "{said}");
    let refused = run("profile", &[path, "abacus"]);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("no tier abacus here"));
}
