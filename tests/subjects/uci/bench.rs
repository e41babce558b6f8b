//! The bench's count of nodes is a hash of every score that a search has met: one wrong evaluation sends it elsewhere.

use std::process::Command;
use tamis_quant::import::read_checkpoint;
use tamis_quant::pack::{Provenance, pack};
use tamis_quant::proof::prove;
use tamis_quant::quantise::quantise;
use tamis_quant::stockfish::{Encoding, FeatureSet, read};
use tamis_runtime::kernels::tiers;
use tests::related::Related;
use tests::stockfish::{container, made_up, shape};
use tests::{architecture, own};

/// Deep enough for reductions, null moves and the table to have their say.
const DEPTH: &str = "6";

/// The nodes that each evaluator visited.
fn nodes(arguments: &[&str]) -> Vec<u64> {
    nodes_to(DEPTH, arguments)
}

fn nodes_to(depth: &str, arguments: &[&str]) -> Vec<u64> {
    let output = Command::new(super::engine()).args(["bench", depth]).args(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    text.lines().filter_map(|line| line.split_once(" nodes ")?.0.parse().ok()).collect()
}

#[test]
fn every_tier_and_the_plain_loops_visit_the_same_nodes() {
    let plain = nodes(&["--evaluator", "scalar"]);
    assert!(plain[0] > 100_000, "{} nodes are no search", plain[0]);
    assert_eq!(nodes(&["--evaluator", "popped", "--evaluator", "copied"]), [plain[0]; 2]);
    for tier in tiers() {
        assert_eq!(nodes(&["--tier", tier.name]), plain, "tier {}", tier.name);
    }
}

/// The checked evaluator stops with an error at the first accumulator or score that filling anew does not give.
#[test]
fn every_evaluation_equals_a_full_refresh() {
    let counts = nodes(&["--evaluator", "checked", "--evaluator", "tamis"]);
    assert_eq!(counts[0], counts[1]);
}

/// A network whose width and features the engine learns from its file, relations between pieces among them: gone back
/// from by plies, taken back move by move, filled from the cache, and held against filling anew at every node.
fn holds_however_it_is_used(file: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.bin");
    std::fs::write(&path, file).unwrap();
    let path = path.to_str().unwrap();
    let manners = ["tamis", "popped", "copied", "checked"].map(|manner| ["--evaluator", manner]);
    let counts = nodes_to("3", &[["--net", path].as_slice(), manners.as_flattened()].concat());
    assert!(counts[0] > 3000, "{} nodes are no search", counts[0]);
    assert_eq!(counts, [counts[0]; 4]);
    assert_eq!(nodes_to("3", &["--net", path, "--tier", "scalar"]), [counts[0]]);
}

#[test]
fn networks_with_threats_visit_the_same_nodes_however_they_are_used() {
    for (features, width) in [(FeatureSet::Threats, 32), (FeatureSet::ThreatsAndPairs, 64), (FeatureSet::PHm, 32)] {
        let net = made_up(shape(features, width, features.heads()[0]), Encoding::Leb128, 11);
        holds_however_it_is_used(container(&net).as_ref());
    }
}

#[test]
fn networks_of_engines_visit_the_same_nodes_however_they_are_used(network: Related) {
    holds_however_it_is_used(container(&read(&network.bytes).unwrap()).as_ref());
}

#[test]
fn what_bench_does_not_know_is_refused() {
    for (arguments, word) in [
        (["bench", "--evaluator", "abacus"].as_slice(), "`abacus` is no evaluator"),
        (&["bench", "--tier", "abacus"], "`abacus` is no tier"),
        (&["bench", "--tier"], "a value is missing"),
        (&["bench", "--net", "absent.bin"], "absent.bin: "),
        (&["bench", "0"], "`0` is no number from 1 to 99"),
        (&["play"], "`play` is no command"),
    ] {
        let output = Command::new(super::engine()).args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(said.contains(word), "{arguments:?}: {said}");
    }
}

#[test]
fn the_embedded_container_is_current() {
    let arch = architecture("reference");
    let checkpoint = read_checkpoint(&own("reference/nnue.weights.bin"), &arch).unwrap();
    let net = quantise(&checkpoint.net).unwrap();
    let origin = Provenance { source: checkpoint.source, source_hash: checkpoint.bytes_hash };
    let program = net.lower().unwrap();
    let made = pack(&program, &prove(&program), &origin).unwrap();
    assert!(
        std::fs::read(super::embedded()).unwrap() == made,
        "`host-tools quantise tests/reference/nnue.weights.bin --arch tests/architectures/reference.toml \
         --scales trainer -o runtime/examples/engine/reference.quantised.bin --force` writes it anew"
    );
}
