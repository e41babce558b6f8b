//! TFLite's int8 files: what they say that is computed, against what XNNPACK computed of them.

use std::path::Path;

use tamis_quant::graph::description::Tensors;
use tamis_quant::import::tensors::{read_npz, read_safetensors};
use tamis_quant::import::tflite::quantised::read_quantised;
use tamis_quant::quantised::QuantisedGraph;
use tests::integers::{Arithmetic, evaluate};
use tests::note;
use tests::tolerances::TFLITE_INT8_DIFFERING;
use tests::trials::Fixtures;

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn network(path: &Path) -> QuantisedGraph {
    read_quantised(&read(path), "x").unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The examples of an array, whose first axis counts them.
fn rows<'t>(tensors: &'t Tensors, name: &str) -> std::slice::ChunksExact<'t, f64> {
    let tensor = &tensors[name];
    tensor.values.chunks_exact(tensor.shape[1..].iter().product())
}

/// How many elements differ, and by how much at most.
#[derive(Default)]
struct Differences {
    elements: usize,
    differing: usize,
    most: f64,
}

impl Differences {
    fn add(&mut self, found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            self.elements += 1;
            self.differing += usize::from(found != expected);
            self.most = self.most.max((found - expected).abs());
        }
    }
}

/// In f32 nothing differs; in integers single elements do, by 1: those that f32 cannot tell from halves.
#[test]
fn operators_are_xnnpacks(fixtures: Fixtures) {
    let folder = fixtures.join("mlperf/tflite_ops");
    let index: serde_json::Value = serde_json::from_slice(&read(&folder.join("index.json"))).unwrap();
    for case in index.as_array().unwrap().iter().map(|case| case["case"].as_str().unwrap()) {
        let graph = network(&folder.join(format!("{case}.tflite")));
        let (arrays, _) = read_safetensors(&read(&folder.join(format!("{case}.safetensors")))).unwrap();
        for (arithmetic, limit) in [(Arithmetic::Floats, 0.0), (Arithmetic::Integers, 1.0)] {
            let mut found = Differences::default();
            for (example, expected) in rows(&arrays, "output.xnnpack").enumerate() {
                let input = |place: usize| rows(&arrays, &format!("input{place}")).nth(example).unwrap().to_vec();
                let inputs: Vec<Vec<f64>> = (0..graph.inputs.len()).map(input).collect();
                found.add(&evaluate(&graph, &inputs, arithmetic)[graph.output], expected);
            }
            let Differences { elements, differing, most } = found;
            if differing > 0 {
                note!("{case}, {arithmetic:?}: {differing} of {elements} differ, {most} at most");
            }
            let is_few = differing as f64 <= TFLITE_INT8_DIFFERING * elements as f64;
            assert!(most <= limit && is_few, "{case}: {differing} of {elements} differ, {most} at most");
        }
    }
}

#[test]
fn networks_are_xnnpacks(fixtures: Fixtures) {
    let networks: [(&str, &str, &str, f64); 6] = [
        ("kws", "kws_int8", "inputs", 0.0),
        ("ic", "ic_int8", "inputs", -128.0),
        ("vww", "vww_int8", "inputs", -128.0),
        ("ad", "ad_int8", "inputs_int8", 0.0),
        ("more/str_ww", "str_ww", "inputs", 0.0),
        ("more/hello_world_int8", "hello_world_int8", "inputs", 0.0),
    ];
    for (folder, file, inputs, offset) in networks {
        let folder = fixtures.join("mlperf").join(folder);
        let graph = network(&folder.join(format!("{file}.tflite")));
        let name = folder.file_name().unwrap().to_str().unwrap();
        let arrays = read_npz(&read(&folder.join(format!("{name}.npz")))).unwrap();
        let expected = if arrays.contains_key("int8_xnnpack") { "int8_xnnpack" } else { "output_xnnpack" };
        for (arithmetic, limit) in [(Arithmetic::Floats, 0.0), (Arithmetic::Integers, TFLITE_INT8_DIFFERING)] {
            let mut found = Differences::default();
            for (x, expected) in rows(&arrays, inputs).zip(rows(&arrays, expected)).take(50) {
                let x = x.iter().map(|x| x + offset).collect();
                found.add(&evaluate(&graph, &[x], arithmetic)[graph.output], expected);
            }
            let Differences { elements, differing, most } = found;
            note!("{file}, {arithmetic:?}: {differing} of {elements} differ, {most} at most");
            assert!(differing as f64 <= limit * elements as f64, "{file}: {differing} of {elements} differ");
        }
    }
}
