//! TFLite's files: public networks against their recorded outputs, damaged files, and files made to mislead.

use std::path::Path;
use std::time::Duration;

use tamis_quant::error_kind::ErrorKind;
use tamis_quant::graph::description::Tensors;
use tamis_quant::graph::{Graph, GraphError, Sample};
use tamis_quant::import::importers::{NetworkForm, NetworkOptions, read_network, sniff_network};
use tamis_quant::import::tensors::{read_npz, read_safetensors};
use tamis_quant::import::tflite::quantised::read_quantised;
use tamis_quant::import::tflite::{TfliteError, read_model, read_reals, read_tflite};
use tamis_quant::import::{Imported, Remark};
use tests::note;
use tests::tolerances::{TFLITE_OUTPUTS_F32, TFLITE_STEPS, TFLITE_STEPS_DEAD};
use tests::trials::Fixtures;
use tests::worked::Worked;

/// What the KWS files' stored inputs count in.
const KWS_SCALE: f64 = 0.584_702_908_992_767_3;

/// Folder, file, and what a stored input is to the network.
type Network = (&'static str, &'static str, fn(f64) -> f64);

const NETWORKS: [Network; 5] = [
    ("kws", "kws_float", |q| (q - 83.0) * KWS_SCALE),
    ("kws_ckpt", "kws_ckpt_float", |q| (q - 83.0) * KWS_SCALE),
    ("ic", "ic_float", |byte| byte),
    ("vww", "vww_float", |byte| byte / 255.0),
    ("ad", "ad_float", |x| x),
];

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn arrays(path: &Path) -> Tensors {
    read_npz(&read(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn network(path: &Path) -> Imported {
    read_tflite(&read(path), "x").unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The examples of an array, whose first axis counts them.
fn rows<'t>(tensors: &'t Tensors, name: &str) -> std::slice::ChunksExact<'t, f64> {
    let tensor = &tensors[name];
    tensor.values.chunks_exact(tensor.shape[1..].iter().product())
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

#[test]
fn float_networks_have_their_recorded_outputs(fixtures: Fixtures) {
    for (folder, file, real) in NETWORKS {
        let folder = fixtures.join("mlperf").join(folder);
        let path = folder.join(file).with_extension("tflite");
        let Imported { graph, remarks, .. } = network(&path);
        assert_eq!(remarks, [], "{file}");
        let arrays = arrays(&folder.join(folder.file_name().unwrap()).with_extension("npz"));
        let mut worst = 0f64;
        for (x, expected) in rows(&arrays, "inputs").zip(rows(&arrays, "outputs_f32")).take(20) {
            let found = evaluate(&graph, x.iter().map(|x| real(*x)).collect());
            worst = worst.max(relative(&found, expected));
        }
        note!("{file}: {worst:.2e} of the outputs' scale, {} nodes", graph.nodes.len());
        assert!(worst <= TFLITE_OUTPUTS_F32, "{file}: {worst:e}");
        let names: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
        assert!(names.iter().all(|name| name.len() < 64 && !name.contains(|c: char| c.is_control())), "{names:?}");
    }
}

#[test]
fn every_operator_makes_what_was_recorded(fixtures: Fixtures) {
    for (folder, file, real) in NETWORKS {
        let name = folder;
        let folder = fixtures.join("mlperf").join(folder);
        let graph = network(&folder.join(file).with_extension("tflite")).graph;
        let inputs = arrays(&folder.join(name).with_extension("npz"));
        let x: Vec<f64> = rows(&inputs, "inputs").next().unwrap().iter().map(|x| real(*x)).collect();
        let trace = graph.trace(&Sample::Dense(x)).unwrap();
        let layers = arrays(&folder.join(format!("{name}_layers")).with_extension("npz"));
        let mut count = 0;
        for (layer, _) in layers.iter().filter(|(layer, _)| layer.starts_with("f32_")) {
            let expected = rows(&layers, layer).next().unwrap();
            let alike = trace.iter().filter(|value| value.len() == expected.len());
            let least = alike.map(|value| relative(value, expected)).fold(f64::INFINITY, f64::min);
            assert!(least <= TFLITE_OUTPUTS_F32, "{file}: {layer}: {least:e}");
            count += 1;
        }
        note!("{file}: {count} operators");
        assert!(count > 5, "{file}");
    }
}

#[test]
fn the_smallest_network_is_a_sine(fixtures: Fixtures) {
    let folder = fixtures.join("mlperf/more/hello_world_float");
    let graph = network(&folder.join("hello_world_float.tflite")).graph;
    let arrays = arrays(&folder.join("hello_world_float.npz"));
    for (x, expected) in rows(&arrays, "inputs").zip(rows(&arrays, "output_ref")) {
        let found = evaluate(&graph, x.to_vec());
        assert!((found[0] - expected[0]).abs() <= TFLITE_OUTPUTS_F32, "{found:?}, expected {expected:?}");
    }
}

/// The door to every checkpoint takes them, by their content.
#[test]
fn the_hub_reads_them(fixtures: Fixtures) {
    let path = fixtures.join("mlperf/kws/kws_float.tflite");
    assert_eq!(sniff_network(&path).unwrap(), NetworkForm::Tflite);
    let imported = read_network(&path, &NetworkOptions::default()).unwrap();
    assert_eq!((imported.graph.name.as_str(), imported.source.as_str()), ("kws_float", "TFLite"));
}

#[test]
fn damaged_files_are_refused(fixtures: Fixtures) {
    let folder = fixtures.join("mlperf/malformed");
    let table = String::from_utf8(read(&folder.join("index.tsv"))).unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("tflite/")).map(|line| line.split('\t'));
    let mut count = 0;
    for mut row in rows {
        let (file, why) = (row.next().unwrap(), row.next().unwrap());
        let bytes = read(&folder.join("tflite").join(file));
        let before = Worked::from_now();
        let error = match read_model(&bytes) {
            Err(error) => error,
            Ok(_) => panic!("{file} was read: {why}"),
        };
        assert!(before.elapsed() < Duration::from_millis(50), "{file}: {:?}", before.elapsed());
        let is_unsupported = file.contains("unknown_operator") || file.contains("custom_operator");
        let expected = if is_unsupported { ErrorKind::Unsupported } else { ErrorKind::Malformed };
        note!("{file}: {why}\n    {error}");
        assert_eq!(error.class(), expected, "{file}: {why}: {error}");
        count += 1;
    }
    assert_eq!(count, 43);
}

/// Names in errors, each with what it must say.
#[test]
fn what_cannot_be_said_is_named(fixtures: Fixtures) {
    let folder = fixtures.join("mlperf");
    for (file, words) in [
        ("traps/kws_hybrid.tflite", &["operator 0 (CONV_2D", "int8 under inputs of float32", "hybrid"][..]),
        ("kws/kws_int8.tflite", &["operator 0 (CONV_2D", "quantised already"]),
        ("more/mnist_lstm_float/mnist_lstm_float.tflite", &["UNIDIRECTIONAL_SEQUENCE_LSTM", "keeps state"]),
        ("more/keyword_scrambled_8bit/keyword_scrambled_8bit.tflite", &["SVDF", "keeps state"]),
        ("malformed/tflite/33_custom_operator.tflite", &["`MyOp`"]),
        ("malformed/tflite/32_unknown_operator.tflite", &["9999"]),
    ] {
        let error = read_tflite(&read(&folder.join(file)), "x").unwrap_err();
        assert_eq!(error.class(), ErrorKind::Unsupported, "{file}: {error}");
        let message = error.to_string();
        note!("{file}: {message}");
        assert!(words.iter().all(|word| message.contains(word)), "{file}: {message}");
    }
}

#[test]
fn an_axis_without_a_meaning_is_a_warning(fixtures: Fixtures) {
    let bytes = read(&fixtures.join("mlperf/traps/bias_axis3.tflite"));
    let model = read_model(&bytes).unwrap();
    assert!(matches!(&model.remarks[..], [Remark::Warning(text)] if text.contains("axis 3")), "{:?}", model.remarks);
    assert!(matches!(read_tflite(&bytes, "x"), Err(TfliteError::Quantised { .. })));
}

/// Operators one by one, of int8: the reals that they stand for, cut to the output's range, are near what was recorded.
#[test]
fn operators_are_what_their_integers_stand_for(fixtures: Fixtures) {
    let folder = fixtures.join("mlperf/tflite_ops");
    let index: serde_json::Value = serde_json::from_slice(&read(&folder.join("index.json"))).unwrap();
    for case in index.as_array().unwrap().iter().map(|case| case["case"].as_str().unwrap()) {
        if case == "099_residual_block" {
            // Between its operators values are cut to their ranges, which reals are not.
            continue;
        }
        let bytes = read(&folder.join(format!("{case}.tflite")));
        let model = read_model(&bytes).unwrap_or_else(|error| panic!("{case}: {error}"));
        let graph = match read_reals(&bytes, case) {
            Ok(imported) => imported.graph,
            // Conversions are nothing to reals.
            Err(TfliteError::Graph(GraphError::Empty)) if case.contains("quantize") => continue,
            Err(error) => panic!("{case}: {error}"),
        };
        let (arrays, _) = read_safetensors(&read(&folder.join(format!("{case}.safetensors")))).unwrap();
        let real = |tensor: usize, stored: &f64| match model.tensors[tensor].single() {
            Some((scale, zero)) => f64::from(scale) * (stored - zero as f64),
            None => *stored,
        };
        let output = model.outputs[0];
        let step = model.tensors[output].single().map_or(1e-6, |(scale, _)| f64::from(scale));
        let ends = [-128.0, 127.0].map(|end| real(output, &end));
        let mut worst = 0f64;
        for (example, expected) in rows(&arrays, "output.ref").enumerate() {
            let mut x = Vec::new();
            for (place, tensor) in model.inputs.iter().enumerate() {
                let row = rows(&arrays, &format!("input{place}")).nth(example).unwrap();
                x.extend(row.iter().map(|stored| real(*tensor, stored)));
            }
            let found = evaluate(&graph, x);
            assert_eq!(found.len(), expected.len(), "{case}");
            for (found, expected) in found.iter().zip(expected) {
                let found = if step == 1e-6 || expected.abs() > 128.0 { *found } else { found.clamp(ends[0], ends[1]) };
                worst = worst.max((found - real(output, expected)).abs() / step);
            }
        }
        note!("{case}: {worst:.3} steps");
        // Multipliers below 2^-31 become 0 there, under biases at the ends of i32.
        let limit = if case == "022_conv_dead_channels" { TFLITE_STEPS_DEAD } else { TFLITE_STEPS };
        assert!(worst <= limit, "{case}: {worst} steps");
    }
}

/// Cut anywhere, and with bits flipped anywhere, a file is read or refused, at once.
#[test]
fn damage_neither_panics_nor_lingers(fixtures: Fixtures) {
    let folder = fixtures.join("mlperf");
    for file in ["more/hello_world_float/hello_world_float.tflite", "tflite_ops/099_residual_block.tflite"] {
        let whole = read(&folder.join(file));
        let before = Worked::from_now();
        for end in 0..whole.len() {
            let _ = read_tflite(&whole[..end], "x");
        }
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        let mut read = 0;
        for _ in 0..2_000 {
            let mut bytes = whole.clone();
            for _ in 0..=next() % 3 {
                let at = next() % bytes.len();
                bytes[at] = next() as u8;
            }
            read += usize::from(read_model(&bytes).is_ok());
            let _ = read_tflite(&bytes, "x");
            let _ = read_quantised(&bytes, "x");
        }
        note!("{file}: {read} of 2000 were read, {:?}", before.elapsed());
        assert!(before.elapsed() < Duration::from_secs(1), "{file}: {:?}", before.elapsed());
    }
}
