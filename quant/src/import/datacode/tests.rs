//! Files written here, byte by byte, and what is made of them.

use super::{DataCodeError, Options, Orientation, is_datacode, read_datacode};
use crate::error_kind::ErrorKind;
use crate::graph::{Activation, Op, Sample};
use crate::import::{Imported, Remark};

/// A tensor as it is written: name, dimensions, elements.
type Tensor<'a> = (&'a str, &'a [u32], &'a [f32]);

fn file(json: &str, tensors: &[Tensor<'_>]) -> Vec<u8> {
    let word = |value: usize| u32::try_from(value).unwrap().to_le_bytes();
    let mut bytes = [b"DATACODE", &word(1)[..], &word(json.len()), json.as_bytes(), &word(tensors.len())].concat();
    for (name, dims, values) in tensors {
        bytes.extend([&word(name.len()), name.as_bytes(), &word(dims.len())].concat());
        dims.iter().for_each(|dim| bytes.extend(dim.to_le_bytes()));
        values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    }
    bytes
}

fn linear(name: &str, inputs: usize, outputs: usize) -> String {
    format!(r#"{{"in_features":{inputs},"name":"{name}","out_features":{outputs},"trainable":true,"type":"Linear"}}"#)
}

fn other(name: &str, kind: &str) -> String {
    format!(r#"{{"name":"{name}","type":"{kind}"}}"#)
}

fn json(layers: &[String]) -> String {
    format!(r#"{{"device":"cpu","layers":[{}],"training":null}}"#, layers.join(","))
}

const BY_ROWS: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
const BY_COLUMNS: [f32; 6] = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
const BIAS: Tensor<'_> = ("layer0.bias", &[2], &[0.5, -0.5]);

/// (3 → 2) with these layers behind it.
fn one(behind: &[String]) -> Vec<u8> {
    let layers = [&[linear("layer0", 3, 2)], behind].concat();
    file(&json(&layers), &[("layer0.weight", &[2, 3], &BY_ROWS), BIAS])
}

fn read(bytes: &[u8]) -> Result<Imported, DataCodeError> {
    read_datacode(bytes, "x", &Options::default())
}

fn warnings(imported: &Imported) -> Vec<&str> {
    imported
        .remarks
        .iter()
        .filter_map(|remark| match remark {
            Remark::Warning(text) => Some(text.as_str()),
            Remark::Decided(_) => None,
        })
        .collect()
}

fn decision(imported: &Imported) -> &str {
    match &imported.remarks[0] {
        Remark::Decided(text) => text,
        Remark::Warning(text) => panic!("{text}"),
    }
}

#[test]
fn both_orientations_are_one_network() {
    let layers = json(&[linear("layer0", 3, 2)]);
    let now = read(&file(&layers, &[("layer0.weight", &[2, 3], &BY_ROWS), BIAS])).unwrap();
    let first_bias: Tensor<'_> = ("layer0.bias", &[1, 2], BIAS.2);
    let first = read(&file(&layers, &[first_bias, ("layer0.weight", &[3, 2], &BY_COLUMNS)])).unwrap();
    assert_eq!(now.graph, first.graph);
    let sample = Sample::Dense(vec![1.0, 10.0, 100.0]);
    assert_eq!(now.graph.evaluate(&sample).unwrap(), [321.5, 653.5]);
    assert!(decision(&now).contains("out-in") && decision(&first).contains("in-out"), "{:?}", first.remarks);
}

#[test]
fn a_square_layer_shows_it_in_its_bias_and_its_number() {
    let weight: Tensor<'_> = ("layer0.weight", &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let layers = json(&[linear("layer0", 2, 2)]);
    let x = Sample::Dense(vec![1.0, 0.0]);
    for (dims, column) in [(&[2][..], [1.5, 2.5]), (&[1, 2], [1.5, 1.5])] {
        let imported = read(&file(&layers, &[weight, ("layer0.bias", dims, BIAS.2)])).unwrap();
        assert_eq!(imported.graph.evaluate(&x).unwrap(), column, "{:?}", imported.remarks);
    }
    let layers = json(&[linear("layer0", 2, 2), other("layer1", "Tanh"), linear("layer2", 2, 2)]);
    let second: Tensor<'_> = ("layer2.weight", weight.1, weight.2);
    let bytes = file(&layers, &[weight, BIAS, second, ("layer2.bias", &[2], BIAS.2)]);
    let error = read(&bytes).unwrap_err();
    assert!(error.to_string().contains("`layer2` is Linear number 1"), "{error}");
    assert_eq!(error.class(), ErrorKind::Usage);
    let options = Options { orientation: Orientation::from_word("in-out"), ..Options::default() };
    let Op::Linear { weights, .. } = &read_datacode(&bytes, "x", &options).unwrap().graph.nodes[2].op.clone() else {
        panic!("a Linear")
    };
    assert_eq!((weights.at(0, 0), weights.at(1, 0)), (1.0, 2.0));
    assert_eq!(Orientation::from_word("sideways"), None);
}

#[test]
fn an_orientation_that_is_given_has_to_fit() {
    let options = Options { orientation: Some(Orientation::InOut), ..Options::default() };
    let error = read_datacode(&one(&[]), "x", &options).unwrap_err().to_string();
    assert!(error.contains("`layer0.weight` has the shape [2, 3], expected [3, 2]"), "{error}");
}

#[test]
fn one_name_for_two_layers_makes_two_nodes() {
    let layers =
        json(&[linear("layer0", 3, 2), other("layer1", "ReLU"), linear("layer1", 2, 1), other("layer3", "Softmax")]);
    let tensors: [Tensor<'_>; 4] = [
        ("layer0.weight", &[2, 3], &BY_ROWS),
        BIAS,
        ("layer1.weight", &[1, 2], &[1.0, 1.0]),
        ("layer1.bias", &[1], &[0.0]),
    ];
    let imported = read(&file(&layers, &tensors)).unwrap();
    let names: Vec<&str> = imported.graph.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["layer0", "layer1.relu", "layer1", "layer3.softmax"]);
    assert!(warnings(&imported).is_empty());
}

#[test]
fn lost_activations_are_doubted_unless_they_are_given() {
    let bytes = one(&[other("layer1", "ReLU"), other("layer2", "Flatten"), other("layer3", "ReLU")]);
    let imported = read(&bytes).unwrap();
    let found = warnings(&imported);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("`layer3` is an activation directly behind another, `layer1`"), "{found:?}");
    assert!(warnings(&read(&one(&[other("layer1", "ReLU")])).unwrap())[0].contains("`layer1` is a ReLU at the end"));
    assert!(warnings(&read(&one(&[other("layer1", "Tanh")])).unwrap()).is_empty());

    let alpha = 0.5;
    let leaky = ("layer1".to_owned(), Some(Activation::LeakyRelu { alpha }));
    let options = Options { activations: vec![leaky, ("layer3".to_owned(), None)], ..Options::default() };
    let imported = read_datacode(&bytes, "x", &options).unwrap();
    assert!(warnings(&imported).is_empty());
    let names: Vec<&str> = imported.graph.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["layer0", "layer1.leaky", "layer2.flatten"]);
    let options = Options { activations: vec![("layer0".to_owned(), None)], ..Options::default() };
    let error = read_datacode(&bytes, "x", &options).unwrap_err();
    assert!(error.to_string().contains("no activation layer is called `layer0`"), "{error}");
    assert_eq!(error.class(), ErrorKind::Usage);
}

#[test]
fn every_prefix_is_refused() {
    let bytes = one(&[]);
    for len in 0..bytes.len() {
        let error = read(&bytes[..len]).unwrap_err();
        let is_named = matches!(error, DataCodeError::Magic { .. } | DataCodeError::Truncated { .. });
        assert!(is_named, "{len} bytes: {error}");
    }
    assert!(is_datacode(&bytes) && !is_datacode(&bytes[..7]));
}

#[test]
fn no_byte_makes_a_panic() {
    let bytes = one(&[other("layer1", "ReLU"), other("layer2", "Softmax")]);
    let mut changed = bytes.clone();
    for at in 0..bytes.len() {
        for byte in [0, 1, 0x7f, 0xff, bytes[at] ^ 1, b'"', b'}', b'0'] {
            changed[at] = byte;
            if let Ok(imported) = read(&changed) {
                imported.graph.evaluate(&Sample::Dense(vec![1.0; imported.graph.lengths()[0]])).unwrap();
            }
        }
        changed[at] = bytes[at];
    }
}

#[test]
fn numberings_are_told() {
    let layers = |second: &str| json(&[linear("layer0", 3, 2), other("layer1", "Tanh"), linear(second, 2, 1)]);
    for (second, words) in [
        ("layer1", "count the Linear layers only"),
        ("layer2", "count all layers"),
        ("out", "are not DataCode's numbers"),
    ] {
        let (weight, bias) = (format!("{second}.weight"), format!("{second}.bias"));
        let first: Tensor<'_> = ("layer0.weight", &[2, 3], &BY_ROWS);
        let bytes = file(&layers(second), &[first, BIAS, (&weight, &[1, 2], &[1.0, 1.0]), (&bias, &[1], &[0.0])]);
        let imported = read(&bytes).unwrap();
        assert!(decision(&imported).contains(words), "{:?}", imported.remarks);
    }
}

#[test]
fn defects_are_named() {
    let weight: Tensor<'_> = ("layer0.weight", &[2, 3], &BY_ROWS);
    let layers = json(&[linear("layer0", 3, 2)]);
    let with = |tensors: &[Tensor<'_>]| file(&layers, tensors);
    let of = |json: &str| file(json, &[weight, BIAS]);
    let infinite: Tensor<'_> = ("layer0.bias", &[2], &[0.0, f32::NEG_INFINITY]);
    for (bytes, words) in [
        (of("[]"), "byte 16: invalid type: sequence, expected an object"),
        (of("{}"), "missing field `layers`"),
        (of(r#"{"layers":[],"layers":[]}"#), "duplicate field `layers`"),
        (of(r#"{"layers":[["layer0","Linear",3,2]]}"#), "expected an object"),
        (of(&json(&[])), "lists no layers"),
        (of(&json(&[other("layer0", "ReLU")])), "none of the 1 layers is a Linear"),
        (of(&json(&[linear("layer0", 3, 0)])), "is how DataCode saves a convolution"),
        (of(&json(&[linear("", 3, 2)])), "layer 0: its name has 0 bytes, expected 1 to 256"),
        (of(&json(&[other(&"n".repeat(257), "Tanh")])), "layer 0: its name has 257 bytes"),
        (of(&layers.replace("3", "3.5")), "in_features is 3.5"),
        (of(&layers.replace("\"Linear\"", "\"BatchNorm\"")), "layer 0 (`layer0`) is a BatchNorm"),
        (of(&format!("{{\"layers\":[{}]}}", vec!["{}"; 5000].join(","))), "more than 4096 layers"),
        (with(&[weight]), "tensor `layer0.bias` is missing"),
        (with(&[weight, BIAS, BIAS]), "tensor 2 has the name `layer0.bias`, which an earlier one has"),
        (with(&[weight, BIAS, ("layer1.bias", &[1], &[0.0])]), "`layer1.bias` belongs to no Linear"),
        (with(&[("layer0.weight", &[6], &BY_ROWS), BIAS]), "has the shape [6], expected [2, 3]"),
        (with(&[weight, ("layer0.bias", &[2, 1], BIAS.2)]), "has the shape [2, 1], expected [2] or [1, 2]"),
        (with(&[weight, infinite]), "element 1 of `layer0.bias` is -inf"),
        (with(&[("layer0.weight", &[65536, 65536], &[]), BIAS]), "more than 2^28 elements"),
        (with(&[("layer0.weight", &[1; 5], &[1.0]), BIAS]), "has 5 dimensions, expected 1 to 4"),
        ([with(&[weight, BIAS]), vec![0; 3]].concat(), "3 bytes behind the last of 2 tensors"),
    ] {
        let error = read(&bytes).unwrap_err().to_string();
        assert!(error.contains(words), "expected {words}, found {error}");
    }
}
