//! The whole way through, on networks that nobody thought of: whatever a description can say and random weights.
//!
//! A network is either refused by name or comes out right: the loader takes what the packer writes, every tier computes
//! what the integer model computes, the proof's bounds hold, and both forms come back as they went in.

#[path = "pipeline/drawn.rs"]
mod drawn; // descriptions, weights and examples

use drawn::{between, chance, describe, example, reals, with_piece_squares};
use tamis_quant::arch::Architecture;
use tamis_quant::float::Example;
use tamis_quant::graph::Sample;
use tamis_quant::import::importers::{NetworkError, dense_graph};
use tamis_quant::import::read_bare;
use tamis_quant::integer::IntegerModel;
use tamis_quant::pack::{Provenance, pack, to_bare, unpack, unpack_graph};
use tamis_quant::program::GraphInput;
use tamis_quant::proof::{Check, Proof, Quantity, prove};
use tamis_quant::quantise::graph::{GraphQuantError, Options, quantise_graph};
use tamis_quant::quantise::{QuantiseError, quantise};
use tamis_quant::quantised::{Permutation, QuantNet, head, integer_tail, reorderable_pairs};
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_quant::verify::simulate::Simulation;
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tests::packed_program;
use tests::replay::{accumulate, contribution};
use tests::sample_models::Random;

/// Descriptions that are tried.
const CASES: u64 = 600;
/// How many of them must come through: the generator is not to test its own refusals.
const LEAST_PACKED: u64 = 400;
/// Examples of each network.
const EXAMPLES: usize = 6;

#[test]
fn what_is_not_refused_comes_out_right() {
    let mut packed = 0;
    for seed in 0..CASES {
        let mut random = Random(seed << 32);
        let text = with_piece_squares(describe(&mut random), &mut Random(!seed));
        let arch = match Architecture::from_toml(&text, "case") {
            Ok(arch) => arch,
            Err(error) => panic!("case {seed}: {error}\n{text}"),
        };
        let run = if arch.input.is_sparse() { run } else { run_dense };
        packed += u64::from(run(&arch, &mut random, &format!("case {seed}:\n{text}")));
    }
    assert!(packed >= LEAST_PACKED, "only {packed} of {CASES} networks were packed");
}

/// Quantises, proves, packs, runs and takes apart; false if the network was refused on the way.
fn run(arch: &Architecture, random: &mut Random, case: &str) -> bool {
    let float = reals(arch, random);
    let mut net = match quantise(&float) {
        Ok(net) => net,
        Err(QuantiseError::OutOfRange { .. }) => return false,
        Err(error) => panic!("{error}\n{case}"),
    };
    net.permutation = shuffled(arch, random);
    let Ok(program) = net.lower() else { return false };
    let proof = prove(&program);
    let bytes = pack(&program, &proof, &Provenance::default()).unwrap_or_else(|error| panic!("{error}\n{case}"));
    let bytes = AlignedBytes::copy_of(&bytes);
    let model = Model::parse(bytes.as_ref()).unwrap_or_else(|error| panic!("{error}\n{case}"));
    assert_eq!(unpack(&model).unwrap_or_else(|error| panic!("{error}\n{case}")), net, "{case}");
    comes_back_bare(&net, case);
    let truth = IntegerModel::new(&program);
    let simulation = Simulation::of_layers(&float, &net).unwrap();
    for _ in 0..EXAMPLES {
        let example = example(arch, random);
        let values = truth.trace_input(&as_input(&example)).into_iter().enumerate();
        let expected: Vec<Vec<u8>> = values.map(|(index, value)| value.bytes(program.element(index))).collect();
        for tier in tiers() {
            let mut found = vec![Vec::new(); model.values().len()];
            Runner::new(model, tier)
                .evaluate_traced(&example, |value, bytes| found[value] = bytes.to_vec())
                .unwrap_or_else(|error| panic!("{error}\n{case}"));
            assert_eq!(found, expected, "{}, {example:?}\n{case}", tier.name);
        }
        let exact = float.to_f64().evaluate(&example).unwrap();
        let simulated = simulation.evaluate((&example).into(), &|_| false).outputs;
        assert_eq!(exact.len(), simulated.len());
        for (exact, simulated) in exact.iter().zip(&simulated) {
            let slack = 1e-9 * (1.0 + exact.abs());
            assert!((exact - simulated).abs() <= slack, "{exact} simulated as {simulated}, {example:?}\n{case}");
        }
        bounds_hold(&net, &proof, &example, case);
        let ends_in_integers = head(&net.arch).is_some() || integer_tail(&net.arch).is_ok_and(|tail| tail.is_some());
        if proof.holds() && ends_in_integers {
            let all = simulation.evaluate((&example).into(), &|_| true).outputs;
            let last = expected.last().unwrap().as_chunks::<4>().0.iter();
            let integers: Vec<f64> = last.map(|bytes| f64::from(i32::from_le_bytes(*bytes))).collect();
            assert_eq!(all, integers, "with every rounding on, {example:?}\n{case}");
        }
    }
    signatures_agree(model, case);
    true
}

