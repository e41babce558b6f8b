//! Files written here, and what is made of them.

use super::{
    LatticeError, architecture, is_fann, is_lattice_checkpoint, is_network_json, parse_checkpoint, read_fann,
    read_lattice_checkpoint, read_network_json,
};
use crate::error_kind::ErrorKind;
use crate::graph::Sample;
use crate::import::Remark;
use crate::import::chain::Chain;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

/// 2:leaky2@0.5:linear1 — rows (1, 2) and (3, −4), biases 0.5 and 1; row (1, 10), bias −1.
const PARAMETERS: [f32; 9] = [1.0, 2.0, 3.0, -4.0, 0.5, 1.0, 1.0, 10.0, -1.0];
const CHAIN: &str = "2:leaky2@0.5:linear1";

fn chain() -> Chain {
    Chain::from_text(CHAIN).unwrap()
}

fn bytes_of(parameters: &[f32]) -> Vec<u8> {
    parameters.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn checkpoint(weights: &str) -> String {
    format!(
        r#"{{"id":"75d06f5b-5a18-4b1f-bdd1-55ccbaa34cc2","epoch":1,"weights":{weights},"optimizer_state":[0,0,0,0]}}"#
    )
}

fn fann() -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut bytes = [&b"FANN"[..], &words(&[1, 2, 2, 2]), &[4], &0.5f32.to_le_bytes()].concat();
    bytes.extend([bytes_of(&PARAMETERS[..6]), words(&[2, 1]), vec![0], bytes_of(&PARAMETERS[6..])].concat());
    bytes
}

const NETWORK: &str = r#"{"layers":[
    {"num_inputs":2,"num_outputs":2,"weights":[1.0,2.0,3.0,-4.0],"biases":[0.5,1.0],"activation":{"leaky_re_l_u":0.5}},
    {"num_inputs":2,"num_outputs":1,"weights":[1,1e1],"biases":[-1.0],"activation":"linear"}]}"#;

fn refusal(text: &str) -> String {
    read_lattice_checkpoint(text.as_bytes(), "x", &chain()).unwrap_err().to_string()
}

#[test]
fn every_form_is_the_same_network() {
    let weights = bytes_of(&PARAMETERS);
    let array = checkpoint(&serde_json::to_string(&weights).unwrap());
    let graph = read_lattice_checkpoint(array.as_bytes(), "x", &chain()).unwrap().graph;
    // Sums (1.5, 4) and (−1.5, −3): the second goes through the slope 0.5.
    assert_eq!(graph.evaluate(&Sample::Dense(vec![1.0, 0.0])).unwrap(), [1.5 + 40.0 - 1.0]);
    assert_eq!(graph.evaluate(&Sample::Dense(vec![0.0, -1.0])).unwrap(), [-0.75 + 50.0 - 1.0]);
    for engine in [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD] {
        let text = checkpoint(&format!("{:?}", engine.encode(&weights)));
        assert_eq!(read_lattice_checkpoint(text.as_bytes(), "x", &chain()).unwrap().graph, graph, "{text}");
    }
    assert_eq!(read_fann(&fann(), "x").unwrap().graph, graph);
    assert_eq!(read_network_json(NETWORK.as_bytes(), "x").unwrap().graph, graph);
    for file in [&fann()[..], NETWORK.as_bytes()] {
        assert_eq!(architecture(file).unwrap().to_string(), CHAIN);
    }
    assert_eq!(architecture(array.as_bytes()).unwrap_err().class(), ErrorKind::Usage);
    assert!(is_lattice_checkpoint(array.as_bytes()) && is_fann(&fann()) && is_network_json(NETWORK.as_bytes()));
    assert!(!is_lattice_checkpoint(NETWORK.as_bytes()) && !is_network_json(&fann()) && !is_fann(array.as_bytes()));
}

