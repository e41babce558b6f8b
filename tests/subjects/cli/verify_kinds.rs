//! One report for every kind of network: the same keys, the same questions, a page.

use super::graphs::cases;
use super::{description, host_tools, reference, run, with_model};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use tamis_quant::stockfish::{Encoding, FeatureSet, Head, to_bytes};
use tests::stockfish::{made_up, shape};
use tests::tolerances::F64_ORDER;
use tests::trials::Fixtures;

/// What every report has, whatever the network.
const KEYS: [&str; 12] = [
    "schema",
    "network",
    "unit",
    "truth",
    "tensors",
    "runtime",
    "proof",
    "accuracy",
    "looked_for_mistakes",
    "mistakes",
    "gates",
    "passed",
];
/// What networks of the Stockfish family have besides.
const OF_NNUE: [&str; 4] = ["architecture", "divide", "differing_values", "same_file"];

/// Runs `verify --json --html`, checks what is common and that the page names the network, and gives the report.
#[track_caller]
fn verified(folder: &Path, model: &Path, truth: &[(&str, &Path)]) -> Value {
    let page = folder.join("page.html");
    let mut words: Vec<OsString> = vec!["verify".into(), model.into(), "--json".into(), "--html".into()];
    words.push(page.clone().into());
    words.extend(truth.iter().flat_map(|(option, path)| [OsString::from(option), OsString::from(path)]));
    let report = run(words).fine().json();

    for key in KEYS {
        assert!(!report[key].is_null(), "{key}: {report}");
    }
    assert_eq!(report["schema"], "tamis-verify-2");
    assert_eq!((&report["passed"], &report["runtime"]["equal"]), (&true.into(), &true.into()));
    assert_eq!(report["proof"]["holds"], true);
    assert!(report["mistakes"].as_array().unwrap().is_empty() && !report["gates"].as_array().unwrap().is_empty());
    assert!(!report["tensors"].as_array().unwrap().is_empty());
    let accuracy = &report["accuracy"];
    for key in ["count", "mean", "sd", "p99_9", "max", "rms"] {
        assert!(accuracy["total"][key].is_number(), "{key}: {accuracy}");
    }
    assert_eq!(accuracy["samples"], report["truth"]["examples"]);
    assert_eq!(report["html"], page.display().to_string());

    let text = fs::read_to_string(&page).unwrap();
    let name = report["network"].as_str().unwrap();
    assert!(!name.is_empty() && text.contains(&format!("<h1>{name}: ")), "{name}");
    for question in ["1. Does the runtime", "2. Can any accumulator", "3. How far is it", "<svg"] {
        assert!(text.contains(question), "{name}: {question}");
    }
    fs::remove_file(page).unwrap();
    report
}

/// 64 positions.
fn positions(folder: &Path) -> PathBuf {
    let path = folder.join("positions.bf");
    let reference = fs::read(tests::own("reference/nnue.reference.safetensors")).unwrap();
    fs::write(&path, &reference[reference.len() - 32 * 64..]).unwrap();
    path
}

/// A line for every rounding, whose means add up to the whole with what they do to each other.
#[track_caller]
fn is_split_by_cause(report: &Value) {
    let accuracy = &report["accuracy"];
    let mean = |stats: &Value| stats["mean"].as_f64().unwrap();
    let causes = accuracy["causes"].as_array().unwrap();
    assert!(causes.len() >= 4, "{causes:?}");
    let sum: f64 = causes.iter().map(|cause| mean(&cause["alone"])).sum();
    let (sum, total) = (sum + mean(&accuracy["interaction"]), mean(&accuracy["split_total"]));
    assert!((sum - total).abs() <= F64_ORDER * accuracy["total"]["truth_rms"].as_f64().unwrap().max(1.0), "{total}");
}

#[track_caller]
fn is_of_positions(report: &Value) {
    assert!(report["accuracy"]["logits"].is_null() && report["accuracy"]["top1"].is_null(), "{report}");
}

