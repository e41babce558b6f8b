//! The float reference against real networks: their evaluations by independent programs, and integers that came out
//! of the same weights.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tamis_quant::float::{Net, example};
use tamis_quant::import::{Checkpoint, read_bare, read_checkpoint};
use tamis_quant::positions::{Position, records};
use tests::architecture;
use tests::trials::Fixtures;

/// Centipawns; `expected.json` is rounded to four decimals.
const TOLERANCE: f64 = 1e-3;

fn nnue(fixtures: &Path) -> PathBuf {
    fixtures.join("nnue")
}

fn read(fixtures: &Path, description_name: &str, file: &str) -> Checkpoint {
    read_checkpoint(&fixtures.join(file), &architecture(description_name)).unwrap()
}

fn expected(fixtures: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(fixtures.join("expected.json")).unwrap()).unwrap()
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

fn fens(expected: &Value) -> Vec<Position> {
    expected["fens"].as_array().unwrap().iter().map(|fen| Position::from_fen(fen.as_str().unwrap()).unwrap()).collect()
}

fn batch(fixtures: &Path) -> Vec<Position> {
    let bytes = fs::read(fixtures.join("bullet/batch.bf")).unwrap();
    records(&bytes).unwrap().map(Result::unwrap).collect()
}

fn centipawns(net: &Net<f64>, position: &Position) -> f64 {
    let outputs = net.evaluate(&example(&net.arch, position).unwrap()).unwrap();
    assert_eq!(outputs.len(), 1);
    outputs[0]
}

/// The largest difference, after a check against the tolerance.
fn compare(what: &str, net: &Net<f64>, positions: &[Position], expected: &[f64], tolerance: f64) {
    assert_eq!(positions.len(), expected.len(), "{what}");
    let mut largest = 0f64;
    for (index, (position, expected)) in positions.iter().zip(expected).enumerate() {
        let found = centipawns(net, position);
        assert!((found - expected).abs() <= tolerance, "{what}, position {index}: {found}, expected {expected}");
        largest = largest.max((found - expected).abs());
    }
    note!("{what}: {} positions, largest difference {largest:.6} cp", positions.len());
}

#[test]
fn bullets_test_networks(fixtures: Fixtures) {
    let fixtures = nnue(&fixtures);
    let (expected, batch) = (expected(&fixtures), batch(&fixtures));
    for name in ["test1", "test2", "test3"] {
        let file = format!("bullet/{name}.wgts");
        let checkpoint = read(&fixtures, &format!("bullet-{name}"), &file);
        assert_eq!(checkpoint.source, "weights.bin");
        let net = checkpoint.net.to_f64();
        compare(name, &net, &fens(&expected), &numbers(&expected["evals"][&file]), TOLERANCE);
        compare(name, &net, &batch[..64], &numbers(&expected["batch_bf_first64"][&file]), TOLERANCE);
    }
}

/// A float head behind a quantised first layer: the one bare file whose float evaluation is the engine's own.
#[test]
fn a_network_with_a_float_head(fixtures: Fixtures) {
    let fixtures = nnue(&fixtures);
    let expected = expected(&fixtures);
    let file = "akimbo/morelayers-8-crelu-16-crelu-epoch17.bin";
    let net = read(&fixtures, "akimbo-layers", file).net.to_f64();
    // The engine's head is f32: its own rounding is the difference.
    compare(file, &net, &fens(&expected), &numbers(&expected["evals"][file]), 0.01);
}

/// Dequantised, an integer network differs from its own integers by its two truncating divisions alone: the first
/// loses less than one unit, worth 400/(QA·QB) centipawns, the second less than one centipawn.
#[test]
fn dequantised_networks_are_near_their_integers(fixtures: Fixtures) {
    let fixtures = nnue(&fixtures);
    let expected = expected(&fixtures);
    for (name, file, key) in [
        ("noggin", "noggin/quantised.bin", "noggin/quantised.bin"),
        ("cwtch", "cwtch/quantised.bin", "cwtch/quantised.bin"),
        ("akimbo-buckets", "akimbo/net-27.12.23.bin", "akimbo/net-27.12.23.bin"),
        ("akimbo-mirrored", "akimbo/net-12.01.24-epoch17.bin", "akimbo/net-12.01.24-epoch17.bin (hm)"),
        ("matthriscu", "matthriscu/nnue.bin", "matthriscu/nnue.bin (crelu)"),
        ("alexandria", "alexandria/nn-72900856.net", "alexandria/nn-72900856.net (untransposed l1w, hm)"),
        ("stormphrax", "stormphrax/net013.nnue", "stormphrax/net013.nnue (64-byte CBNF header)"),
    ] {
        let checkpoint = read(&fixtures, name, file);
        assert_eq!(checkpoint.source, "quantised.bin (dequantised)");
        let net = checkpoint.net.to_f64();
        let scale = |tensor: &str| f64::from(net.arch.tensor(tensor).unwrap().scale.unwrap());
        let tolerance = 1.0 + 400.0 / (scale("l0w") * scale("l1w")) + TOLERANCE;
        compare(name, &net, &fens(&expected), &numbers(&expected["evals"][key]), tolerance);
    }
}

#[test]
fn noggins_pair_has_the_same_layout(fixtures: Fixtures) {
    let fixtures = nnue(&fixtures);
    let raw = read(&fixtures, "noggin", "noggin/raw.bin");
    assert_eq!(raw.source, "raw.bin");
    let bytes = fs::read(fixtures.join("noggin/quantised.bin")).unwrap();
    let quantised = read_bare(&bytes, &raw.net.arch).unwrap().dequantise().unwrap();
    for (index, scale) in [255.0, 64.0].into_iter().enumerate() {
        let pairs = raw.net.layers[index].weights.values.iter().zip(&quantised.layers[index].weights.values);
        let largest = pairs.map(|(raw, quantised)| (raw - quantised).abs()).fold(0f32, f32::max);
        assert!(largest <= 0.5001 / scale, "layer {index}: {largest}");
    }
    let batch = batch(&fixtures);
    let integers = numbers(&expected(&fixtures)["batch_bf_first64"]["noggin/quantised.bin"]);
    compare("noggin, first 64 records", &quantised.to_f64(), &batch[..64], &integers, 1.1);
}

/// Read in the wrong order a network is a different one: what its evaluations are compared with finds it out.
#[test]
fn a_wrong_layout_shows(fixtures: Fixtures) {
    let fixtures = nnue(&fixtures);
    let expected = expected(&fixtures);
    let mut arch = architecture("alexandria");
    arch.tensors[2].transposed = true;
    let net = read_checkpoint(&fixtures.join("alexandria/nn-72900856.net"), &arch).unwrap().net.to_f64();
    let evals = numbers(&expected["evals"]["alexandria/nn-72900856.net (untransposed l1w, hm)"]);
    let far = fens(&expected)
        .into_iter()
        .zip(evals)
        .filter(|(position, eval)| (centipawns(&net, position) - eval).abs() > 50.0);
    assert!(far.count() >= 6);
}

#[test]
fn every_record_of_the_batch_is_written_back_as_it_was(fixtures: Fixtures) {
    let fixtures = nnue(&fixtures);
    let bytes = fs::read(fixtures.join("bullet/batch.bf")).unwrap();
    let written: Vec<u8> = records(&bytes).unwrap().flat_map(|position| position.unwrap().to_record()).collect();
    assert_eq!(written.len(), 16_273 * 32);
    assert!(written == bytes);
}
