//! TFLite files that are quantised already, packed as they are: the integers of their containers on the scalar tier,
//! against what XNNPACK computed of the files.

use std::path::Path;

use tamis_quant::error_kind::ErrorKind;
use tamis_quant::graph::description::Tensors;
use tamis_quant::import::importers::{NetworkForm, QuantisedNetwork, read_quantised_network};
use tamis_quant::import::tensors::{read_npz, read_safetensors};
use tamis_quant::program::{Program, ProgramInput};
use tamis_quant::quantised::{QuantisedError, QuantisedGraph};
use tests::integers::{Arithmetic, evaluate, softmax};
use tests::note;
use tests::packed::{Packed, container, stored_input};
use tests::trials::Fixtures;

/// Cases of one operator that have to be packed, of 100; the others are refused by their operator's name.
const LEAST_CASES: usize = 90;
/// Cases whose sums wrap on the way, which no proof holds for.
const WRAPPING: [&str; 1] = ["022_conv_dead_channels"];

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The examples of an array, whose first axis counts them.
fn rows<'t>(tensors: &'t Tensors, name: &str) -> std::slice::ChunksExact<'t, f64> {
    let tensor = &tensors[name];
    tensor.values.chunks_exact(tensor.shape[1..].iter().product())
}

/// A file's integers, and its program with the remarks.
fn packed(path: &Path) -> (QuantisedGraph, Result<(Program, Vec<String>), QuantisedError>) {
    let QuantisedNetwork { integers, reals } = read_quantised_network(path, NetworkForm::Tflite).unwrap();
    let description = tamis_quant::graph::description::Description::of(&reals.graph).unwrap().0.to_toml();
    let lowered = integers.lower(&description);
    let words = |(program, remarks): (Program, Vec<_>)| {
        (program, remarks.iter().map(|remark: &tamis_quant::import::Remark| remark.text().to_owned()).collect())
    };
    (integers, lowered.map(words))
}

/// What a case's inputs are as the program takes them: reals are rounded first.
fn stored(program: &Program, case: &str, arrays: &Tensors, example: usize) -> Vec<f64> {
    let ProgramInput::Dense { unit, zero, .. } = program.input else { panic!("{case}: no vector") };
    let names = (0..).map(|input| format!("input{input}")).take_while(|name| arrays.contains_key(name));
    let given = names.flat_map(|name| rows(arrays, &name).nth(example).unwrap().to_vec());
    let rounded = |x: f64| (x / f64::from(unit)).round_ties_even() + f64::from(zero);
    match case.contains("quantize_f32") {
        true => given.map(|x| rounded(x).clamp(-128.0, 127.0)).collect(),
        false => given.collect(),
    }
}

#[test]
fn operators_are_packed_to_the_bit(fixtures: Fixtures) {
    let folder = fixtures.join("mlperf/tflite_ops");
    let index: serde_json::Value = serde_json::from_slice(&read(&folder.join("index.json"))).unwrap();
    let (mut held, mut exact, mut refused) = (0, 0, Vec::new());
    for case in index.as_array().unwrap() {
        let name = case["case"].as_str().unwrap();
        let (program, remarks) = match packed(&folder.join(format!("{name}.tflite"))).1 {
            Ok(found) => found,
            Err(error) => {
                assert_eq!(error.class(), ErrorKind::Unsupported, "{name}: {error}");
                let names_it =
                    case["op"].as_array().unwrap().iter().any(|op| error.to_string().contains(op.as_str().unwrap()));
                assert!(names_it || error.to_string().contains("an input of i16"), "{name}: {error}");
                refused.push(format!("{name}: {error}"));
                continue;
            }
        };
        let (bytes, is_proved) = container(&program);
        assert_eq!(is_proved, !WRAPPING.contains(&name), "{name}");
        let mut network = Packed::new(&bytes, &program);
        let (arrays, _) = read_safetensors(&read(&folder.join(format!("{name}.safetensors")))).unwrap();
        let mut most = 0f64;
        for (example, expected) in rows(&arrays, "output.xnnpack").enumerate() {
            let input = stored_input(&program, stored(&program, name, &arrays, example).into_iter());
            let integers = network.integers(&input, true).into_iter().map(f64::from).collect();
            let found = if name.contains("dequantize") { network.reals(&input) } else { integers };
            assert_eq!(found.len(), expected.len(), "{name}");
            most = found.iter().zip(expected).fold(most, |most, (found, expected)| most.max((found - expected).abs()));
        }
        let allowed = case["differs_from_ref"]["auto"]["max"].as_f64().unwrap();
        if most > 0.0 {
            note!("{name}: {most} at most, {allowed} between the engines; {remarks:?}");
            assert!(!remarks.is_empty(), "{name}: a difference that nothing says");
        }
        assert!(most <= allowed, "{name}: {most}, {allowed} between the engines");
        held += 1;
        exact += usize::from(most == 0.0);
    }
    note!("{held} packed, {exact} of them to the bit; refused: {refused:#?}");
    assert!(held >= LEAST_CASES, "{held}");
}

/// A network's folder, its file, its array of inputs, what is added to them, and whether a softmax ends it.
const NETWORKS: [(&str, &str, &str, f64, bool); 6] = [
    ("kws", "kws_int8", "inputs", 0.0, true),
    ("vww", "vww_int8", "inputs", -128.0, true),
    ("ad", "ad_int8", "inputs_int8", 0.0, false),
    ("ic", "ic_int8", "inputs", -128.0, true),
    ("more/str_ww", "str_ww", "inputs", 0.0, true),
    ("more/hello_world_int8", "hello_world_int8", "inputs", 0.0, false),
];

#[test]
fn networks_are_packed_to_the_bit(fixtures: Fixtures) {
    let mut wrong = Vec::new();
    for (folder, file, inputs, offset, has_softmax) in NETWORKS {
        let folder = fixtures.join("mlperf").join(folder);
        let (graph, lowered) = packed(&folder.join(format!("{file}.tflite")));
        let (program, remarks) = lowered.unwrap();
        let (bytes, is_proved) = container(&program);
        assert!(is_proved, "{file}");
        let mut network = Packed::new(&bytes, &program);
        let name = folder.file_name().unwrap().to_str().unwrap();
        let arrays = read_npz(&read(&folder.join(format!("{name}.npz")))).unwrap();
        let expected = if arrays.contains_key("int8_xnnpack") { "int8_xnnpack" } else { "output_xnnpack" };
        let (mut differing, mut count) = (0, 0);
        for (x, expected) in rows(&arrays, inputs).zip(rows(&arrays, expected)) {
            let stored: Vec<f64> = x.iter().map(|x| x + offset).collect();
            let input = stored_input(&program, stored.iter().copied());
            let mut found = network.integers(&input, count == 0);
            if has_softmax {
                found = softmax(&graph, &found);
            }
            if found.iter().zip(expected).any(|(found, expected)| f64::from(*found) != *expected) {
                let floats = &evaluate(&graph, &[stored], Arithmetic::Floats)[graph.output];
                note!("{file}, input {count}: {found:?}, XNNPACK {expected:?}, its arithmetic {floats:?}");
                differing += 1;
            }
            count += 1;
        }
        note!("{file}: {differing} of {count} inputs give other bytes; {remarks:#?}");
        if differing > 0 {
            wrong.push(format!("{file}: {differing} of {count}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
