//! `eval --inputs` and `export`: checkpoints of all forms on examples of all forms.

use super::{Ran, description, host_tools, with_model};
use std::fs;
use std::path::{Path, PathBuf};
use tamis_quant::float::Matrix;
use tamis_quant::graph::{Activation, Graph, Input, Node, Op};
use tamis_quant::import::tensors::export;
use tests::trials::Fixtures;

/// Two features, a score of `x0 − x1 + 0.1`, and its sigmoid.
fn small(folder: &Path) -> PathBuf {
    let weights = Matrix::new(1, 2, vec![1.0, -1.0]).unwrap();
    let graph = Graph {
        name: "small".to_owned(),
        input: Input::Sparse { features: 2, max_active: 2, exact: false },
        nodes: vec![
            Node { name: "w".to_owned(), reads: vec![0], op: Op::SparseLinear { weights, bias: vec![0.1] } },
            Node { name: "p".to_owned(), reads: vec![1], op: Op::Activation(Activation::Sigmoid) },
        ],
    };
    let path = folder.join("small.safetensors");
    fs::write(&path, export(&graph).unwrap()).unwrap();
    path
}

fn refused(ran: &Ran, status: i32, words: &[&str]) {
    assert_eq!(ran.status, status, "{}", ran.stderr);
    for word in words {
        assert!(ran.stderr.contains(word), "`{word}` is missing: {}", ran.stderr);
    }
}

#[test]
fn a_line_an_example_and_a_summary() {
    let folder = tempfile::tempdir().unwrap();
    let model = small(folder.path());
    let rows = folder.path().join("rows");
    fs::write(&rows, "1 0\n-1 1\n-1 0 1\n1 0:3\n".replace("0:3", "0")).unwrap();
    let ran = host_tools!("eval", model, "--inputs", rows, "--logits").fine();
    assert_eq!(ran.text(), "1.1\n-0.9\n0.10000000000000009\n1.1\n");
    assert!(ran.stderr.starts_with("summary: correct 3 of 4, auc 1.000000, logloss 0.4"), "{}", ran.stderr);
    let outputs = host_tools!("eval", model, "--inputs", rows, "--limit", "2").fine();
    assert_eq!(outputs.text().lines().count(), 2);
    assert!(outputs.text().starts_with("0.75026"), "{}", outputs.text());
    let labels = folder.path().join("labels");
    fs::write(&labels, "0\n1\n0\n0\n").unwrap();
    let json = host_tools!("eval", model, "--inputs", rows, "--labels", labels, "--json").fine().json();
    assert_eq!((&json["schema"], &json["source"]), (&"tamis-eval-1".into(), &"safetensors".into()));
    assert_eq!((&json["summary"]["count"], &json["summary"]["correct"]), (&4.into(), &0.into()));
    assert_eq!(json["summary"]["auc"], 0.0);
    assert_eq!((json["values"].as_array().unwrap().len(), json["remarks"].as_array().unwrap().len()), (4, 0));

    fs::write(&labels, "0\n1\n").unwrap();
    refused(&host_tools!("eval", model, "--inputs", rows, "--labels", labels), 2, &["labels: 2 labels for 4 examples"]);
    host_tools!("eval", model, "--inputs", rows, "--labels", labels, "--limit", "2").fine();
    fs::write(&rows, "1 0\n1 7\n").unwrap();
    refused(
        &host_tools!("eval", model, "--inputs", rows),
        3,
        &["rows: line 2: feature 7 of a network with 2 features"],
    );
    fs::write(&rows, "1 0\n1 x\n").unwrap();
    refused(&host_tools!("eval", model, "--inputs", rows), 3, &["rows: line 2: `x` is no feature"]);
}

