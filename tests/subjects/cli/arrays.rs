//! Arrays of examples: bytes and what they stand for, maps and how they lie, one array of several.

use super::graphs::dense;
use super::{Ran, host_tools, run};
use safetensors::tensor::{Dtype, TensorView, serialize};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use tamis_quant::float::Matrix;
use tamis_quant::graph::{Activation, Graph, Input, Node, Op, Sample, Shape, Window};
use tamis_quant::import::tensors::export;
use tamis_quant::pack::unpack_graph;
use tamis_quant::program::{Element, ProgramInput};
use tamis_quant::run::AlignedBytes;
use tamis_runtime::format::Model;
use tempfile::TempDir;

/// Writes arrays of a type.
fn write(path: &Path, dtype: Dtype, arrays: &[(&str, &[usize], &[u8])]) {
    let views =
        arrays.iter().map(|(name, shape, bytes)| (*name, TensorView::new(dtype, shape.to_vec(), bytes).unwrap()));
    fs::write(path, serialize(views, None).unwrap()).unwrap();
}

fn f32s(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    values.into_iter().flat_map(|value| (value as f32).to_le_bytes()).collect()
}

/// What is printed, as numbers.
fn rows(ran: &Ran) -> Vec<Vec<f64>> {
    ran.text().lines().map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect()).collect()
}

/// 3×2 pixels of 2 channels through a convolution to two numbers.
fn small_map() -> Graph {
    let mut random = tests::graphs::Random(3);
    let mut numbers = |count: usize| (0..count).map(|_| f64::from(random.real() as f32)).collect::<Vec<f64>>();
    let node = |name: &str, read, op| Node { name: name.to_owned(), reads: vec![read], op };
    let window = Window::of([2, 2]);
    let convolution =
        Op::Convolution { window, groups: 1, weights: Matrix::new(3, 8, numbers(24)).unwrap(), bias: numbers(3) };
    let linear = Op::Linear { weights: Matrix::new(2, 6, numbers(12)).unwrap(), bias: numbers(2) };
    Graph {
        name: "map".to_owned(),
        input: Input::Dense { shape: Shape::map(3, 2, 2) },
        nodes: vec![
            node("conv", 0, convolution),
            node("relu", 1, Op::Activation(Activation::Relu)),
            node("flat", 2, Op::Flatten),
            node("fc", 3, linear),
            node("out", 4, Op::Activation(Activation::Softmax)),
        ],
    }
}

fn checkpoint(graph: &Graph) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.safetensors");
    fs::write(&path, export(graph).unwrap()).unwrap();
    (folder, path)
}

const BYTES: [u8; 24] =
    [3, 0, 255, 17, 128, 90, 4, 77, 201, 33, 8, 150, 9, 1, 250, 100, 61, 62, 63, 64, 200, 190, 180, 170];

