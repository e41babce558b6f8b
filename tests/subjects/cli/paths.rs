//! Every command on the repository's own network.

use super::{binary, host_tools, names, reference, tiny, with_model};
use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::Model;
use tamis_runtime::raw::{checksum, claim};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const ENDING: &str = "8/5k2/8/8/3R4/4K3/8/8 b - - 0 1";

#[test]
fn quantise_is_deterministic_and_says_what_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let [model, again] = ["model.bin", "again.bin"].map(|name| folder.path().join(name));
    let (checkpoint, arch) = reference();
    host_tools!("quantise", checkpoint, "--arch", arch, "-o", model).fine();
    let ran = host_tools!("quantize", checkpoint, "--arch", arch, "-o", again).fine();
    assert_eq!(fs::read(&model).unwrap(), fs::read(&again).unwrap());
    for words in ["(768 → 128)x2 → 1×8, SCReLU", "signature", "checksum", "proved: no accumulator", "l1w"] {
        assert!(ran.text().contains(words), "{words}: {}", ran.text());
    }
    let read = format!("  read       {} (weights.bin), FNV-1a ", checkpoint.display());
    assert!(ran.text().contains(&read), "{}", ran.text());
    let streamed = host_tools!("quantise", checkpoint, "--arch", arch, "-o", "-").fine();
    assert_eq!(streamed.stdout, fs::read(&model).unwrap());
    assert!(streamed.stderr.contains("signature"));
}

#[test]
fn bare_and_container_turn_into_each_other() {
    let (folder, model) = with_model();
    let [bare, unpacked, repacked, back] =
        ["bare", "unpacked", "repacked", "back"].map(|name| folder.path().join(name));
    let (checkpoint, arch) = reference();
    host_tools!("quantise", checkpoint, "--arch", arch, "--form", "bare", "-o", bare).fine();
    host_tools!("unpack", model, "-o", unpacked).fine();
    assert_eq!(fs::read(&bare).unwrap(), fs::read(&unpacked).unwrap());
    host_tools!("pack", bare, "--arch", arch, "-o", repacked).fine();
    let ran = host_tools!("unpack", repacked, "-o", back).fine();
    assert!(ran.text().contains("the same bytes that were packed"));
    assert_eq!(fs::read(&bare).unwrap(), fs::read(&back).unwrap());
    // Only where it came from differs.
    let signature = |path| host_tools!("inspect", path, "--json").fine().json()["signature"].clone();
    assert_eq!(signature(&model), signature(&repacked));
}

#[test]
fn inspect_shows_the_same_signature_on_every_tier() {
    let (_folder, model) = with_model();
    let mut signatures = Vec::new();
    for tier in tamis_runtime::kernels::tiers() {
        let json = host_tools!("inspect", model, "--json", "--tier", tier.name).fine().json();
        assert_eq!(json["schema"], "tamis-inspect-1");
        assert_eq!(json["proof"]["holds"], true);
        let signature = json["signature"].as_str().unwrap().to_owned();
        assert!(signature.len() == 16 && signature.bytes().all(|digit| digit.is_ascii_hexdigit()), "{signature}");
        signatures.push(signature);
    }
    signatures.dedup();
    assert_eq!(signatures.len(), 1, "{signatures:?}");
    let text = host_tools!("inspect", model).fine();
    assert!(text.text().contains("one output unit is 1 centipawn\n"), "{}", text.text());
    assert!(text.text().contains("the claims in the file are those that its weights prove"));
}

#[test]
fn a_claim_that_the_weights_do_not_prove_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (raw, arch) = tiny(folder.path(), 100.0);
    let model = folder.path().join("model.bin");
    let ran = host_tools!("quantise", raw, "--arch", arch, "--scales", "trainer", "-o", model, "--unproved").fine();
    assert!(ran.stderr.contains("warning: unproved"), "{}", ran.stderr);
    assert_eq!(host_tools!("inspect", model).fine().status, 0, "no claim, no lie");

    // Header and input record are 64 bytes each; the first block's claims are its fifth word.
    let mut bytes = fs::read(&model).unwrap();
    bytes[128 + 16..][..4].copy_from_slice(&claim::ACCUMULATOR_FITS.to_le_bytes());
    let sum = checksum(&bytes);
    bytes[24..32].copy_from_slice(&sum.to_le_bytes());
    let aligned = AlignedBytes::copy_of(&bytes);
    assert_eq!(Model::parse(aligned.as_ref()).unwrap().blocks()[0].claims, claim::ACCUMULATOR_FITS);
    let lying = folder.path().join("lying.bin");
    fs::write(&lying, bytes).unwrap();
    let ran = host_tools!("inspect", lying, "--json");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("the file claims `accumulator-fits`"), "{}", ran.stderr);
    assert_eq!(ran.json()["disagreements"][0]["claim"], "accumulator-fits");
}

