//! Options and files that do not fit a graph: the status, what is named, the next step, and nothing written.

use super::graphs::{cases, dense, sparse};
use super::{Ran, host_tools, names, tiny, with_model};
use std::fs;
use std::path::Path;
use tamis_quant::graph::{Activation, Graph, Op};
use tamis_quant::import::tensors::export;

#[track_caller]
fn refused(ran: &Ran, status: i32, words: &[&str], folder: &Path, before: &[String]) {
    assert_eq!(ran.status, status, "{words:?}: {}", ran.stderr);
    for word in words {
        assert!(ran.stderr.contains(word), "`{word}` is missing: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert_eq!(names(folder), before, "something was written");
}

#[test]
fn options_that_do_not_fit() {
    let [(_, case), (_, clicks)] = cases();
    let folder = case.folder.path();
    let positions = case.path("positions.bf");
    fs::write(&positions, [0; 32]).unwrap();
    let before = names(folder);
    let file = "net.safetensors";
    for (more, status, words) in [
        (["--form", "bare"].as_slice(), 2, ["--form bare", "bullet", "help: ", "host-tools export"].as_slice()),
        (&["--permute", positions.to_str().unwrap()], 2, &["positions.bf", "--permute", "chess", "help: "]),
        (&["--keep-f32", "secnod"], 2, &[file, "no layer `secnod`", "first, relu, second"]),
        (&["--method", "percentile", "--percentile", "3"], 2, &["--percentile 3", "50 to 100", "help: "]),
        (&["--method", "percentile", "--percentile", "NAN"], 2, &["--percentile", "50 to 100"]),
        (&["--method", "percentile", "--percentile", "100.5"], 2, &["--percentile 100.5", "50 to 100"]),
        (&["--input-range", "1..0"], 2, &["--input-range", "1..0", "such as 0..1"]),
        (&["--input-range", "0.5..1"], 2, &["--input-range", "0 between them"]),
        (&["--input-range", "inf..1"], 2, &["--input-range"]),
        (&["--input-range", "-1"], 2, &["--input-range"]),
        (&["--size-budget", "100"], 2, &[file, "the budget cannot be met", "bytes of parameters", "help: "]),
        (&["--sqnr-budget", "5000"], 2, &[file, "the budget cannot be met", " dB", "5000 wanted", "help: "]),
        (&["--sqnr-budget", "nan"], 2, &["--sqnr-budget"]),
        (&["--size-budget", "1", "--sqnr-budget", "1"], 2, &["--size-budget", "--sqnr-budget"]),
        (&["--input-range", "0..1", "--input-unit", "0.5"], 2, &["--input-range", "--input-unit", "help: "]),
        (&["--sixteen-workspace", "9"], 2, &["--sixteen"]),
        (&["--sixteen", "first", "--sixteen-macs", "9"], 2, &["--sixteen-macs", "--sixteen auto", "help: "]),
        (&["--sixteen", "auto", "--sixteen-macs", "900"], 2, &["--sixteen-macs 900", "0 to 100"]),
        (&["--sixteen", "auto", "--sqnr-budget", "9"], 2, &["--sixteen auto", "--sqnr-budget", "help: "]),
        (&["--sixteen", "first"], 5, &["maps of 16 bits in a network without maps"]),
        (&["--sixteen", "auto"], 5, &["maps of 16 bits in a network without maps"]),
        (&["--activations", "u9"], 2, &["u9", "u7, u8, i8, i16"]),
        (&["--weight-bits", "4"], 2, &["4", "8, 16"]),
        (&["--array", "images"], 2, &["images"]),
    ] {
        let ran = case.quantise("out", more);
        // Rows of text have no arrays; the option has no use there and does no harm.
        if more[0] == "--array" && ran.status == 0 {
            fs::remove_file(case.path("out")).unwrap();
            continue;
        }
        refused(&ran, status, words, folder, &before);
    }
    let out = case.path("out");
    let quantise = |more: &[&str]| {
        let words = ["quantise".as_ref(), case.checkpoint.as_os_str(), "-o".as_ref(), out.as_os_str()];
        super::run(words.into_iter().chain(more.iter().map(std::ffi::OsStr::new)))
    };
    for (more, words) in [
        ([].as_slice(), [file, "the range of the input is not known", "help: --calibrate DATA"].as_slice()),
        (&["--input-range", "-1..1"], &[file, "the range of layer `relu` is not known", "help: --calibrate DATA"]),
        (&["--size-budget", "10000"], &["--calibrate"]),
        (&["--sqnr-budget", "30"], &["--calibrate"]),
        (&["--calibrate-limit", "3"], &["--calibrate"]),
    ] {
        refused(&quantise(more), 2, words, folder, &before);
    }
    let none = host_tools!("quantise", case.checkpoint, "--calibrate", case.rows, "--calibrate-limit", "0", "-o", out);
    refused(&none, 2, &["rows: no examples are left", "help: "], folder, &before);
    // Examples of another network.
    let wrong = host_tools!("quantise", clicks.checkpoint, "--calibrate", case.rows, "-o", out);
    refused(&wrong, 3, &["rows: line 1: ", "help: the examples have to be those"], folder, &before);
    let missing = host_tools!("quantise", case.checkpoint, "--calibrate", case.path("none"), "-o", out);
    refused(&missing, 4, &["none: cannot read", "help: "], folder, &before);
    let own = host_tools!("quantise", case.checkpoint, "--calibrate", case.rows, "-o", case.rows, "--force");
    refused(&own, 2, &["rows", "is an input"], folder, &before);
}

#[test]
fn options_for_graphs_do_not_fit_layers() {
    let (folder, chess) = with_model();
    let folder = folder.path();
    let (raw, arch) = tiny(folder, 0.5);
    let rows = folder.join("rows");
    fs::write(&rows, "1 0\n").unwrap();
    let before = names(folder);
    let out = folder.join("out");
    let ran = host_tools!("quantise", raw, "--arch", arch, "--calibrate", rows, "-o", out);
    refused(&ran, 2, &["rows: --calibrate is for graphs", "help: leave it out"], folder, &before);
    let ran = host_tools!("quantise", raw, "--arch", arch, "--keep-f32", "l0", "-o", out);
    refused(&ran, 2, &["--keep-f32", "help: "], folder, &before);
    let ran = host_tools!("export", chess, "-o", out);
    refused(&ran, 2, &["model.bin: a container of layers", "help: `host-tools unpack`"], folder, &before);
    let ran = host_tools!("verify", chess, "--checkpoint", raw, "--arch", arch, "--inputs", rows);
    refused(&ran, 2, &["rows: examples are for graphs", "help: "], folder, &before);
}

#[test]
fn verify_wants_its_own_checkpoint_and_examples_with_their_labels() {
    let [(graph, case), (_, clicks)] = cases();
    let folder = case.folder.path();
    let (model, checkpoint, rows, labels) = (case.path("net.bin"), &case.checkpoint, &case.rows, &case.labels);
    case.quantise("net.bin", &[]).fine();
    // Named otherwise, it is the same network.
    let write = |name: &str, graph: &Graph| {
        let path = case.path(name);
        fs::write(&path, export(graph).unwrap()).unwrap();
        path
    };
    let mut other = Graph { name: "another name".to_owned(), ..graph.clone() };
    let renamed = write("renamed", &other);
    other.nodes[1].op = Op::Activation(Activation::LeakyRelu { alpha: 0.5 });
    let leaky = write("leaky", &other);
    other = dense();
    let Op::Linear { weights, .. } = &mut other.nodes[2].op else { panic!() };
    weights.values.reverse();
    let trained_again = write("trained-again", &other);
    let (short, classes) = (case.path("short"), case.path("classes"));
    fs::write(&short, "0\n1\n2\n").unwrap();
    fs::write(&classes, "7\n".repeat(300)).unwrap();
    let before = names(folder);

    host_tools!("verify", model, "--checkpoint", renamed, "--inputs", rows).fine();
    let ran = host_tools!("verify", model, "--checkpoint", checkpoint);
    refused(&ran, 2, &["net.bin: a graph is verified", "help: give --checkpoint C and --inputs FILE"], folder, &before);
    for (other, what) in [(&clicks.checkpoint, "another network"), (&leaky, "layers differ")] {
        let ran = host_tools!(
            "verify",
            model,
            "--checkpoint",
            other,
            "--inputs",
            if other == &clicks.checkpoint { &clicks.rows } else { rows }
        );
        refused(&ran, 2, &["net.bin: ", "another network", what, "the one that it was made from"], folder, &before);
    }
    // Layer by layer it could be the network: what was measured shows that it is not.
    let ran = host_tools!("verify", model, "--checkpoint", trained_again, "--inputs", rows);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.text().contains("OTHER WEIGHTS: "), "{}", ran.text());
    let itself = host_tools!("verify", model, "--checkpoint", model, "--inputs", rows);
    refused(&itself, 2, &["net.bin: ", "quantised already"], folder, &before);
    for labels in [&short, &classes] {
        let words: &[&str] = if labels == &short {
            &["short: 3 labels for 300 examples", "help: "]
        } else {
            &["classes: label 0 is class 7", "0 to 4"]
        };
        let status = if labels == &short { 2 } else { 3 };
        let ran = host_tools!("verify", model, "--checkpoint", checkpoint, "--inputs", rows, "--labels", labels);
        refused(&ran, status, words, folder, &before);
        let ran = host_tools!("eval", model, "--inputs", rows, "--labels", labels);
        refused(&ran, status, &words[..1], folder, &before);
    }
    let ran =
        host_tools!("verify", model, "--checkpoint", checkpoint, "--inputs", rows, "--labels", labels, "--skip", "300");
    refused(&ran, 2, &["rows: no examples are left of 300", "help: "], folder, &before);
    let ran = host_tools!("verify", model, "--checkpoint", checkpoint, "--inputs", rows, "--html", rows, "--force");
    refused(&ran, 2, &["rows", "is an input"], folder, &before);
    let ran = host_tools!("verify", model, "--checkpoint", checkpoint, "--inputs", clicks.checkpoint);
    refused(&ran, 2, &["net.safetensors", "help: --array NAME"], folder, &before);
    let ran = host_tools!("eval", model, "--inputs", clicks.path("none"));
    refused(&ran, 4, &["none: cannot read"], folder, &before);
    let ran = host_tools!("eval", model, "--inputs", rows, "--arch", "4:relu8:linear2");
    refused(&ran, 2, &["net.bin: a container", "help: "], folder, &before);
    let ran = host_tools!("export", model, "--arch", "4:relu8:linear2", "-o", case.path("out"));
    refused(&ran, 2, &["net.bin: --arch is for a checkpoint", "help: "], folder, &before);
    let ran = host_tools!("unpack", model, "-o", case.path("out"));
    refused(&ran, 2, &["net.bin: ", "help: `host-tools export`"], folder, &before);
    let ran = host_tools!("eval", model, "--fen", "4k3/8/8/8/8/8/8/4K3 w");
    refused(&ran, 2, &["net.bin: ", "--inputs FILE"], folder, &before);
}

/// A damaged container of a graph is damaged for every command.
#[test]
fn damage_is_found() {
    let (_, case) = cases().into_iter().find(|(graph, _)| *graph == sparse()).unwrap();
    case.quantise("net.bin", &[]).fine();
    let (model, out) = (case.path("net.bin"), case.path("out"));
    let mut bytes = fs::read(&model).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&model, bytes).unwrap();
    let before = names(case.folder.path());
    let words = ["net.bin: ", "checksum", "help: "];
    for ran in [
        host_tools!("inspect", model),
        host_tools!("export", model, "-o", out),
        host_tools!("eval", model, "--inputs", case.rows),
        host_tools!("verify", model, "--checkpoint", case.checkpoint, "--inputs", case.rows),
    ] {
        refused(&ran, 3, &words, case.folder.path(), &before);
    }
}
