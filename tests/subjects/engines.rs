//! Networks of real engines: packed from their bare files, they evaluate to what their engines print, on every tier.

use serde_json::Value;
use std::path::Path;
use tamis_quant::arch::Architecture;
use tamis_quant::float::{Example, example};
use tamis_quant::import::read_bytes;
use tamis_quant::pack::{to_bare, unpack};
use tamis_quant::positions::Position;
use tamis_quant::quantised::QuantNet;
use tamis_quant::run::{Outputs, Runner};
use tamis_quant::verify::{Case, Gates, Truth};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tests::tolerances::F32_TAIL_CENTIPAWNS;
use tests::trials::Fixtures;
use tests::{architecture, bare_net, packed};

/// Description, file under `nnue`, key in `expected.json`.
const NETS: [(&str, &str, &str); 7] = [
    ("noggin", "noggin/quantised.bin", "noggin/quantised.bin"),
    ("cwtch", "cwtch/quantised.bin", "cwtch/quantised.bin"),
    ("matthriscu", "matthriscu/nnue.bin", "matthriscu/nnue.bin (crelu)"),
    ("akimbo-buckets", "akimbo/net-27.12.23.bin", "akimbo/net-27.12.23.bin"),
    ("akimbo-mirrored", "akimbo/net-12.01.24-epoch17.bin", "akimbo/net-12.01.24-epoch17.bin (hm)"),
    ("alexandria", "alexandria/nn-72900856.net", "alexandria/nn-72900856.net (untransposed l1w, hm)"),
    ("stormphrax", "stormphrax/net013.nnue", "stormphrax/net013.nnue (64-byte CBNF header)"),
];
const LAYERS: (&str, &str, &str) = (
    "akimbo-layers",
    "akimbo/morelayers-8-crelu-16-crelu-epoch17.bin",
    "akimbo/morelayers-8-crelu-16-crelu-epoch17.bin",
);

fn expected(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap()
}

fn fens(expected: &Value) -> Vec<Position> {
    expected["fens"].as_array().unwrap().iter().map(|fen| Position::from_fen(fen.as_str().unwrap()).unwrap()).collect()
}

/// Outputs of every tier, which must agree, on the positions.
fn evaluate(net: &QuantNet, positions: &[Position]) -> Vec<Outputs> {
    let bytes = packed(net);
    let model = Model::parse(bytes.as_ref()).unwrap();
    let mut all: Vec<Vec<Outputs>> = Vec::new();
    for tier in tiers() {
        let mut runner = Runner::new(model, tier);
        let outputs = positions.iter().map(|position| runner.evaluate(&example(&net.arch, position).unwrap()).unwrap());
        all.push(outputs.collect());
        assert_eq!(all.last(), all.first(), "tier {}", tier.name);
    }
    all.swap_remove(0)
}

#[test]
fn integer_networks_give_their_engines_integers(folder: Fixtures) {
    let folder = folder.join("nnue");
    let expected = expected(&folder);
    let positions = fens(&expected);
    for (name, file, key) in NETS {
        let net = bare_net(&folder.join(file), &architecture(name));
        let wanted: Vec<i32> =
            expected["evals"][key].as_array().unwrap().iter().map(|eval| eval.as_i64().unwrap() as i32).collect();
        let found: Vec<i32> = evaluate(&net, &positions)
            .into_iter()
            .map(|output| match output {
                Outputs::I32(values) => values[0],
                Outputs::F32(_) => panic!("{name} has an integer head"),
            })
            .collect();
        assert_eq!(found, wanted, "{name}");
    }
}