/// The same of a dense network, which becomes a graph: every tier computes what the integer model computes, and the
/// graph in double precision what bullet's layers compute.
fn run_dense(arch: &Architecture, random: &mut Random, case: &str) -> bool {
    let float = reals(arch, random);
    let (graph, ranges) = match dense_graph(&float) {
        Ok(found) => found,
        Err(NetworkError::Unsupported { .. }) => return false,
        Err(error) => panic!("{error}\n{case}"),
    };
    let program = match quantise_graph(&graph, &[], &Options::default().with_ranges(ranges)) {
        Ok(program) => program,
        Err(GraphQuantError::NotCalibrated { .. } | GraphQuantError::Unsupported { .. }) => return false,
        Err(error) => panic!("{error}\n{case}"),
    };
    let bytes = packed_program(&program);
    let model = Model::parse(bytes.as_ref()).unwrap_or_else(|error| panic!("{error}\n{case}"));
    assert_eq!(unpack_graph(&model).unwrap_or_else(|error| panic!("{error}\n{case}")), program, "{case}");
    let truth = IntegerModel::new(&program);
    let simulation = Simulation::of_graph(&graph, &program, program.nodes.len()).unwrap();
    for _ in 0..EXAMPLES {
        let example = example(arch, random);
        let Example::Dense(x) = &example else { panic!("a dense network takes vectors") };
        let sample = Sample::Dense(x.clone());
        let (exact, found) = (float.to_f64().evaluate(&example).unwrap(), graph.evaluate(&sample).unwrap());
        assert_eq!(exact.len(), found.len());
        let simulated = simulation.evaluate((&sample).into(), &|_| false).outputs;
        for (exact, (found, simulated)) in exact.iter().zip(found.iter().zip(&simulated)) {
            let slack = 1e-9 * (1.0 + exact.abs());
            let is_near = |other: &f64| (exact - other).abs() <= slack;
            assert!(is_near(found) && is_near(simulated), "{exact}, {found}, {simulated}: {sample:?}\n{case}");
        }
        let input = program.input.quantise(&sample).unwrap();
        let expected = truth.trace_input(&input);
        for tier in tiers() {
            let observe = |value: usize, bytes: &[u8]| {
                let name = tier.name;
                assert_eq!(bytes, expected[value].bytes(program.element(value)), "{name}, {sample:?}\n{case}");
            };
            Runner::new(model, tier).evaluate_input(&input, observe).unwrap_or_else(|error| panic!("{error}\n{case}"));
        }
    }
    signatures_agree(model, case);
    true
}

fn signatures_agree(model: Model<'_>, case: &str) {
    let mut signatures = tiers().map(|tier| (tier.name, Runner::new(model, tier).signature().unwrap()));
    let (_, defined) = signatures.next().unwrap();
    for (tier, signature) in signatures {
        assert_eq!(signature, defined, "{tier}: {case}");
    }
}

/// Any order of the neurons, for half of the networks that may have one.
fn shuffled(arch: &Architecture, random: &mut Random) -> Option<Permutation> {
    let mut order: Vec<i32> = (0..reorderable_pairs(arch)? as i32).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, between(random, 0, last as u64) as usize);
    }
    chance(random, 2).then(|| Permutation::new(&order).unwrap())
}

fn comes_back_bare(net: &QuantNet, case: &str) {
    let bare = to_bare(net).unwrap_or_else(|error| panic!("{error}\n{case}"));
    let back = QuantNet::from_bare(read_bare(&bare, &net.arch).unwrap_or_else(|error| panic!("{error}\n{case}")));
    let back = back.unwrap();
    assert_eq!((&back.arch, &back.layers), (&net.arch, &net.layers), "{case}");
    assert_eq!(to_bare(&back).unwrap(), bare, "{case}");
}

