//! Modules that cannot be written: the message names the file, and nothing is left behind.

use super::{Ran, binary, host_tools, names, reference, with_model};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn refused(ran: &Ran, status: i32, words: &[&str], folder: &Path, before: &[String]) {
    assert_eq!(ran.status, status, "{}", ran.stderr);
    for word in words {
        assert!(ran.stderr.contains(word), "`{word}` is missing: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert_eq!(names(folder), before, "something was written");
}

#[test]
fn places_that_no_module_can_have() {
    let (folder, model) = with_model();
    let folder = folder.path();
    let taken = folder.join("taken.rs");
    fs::write(&taken, "fn main() {}\n").unwrap();
    fs::create_dir(folder.join("folder")).unwrap();
    let before = names(folder);
    let to = |name: &str| host_tools!("codegen", model, "-o", folder.join(name));
    refused(&to("taken.rs"), 2, &["taken.rs: exists already", "--force"], folder, &before);
    refused(&to("folder"), 2, &["exists and is not a file"], folder, &before);
    refused(&to("missing/model.rs"), 4, &["missing/model.rs", "cannot"], folder, &before);
    refused(&to("model.bin"), 2, &["model.bin: cannot be both"], folder, &before);
    let forced = host_tools!("codegen", model, "-o", model, "--force");
    refused(&forced, 2, &["cannot be both"], folder, &before);
    refused(&host_tools!("codegen", model, "-o", "-"), 2, &["standard output"], folder, &before);
    refused(&host_tools!("codegen", "-", "-o", folder.join("m.rs")), 2, &["standard output"], folder, &before);
    assert_eq!(fs::read_to_string(&taken).unwrap(), "fn main() {}\n");
    host_tools!("codegen", model, "-o", taken, "--force").fine();
    assert!(fs::read_to_string(&taken).unwrap().contains("include_model!(\"model.bin\")"));
}

#[test]
fn files_that_are_no_containers() {
    let (folder, model) = with_model();
    let folder = folder.path();
    let mut flipped = fs::read(&model).unwrap();
    flipped[9999] ^= 1;
    fs::write(folder.join("flipped"), flipped).unwrap();
    fs::write(folder.join("text"), "# a text, and not a network at all\n").unwrap();
    let before = names(folder);
    for (name, status, words) in [
        ("flipped", 3, ["flipped: byte 24", "damaged"].as_slice()),
        ("text", 3, &["text: the file starts with", "host-tools pack"]),
        ("missing", 4, &["missing: cannot read"]),
    ] {
        let ran = host_tools!("codegen", folder.join(name), "-o", folder.join("model.rs"));
        refused(&ran, status, words, folder, &before);
    }
    refused(&host_tools!("codegen", folder, "-o", folder.join("model.rs")), 2, &["not a file"], folder, &before);
}

#[test]
fn a_container_and_its_module_are_written_together_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (checkpoint, arch) = reference();
    fs::write(folder.join("taken.rs"), "").unwrap();
    let before = names(folder);
    let [out, module] = ["model.bin", "model.rs"].map(|name| folder.join(name));
    let quantise =
        |out: &Path, module: &Path| host_tools!("quantise", checkpoint, "--arch", arch, "-o", out, "--codegen", module);
    refused(&quantise(&out, &folder.join("taken.rs")), 2, &["taken.rs: exists already"], folder, &before);
    refused(&quantise(&out, &folder.join("missing/model.rs")), 4, &["missing/model.rs"], folder, &before);
    refused(&quantise(&folder.join("missing/model.bin"), &module), 4, &["missing/model.bin"], folder, &before);
    refused(&quantise(&out, &out), 2, &["model.bin: cannot be both"], folder, &before);
    refused(&quantise(&out, Path::new("-")), 2, &["standard output"], folder, &before);
    refused(&quantise(Path::new("-"), &module), 2, &["standard output"], folder, &before);
    refused(&quantise(&out, &checkpoint), 2, &["is an input"], folder, &before);
    let bare = host_tools!("quantise", checkpoint, "--arch", arch, "-o", out, "--codegen", module, "--form", "bare");
    refused(&bare, 2, &["--codegen", "--form bare"], folder, &before);
}

#[test]
fn names_that_start_with_a_dash() {
    let (folder, model) = with_model();
    fs::rename(model, folder.path().join("-model.bin")).unwrap();
    let mut program = Command::new(binary());
    program.current_dir(folder.path()).args(["codegen", "-o", "model.rs", "--", "-model.bin"]);
    let output = program.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::read_to_string(folder.path().join("model.rs")).unwrap().contains("include_model!(\"-model.bin\")"));
}

/// A path in a Rust program is text.
#[cfg(unix)]
#[test]
fn names_that_are_not_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let (folder, model) = with_model();
    let folder = folder.path();
    let strange = folder.join(std::ffi::OsStr::from_bytes(b"mod\xffel"));
    fs::create_dir(&strange).unwrap();
    let (file, module) = (strange.join("model.bin"), folder.join("model.rs"));
    fs::copy(&model, &file).unwrap();
    let ran = host_tools!("codegen", file, "-o", module);
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("is not UTF-8") && ran.stderr.contains("help: rename it"), "{}", ran.stderr);
    assert!(!module.exists());
    // What both are in does not matter.
    host_tools!("codegen", file, "-o", strange.join("model.rs")).fine();
    // A module's own name is in nothing.
    host_tools!("codegen", model, "-o", folder.join(std::ffi::OsStr::from_bytes(b"\xff.rs"))).fine();
}