/// One division in place of two, `(Σ + b·QA)·scale / (QA·QA·QB)`: the same file, other integers, and it comes back.
#[test]
fn a_head_may_divide_once(folder: Fixtures) {
    let folder = folder.join("nnue");
    let batch = std::fs::read(folder.join("bullet/batch.bf")).unwrap();
    let every = tamis_quant::positions::records(&batch).unwrap().step_by(40);
    let positions: Vec<Position> = every.map(|position| position.unwrap()).collect();
    let mut differing = 0;
    for (name, file, qa, qb) in
        [("noggin", "noggin/quantised.bin", 255, 64), ("akimbo-buckets", "akimbo/net-27.12.23.bin", 181, 64)]
    {
        let text = tests::architecture_text(name).replace("scale = 400\n", "scale = 400\ndivide = \"once\"\n");
        let arch = Architecture::from_toml(&text, name).unwrap();
        assert_eq!(Architecture::from_toml(&arch.to_toml(), name).unwrap(), arch);
        let path = folder.join(file);
        let net = bare_net(&path, &arch);
        let wanted: Vec<Outputs> =
            positions.iter().map(|position| Outputs::I32(vec![once(&net, position, qa, qb)])).collect();
        let found = evaluate(&net, &positions);
        assert_eq!(found, wanted, "{name}");
        let twice = evaluate(&bare_net(&path, &architecture(name)), &positions);
        differing += found.iter().zip(&twice).filter(|(once, twice)| once != twice).count();
        let bytes = packed(&net);
        let model = Model::parse(bytes.as_ref()).unwrap();
        assert!(to_bare(&unpack(&model).unwrap()).unwrap() == std::fs::read(&path).unwrap(), "{name}");
        // Float network, integer model, proof and tiers agree about it.
        let checkpoint = read_bytes(&std::fs::read(&path).unwrap(), &arch, "quantised.bin").unwrap();
        let truth = Truth { checkpoint: Some(&checkpoint), reference: None, positions: &positions };
        let report = Case::of_layers(model, &truth).unwrap().verify(&Gates::default(), &mut |_, _| ()).unwrap();
        assert!(report.passed && report.accuracy.total.max < 30.0, "{name}: {report:?}");
        // A description of two divisions is another one.
        let checkpoint = read_bytes(&std::fs::read(&path).unwrap(), &architecture(name), "quantised.bin").unwrap();
        let truth = Truth { checkpoint: Some(&checkpoint), reference: None, positions: &positions };
        let report = Case::of_layers(model, &truth).unwrap().verify(&Gates::default(), &mut |_, _| ()).unwrap();
        assert!(report.mistakes.iter().any(|mistake| mistake.text.contains("[output] divide")), "{name}");
    }
    assert!(differing > 0, "both rules give the same on every position");
    let text = tests::architecture_text("matthriscu").replace("scale = 400\n", "scale = 400\ndivide = \"once\"\n");
    let error = Architecture::from_toml(&text, "matthriscu").unwrap_err().to_string();
    assert!(error.contains("only an integer head behind screlu or sqrrelu"), "{error}");
}

/// The rule in plain loops.
fn once(net: &QuantNet, position: &Position, qa: i64, qb: i64) -> i32 {
    let Example::Features { lists, bucket } = example(&net.arch, position).unwrap() else { unreachable!() };
    let [first, second] = net.layers.as_slice() else { unreachable!() };
    let hidden = first.weights.outputs;
    let (rows, weights) = (first.weights.integers(), second.weights.integers());
    let mut sum = 0i64;
    for (side, list) in lists.iter().enumerate() {
        for neuron in 0..hidden {
            let active: i64 = list.iter().map(|feature| i64::from(rows[*feature as usize * hidden + neuron])).sum();
            let x = (active + i64::from(first.bias.integers()[neuron])).clamp(0, qa);
            sum += x * x * i64::from(weights[bucket + second.weights.outputs * (side * hidden + neuron)]);
        }
    }
    let sum = sum + i64::from(second.bias.integers()[bucket]) * qa;
    (sum * 400 / (qa * qa * qb)) as i32
}

#[test]
fn the_real_tail_is_within_its_tolerance(folder: Fixtures) {
    let folder = folder.join("nnue");
    let expected = expected(&folder);
    let (name, file, key) = LAYERS;
    let net = bare_net(&folder.join(file), &architecture(name));
    for (output, wanted) in evaluate(&net, &fens(&expected)).iter().zip(expected["evals"][key].as_array().unwrap()) {
        let (found, wanted) = (output.to_reals(1.0)[0], wanted.as_f64().unwrap());
        assert!((found - wanted).abs() < F32_TAIL_CENTIPAWNS, "{found} {wanted}");
    }
}

#[test]
fn cwtch_gives_its_engines_twenty_five_lines(folder: Fixtures) {
    let folder = folder.join("nnue/cwtch");
    let net = bare_net(&folder.join("quantised.bin"), &architecture("cwtch"));
    let text = std::fs::read_to_string(folder.join("expected_evals.txt")).unwrap();
    let (mut wanted, mut positions) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let (eval, fen) = line.split_once(' ').unwrap();
        wanted.push(Outputs::I32(vec![eval.parse().unwrap()]));
        positions.push(Position::from_fen(fen).unwrap());
    }
    assert_eq!(wanted.len(), 25);
    assert_eq!(evaluate(&net, &positions), wanted);
}

#[test]
fn the_first_records_of_the_batch_agree(folder: Fixtures) {
    let folder = folder.join("nnue");
    let expected = expected(&folder);
    let batch = std::fs::read(folder.join("bullet/batch.bf")).unwrap();
    let positions: Vec<Position> =
        tamis_quant::positions::records(&batch).unwrap().take(64).map(|position| position.unwrap()).collect();
    for (name, file, key) in NETS.into_iter().filter(|(name, ..)| *name == "noggin" || *name == "cwtch") {
        let net = bare_net(&folder.join(file), &architecture(name));
        let wanted: Vec<Outputs> = expected["batch_bf_first64"][key]
            .as_array()
            .unwrap()
            .iter()
            .map(|eval| Outputs::I32(vec![eval.as_i64().unwrap() as i32]))
            .collect();
        assert_eq!(evaluate(&net, &positions), wanted, "{name}");
    }
}
