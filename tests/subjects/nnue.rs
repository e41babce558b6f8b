//! Networks of the Stockfish family on the runtime: every container gives the family's own evaluation of its file, on every tier,
//! refreshed and updated, and the file back.

use serde_json::Value;
use tamis_quant::pack::{Provenance, is_nnue, pack_nnue, unpack_nnue};
use tamis_quant::positions::Position;
use tamis_quant::proof::{Quantity, prove_nnue};
use tamis_quant::run::{AlignedBytes, Outputs, Runner, features_of};
use tamis_quant::stockfish::{Board, Net, evaluate, read, to_bytes};
use tamis_quant::verify::Gates;
use tamis_quant::verify::nnue::verify_nnue;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tests::fixtures;

fn container(net: &Net) -> AlignedBytes {
    AlignedBytes::copy_of(&pack_nnue(net, &Provenance::default(), &prove_nnue(net)).unwrap())
}

/// The value on a tier, refreshed.
fn value(runner: &mut Runner<'_>, position: &Position) -> i32 {
    let (lists, bucket) = features_of(runner.plan().model(), position).unwrap();
    match runner.evaluate_lists(&lists, bucket, |_, _| ()).unwrap() {
        Outputs::I32(values) => values[0],
        Outputs::F32(_) => panic!("reals"),
    }
}

#[test]
fn the_small_network_gives_its_engines_values() {
    let Some(folder) = fixtures("Stockfish's small network") else { return };
    let file = std::fs::read(folder.join("nnue/sf16.1-smallnet/nn-baff1ede1f90.nnue")).unwrap();
    let expected: Value = serde_json::from_slice(&std::fs::read(folder.join("nnue/expected.json")).unwrap()).unwrap();
    let fens: Vec<&str> = expected["fens"].as_array().unwrap().iter().map(|fen| fen.as_str().unwrap()).collect();
    let key = expected["evals"].as_object().unwrap().keys().find(|key| key.contains("baff1ede1f90")).unwrap();
    let values = expected["evals"][key].as_array().unwrap();
    let net = read(&file).unwrap();
    let proof = prove_nnue(&net);
    for check in proof.checks.iter().filter(|check| check.quantity != Quantity::Sum) {
        eprintln!(
            "{} {} row {} {} {} {:.3}",
            check.tensor,
            check.quantity,
            check.row,
            check.low,
            check.high,
            check.fraction()
        );
    }
    for violation in &proof.violations {
        eprintln!("{violation}");
    }
    let bytes = container(&net);
    let model = Model::parse(bytes.as_ref()).unwrap();
    assert!(is_nnue(&model));
    for tier in tiers() {
        let mut runner = Runner::new(model, tier);
        for (fen, expected) in fens.iter().zip(values) {
            let position = Position::from_fen(fen).unwrap();
            assert_eq!(i64::from(value(&mut runner, &position)), expected.as_i64().unwrap(), "{fen} on {}", tier.name);
            assert_eq!(i64::from(evaluate(&net, &Board::from_fen(fen).unwrap()).value), expected.as_i64().unwrap());
        }
    }
    let back = unpack_nnue(&model).unwrap();
    assert!(back == net && to_bytes(&back) == file);
    let positions: Vec<Position> = fens.iter().map(|fen| Position::from_fen(fen).unwrap()).collect();
    let report = verify_nnue(model, &positions, Some(&file), &Gates::default(), &mut |_, _| ()).unwrap();
    assert!(
        report.runtime.equal && report.differing_values == 0 && report.same_file == Some(true),
        "{:?}",
        report.runtime
    );
}
