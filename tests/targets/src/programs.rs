//! Networks of reals, quantised: the integer model, the proof, the packer and the runtime hold one another.

use std::num::NonZero;
use tamis_quant::calibrate::Method;
use tamis_quant::graph::{Input, Sample};
use tamis_quant::integer::{Data, IntegerModel};
use tamis_quant::pack::{Provenance, pack, unpack_graph};
use tamis_quant::parallel::with_threads;
use tamis_quant::program::{Operation, Program};
use tamis_quant::proof::{Proof, Quantity, prove};
use tamis_quant::quantise::graph::{Activations, Options, quantise_graph};
use tamis_quant::run::{AlignedBytes, Runner};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tamis_runtime::raw::{FNV_OFFSET, fnv1a};
use tests::graphs::{Random, dense, sample, sparse};
use tests::held::hold_briefly;
use tests::maps::random_maps;

const ACTIVATIONS: [Activations; 4] = [Activations::U7, Activations::U8, Activations::I8, Activations::I16];

/// A network that follows from the bytes. Its values are the integer model's on every tier and lie within the proof's
/// bounds, for ordinary inputs and for the ends of their range; the container is unpacked to the same program, and the
/// second reader agrees.
pub fn quantised(data: &[u8]) -> bool {
    // Threads would take longer than these networks.
    with_threads(NonZero::new(1), || of_bytes(data))
}

fn of_bytes(data: &[u8]) -> bool {
    let random = &mut Random(fnv1a(FNV_OFFSET, data));
    let graph = match random.below(3) {
        0 => dense(random),
        1 => sparse(random),
        _ => random_maps(random),
    };
    let has_values = random.below(2) == 0;
    let samples: Vec<Sample> = (0..6).map(|_| sample(random, graph.input, has_values)).collect();
    let activations = ACTIVATIONS[random.below(4)];
    let maps = ACTIVATIONS[random.below(3)];
    let round_together = random.below(4) == 0;
    // Methods differ in the ranges that they choose, which is nothing to those behind them; the quickest most often.
    let method = if random.below(8) == 0 { Method::MeanSquare } else { Method::MinMax };
    let options = Options { activations, maps, method, round_together, bias_correction: false, ..Options::default() };
    let Ok(program) = quantise_graph(&graph, &samples, &options) else { return false };
    let proof = prove(&program);
    let Ok(packed) = pack(&program, &proof, &Provenance::default()) else { return false };
    let bytes = AlignedBytes::copy_of(&packed);
    let model = Model::parse(bytes.as_ref()).expect("what is packed is accepted");
    assert!(unpack_graph(&model).as_ref() == Ok(&program), "unpacked");
    let ends = extremes(graph.input, random);
    for sample in samples.iter().take(2).chain(&ends) {
        let Ok(input) = program.input.quantise(sample) else { continue };
        let expected = IntegerModel::new(&program).trace_input(&input);
        bounded(&program, &proof, &expected);
        for tier in tiers() {
            let compare = |value: usize, found: &[u8]| {
                let found = Data::of_bytes(program.element(value), found);
                assert!(is_same(&found, &expected[value]), "value {value} on {}: {found:?}", tier.name);
            };
            Runner::new(model, tier).evaluate_input(&input, compare).expect("a quantised input is taken");
        }
    }
    hold_briefly(bytes.as_ref(), fnv1a(FNV_OFFSET, data));
    true
}

/// Inputs at the ends of what the integers hold.
fn extremes(input: Input, random: &mut Random) -> Vec<Sample> {
    let Input::Dense { shape } = input else { return Vec::new() };
    let any = (0..shape.len()).map(|_| if random.below(2) == 0 { 1e9 } else { -1e9 }).collect();
    vec![Sample::Dense(vec![1e9; shape.len()]), Sample::Dense(vec![-1e9; shape.len()]), Sample::Dense(any)]
}

/// The sums of dense layers and of lists lie where the proof says.
fn bounded(program: &Program, proof: &Proof, values: &[Data]) {
    for (node, value) in program.nodes.iter().zip(&values[1..]) {
        let (Operation::Affine { weights, .. } | Operation::SparseAffine { weights, .. }) = &node.op else { continue };
        let Data::Int(sums) = value else { continue };
        let all = proof.checks.iter().filter(|check| check.tensor == weights.name && check.quantity == Quantity::Sum);
        for check in all {
            let sum = i64::from(sums[check.row]);
            assert!((check.low..=check.high).contains(&sum), "a sum of {sum}, proved: {check:?}");
        }
    }
}

/// Bit for bit, with one NaN for all.
fn is_same(found: &Data, expected: &Data) -> bool {
    match (found, expected) {
        (Data::Real(found), Data::Real(expected)) => {
            let is_same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            found.len() == expected.len() && found.iter().zip(expected).all(is_same)
        }
        _ => found == expected,
    }
}