#[test]
fn what_is_missing_is_asked_for() {
    let (folder, chess) = with_model();
    let folder = folder.path();
    let model = small(folder);
    let rows = folder.join("rows");
    fs::write(&rows, "1 0\n").unwrap();
    let weights = tests::own("reference/nnue.weights.bin");
    refused(&host_tools!("eval", weights, "--inputs", rows), 2, &["a checkpoint of bullet", "--arch A.toml"]);
    refused(
        &host_tools!("eval", weights, "--inputs", rows, "--arch", description("reference")),
        2,
        &["no vectors", "--fen"],
    );
    refused(&host_tools!("eval", chess, "--inputs", rows), 2, &["no vectors"]);
    refused(&host_tools!("eval", chess, "--inputs", rows, "--float"), 2, &["no full precision"]);
    refused(&host_tools!("eval", model, "--inputs", rows, "--from", "npz"), 3, &["npz"]);
    refused(&host_tools!("eval", model, "--inputs", rows, "--from", "tarball"), 2, &["network-json"]);
    refused(&host_tools!("eval", model, "--inputs", rows, "--tier", "scalar"), 2, &["--tier"]);
    refused(&host_tools!("eval", rows, "--inputs", rows), 3, &["none of DataCode", "--from"]);
    refused(&host_tools!("eval", folder, "--inputs", rows), 2, &["holds neither"]);
    refused(&host_tools!("eval", model, "--fen", "x", "--arch", description("reference")), 2, &["--float"]);
    let out = folder.join("out");
    refused(&host_tools!("export", chess, "-o", out), 2, &["quantised already"]);
    refused(&host_tools!("export", model, "-o", model, "--force"), 2, &["is an input"]);
    assert!(!out.exists());
}

/// The digits network, as bullet's layers and as a container, gives what examples of it give.
#[test]
fn layers_and_containers_take_examples() {
    let folder = tempfile::tempdir().unwrap();
    let (model, inputs) = (folder.path().join("digits.bin"), tests::own("reference/digits.reference.safetensors"));
    let weights = tests::own("reference/digits.weights.bin");
    host_tools!("quantise", weights, "--arch", description("digits"), "-o", model).fine();
    let float = host_tools!("eval", weights, "--arch", description("digits"), "--inputs", inputs).fine();
    assert!(float.stderr.contains("summary: correct 354 of 359"), "{}", float.stderr);
    let integers = host_tools!("eval", model, "--inputs", inputs, "--tier", "scalar").fine();
    assert!(integers.stderr.contains("summary: correct 354 of 359"), "{}", integers.stderr);
    assert_eq!(integers.text().lines().next().unwrap().split(' ').count(), 10);
}

#[test]
fn export_writes_what_eval_reads(fixtures: Fixtures) {
    let folder = tempfile::tempdir().unwrap();
    let rows = fixtures.join("angel/data/census_148d_test.dummy");
    let images = fixtures.join("mnist/t10k-images-idx3-ubyte.gz");
    for (checkpoint, inputs, more, summary) in [
        ("angel/models/deepfm", &rows, [].as_slice(), "correct 4"),
        ("angel/models/gbdt", &rows, &["--learning-rate", "0.3", "--features", "148"], "correct 4"),
        ("datacode/model_mnist.nn", &images, &[], ""),
        ("lattice/a_4_8_2_relu_linear.fann", &rows, &[], ""),
    ] {
        let path = fixtures.join(checkpoint);
        let [out, again] = ["out.safetensors", "again.safetensors"].map(|name| folder.path().join(name));
        let run = |arguments: &[&std::ffi::OsStr], more: &[&str]| {
            super::run(arguments.iter().copied().chain(more.iter().map(std::ffi::OsStr::new)))
        };
        run(&["export".as_ref(), path.as_os_str(), "-o".as_ref(), out.as_os_str(), "--force".as_ref()], more).fine();
        host_tools!("export", out, "-o", again, "--force").fine();
        assert_eq!(fs::read(&out).unwrap(), fs::read(&again).unwrap(), "{checkpoint}");
        if checkpoint.starts_with("lattice") {
            continue;
        }
        let direct = [
            "eval".as_ref(),
            path.as_os_str(),
            "--inputs".as_ref(),
            inputs.as_os_str(),
            "--limit".as_ref(),
            "500".as_ref(),
        ];
        let direct = run(&direct, more).fine();
        let exported = host_tools!("eval", out, "--inputs", inputs, "--limit", "500").fine();
        assert_eq!(direct.text(), exported.text(), "{checkpoint}");
        assert!(exported.stderr.contains(summary), "{checkpoint}: {}", exported.stderr);
    }
}

#[test]
fn mnist_through_a_described_safetensors(fixtures: Fixtures) {
    let folder = tempfile::tempdir().unwrap();
    let (model, labels) = (fixtures.join("datacode/model_mnist.nn"), fixtures.join("mnist/t10k-labels-idx1-ubyte.gz"));
    let out = folder.path().join("mnist.safetensors");
    host_tools!("export", model, "-o", out).fine();
    let images = fixtures.join("mnist/t10k-images-idx3-ubyte.gz");
    let ran = host_tools!("eval", out, "--inputs", images, "--labels", labels, "--json").fine().json();
    assert_eq!((&ran["summary"]["correct"], &ran["summary"]["count"]), (&9694.into(), &10_000.into()));
}
