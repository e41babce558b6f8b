//! Files that are quantised already on the command line: packed, evaluated, inspected, verified; and what is refused.

use super::{host_tools, names};
use std::path::Path;
use std::time::{Duration, Instant};
use tamis_quant::import::tensors::read_npz;
use tests::trials::Fixtures;

/// What a refusal may take, a process and all.
const REFUSAL_TIME: Duration = Duration::from_millis(1000);

#[test]
fn files_are_packed_evaluated_inspected_and_verified(fixtures: Fixtures) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("net.bin");
    let (kws, data) = (fixtures.join("mlperf/kws/kws_int8.tflite"), fixtures.join("mlperf/kws/kws.npz"));
    let packed = host_tools!("pack", kws, "-o", out, "--json").fine().json();
    assert_eq!((&packed["schema"], &packed["proof"]["holds"]), (&"tamis-pack-1".into(), &true.into()), "{packed}");
    let arrays = read_npz(&std::fs::read(&data).unwrap()).unwrap();
    let evaluated = host_tools!("eval", out, "--inputs", data, "--array", "inputs", "--raw", "--tier", "scalar").fine();
    let logits: Vec<Vec<i64>> =
        evaluated.text().lines().map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect()).collect();
    assert_eq!((logits.len(), logits[0].len()), (200, 12));
    // A softmax keeps the order.
    let top = |row: &[f64]| (0..row.len()).max_by(|a, b| row[*a].total_cmp(&row[*b]));
    let expected = arrays["int8_xnnpack"].values.chunks(12);
    let alike = |(found, expected): (&Vec<i64>, &[f64])| {
        let found: Vec<f64> = found.iter().map(|x| *x as f64).collect();
        expected[top(&found).unwrap()] == expected[top(expected).unwrap()]
    };
    assert!(logits.iter().zip(expected).all(alike));
    let again = host_tools!("eval", out, "--inputs", data, "--array", "inputs", "--raw", "--logits").fine();
    assert_eq!(again.text(), evaluated.text(), "the logits are the outputs, on every tier");
    host_tools!("inspect", out).fine();
    let verified = host_tools!(
        "verify",
        out,
        "--checkpoint",
        kws,
        "--inputs",
        data,
        "--array",
        "inputs",
        "--limit",
        "20",
        "--json"
    );
    let report = verified.json();
    assert_eq!(report["runtime"]["equal"], true, "{}", verified.stderr);
    assert_eq!(by_layer(&report), [11, 11], "a line a layer that rounds");
    let refused = host_tools!("quantise", kws, "-o", folder.path().join("other.bin"));
    assert_eq!(refused.status, 5, "{}", refused.stderr);
    assert!(refused.stderr.contains("host-tools pack"), "{}", refused.stderr);
    let qdq = fixtures.join("mlperf/kws_ckpt/kws_ckpt_qdq.onnx");
    let refused = host_tools!("quantise", qdq, "-o", folder.path().join("other.bin"));
    assert_eq!(refused.status, 5, "{}", refused.stderr);
    assert!(refused.stderr.contains("host-tools pack"), "{}", refused.stderr);
}

/// Lines of a report's table of layers, and of what is behind a layer among its causes.
fn by_layer(report: &serde_json::Value) -> [usize; 2] {
    let causes = report["accuracy"]["causes"].as_array().unwrap();
    let behind = causes.iter().filter(|cause| cause["cause"].as_str().unwrap().starts_with("rounding behind "));
    [report["accuracy"]["layers"].as_array().unwrap().len(), behind.count()]
}

/// The public file's ranges cut off some logits: that is said, and is the file's own doing.
#[test]
fn what_a_packed_file_cuts_off_is_a_remark(fixtures: Fixtures) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("net.bin");
    let (model, data) = (fixtures.join("mlperf/vww/vww_int8.tflite"), fixtures.join("mlperf/vww/vww.npz"));
    host_tools!("pack", model, "-o", out).fine();
    let run = host_tools!(
        "verify",
        out,
        "--checkpoint",
        model,
        "--inputs",
        data,
        "--array",
        "inputs",
        "--input-unit",
        "0.00392156862745098",
        "--limit",
        "8",
        "--json"
    );
    let json = run.fine().json();
    assert_eq!(json["mistakes"], serde_json::json!([]));
    let remarks = json["remarks"].as_array().unwrap();
    assert!(remarks.iter().any(|remark| remark["kind"] == "calibration"), "{remarks:?}");
}