#[test]
fn maps_of_bytes_are_what_the_command_line_says() {
    let graph = small_map();
    let (folder, net) = checkpoint(&graph);
    let file = folder.path().join("bytes.safetensors");
    write(&file, Dtype::U8, &[("inputs", &[2, 3, 2, 2], &BYTES)]);
    let eval = |more: &[&str]| {
        let words = ["eval".as_ref(), net.as_os_str(), "--inputs".as_ref(), file.as_os_str()];
        run(words.into_iter().chain(more.iter().map(OsStr::new)))
    };
    let expected = |real: &dyn Fn(f64) -> f64| -> Vec<Vec<f64>> {
        let examples = BYTES.chunks(12).map(|bytes| bytes.iter().map(|byte| real(f64::from(*byte))).collect());
        examples.map(|example| graph.evaluate(&Sample::Dense(example)).unwrap()).collect()
    };
    assert_eq!(rows(&eval(&[]).fine()), expected(&|byte| byte), "numbers as they are");
    let given = eval(&["--input-unit", "0.0625", "--input-zero", "128"]).fine();
    assert_eq!(rows(&given), expected(&|byte| (byte - 128.0) * 0.0625));
    let logits = rows(&eval(&["--logits", "--input-unit", "0.5"]).fine());
    let sample = Sample::Dense(BYTES[..12].iter().map(|byte| f64::from(*byte) * 0.5).collect());
    assert_eq!(logits[0], graph.evaluate_logits(&sample).unwrap());

    // The same pictures with their channels first, as PyTorch has them.
    let planar = |bytes: &[u8]| -> Vec<u8> {
        (0..2).flat_map(|channel| (0..6).map(move |pixel| pixel * 2 + channel)).map(|at| bytes[at]).collect()
    };
    let turned: Vec<u8> = BYTES.chunks(12).flat_map(planar).collect();
    write(&file, Dtype::U8, &[("inputs", &[2, 2, 3, 2], &turned)]);
    assert_eq!(rows(&eval(&["--channels-first"]).fine()), expected(&|byte| byte));
    let refused = eval(&[]);
    assert_eq!(refused.status, 3, "{}", refused.stderr);
    let words = "record 0: the shape (2, 3, 2), the network takes (3, 2, 2); --channels-first says";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);

    let signed: Vec<u8> = BYTES.iter().map(|byte| byte.wrapping_sub(128)).collect();
    write(&file, Dtype::I8, &[("inputs", &[2, 3, 2, 2], &signed)]);
    let given = eval(&["--input-unit", "2", "--input-zero", "-128"]).fine();
    assert_eq!(rows(&given), expected(&|byte| byte * 2.0));
}

#[test]
fn options_that_do_not_fit_the_examples_are_refused() {
    let (folder, net) = checkpoint(&small_map());
    let file = folder.path().join("reals.safetensors");
    let reals = f32s((0..12).map(f64::from));
    write(&file, Dtype::F32, &[("a", &[1, 3, 2, 2], &reals), ("b", &[1, 12], &reals)]);
    let eval = |more: &[&str]| {
        let words = ["eval".as_ref(), net.as_os_str(), "--inputs".as_ref(), file.as_os_str()];
        run(words.into_iter().chain(more.iter().map(OsStr::new)))
    };
    for (more, status, words) in [
        (
            [].as_slice(),
            2,
            "no array `inputs`, and not one of two dimensions or more; name the array; it holds `a` (1, 3, 2, 2), \
             `b` (1, 12)",
        ),
        (&["--array", "c"], 2, "there is no array `c`"),
        (&["--array", "a", "--input-unit", "2"], 2, "--input-unit is for an array of bytes, u8 or i8"),
        (&["--array", "a", "--input-unit", "0"], 2, "--input-unit 0: expected a number above 0"),
        (&["--array", "a", "--input-unit", "nan"], 2, "--input-unit NaN: expected"),
        (&["--array", "a", "--input-zero", "1"], 2, "--input-unit"),
        (&["--array", "a", "--input-unit", "1", "--input-zero", "256"], 2, "256"),
        (&["--array", "b", "--channels-first"], 2, "channels first: examples of the shape (12,)"),
        (&["--array", "a", "--raw"], 2, "--raw is for a container"),
    ] {
        let ran = eval(more);
        assert_eq!(ran.status, status, "{more:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{more:?}: {}", ran.stderr);
    }
    let both = [eval(&["--array", "a"]).fine(), eval(&["--array", "b"]).fine()];
    assert_eq!(both[0].stdout, both[1].stdout, "a row of a map's elements is that map");
    let (_folder, model) = super::with_model();
    let ran = host_tools!("eval", model, "--fen", "8/8/8/8/8/8/8/K1k5 w - - 0 1", "--channels-first");
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("--channels-first: says how examples lie, and none are read"), "{}", ran.stderr);
    let ran = host_tools!("verify", model, "--checkpoint", "x", "--array", "a");
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("--array: says how examples lie"), "{}", ran.stderr);
}

