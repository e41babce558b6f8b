//! Networks of the Stockfish family say what their engines say.

use serde_json::Value;
use tamis_quant::positions::records;
use tamis_quant::stockfish::{
    Basis, Board, Decision, Division, FeatureSet, Head, OUTPUT_SCALE, Parts, Side, decide, evaluate, read, to_bytes,
};
use tests::stockfish::{SMALL_NET, Stockfish15, export_net, fen, in_check, printed, printed_below, shape, traces};
use tests::trials::Fixtures;

#[test]
fn the_small_net_of_16_1_gives_its_engines_values(folder: Fixtures) {
    let bytes = std::fs::read(folder.join(SMALL_NET)).unwrap();
    let net = read(&bytes).unwrap();
    assert_eq!(net.shape, shape(FeatureSet::HalfKaV2Hm, 128, Head::Pairwise { squares: true }));
    assert!(to_bytes(&net) == bytes, "the same bytes again");
    // Later releases have its architecture and divide twice: it is known by its hash.
    let basis = Basis::File { name: "nn-baff1ede1f90.nnue", releases: "Stockfish 16.1" };
    assert_eq!(decide(&net.shape, Some(&bytes)), Decision { division: Division::Once, basis });
    assert_eq!(net.division, Division::Once);

    let expected: Value = serde_json::from_slice(&std::fs::read(folder.join("nnue/expected.json")).unwrap()).unwrap();
    let evals = expected["evals"].as_object().unwrap();
    let (_, wanted) = evals.iter().find(|(key, _)| key.contains("baff1ede1f90")).unwrap();
    let fens = expected["fens"].as_array().unwrap();
    assert_eq!(fens.len(), 8);
    for (fen, wanted) in fens.iter().zip(wanted.as_array().unwrap()) {
        let board = Board::from_fen(fen.as_str().unwrap()).unwrap();
        assert_eq!(i64::from(evaluate(&net, &board).value), wanted.as_i64().unwrap(), "{fen}");
    }
}

/// Every printed digit: both parts and the sum of all eight buckets, which bucket it is, and the network's evaluation.
#[test]
fn the_network_of_15_1_says_what_the_engine_prints(engine: Stockfish15, folder: Fixtures) {
    const POSITIONS: usize = 200;
    let bytes = export_net(&engine);
    let net = read(&bytes).unwrap();
    assert_eq!(net.shape, shape(FeatureSet::HalfKaV2Hm, 1024, Head::Pairwise { squares: true }));
    assert_eq!(net.division, Division::Once);
    assert!(to_bytes(&net) == bytes, "the same bytes again");

    let batch = std::fs::read(folder.join("nnue/bullet/batch.bf")).unwrap();
    let positions = records(&batch).unwrap().map(Result::unwrap).filter(|position| in_check(position) == [false; 2]);
    // Spread over the file; every other one with black to move.
    let positions: Vec<_> =
        positions.step_by(61).take(POSITIONS).zip([Side::White, Side::Black].into_iter().cycle()).collect();
    assert_eq!(positions.len(), POSITIONS);
    let fens: Vec<String> = positions.iter().map(|(position, side)| fen(position, *side == Side::White)).collect();
    let mut used = [0; 8];
    for ((fen, trace), (position, side)) in fens.iter().zip(traces(&engine, &fens)).zip(&positions) {
        let trace = trace.unwrap_or_else(|| panic!("{fen} is not in check"));
        let board = Board::new(position, *side);
        assert_eq!(Board::from_fen(fen).unwrap().active(net.shape.features, Side::White).len(), board.count());
        let found = evaluate(&net, &board);
        // The engine divides each part before it adds them for its table, and the sum for its evaluation.
        let row = |parts: &Parts| {
            let (psqt, positional) = (parts.psqt / OUTPUT_SCALE, parts.positional / OUTPUT_SCALE);
            [psqt, positional, psqt + positional].map(printed)
        };
        assert_eq!(found.buckets.iter().map(row).collect::<Vec<_>>(), trace.buckets, "{fen}");
        assert_eq!(found.bucket, trace.bucket, "{fen}");
        let for_white = if *side == Side::White { found.value } else { -found.value };
        assert_eq!(printed_below(for_white), trace.network, "{fen}");
        used[found.bucket] += 1;
    }
    assert!(used.iter().all(|&count| count > 0), "positions of every bucket: {used:?}");
}