/// What is described of it is a float network, which can be quantised anew.
#[test]
fn a_packed_file_is_described_as_its_reals(fixtures: Fixtures) {
    for file in ["kws/kws_int8.tflite", "kws_ckpt/kws_ckpt_qdq.onnx"] {
        let described = host_tools!("describe", fixtures.join("mlperf").join(file)).fine();
        assert!(described.stderr.contains("host-tools pack"), "{}", described.stderr);
        let text = described.text();
        assert_eq!((text.matches("\"depthwise\"").count(), text.contains("quantise")), (4, false), "{text}");
    }
}

#[test]
fn a_qdq_model_is_packed_and_held_to_its_reals(fixtures: Fixtures) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("net.bin");
    let (model, data) = (fixtures.join("mlperf/ic/ic_qdq.onnx"), fixtures.join("mlperf/ic/ic.npz"));
    host_tools!("pack", model, "-o", out).fine();
    let words = ["--array", "inputs", "--input-unit", "1", "--limit", "20", "--json"];
    let run = [
        "verify".as_ref(),
        out.as_os_str(),
        "--checkpoint".as_ref(),
        model.as_os_str(),
        "--inputs".as_ref(),
        data.as_os_str(),
    ];
    let json = super::run(run.into_iter().chain(words.iter().map(std::ffi::OsStr::new))).json();
    assert_eq!(json["runtime"]["equal"], true, "{json}");
    assert_eq!(by_layer(&json), [14, 14], "a line a layer that rounds");
    let decibels = json["accuracy"]["logits"]["sqnr_db"].as_f64().unwrap();
    assert!(decibels > 15.0, "{decibels}");
}

#[test]
fn float_files_are_sent_to_quantise(fixtures: Fixtures) {
    let folder = tempfile::tempdir().unwrap();
    for file in ["kws/kws_float.tflite", "kws/kws_float.onnx", "ic/ic_float_tf2onnx13.onnx"] {
        let refused = host_tools!("pack", fixtures.join("mlperf").join(file), "-o", folder.path().join("x.bin"));
        assert_eq!(refused.status, 5, "{file}: {}", refused.stderr);
        assert!(refused.stderr.contains("host-tools quantise"), "{file}: {}", refused.stderr);
    }
    let hybrid =
        host_tools!("pack", fixtures.join("mlperf/traps/kws_hybrid.tflite"), "-o", folder.path().join("x.bin"));
    assert!(hybrid.status == 5 && hybrid.stderr.contains("hybrid"), "{}", hybrid.stderr);
    assert!(names(folder.path()).is_empty());
}

/// Integers that are multiplied without a rounding between them are quantised already, too.
#[test]
fn integers_are_not_quantised_again(fixtures: Fixtures) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["132_convinteger", "133_matmulinteger"] {
        let file = |end: &str| fixtures.join("mlperf/onnx_ops").join(name).with_extension(end);
        let out = folder.path().join("out");
        let data = file("safetensors");
        let ran = host_tools!("quantise", file("onnx"), "--calibrate", data, "--array", "input.a", "-o", out);
        assert!(ran.status == 5 && ran.stderr.contains("is quantised already"), "{name}: {}", ran.stderr);
    }
}

#[test]
fn damaged_files_are_refused(fixtures: Fixtures) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("x.bin");
    let root = fixtures.join("mlperf/malformed");
    let index = std::fs::read_to_string(root.join("index.tsv")).unwrap();
    let files = index.lines().skip(1).map(|line| line.split('\t').next().unwrap());
    let mut count = 0;
    for file in files {
        refused(&root.join(file), &out);
        count += 1;
    }
    assert_eq!(count, 102);
    for file in ["keyword_scrambled_8bit", "mnist_lstm_int8", "mnist_lstm_float"] {
        refused(&fixtures.join(format!("mlperf/more/{file}/{file}.tflite")), &out);
    }
    assert!(names(folder.path()).is_empty());
}

fn refused(file: &Path, out: &Path) {
    let start = Instant::now();
    let ran = host_tools!("pack", file, "-o", out);
    let took = start.elapsed();
    assert!([3, 5].contains(&ran.status), "{}: {}: {}", file.display(), ran.status, ran.stderr);
    assert!(!ran.stderr.contains("panicked") && took < REFUSAL_TIME, "{}: {took:?}, {}", file.display(), ran.stderr);
}