#[test]
fn all_but_the_weights_may_be_missing() {
    let parsed = parse_checkpoint(br#"{"weights":"AAAAAA==","more":{"deep":[1]}}"#).unwrap();
    assert_eq!((parsed.weights, parsed.optimizer_state_len_bytes, parsed.remarks), (vec![0.0], 0, vec![]));
    let parsed = parse_checkpoint(br#"{"epoch":3,"weights":[0,0,128,63],"optimizer_state":"AAAAAAAAAAA="}"#).unwrap();
    assert_eq!((parsed.epoch, parsed.weights, parsed.optimizer_state_len_bytes), (Some(3), vec![1.0], 8));
    let parsed = parse_checkpoint(br#"{"id":"x","created_at":"then","weights":[0,0,0,0]}"#).unwrap();
    assert!(parsed.remarks.iter().all(|remark| matches!(remark, Remark::Warning(_))) && parsed.remarks.len() == 2);
}

#[test]
fn defects_of_checkpoints_are_named() {
    for (weights, words) in [
        ("[]", "`weights` is empty, as the crate itself leaves it"),
        ("\"\"", "`weights` is empty"),
        ("null", "expected `weights` as an array of bytes or as base64"),
        ("[1,256,0,0]", "element 1 of `weights`, which is a list of bytes, 0 to 255: invalid value: integer `256`"),
        ("[1,-1,0,0]", "element 1 of `weights`"),
        ("[0.5,1.0]", "element 0 of `weights`, which is a list of bytes, 0 to 255: invalid type: floating point `0.5`"),
        ("[[0,0,0,0]]", "element 0 of `weights`"),
        ("[0,0,0]", "`weights` has 3 bytes, expected a multiple of 4"),
        ("[0,0,0,0]", "`weights` has 1 f32, the architecture 2:leaky2@0.5:linear1 makes 9 (2·2 + 2 + 2·1 + 1)"),
        ("\"AA*A\"", "letter 2 of the base64: `*` is no letter"),
        ("\"AA-/\"", "letter 3 of the base64: `/` is no letter"),
        ("\"AAAAAA=\"", "the padding is not what its length needs"),
        ("\"AAAAA\"", "a letter too many or too few"),
        ("\"AAAAAB==\"", "the last letter `B` has bits behind the last byte"),
        ("\"A\\u0041AA\"", "`weights` has 3 bytes"),
    ] {
        let error = refusal(&checkpoint(weights));
        assert!(error.contains(words), "{weights}: expected {words}, found {error}");
    }
    for (text, words) in [
        (r#"{"epoch":-1,"weights":[]}"#, "byte 10: invalid value: integer `-1`, expected u64"),
        (r#"{"weights":[],"weights":[]}"#, "duplicate field `weights`"),
        (r#"{"id":"x"}"#, "missing field `weights`"),
        (r#"{"weights":[0,0"#, "EOF while parsing a list"),
        (r#"{"weights":[0,0,0,0]}}"#, "trailing characters"),
        (r#"{"weights":[0,0,0,0],"optimizer_state":[1]}"#, "`optimizer_state` has 1 bytes"),
        (r#"[1]"#, "expected an object"),
    ] {
        let error = refusal(text);
        assert!(error.contains(words), "{text}: expected {words}, found {error}");
    }
    assert!(refusal(&format!("{{\"metrics\":{}", "[".repeat(100_000))).contains("nested deeper than 64"));
    let mut parameters = PARAMETERS;
    parameters[7] = f32::NAN;
    let error = refusal(&checkpoint(&format!("{:?}", bytes_of(&parameters))));
    assert!(error.contains("layer 1: element 1 of its weights is NaN"), "{error}");
}

#[test]
fn defects_of_networks_are_named() {
    for len in 0..fann().len() {
        assert!(matches!(read_fann(&fann()[..len], "x"), Err(LatticeError::FannTruncated { .. })), "{len} bytes");
    }
    let changed = |at: usize, byte: u8| {
        let mut bytes = fann();
        bytes[at] = byte;
        read_fann(&bytes, "x").unwrap_err().to_string()
    };
    for (at, byte, words) in [
        (0, b'f', "begins with \"fANN\""),
        (4, 2, ".fann version 2, expected 1"),
        (8, 1, "byte 49: 21 bytes behind the last of 1 layers"),
        (8, 0, "bytes behind the last of 0 layers"),
        (15, 255, "the weights of layer 0 should have"),
        (20, 6, "byte 20: layer 0 has activation 6"),
        (49, 1, "layer 1 reads 1 elements"),
    ] {
        let error = changed(at, byte);
        assert!(error.contains(words), "byte {at}: expected {words}, found {error}");
    }
    for at in 0..fann().len() {
        for byte in [0, 1, 4, 0x7f, 0xff] {
            let mut bytes = fann();
            bytes[at] = byte;
            let _ = read_fann(&bytes, "x"); // no byte makes a panic
        }
    }
    let mut endless = fann();
    endless[21..25].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert_eq!(read_fann(&endless, "x"), Err(LatticeError::Slope { index: 0, found: "inf".to_owned() }));
    for (from, to, words) in [
        ("\"linear\"", "\"gelu\"", "unknown variant `gelu`"),
        ("[0.5,1.0]", "[0.5]", "layer 0 has 1 biases, its sizes make 2"),
        ("1e1", "1e39", "layer 1: element 1 of its weights is inf"),
        ("1e1", "null", "`null` is no number"),
        ("\"num_inputs\":2,\"num_outputs\":1", "\"num_inputs\":3,\"num_outputs\":1", "layer 1 reads 3 elements"),
        ("\"num_outputs\":2", "\"num_outputs\":0", "layer 0 has 2 inputs and 0 outputs"),
        ("\"num_inputs\":2", "\"num_inputs\":9999999999", "more than 100000000 weights"),
    ] {
        let error = read_network_json(NETWORK.replace(from, to).as_bytes(), "x").unwrap_err().to_string();
        assert!(error.contains(words), "{to}: expected {words}, found {error}");
    }
}
