//! What bad input gets: a message that names the file, a fitting exit status, and nothing written.

use super::{Ran, description, host_tools, names, reference, tiny, with_model};
use std::fs;
use std::path::Path;

/// Ended with this status, said these words, and left the folder as it was.
fn refused(ran: &Ran, status: i32, words: &[&str], folder: &Path, before: &[String]) {
    assert_eq!(ran.status, status, "{}", ran.stderr);
    for word in words {
        assert!(ran.stderr.contains(word), "`{word}` is missing: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert_eq!(names(folder), before, "something was written");
}

#[test]
fn containers_that_are_none() {
    let (folder, model) = with_model();
    let folder = folder.path();
    let whole = fs::read(&model).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x10;
    let mut newer = whole.clone();
    newer[12] = 9;
    let longer = [whole.as_slice(), &[0; 64]].concat();
    let cases: [(&str, &[u8], i32, &[&str]); 8] = [
        ("empty", &[], 3, &["empty: 0 bytes", "empty or truncated", "help:"]),
        ("short", &whole[..20], 3, &["20 bytes", "128"]),
        ("truncated", &whole[..whole.len() - 64], 3, &["truncated", &whole.len().to_string()]),
        ("longer", &longer, 3, &["too long"]),
        ("flipped", &flipped, 3, &["checksum", "damaged"]),
        ("newer", &newer, 5, &["version 9", "version 1"]),
        ("foreign", b"\x7fELF and then something else", 3, &["7f 45 4c 46", "host-tools pack"]),
        ("text", b"# a text, and not a network at all\n", 3, &["starts with"]),
    ];
    for (name, bytes, ..) in cases {
        fs::write(folder.join(name), bytes).unwrap();
    }
    let before = names(folder);
    let out = folder.join("out");
    for (name, _, status, words) in cases {
        let path = folder.join(name);
        let words = [words, &[name]].concat();
        refused(&host_tools!("inspect", path), status, &words, folder, &before);
        refused(&host_tools!("unpack", path, "-o", out), status, &words, folder, &before);
        refused(&host_tools!("eval", path, "--fen", "4k3/8/8/8/8/8/8/4K3 w"), status, &words, folder, &before);
    }
    let missing = folder.join("missing");
    refused(&host_tools!("inspect", missing), 4, &["missing: cannot read", "help:"], folder, &before);
    refused(&host_tools!("inspect", folder), 2, &["not a file"], folder, &before);
}

#[test]
fn checkpoints_and_descriptions_that_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (raw, arch) = tiny(folder, 0.5);
    let whole = fs::read(&raw).unwrap();
    let with = |index: usize, value: f32| {
        let mut bytes = whole.clone();
        bytes[4 * index..][..4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("cut", whole[..30].to_vec()),
        ("nan", with(3, f32::NAN)),
        ("large", with(3, 1000.0)),
        ("garbage", vec![0xAA; 4096]),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
    }
    fs::create_dir(folder.join("folder")).unwrap();
    // Costs no disk, and would not fit a container's lengths.
    fs::File::create(folder.join("huge")).unwrap().set_len(5 << 30).unwrap();
    let text = fs::read_to_string(&arch).unwrap();
    fs::write(folder.join("key.toml"), text.replace("max_active", "max_actve")).unwrap();
    fs::write(folder.join("schema.toml"), text.replace("schema = 1", "schema = 2")).unwrap();
    fs::write(folder.join("binary.toml"), [0xFF, 0xFE, 0]).unwrap();
    let before = names(folder);
    let out = folder.join("out");
    let quantise = |checkpoint: &str, arch: &str| {
        host_tools!("quantise", folder.join(checkpoint), "--arch", folder.join(arch), "-o", out)
    };
    for (checkpoint, status, words) in [
        ("empty", 3, ["empty"].as_slice()),
        ("cut", 3, &["30 bytes", "l0w", "the file ends at byte"]),
        ("nan", 3, &["`l0w`", "value 3", "out 1, in 1", "NaN"]),
        ("large", 3, &["`l0w`", "index 3", "1000 · 255 = 255000", "-32768 to 32767"]),
        ("garbage", 3, &["4096 bytes"]),
        ("huge", 5, &["5368709120 bytes"]),
        ("missing", 4, &["missing", "cannot read"]),
        ("folder", 2, &["holds neither"]),
    ] {
        refused(&quantise(checkpoint, "tiny.toml"), status, words, folder, &before);
    }
    for (arch, status, words) in [
        ("key.toml", 3, ["key.toml:7", "unknown key `max_actve`", "did you mean `max_active`?"].as_slice()),
        ("schema.toml", 5, &["schema 2"]),
        ("binary.toml", 3, &["UTF-8"]),
        ("missing.toml", 4, &["missing.toml"]),
    ] {
        refused(&quantise("raw.bin", arch), status, words, folder, &before);
    }
    let wrong = host_tools!("pack", raw, "--arch", arch, "-o", out);
    refused(&wrong, 3, &["raw.bin", "host-tools quantise"], folder, &before);
}

#[test]
fn a_network_without_a_proof_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // 255 · 100 = 25500: two of four features leave i16.
    let (raw, arch) = tiny(folder, 100.0);
    let before = names(folder);
    let out = folder.join("out");
    let words = ["`tiny`", "tensor `l0w`, row 0", "can reach", "32767", "witness: features", "--unproved"];
    for form in ["container", "bare"] {
        let ran = host_tools!("quantise", raw, "--arch", arch, "--form", form, "-o", out);
        refused(&ran, 1, &words, folder, &before);
    }
    let ran = host_tools!("quantise", raw, "--arch", arch, "-o", out, "--unproved", "--json").fine();
    assert_eq!(ran.json()["proof"]["holds"], false);
}

#[test]
fn requests_that_do_not_fit_together() {
    let (folder, model) = with_model();
    let folder = folder.path();
    let (checkpoint, arch) = reference();
    let bare = folder.join("bare.bin");
    host_tools!("unpack", model, "-o", bare).fine();
    let before = names(folder);
    let out = folder.join("out");
    let kings = "4k3/8/8/8/8/8/8/4K3 w";
    let check = |ran: Ran, status: i32, words: &[&str]| refused(&ran, status, words, folder, &before);

    check(host_tools!("eval", model, "--fen", kings, "--tier", "abacus"), 2, &["abacus", "scalar", "wide"]);
    check(host_tools!("inspect", model, "--tier", "abacus"), 2, &["abacus", "scalar"]);
    check(host_tools!("quantise", checkpoint, "--arch", arch, "-o", model), 2, &["exists already", "--force"]);
    check(host_tools!("quantise", checkpoint, "--arch", arch, "-o", folder, "--force"), 2, &["not a file"]);
    check(host_tools!("quantise", bare, "--arch", arch, "-o", out), 2, &["host-tools pack"]);
    check(host_tools!("quantise", model, "--arch", arch, "-o", out), 2, &["is a container already"]);
    check(host_tools!("pack", model, "--arch", arch, "-o", out), 2, &["is a container already"]);
    check(host_tools!("quantise", checkpoint, "--arch", arch, "-o", "-", "--json"), 2, &["standard output"]);
    check(host_tools!("eval", bare, "--fen", kings), 3, &["host-tools pack"]);
    check(host_tools!("eval", model), 2, &["--fen"]);
    check(host_tools!("eval", model, "--fen", kings, "--float"), 2, &["--arch"]);
    check(host_tools!("eval", model, "--fen", "8/8/8/8/8/8/8/8 w"), 3, &["0 kings"]);
    check(host_tools!("nonsense"), 2, &["nonsense"]);
    check(host_tools!("pack", bare, "--arch", arch, "-o", folder.join("no/such/out")), 4, &["cannot write"]);
    check(host_tools!("pack", bare, "--arch", description("digits"), "-o", out), 3, &["bytes"]);

    host_tools!("quantise", checkpoint, "--arch", arch, "-o", model, "--force").fine();
}

#[test]
fn positions_that_are_none_are_named_by_line_and_record() {
    let (folder, model) = with_model();
    let folder = folder.path();
    let (fens, records, partial) = (folder.join("fens"), folder.join("records"), folder.join("partial"));
    fs::write(&fens, "4k3/8/8/8/8/8/8/4K3 w\nnonsense\n").unwrap();
    fs::write(&records, [0xFF; 64]).unwrap();
    fs::write(&partial, [0; 33]).unwrap();
    let before = names(folder);
    refused(&host_tools!("eval", model, "--fens", fens), 3, &["fens: line 2"], folder, &before);
    refused(&host_tools!("eval", model, "--positions", records), 3, &["records: record 0"], folder, &before);
    refused(&host_tools!("eval", model, "--positions", partial), 3, &["33 bytes"], folder, &before);
    host_tools!("eval", model, "--fens", fens, "--limit", "1").fine();

    let digits = folder.join("digits.bin");
    let weights = tests::own("reference/digits.weights.bin");
    host_tools!("quantise", weights, "--arch", description("digits"), "-o", digits).fine();
    let ran = host_tools!("eval", digits, "--fen", "4k3/8/8/8/8/8/8/4K3 w");
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("no chess board") && ran.stdout.is_empty(), "{}", ran.stderr);
}

#[test]
fn errors_are_json_too() {
    for (ran, status) in
        [(host_tools!("inspect", "/no/such/file", "--json"), 4), (host_tools!("--json", "nonsense"), 2)]
    {
        assert_eq!(ran.status, status);
        let json = ran.json();
        assert_eq!(json["schema"], "tamis-error-1");
        assert_eq!(json["status"], status);
        assert!(!json["message"].as_str().unwrap().is_empty() && !ran.stderr.is_empty());
    }
}