/// The same statistics under two names, classes, and nothing that only positions have.
#[track_caller]
fn is_of_classes(report: &Value) {
    let accuracy = &report["accuracy"];
    assert_eq!(accuracy["logits"], accuracy["total"]);
    assert!(accuracy["logits"]["sqnr_db"].as_f64().unwrap() > 20.0, "{}", accuracy["logits"]);
    assert_eq!(accuracy["top1"]["count"], report["truth"]["examples"]);
    assert!(accuracy["win_probability"].is_null() && accuracy["predictions"]["log_loss"].is_number());
    for key in OF_NNUE {
        assert!(report.get(key).is_none(), "{key}: {report}");
    }
}

#[test]
fn bullets_networks() {
    let (folder, model) = with_model();
    let ((checkpoint, arch), batch) = (reference(), positions(folder.path()));
    let report =
        verified(folder.path(), &model, &[("--checkpoint", &checkpoint), ("--arch", &arch), ("--positions", &batch)]);
    is_of_positions(&report);
    is_split_by_cause(&report);
    assert_eq!((&report["unit"], &report["looked_for_mistakes"]), (&"centipawns".into(), &true.into()));
    assert!(report["accuracy"]["win_probability"]["max"].is_number());
    assert!(OF_NNUE.iter().all(|key| report.get(key).is_none()), "{report}");

    let outputs = tests::own("reference/nnue.reference.safetensors");
    is_of_positions(&verified(folder.path(), &model, &[("--reference", &outputs)]));

    let digits = folder.path().join("digits.bin");
    host_tools!("quantise", tests::own("reference/digits.weights.bin"), "--arch", description("digits"), "-o", digits)
        .fine();
    let outputs = tests::own("reference/digits.reference.safetensors");
    is_of_classes(&verified(folder.path(), &digits, &[("--reference", &outputs)]));
}

#[test]
fn graphs() {
    for (_, case) in cases() {
        case.quantise("net.bin", &[]).fine();
        let truth: [(&str, &Path); 2] = [("--checkpoint", &case.checkpoint), ("--inputs", &case.rows)];
        let report = verified(case.folder.path(), &case.path("net.bin"), &truth);
        is_of_classes(&report);
        is_split_by_cause(&report);
        assert_eq!(report["truth"]["import"]["source"], "safetensors");
        assert_eq!(report["looked_for_mistakes"], true);
        assert!(!report["accuracy"]["layers"].as_array().unwrap().is_empty());
    }
}

#[test]
fn models_of_angel(fixtures: Fixtures) {
    let rows = fixtures.join("angel/data/census_148d_test.dummy");
    let folder = tempfile::tempdir().unwrap();
    for (name, causes) in [("lr", 2), ("deepfm", 14)] {
        let (checkpoint, model) = (fixtures.join("angel/models").join(name), folder.path().join(name));
        host_tools!("quantise", checkpoint, "--calibrate", rows, "--calibrate-limit", "500", "-o", model).fine();
        let report = verified(folder.path(), &model, &[("--checkpoint", &checkpoint), ("--inputs", &rows)]);
        is_of_classes(&report);
        assert!(report["accuracy"]["predictions"]["auc"].is_number());
        assert_eq!(report["accuracy"]["causes"].as_array().unwrap().len(), causes);
    }
}

#[test]
fn files_of_the_stockfish_family() {
    let folder = tempfile::tempdir().unwrap();
    let net = made_up(shape(FeatureSet::HalfKaV2Hm, 32, Head::Pairwise { squares: true }), Encoding::Leb128, 8);
    let [file, model] = ["net.nnue", "model.bin"].map(|name| folder.path().join(name));
    fs::write(&file, to_bytes(&net)).unwrap();
    host_tools!("pack", file, "-o", model).fine();
    let batch = positions(folder.path());
    for truth in [&[("--positions", batch.as_path())][..], &[("--positions", &batch), ("--checkpoint", &file)]] {
        let report = verified(folder.path(), &model, truth);
        is_of_positions(&report);
        assert_eq!((&report["differing_values"], &report["accuracy"]["total"]["max"]), (&0.into(), &0.0.into()));
        assert_eq!(report["same_file"].as_bool(), (truth.len() == 2).then_some(true));
        assert!(report["divide"]["rule"].is_string() && report["architecture"].is_string());
        assert_eq!(report["accuracy"]["against"], "file");
        assert!(report["gates"].as_array().unwrap().iter().all(|gate| gate["gate"] != "require_no_mistakes"));
    }
}
