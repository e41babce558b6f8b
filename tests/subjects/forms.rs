//! MLPerf Tiny's networks in every form in which their float weights are there: each answers as was recorded, and its
//! description with its tensors reads back to the same network.

use std::fs;
use std::path::Path;

use tamis_quant::graph::description::Description;
use tamis_quant::graph::{Graph, Sample};
use tamis_quant::import::importers::{NetworkArch, NetworkOptions, read_network};
use tamis_quant::import::tensors::{export, read_npz};
use tests::note;
use tests::tolerances::F32_OUTPUTS;
use tests::trials::Fixtures;

/// How a stored input becomes a real.
type Real = fn(f64) -> f64;

fn of_kws(x: f64) -> f64 {
    (x - 83.0) * 0.584_702_908_992_767_3
}

/// A network's name, how its stored inputs become reals, its files, and those that a description goes with.
type Network = (&'static str, Real, &'static [&'static str], &'static [(&'static str, &'static str)]);

const NETWORKS: [Network; 5] = [
    ("kws", of_kws, &["kws_float.tflite", "kws_float.onnx"], &[]),
    (
        "kws_ckpt",
        of_kws,
        &["kws_ckpt_float.tflite", "kws_ckpt_bn.onnx", "external/kws_ckpt_external.onnx"],
        &[("kws_ckpt_torch.safetensors", "kws_ckpt_torch.toml")],
    ),
    (
        "ic",
        |x| x,
        &["ic_float.tflite", "ic_float.onnx", "ic_float_tf2onnx13.onnx"],
        &[("ic_torch.safetensors", "ic_torch.toml")],
    ),
    ("vww", |x| x / 255.0, &["vww_float.tflite", "vww_float.onnx", "vww_float_tf2onnx13.onnx"], &[]),
    ("ad", |x| x, &["ad_float.tflite", "ad_float.onnx", "ad_float_tf2onnx13.onnx"], &[]),
];

/// Examples on which outputs are compared.
const EXAMPLES: usize = 10;

/// What is there of them, each with what it is called, its network and its graph.
fn forms(fixtures: &Path) -> Vec<(String, &'static str, Real, Graph)> {
    let mut found = Vec::new();
    for (name, real, alone, described) in NETWORKS {
        let folder = fixtures.join("mlperf").join(name);
        let read = |file: &str, arch: Option<NetworkArch>| {
            let options = NetworkOptions { arch, ..NetworkOptions::default() };
            let graph = read_network(&folder.join(file), &options).unwrap_or_else(|error| panic!("{error}")).graph;
            (file.to_owned(), name, real, graph)
        };
        found.extend(alone.iter().map(|file| read(file, None)));
        found.extend(described.iter().map(|(file, arch)| {
            let arch = NetworkArch::read(tests::own("architectures").join(arch).as_os_str()).unwrap();
            read(file, Some(arch))
        }));
    }
    found
}

#[test]
fn every_form_answers_as_recorded(fixtures: Fixtures) {
    for (file, name, real, graph) in forms(&fixtures) {
        let path = fixtures.join("mlperf").join(name).join(name).with_extension("npz");
        let arrays = read_npz(&fs::read(path).unwrap()).unwrap();
        let (inputs, outputs) = (&arrays["inputs"], &arrays["outputs_f32"]);
        let len = |tensor: &tamis_quant::graph::description::Tensor| tensor.values.len() / tensor.shape[0];
        let rows = inputs.values.chunks(len(inputs)).zip(outputs.values.chunks(len(outputs))).take(EXAMPLES);
        let mut worst = 0f64;
        for (input, expected) in rows {
            let found = graph.evaluate(&Sample::Dense(input.iter().map(|x| real(*x)).collect())).unwrap();
            assert_eq!(found.len(), expected.len(), "{file}");
            let scale = expected.iter().fold(0f64, |scale, x| scale.max(x.abs()));
            let pairs = found.iter().zip(expected);
            worst = pairs.fold(worst, |worst, (found, expected)| worst.max((found - expected).abs() / scale));
        }
        note!("{file}: {worst:.2e} of the outputs' scale, {} nodes", graph.nodes.len());
        assert!(worst <= F32_OUTPUTS, "{file}: {worst:e}");
    }
}

/// An equal graph: what is quantised of it with the same examples has the same bytes.
#[test]
fn every_form_is_what_its_description_reads_back_to(fixtures: Fixtures) {
    let folder = tempfile::tempdir().unwrap();
    let [tensors, text] = ["net.safetensors", "net.toml"].map(|name| folder.path().join(name));
    for (file, _, _, graph) in forms(&fixtures) {
        fs::write(&tensors, export(&graph).unwrap()).unwrap();
        fs::write(&text, Description::of(&graph).unwrap().0.to_toml()).unwrap();
        let arch = Some(NetworkArch::read(text.as_os_str()).unwrap());
        for options in [NetworkOptions::default(), NetworkOptions { arch, ..NetworkOptions::default() }] {
            let again = read_network(&tensors, &options).unwrap_or_else(|error| panic!("{file}: {error}")).graph;
            assert!(again == graph, "{file}");
        }
    }
}
