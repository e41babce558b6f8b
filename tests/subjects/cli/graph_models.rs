//! Real networks quantised, inspected, evaluated and verified: the figures that a user sees.

use super::{Ran, host_tools};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use tamis_runtime::kernels::tiers;
use tests::tolerances::{F64_ORDER, LOST_AUC};
use tests::trials::Fixtures;

/// Quantises on the first 500 examples, and asks every tier for the signature.
#[track_caller]
fn quantise(checkpoint: &Path, data: &Path, out: &Path, more: &[&str]) -> serde_json::Value {
    let words: [&OsStr; 10] = [
        "quantise".as_ref(),
        checkpoint.as_ref(),
        "--calibrate".as_ref(),
        data.as_ref(),
        "--calibrate-limit".as_ref(),
        "500".as_ref(),
        "-o".as_ref(),
        out.as_ref(),
        "--force".as_ref(),
        "--json".as_ref(),
    ];
    let json = super::run(words.into_iter().chain(more.iter().map(OsStr::new))).fine().json();
    for tier in tiers() {
        let inspected = host_tools!("inspect", out, "--tier", tier.name, "--json").fine().json();
        assert_eq!(inspected["signature"], json["signature"], "{}", tier.name);
        assert_eq!(inspected["workspace_len_bytes"], json["workspace_len_bytes"]);
        assert!(inspected["disagreements"].as_array().unwrap().is_empty(), "{}", inspected["disagreements"]);
    }
    json
}

/// Verifies with more words.
fn verify(model: &Path, checkpoint: &Path, data: &Path, more: &[&OsStr]) -> Ran {
    let words: [&OsStr; 6] = [
        "verify".as_ref(),
        model.as_ref(),
        "--checkpoint".as_ref(),
        checkpoint.as_ref(),
        "--inputs".as_ref(),
        data.as_ref(),
    ];
    super::run(words.iter().chain(more))
}

fn count(json: &serde_json::Value) -> u64 {
    json.as_u64().unwrap()
}

#[test]
fn mnist_in_int8(root: Fixtures) {
    let checkpoint = root.join("datacode/model_mnist.nn");
    let [images, labels] = ["images-idx3", "labels-idx1"].map(|name| root.join(format!("mnist/t10k-{name}-ubyte.gz")));
    let folder = tempfile::tempdir().unwrap();
    let (model, again) = (folder.path().join("mnist.bin"), folder.path().join("again.bin"));
    let json = quantise(&checkpoint, &images, &model, &[]);
    assert_eq!((&json["calibration"]["examples"], &json["proof"]["holds"]), (&500.into(), &true.into()));
    quantise(&checkpoint, &images, &again, &[]);
    assert!(fs::read(&model).unwrap() == fs::read(&again).unwrap(), "the bytes differ from run to run");

    let summary = |more: &str| {
        let ran = host_tools!("eval", model, "--inputs", images, "--labels", labels, "--skip", more, "--json").fine();
        ran.json()["summary"].clone()
    };
    let (all, apart) = (summary("0"), summary("500"));
    note!("mnist: {all}, without the first 500 {apart}");
    assert_eq!((count(&all["count"]), count(&apart["count"])), (10_000, 9_500));
    assert!(count(&all["correct"]) >= 9690, "{all}");

    let gates = folder.path().join("gates.toml");
    fs::write(&gates, "min_sqnr_db = 41.0\nmin_top1_agreement = 0.999\nmax_accuracy_loss = 0.05\n").unwrap();
    for (skip, examples, correct) in [("0", 10_000, &all), ("500", 9_500, &apart)] {
        let more: [&OsStr; 7] = [
            "--labels".as_ref(),
            labels.as_ref(),
            "--gates".as_ref(),
            gates.as_ref(),
            "--skip".as_ref(),
            skip.as_ref(),
            "--json".as_ref(),
        ];
        let json = verify(&model, &checkpoint, &images, &more).fine().json();
        let accuracy = &json["accuracy"];
        note!(
            "mnist from {skip}: {} top-1 {}, {}",
            accuracy["logits"]["sqnr_db"],
            accuracy["top1"],
            accuracy["predictions"]
        );
        assert_eq!((&json["passed"], &accuracy["samples"]), (&true.into(), &examples.into()));
        assert_eq!(accuracy["predictions"]["correct"]["equal"], correct["correct"]);
    }
    fs::write(&gates, "min_sqnr_db = 60.0\n").unwrap();
    let ran =
        verify(&model, &checkpoint, &images, &["--limit".as_ref(), "300".as_ref(), "--gates".as_ref(), gates.as_ref()]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("gate min_sqnr_db") && ran.text().contains("FAILED"), "{}", ran.stderr);
}