/// Every accumulator and sum of an example, in 64 bits, lies within the bounds of the proof.
fn bounds_hold(net: &QuantNet, proof: &Proof, example: &Example, case: &str) {
    let Example::Features { lists, bucket } = example else { return };
    // In the trainer's order, as the replay has it.
    let trained = QuantNet { permutation: None, ..net.clone() }.lower().unwrap();
    let ranges = tamis_quant::proof::accumulator_ranges(&trained);
    let accumulators: Vec<Vec<i64>> =
        lists.iter().take(net.arch.perspectives()).map(|list| accumulate(net, list)).collect();
    for acc in &accumulators {
        for (value, (low, high)) in acc.iter().zip(&ranges) {
            assert!((low..=high).contains(&value), "{value} outside {low} to {high}\n{case}");
        }
    }
    if !proof.fits(&net.layers[0].weights.name, Quantity::Accumulator) {
        return;
    }
    // Of the layer behind the accumulators, which the replay knows.
    let layer = &net.arch.layers[1];
    let width = net.arch.layer_inputs(1) / net.arch.perspectives();
    let own_rows = if layer.bucketed { bucket * layer.outputs..(bucket + 1) * layer.outputs } else { 0..layer.outputs };
    let second = &net.layers[1].weights.name;
    let is_own = |check: &&Check| {
        let is_sum = matches!(check.quantity, Quantity::Sum | Quantity::WideSum);
        is_sum && check.tensor == *second && own_rows.contains(&check.row)
    };
    for check in proof.checks.iter().filter(is_own) {
        let sum = |(perspective, acc): (usize, &Vec<i64>)| contribution(net, acc, check.row, perspective * width);
        let value: i64 = accumulators.iter().enumerate().map(sum).sum();
        assert!((check.low..=check.high).contains(&value), "{value}: {check:?}\n{case}");
    }
}

/// An example as the network's program takes it.
fn as_input(example: &Example) -> GraphInput {
    match example {
        Example::Features { lists, bucket } => GraphInput::Features { lists: lists.clone(), bucket: *bucket },
        Example::Dense(_) => panic!("a network of accumulators takes lists of features"),
    }
}

/// With merged kings a network is one of twelve planes whose two king planes are the same.
#[test]
fn merged_kings_are_two_equal_planes() {
    use tamis_quant::float::example;
    use tamis_quant::positions::Position;
    use tamis_quant::program::Values;
    let text = |merged: bool| {
        let tensors = [("l0w", 255), ("l0b", 255), ("l1w", 64), ("l1b", 16320)];
        let tensors =
            tensors.map(|(name, scale)| format!("[[tensor]]\nname = '{name}'\ntype = 'i16'\nscale = {scale}\n"));
        format!(
            "schema = 1\nname = 'x'\n[input]\nkind = 'chess'\nmirrored = true\nmerged_kings = {merged}\nking_buckets = \
             {:?}\n\
             [[layer]]\nname = 'l0'\noutputs = 8\nactivation = 'screlu'\n[[layer]]\nname = 'l1'\noutputs = 1\n{}",
            (0..32).map(|square| u8::from(square > 3)).collect::<Vec<u8>>(),
            tensors.concat(),
        )
    };
    let [merged, plain] = [true, false].map(|merged| Architecture::from_toml(&text(merged), "x").unwrap());
    assert_eq!((merged.feature_count(), plain.feature_count()), (2 * 704, 2 * 768));
    let mut random = Random(4);
    let mut few = quantise(&reals(&merged, &mut random)).unwrap();
    let mut many = few.clone();
    many.arch = plain;
    let Values::Int(rows) = &few.layers[0].weights.values else { panic!("reals") };
    let row = |feature: usize| {
        let (bucket, plane, square) = (feature / 768, feature / 64 % 12, feature % 64);
        let plane = if plane == 11 { 5 } else { plane };
        rows[8 * (704 * bucket + 64 * plane + square)..][..8].to_vec()
    };
    let rows = (0..2 * 768).flat_map(row).collect();
    many.layers[0].weights.inputs = 2 * 768;
    many.layers[0].weights.values = Values::Int(rows);
    few.layers[0].weights.inputs = 2 * 704;
    let [few_bytes, many_bytes] = [&few, &many].map(tests::packed);
    for fen in [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1",
        "3k4/8/8/8/8/8/8/6K1 w - - 0 1",
    ] {
        let position = Position::from_fen(fen).unwrap();
        let value = |net: &QuantNet, bytes: &AlignedBytes, tier| {
            let example = example(&net.arch, &position).unwrap();
            let mut runner = Runner::new(Model::parse(bytes.as_ref()).unwrap(), tier);
            runner.evaluate(&example).unwrap()
        };
        for tier in tiers() {
            assert_eq!(value(&few, &few_bytes, tier), value(&many, &many_bytes, tier), "{fen}");
        }
    }
    let back = unpack(&Model::parse(few_bytes.as_ref()).unwrap()).unwrap();
    assert!(back == few);
}