/// A file from before a claim was defined does not make it, and is as good as it was.
#[test]
fn a_claim_that_is_true_and_not_stored_is_only_noted() {
    let (folder, model) = with_model();
    let mut bytes = fs::read(&model).unwrap();
    let at = 128 + 16;
    assert_eq!(bytes[at..at + 4], claim::ACCUMULATOR_FITS.to_le_bytes());
    bytes[at..at + 4].fill(0);
    let sum = checksum(&bytes);
    bytes[24..32].copy_from_slice(&sum.to_le_bytes());
    let modest = folder.path().join("modest.bin");
    fs::write(&modest, bytes).unwrap();
    let ran = host_tools!("inspect", modest).fine();
    assert!(ran.text().contains("note: tensor `l0w`: the weights prove `accumulator-fits`"), "{}", ran.text());
    assert!(!ran.text().contains("the claims in the file are those that its weights prove"), "{}", ran.text());
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let json = host_tools!("inspect", modest, "--json").fine().json();
    assert_eq!(
        (&json["disagreements"][0]["stored"], &json["disagreements"][0]["derived"]),
        (&false.into(), &true.into())
    );
}

#[test]
fn eval_reads_positions_from_everywhere() {
    let (folder, model) = with_model();
    let fens = folder.path().join("fens");
    fs::write(&fens, format!("\u{feff}# two\n{START}\n\n{ENDING}\n")).unwrap();
    let all = host_tools!("eval", model, "--fens", fens).fine();
    let lines: Vec<&str> = all.text().lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line.parse::<i32>().is_ok()), "{lines:?}");
    for (fen, line) in [START, ENDING].iter().zip(&lines) {
        assert_eq!(host_tools!("eval", model, "--fen", fen).fine().text().trim(), *line);
    }
    let limited = host_tools!("eval", model, "--fens", fens, "--limit", "1", "--tier", "scalar").fine();
    assert_eq!(limited.text().trim(), lines[0]);
    let marked = folder.path().join("marked");
    fs::write(&marked, format!("\u{feff}{START}\n")).unwrap();
    assert_eq!(host_tools!("eval", model, "--fens", marked).fine().text().trim(), lines[0]);
    let json = host_tools!("eval", model, "--fens", fens, "--json").fine().json();
    assert_eq!(json["schema"], "tamis-eval-1");
    assert_eq!(json["values"][1][0].to_string(), lines[1]);

    let (checkpoint, arch) = reference();
    let float = host_tools!("eval", checkpoint, "--arch", arch, "--float", "--fens", fens).fine();
    for (real, integer) in float.text().lines().zip(&lines) {
        assert_eq!(real.split_once('.').unwrap().1.len(), 4, "{real}");
        let difference = real.parse::<f64>().unwrap() - integer.parse::<f64>().unwrap();
        assert!(difference.abs() < 40.0, "{real} {integer}");
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let (folder, model) = with_model();
    let fens = folder.path().join("fens");
    fs::write(&fens, format!("{START}\n").repeat(50_000)).unwrap();
    let mut child = Command::new(binary())
        .args(["eval".as_ref(), model.as_os_str(), "--fens".as_ref(), fens.as_os_str()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
    assert_eq!(said, "");
}

#[test]
fn tiers_completions_and_manual() {
    let json = host_tools!("tiers", "--json").fine().json();
    assert_eq!(json["schema"], "tamis-tiers-1");
    let names_of: Vec<&str> =
        json["tiers"].as_array().unwrap().iter().map(|tier| tier["name"].as_str().unwrap()).collect();
    assert!(names_of.contains(&"scalar") && names_of.contains(&json["default"].as_str().unwrap()));

    assert!(host_tools!("man").fine().text().contains(".TH host-tools"));
    let folder = tempfile::tempdir().unwrap();
    host_tools!("man", "--out", folder.path()).fine();
    let pages = names(folder.path());
    let again = host_tools!("man", "--out", folder.path());
    assert!(again.status == 2 && again.stderr.contains("--force"), "{}", again.stderr);
    host_tools!("man", "--out", folder.path(), "--force").fine();
    for command in ["quantise", "pack", "unpack", "inspect", "eval", "describe", "tiers", "demo", "verify"] {
        assert!(pages.contains(&format!("host-tools-{command}.1")), "{command}: {pages:?}");
    }
    assert!(!pages.iter().any(|page| page.contains("quantize")), "an alias has a page of its own: {pages:?}");
}

#[test]
fn demo_shows_all_of_it() {
    let ran = host_tools!("demo").fine();
    for words in ["signature", "scalar", "proved", "digits"] {
        assert!(ran.text().contains(words), "{words}: {}", ran.text());
    }
    assert_eq!(host_tools!("demo", "--json").fine().json()["schema"], "tamis-demo-1");
}