#[test]
fn click_models_lose_no_auc(fixtures: Fixtures) {
    let root = fixtures.join("angel");
    let rows = root.join("data/census_148d_test.dummy");
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.bin");
    for (name, float_correct) in [("lr", 8251), ("fm", 8379), ("deepfm", 8411), ("pnn", 8410), ("gbdt", 8262)] {
        let checkpoint = root.join("models").join(name);
        let more: &[&str] = if name == "gbdt" { &["--learning-rate", "0.3", "--features", "148"] } else { &[] };
        quantise(&checkpoint, &rows, &model, more);
        let json = host_tools!("eval", model, "--inputs", rows, "--json").fine().json();
        let words: Vec<&OsStr> = more.iter().map(OsStr::new).chain(["--json".as_ref()]).collect();
        let report = verify(&model, &checkpoint, &rows, &words).fine().json();
        let predictions = &report["accuracy"]["predictions"];
        let (found, truth) = (predictions["auc"].as_f64().unwrap(), predictions["float_auc"].as_f64().unwrap());
        note!("{name}: {} of {float_correct}, auc {found:.6} of {truth:.6}", json["summary"]["correct"]);
        assert_eq!(json["summary"]["correct"], predictions["correct"]["equal"]);
        assert!((json["summary"]["auc"].as_f64().unwrap() - found).abs() < F64_ORDER);
        assert_eq!(predictions["float_correct"]["equal"], float_correct);
        assert!(truth - found <= LOST_AUC, "{name}: {found} of {truth}");
        if name == "gbdt" {
            assert_eq!(json["summary"]["correct"], 8262);
        }
    }
}

/// The gates' file, the architecture in words, weights from the crate's own checkpoint.
#[test]
fn a_lattice_checkpoint_with_its_layers(root: Fixtures) {
    let checkpoint = root.join("lattice/mnist_784_128_10.checkpoint.json");
    let [images, labels] = ["images-idx3", "labels-idx1"].map(|name| root.join(format!("mnist/t10k-{name}-ubyte.gz")));
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("lattice.bin");
    let refused = host_tools!("quantise", checkpoint, "--calibrate", images, "-o", model);
    assert_eq!(refused.status, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("784:relu128:linear10") && !model.exists(), "{}", refused.stderr);
    let layers = "784:relu128:linear10";
    let json = quantise(&checkpoint, &images, &model, &["--arch", layers]);
    assert_eq!(json["calibration"]["examples"], 500);
    let ran = host_tools!("eval", model, "--inputs", images, "--labels", labels, "--json").fine().json();
    note!("lattice: {}", ran["summary"]);
    assert!(count(&ran["summary"]["correct"]) >= 9690, "{}", ran["summary"]);
    // The same network in the crate's other form, whose layers have names of their own.
    let other: PathBuf = root.join("lattice/mnist_784_128_10.fann");
    let limit: [&OsStr; 3] = ["--limit".as_ref(), "200".as_ref(), "--json".as_ref()];
    let fann = verify(&model, &other, &images, &limit).fine().json();
    let arch: [&OsStr; 5] = ["--limit".as_ref(), "200".as_ref(), "--json".as_ref(), "--arch".as_ref(), layers.as_ref()];
    let own = verify(&model, &checkpoint, &images, &arch).fine().json();
    assert_eq!(fann["accuracy"]["logits"], own["accuracy"]["logits"]);
}