#[test]
fn bytes_are_the_integers_of_a_container_of_their_type() {
    let graph = dense();
    let (folder, net) = checkpoint(&graph);
    let path = |name: &str| folder.path().join(name);
    let (reals, bytes, model) = (path("reals.safetensors"), path("bytes.safetensors"), path("model.bin"));
    let mut random = tests::graphs::Random(5);
    let calibration = f32s((0..50 * 12).map(|_| random.real()));
    write(&reals, Dtype::F32, &[("inputs", &[50, 12], &calibration)]);
    host_tools!("quantise", net, "--calibrate", reals, "--activations", "i8", "-o", model).fine();

    let container = AlignedBytes::copy_of(&fs::read(&model).unwrap());
    let program = unpack_graph(&Model::parse(container.as_ref()).unwrap()).unwrap();
    let ProgramInput::Dense { element: Element::I8, unit, zero, .. } = program.input else {
        panic!("{:?}", program.input)
    };
    let stored: Vec<i8> = (0..24).map(|index| (index * 37 % 251 - 125) as i8).collect();
    let as_reals = stored.iter().map(|byte| (f64::from(*byte) - f64::from(zero)) * f64::from(unit));
    write(&reals, Dtype::F32, &[("inputs", &[2, 12], &f32s(as_reals))]);
    write(&bytes, Dtype::I8, &[("inputs", &[2, 12], &stored.iter().map(|byte| *byte as u8).collect::<Vec<u8>>())]);
    let of_reals = host_tools!("eval", model, "--inputs", reals).fine();
    assert_eq!(host_tools!("eval", model, "--inputs", bytes).fine().stdout, of_reals.stdout);
    let (unit, zero) = (unit.to_string(), zero.to_string());
    let given = host_tools!("eval", model, "--inputs", bytes, "--input-unit", unit, "--input-zero", zero).fine();
    assert_eq!(given.stdout, of_reals.stdout);
    let other = host_tools!("eval", model, "--inputs", bytes, "--input-unit", "1").fine();
    assert_ne!(other.stdout, of_reals.stdout);
    // And against the checkpoint, which is given what they stand for.
    let verified = host_tools!("verify", model, "--checkpoint", net, "--inputs", bytes, "--json").fine().json();
    let of_reals = host_tools!("verify", model, "--checkpoint", net, "--inputs", reals, "--json").fine().json();
    assert_eq!(verified["accuracy"]["errors"], of_reals["accuracy"]["errors"]);

    let raw = host_tools!("eval", model, "--inputs", bytes, "--logits", "--raw").fine();
    let of_softmax = host_tools!("eval", model, "--inputs", bytes, "--raw");
    assert!(of_softmax.status == 2 && of_softmax.stderr.contains("add --logits"), "{}", of_softmax.stderr);
    let scores = host_tools!("eval", model, "--inputs", bytes, "--logits").fine();
    let integers: Vec<Vec<i32>> =
        raw.text().lines().map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect()).collect();
    for (integers, scores) in integers.iter().zip(rows(&scores)) {
        let units: Vec<f64> =
            integers.iter().zip(&scores).map(|(integer, score)| score / f64::from(*integer)).collect();
        assert!(units.iter().all(|unit| (unit / units[0] - 1.0).abs() < 1e-6), "{integers:?} {scores:?}");
    }
}

#[test]
fn a_unit_calibrates_with_bytes() {
    let (folder, net) = checkpoint(&dense());
    let path = |name: &str| folder.path().join(name);
    let (bytes, reals) = (path("bytes.safetensors"), path("reals.safetensors"));
    let of = |index: usize| (index * 89 % 256) as u8;
    let stored: Vec<u8> = (0..40 * 12).map(of).collect();
    write(&bytes, Dtype::U8, &[("calibration", &[40, 12], &stored)]);
    write(&reals, Dtype::F32, &[("inputs", &[40, 12], &f32s(stored.iter().map(|b| (f64::from(*b) - 100.0) * 0.0625)))]);
    let quantise = |file: &Path, name: &str| {
        let out = path(name);
        host_tools!("quantise", net, "--calibrate", file, "--input-unit", "0.0625", "--input-zero", "100", "-o", out)
            .fine();
        fs::read(path(name)).unwrap()
    };
    assert_eq!(quantise(&bytes, "a.bin"), quantise(&reals, "b.bin"));
    let out = path("c.bin");
    let ran = host_tools!("quantise", net, "--channels-first", "--input-range", "0..1", "-o", out);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("--channels-first: says how examples lie"), "{}", ran.stderr);
}
