//! The program as a whole starts; what its commands do is tested in the `tests` package, which runs this same binary.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::process::Command;

#[test]
fn it_names_its_version_and_its_verbs() {
    let run = |argument: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_host-tools")).arg(argument).output().expect("the binary runs");
        assert!(output.status.success(), "{argument}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert_eq!(run("--version").trim(), concat!("host-tools ", env!("CARGO_PKG_VERSION")));
    let help = run("--help");
    for command in ["quantise", "pack", "unpack", "inspect", "eval", "codegen", "verify", "tiers", "demo"] {
        assert!(help.contains(command), "{command} in {help}");
    }
    assert!(!help.contains("quantize"), "the other spelling is an alias that help does not show");
}
