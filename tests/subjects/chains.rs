//! DataCode's and lattice-tune's files against what independent programs computed from them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tamis_quant::error_kind::ErrorKind;
use tamis_quant::graph::{Graph, Sample};
use tamis_quant::import::chain::Chain;
use tamis_quant::import::datacode::{DataCodeError, Options, is_datacode, read_datacode};
use tamis_quant::import::lattice::{self, LatticeError, read_fann, read_lattice_checkpoint, read_network_json};
use tamis_quant::import::{Imported, Remark};
use tests::arrays::{f32s, images, labels, npy};
use tests::tolerances::{F64_ORDER, RECORDED_OUTPUTS_F32, SAVED_LOGITS_F32};
use tests::trials::Fixtures;
use tests::worked::Worked;

/// The architectures of lattice's cases, by the beginnings of their files' names.
const LATTICE: [(&str, &str); 3] = [
    ("a_4_8_2_relu_linear", "4:relu8:linear2"),
    ("c_5_9_4_leaky_linear", "5:leaky9:linear4"),
    ("d_784_32_10_relu_linear", "784:relu32:linear10"),
];

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&read(path)).unwrap()
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), read(path))).collect()
}

fn datacode(path: &Path) -> Imported {
    read_datacode(&read(path), "x", &Options::default()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn warnings(imported: &Imported) -> usize {
    imported.remarks.iter().filter(|remark| matches!(remark, Remark::Warning(_))).count()
}

/// The largest difference as a part of the largest expected value.
fn relative(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(0f64, |largest, value| largest.max(value.abs()));
    found.iter().zip(expected).fold(0f64, |largest, (found, expected)| largest.max((found - expected).abs())) / scale
}

fn evaluate(graph: &Graph, x: Vec<f64>) -> Vec<f64> {
    graph.evaluate(&Sample::Dense(x)).unwrap()
}

fn argmax(values: &[f64]) -> usize {
    (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap()
}

#[test]
fn the_real_model_scores_what_it_scored(root: Fixtures) {
    let imported = datacode(&root.join("datacode/model_mnist.nn"));
    assert!(
        matches!(&imported.remarks[..], [Remark::Decided(text)] if text.contains("out-in")),
        "{:?}",
        imported.remarks
    );
    let (images, labels) = mnist(&root);
    let logits: Vec<Vec<f64>> = images.into_iter().map(|image| evaluate(&imported.graph, image)).collect();
    let hits = |count: usize| {
        logits[..count].iter().zip(&labels).filter(|(y, label)| argmax(y) == usize::from(**label)).count()
    };
    assert_eq!((hits(1000), hits(10_000)), (968, 9694));
    let predictions: Vec<u8> = logits.iter().map(|y| argmax(y) as u8).collect();
    assert_eq!(predictions, npy(&root.join("datacode/model_mnist.pred10000.npy"), "|u1"));
    let first = logits[..1000].concat();
    let (saved, lattice) = (saved_logits(&root), f32s(&read(&root.join("lattice/mnist_784_128_10.logits1000.f32le"))));
    for (what, expected) in [("DataCode", saved), ("lattice-fann", lattice)] {
        let largest =
            first.iter().zip(&expected).fold(0f64, |largest, (y, expected)| largest.max((y - expected).abs()));
        note!("{what}: logits of 1000 images differ by at most {largest:.2e}");
        assert!(first.len() == expected.len() && largest <= SAVED_LOGITS_F32, "{what}: {largest}");
    }
}

fn mnist(root: &Path) -> (Vec<Vec<f64>>, Vec<u8>) {
    let (images, labels) =
        (images(&root.join("mnist/t10k-images-idx3-ubyte.gz")), labels(&root.join("mnist/t10k-labels-idx1-ubyte.gz")));
    assert_eq!((images.len(), labels.len()), (10_000, 10_000));
    (images, labels)
}

fn saved_logits(root: &Path) -> Vec<f64> {
    f32s(&npy(&root.join("datacode/model_mnist.logits1000.npy"), "<f4"))
}

#[test]
fn every_layout_of_datacode_gives_its_outputs(root: Fixtures) {
    let folder = root.join("datacode/generated");
    let expected = json(&folder.join("expected.json"));
    let cases = expected.as_object().unwrap();
    assert_eq!(cases.len(), 6);
    for (name, case) in cases {
        let imported = datacode(&folder.join(name).with_extension("nn"));
        let word = if case["layout"] == "current" { "out-in" } else { "in-out" };
        assert!(
            matches!(&imported.remarks[0], Remark::Decided(text) if text.contains(word)),
            "{name}: {:?}",
            imported.remarks
        );
        for (x, y) in case["input"].as_array().unwrap().iter().zip(case["output_f64"].as_array().unwrap()) {
            let difference = relative(&evaluate(&imported.graph, numbers(x)), &numbers(y));
            assert!(difference <= F64_ORDER, "{name}: {difference}");
        }
    }
    // Values that the file's own bytes show: y = W x + b with W = (0, ¼, ½; ¾, 1, 1¼), b = (½, −½).
    let tiny = datacode(&folder.join("tiny_ok.nn"));
    assert_eq!(evaluate(&tiny.graph, vec![1.0, 2.0, 4.0]), [3.0, 7.25]);
    assert_eq!(warnings(&tiny), 1, "{:?}", tiny.remarks);
    let (now, first) = (datacode(&root.join("datacode/model_mnist.nn")), datacode(&folder.join("legacy210_mnist.nn")));
    let parameters = |imported: &Imported| imported.graph.nodes.iter().map(|node| node.op.clone()).collect::<Vec<_>>();
    assert_eq!(parameters(&now), parameters(&first), "the same weights in both layouts");
}

#[test]
fn every_malformed_file_of_datacode_is_refused_by_name(root: Fixtures) {
    let files = files(&root.join("datacode/generated/malformed"));
    assert_eq!(files.len(), 40);
    for (name, bytes) in files {
        let words = match name.trim_end_matches(".nn") {
            "bad_magic" | "lowercase_magic" | "empty" => "expected \"DATACODE\"",
            "magic_only" => "byte 8: the version should have 4 bytes, 0 are left",
            "name_not_utf8" => "byte 331: the name of tensor 0 is not UTF-8",
            "bad_tensor_name" => "tensor `layer0.weight` is missing, the file has [\"weights\", \"layer0.bias\"]",
            "bias_wrong_len" => "`layer0.bias` has the shape [3], expected [2]",
            "chain_mismatch" => "layer `layer1` reads 5 elements, `layer0` before it makes 2",
            "conv_as_linear" => "convolution",
            "duplicate_linear_names" => "second Linear with the name `layer0`",
            "duplicate_tensor" => "tensor 1 has the name `layer0.weight`",
            "inf_weight" => "element 0 of `layer0.weight` is inf",
            "nan_weight" => "element 0 of `layer0.weight` is NaN",
            "json_deep_nesting" => "nested deeper than 64 levels",
            "json_len_4gib" => "the JSON should have 4294967295 bytes",
            "json_len_plus1" => "the JSON, byte 323: trailing characters; is its length, at byte 12, right?",
            "json_not_object" => "expected an object",
            "json_truncated_utf8" => "invalid unicode",
            "layer_no_type" => "layer 0 (`layer0`) has no type",
            "layers_missing" => "missing field `layers`",
            "missing_bias" => "tensor `layer0.bias` is missing",
            "name_len_huge" => "the name of tensor 0 should have 4294967280 bytes",
            "ndims_huge" => "`layer0.weight` has 4294967295 dimensions",
            "negative_features" => "in_features is -3",
            "no_layers" => "lists no layers",
            "rank0" => "`layer0.weight` has 0 dimensions",
            "shape_mismatch" => "`layer0.weight` has the shape [3, 3], expected [2, 3]",
            "shape_overflow" => "[4294967295, 4294967295]: more than 2^28 elements",
            "tensor_count_huge" => "4294967295 tensors, at most 4096",
            "tensor_count_short" => "behind the last of 1 tensors",
            "trailing_byte" => "byte 411: 1 bytes behind the last of 2 tensors",
            "truncated_20" => "the JSON should have 307 bytes, 4 are left",
            "truncated_371" | "truncated_402" | "truncated_410" => "is the file cut off?",
            "unknown_layer_conv" => "layer 1 (`layer1`) is a Conv2d",
            "unknown_tensor" => "belongs to no Linear",
            "version0" => "version 0, expected 1",
            "version2" => "version 2, expected 1",
            "zero_dim" => "[2, 0]: no dimension may be 0",
            other => panic!("a file that the test does not know: {other}"),
        };
        let start = Worked::from_now();
        let error = read_datacode(&bytes, "x", &Options::default()).unwrap_err();
        let took = start.elapsed();
        note!("{name}: {error}");
        assert!(error.to_string().contains(words), "{name}: expected {words}, found {error}");
        assert!(took < Duration::from_millis(50), "{name} took {took:?}");
        let unsupported = ["conv_as_linear.nn", "unknown_layer_conv.nn", "version2.nn"].contains(&name.as_str());
        assert_eq!(error.class() == ErrorKind::Unsupported, unsupported, "{name}");
        assert_eq!(is_datacode(&bytes), !matches!(error, DataCodeError::Magic { .. }), "{name}");
    }
}

#[test]
fn lattices_three_forms_are_one_network_with_its_outputs(root: Fixtures) {
    for (name, architecture) in LATTICE {
        let path = |end: &str| root.join("lattice").join(format!("{name}.{end}"));
        let fann = read_fann(&read(&path("fann")), "x").unwrap();
        let network = read_network_json(&read(&path("network.json")), "x").unwrap();
        assert_eq!(fann.graph, network.graph, "{name}");
        let chain = Chain::from_text(architecture).unwrap();
        for end in ["fann", "network.json"] {
            assert_eq!(lattice::architecture(&read(&path(end))).unwrap(), chain, "{name}.{end}");
        }
        let imported = read_lattice_checkpoint(&read(&path("checkpoint.json")), "x", &chain).unwrap();
        assert_eq!((&imported.graph, &imported.remarks[..]), (&fann.graph, &[][..]), "{name}");
        let mut largest = 0f64;
        for pass in json(&path("expected.json"))["forward"].as_array().unwrap() {
            let found = evaluate(&imported.graph, numbers(&pass["input"]));
            largest = largest.max(relative(&found, &numbers(&pass["output"])));
        }
        note!("{name}: outputs differ by at most {largest:.2e} of their scale");
        assert!(largest <= RECORDED_OUTPUTS_F32, "{name}: {largest}");
    }
}

#[test]
fn lattices_mnist_network_is_datacodes(root: Fixtures) {
    let folder = root.join("lattice");
    let chain = lattice::architecture(&read(&folder.join("mnist_784_128_10.fann"))).unwrap();
    let imported =
        read_lattice_checkpoint(&read(&folder.join("mnist_784_128_10.checkpoint.json")), "x", &chain).unwrap();
    let operations = |graph: &Graph| graph.nodes.iter().map(|node| node.op.clone()).collect::<Vec<_>>();
    let datacode = datacode(&root.join("datacode/model_mnist.nn"));
    assert_eq!(operations(&imported.graph), operations(&datacode.graph), "hence 9694 of 10000, too");
    let expected = f32s(&read(&folder.join("mnist_784_128_10.logits1000.f32le")));
    for (image, expected) in mnist(&root).0.into_iter().zip(expected.chunks(10)) {
        let difference = relative(&evaluate(&imported.graph, image), expected);
        assert!(difference <= RECORDED_OUTPUTS_F32, "{difference}");
    }
}

#[test]
fn spellings_of_checkpoints_load(root: Fixtures) {
    let (name, architecture) = LATTICE[0];
    let chain = Chain::from_text(architecture).unwrap();
    let of = |path: PathBuf| read_lattice_checkpoint(&read(&path), "x", &chain).unwrap();
    let graph = of(root.join("lattice").join(format!("{name}.checkpoint.json"))).graph;
    let mut files = files(&root.join("lattice/generated"));
    files.push(("pretty".to_owned(), read(&root.join("lattice").join(format!("{name}.checkpoint.pretty.json")))));
    assert_eq!(files.len(), 5);
    for (name, bytes) in files {
        assert!(lattice::is_lattice_checkpoint(&bytes[..64]), "{name}");
        let imported = read_lattice_checkpoint(&bytes, "x", &chain).unwrap();
        assert_eq!((imported.graph, imported.remarks), (graph.clone(), vec![]), "{name}");
    }
    for name in ["empty_weights", "nonfinite_metrics"] {
        let bytes = read(&root.join("lattice").join(format!("{name}.checkpoint.json")));
        assert_eq!(read_lattice_checkpoint(&bytes, "x", &chain), Err(LatticeError::EmptyWeights), "{name}");
    }
}

#[test]
fn odd_files_of_lattice_are_refused_or_warned_of(root: Fixtures) {
    let chain = Chain::from_text(LATTICE[0].1).unwrap();
    let (mut refused, mut warned) = (0, 0);
    for (name, bytes) in files(&root.join("lattice/malformed")) {
        let words = match name.as_str() {
            "bad_date.json" | "bad_uuid.json" => "expected",
            "base64_bad_char.json" => "is no letter of base64",
            "base64_bad_padding.json" => "padding",
            "base64_noncanonical.json" => "has bits behind the last byte",
            "deep_nesting.json" => "nested deeper than 64 levels",
            "duplicate_weights_key.json" => "duplicate field `weights`",
            "fann_bad_act.fann" => "byte 20: layer 0 has activation 9",
            "fann_trailing.fann" => "1 bytes behind the last of 2 layers",
            "fann_truncated.fann" => "the biases of layer 1 should have 8 bytes, 5 are left",
            "fann_version2.fann" => ".fann version 2, expected 1",
            "negative_epoch.json" => "integer `-1`, expected u64",
            "trailing_garbage.json" => "trailing characters",
            "truncated.json" => "EOF",
            "weights_256.json" => "integer `256`, expected u8",
            "weights_as_f32_numbers.json" | "weights_float.json" => {
                "which is a list of bytes, 0 to 255: invalid type: floating point"
            }
            "weights_empty.json" => "`weights` is empty",
            "weights_inf.json" => "inf",
            "weights_nan.json" => "NaN",
            "weights_len_not_multiple_of_4.json" => "expected a multiple of 4",
            "weights_long_one_f32.json" => "`weights` has 59 f32, the architecture 4:relu8:linear2 makes 58",
            "weights_short_one_f32.json" => "`weights` has 57 f32, the architecture 4:relu8:linear2 makes 58",
            "weights_missing.json" => "missing field `weights`",
            "weights_negative.json" => "integer `-1`, expected u8",
            "weights_null.json" => "null, expected `weights`",
            other => panic!("a file that the test does not know: {other}"),
        };
        let is_fann = name.ends_with(".fann");
        assert_eq!(lattice::is_fann(&bytes), is_fann, "{name}");
        let result = if is_fann { read_fann(&bytes, "x") } else { read_lattice_checkpoint(&bytes, "x", &chain) };
        let text = match result {
            Ok(imported) => {
                warned += 1;
                format!("{:?}", imported.remarks)
            }
            Err(error) => {
                refused += 1;
                error.to_string()
            }
        };
        note!("{name}: {text}");
        assert!(text.contains(words), "{name}: expected {words}, found {text}");
        assert_eq!(text.contains("Warning("), name.starts_with("bad_"), "{name}");
    }
    assert_eq!((refused, warned), (24, 2));
}
