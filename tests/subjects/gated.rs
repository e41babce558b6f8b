//! Gated activations: products of an activated half and another, in layers of reals behind accumulators and in graphs
//! of integers, each worked out in plain arithmetic.
//!
//! Accumulators are 256ths and weights sixteenths, so that sums are exact in f32. Of reals each step behind them is
//! rounded once, as the test's own arithmetic rounds it; functions with an exponential are held within f32's accuracy.

use std::collections::BTreeMap;
use tamis_quant::graph::Sample;
use tamis_quant::graph::description::{Description, Tensor};
use tamis_quant::integer::IntegerModel;
use tamis_quant::pack::unpack;
use tamis_quant::program::{Operation, Pairing, QuantTensor, Values};
use tamis_quant::proof::prove;
use tamis_quant::quantise::graph::{Options, quantise_graph};
use tamis_quant::quantised::QuantNet;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::Output;
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tests::graphs::Random as Reals;
use tests::held::hold;
use tests::sample_models::Random;
use tests::synthetic::{accumulators, board, network};
use tests::{packed, packed_program};

const HIDDEN: usize = 8;
/// Outputs of the layer behind the accumulators: two gates, their two values, and one that passes by.
const OUTPUTS: usize = 5;

/// A gate's name, its function in f32, and whether that is all that there is to its bits.
type Gate = (&'static str, fn(f32) -> f32, bool);

const GATES: [Gate; 5] = [
    ("identity", |x| x, true),
    ("relu", |x| if x > 0.0 { x } else { 0.0 }, true),
    (
        "hard-swish",
        |x| {
            if x >= 3.0 {
                x
            } else if x > -3.0 {
                x * (x + 3.0) / 6.0
            } else {
                0.0
            }
        },
        true,
    ),
    ("sigmoid", |x| (1.0 / (1.0 + (-f64::from(x)).exp())) as f32, false),
    ("swish", |x| (f64::from(x) / (1.0 + (-f64::from(x)).exp())) as f32, false),
];

fn gated(word: &str) -> QuantNet {
    let tensor = |(name, element): (&str, &str)| format!("[[tensor]]\nname = \"{name}\"\ntype = \"{element}\n");
    let tensors = [("l0w", "i16\"\nscale = 256"), ("l0b", "i16\"\nscale = 256"), ("l1w", "f32\""), ("l1b", "f32\"")];
    let tensors = tensors.into_iter().chain([("l2w", "f32\""), ("l2b", "f32\"")]).map(tensor);
    let text = format!(
        "schema = 1\nname = \"gated\"\n[input]\nkind = \"chess\"\n\
         [[layer]]\nname = \"l0\"\noutputs = {HIDDEN}\nactivation = \"crelu\"\n\
         [[layer]]\nname = \"l1\"\noutputs = {OUTPUTS}\nskip = 1\nactivation = \"{word}\"\ngated = true\n\
         [[layer]]\nname = \"l2\"\noutputs = 1\n{}",
        tensors.collect::<String>()
    );
    network(&text, |name, random| match name {
        "l0w" => random.within(90) as f32,
        "l0b" => random.within(120) as f32,
        "l1w" => random.within(40) as f32 / 16.0,
        "l1b" => random.within(16) as f32 / 16.0,
        "l2w" => -8.0,
        _ => 0.0,
    })
}

fn reals(tensor: &QuantTensor) -> &[f32] {
    match &tensor.values {
        Values::F32(values) => values,
        Values::Int(_) => panic!("`{}` has reals", tensor.name),
    }
}

/// The sums of the second layer, exact.
fn sums(net: &QuantNet, acc: &[i32]) -> [f32; OUTPUTS] {
    let (weights, bias) = (reals(&net.layers[1].weights), reals(&net.layers[1].bias));
    let mut sums = [0.0; OUTPUTS];
    sums.copy_from_slice(bias);
    for (input, value) in acc.iter().enumerate() {
        let clipped = (*value).clamp(0, 256) as f32 / 256.0;
        sums.iter_mut().enumerate().for_each(|(output, sum)| *sum += clipped * weights[output + OUTPUTS * input]);
    }
    sums
}

#[test]
fn gates_of_reals_are_what_plain_arithmetic_gives() {
    for (word, gate, is_exact) in GATES {
        let net = gated(word);
        let file = packed(&net);
        hold(file.as_ref(), 41);
        let model = Model::parse(file.as_ref()).unwrap();
        assert_eq!(unpack(&model).unwrap(), net, "{word}");
        let mut random = Random(5);
        let mut seen = Vec::new();
        for _ in 0..40 {
            let pieces = board(&mut random);
            for to_move in Colour::BOTH {
                let [a, b, x, y, skipped] = sums(&net, &accumulators(&net, &pieces, to_move));
                // Powers of two times rounded products, and so no rounding but that of the two sums.
                let expected = (gate(a) * x) * -8.0 + (gate(b) * y) * -8.0 + skipped;
                for tier in tiers() {
                    let loaded = AnyNetwork::load_on(file.as_ref(), tier).unwrap();
                    let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&loaded, 1, 0).unwrap());
                    let mut state = AnyState::create(&loaded, memory.as_mut(), 1, 0).unwrap();
                    state.refresh(&loaded, pieces.iter().copied()).unwrap();
                    let Output::F32(&[found]) = state.outputs(&loaded, to_move).unwrap() else { panic!("reals") };
                    let slack = if is_exact { 0.0 } else { 1e-5 * (1.0 + expected.abs()) };
                    assert!((found - expected).abs() <= slack, "{word} on {}: {found} {expected}", tier.name);
                }
                seen.push(expected.to_bits());
            }
        }
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() > 40, "{word}: {} outputs tell the boards apart", seen.len());
    }
}

const INPUTS: usize = 12;
const WIDTH: usize = 16;

/// SwiGLU: `down · (swish(gate · x) · (up · x))`, of dense layers without biases.
#[test]
fn a_graph_of_integers_has_swiglu() {
    let node = |(name, keys): (&str, &str)| format!("[[node]]\nname = \"{name}\"\n{keys}\n");
    let linear = |outputs: usize, read: &str| {
        format!("op = \"linear\"\noutputs = {outputs}\nbias = false\nreads = [\"{read}\"]")
    };
    let text = format!(
        "graph = 1\nname = \"swiglu\"\n[input]\nkind = \"dense\"\nsize = {INPUTS}\n{}",
        [
            ("gate", linear(WIDTH, "input").as_str()),
            ("sigmoid", "op = \"sigmoid\""),
            ("swish", "op = \"mul\"\nreads = [\"gate\", \"sigmoid\"]"),
            ("up", linear(WIDTH, "input").as_str()),
            ("gated", "op = \"mul\"\nreads = [\"swish\", \"up\"]"),
            ("down", linear(3, "gated").as_str()),
        ]
        .map(node)
        .concat()
    );
    let mut random = Reals(43);
    let mut matrix = |outputs: usize, inputs: usize| -> Tensor {
        Tensor { shape: vec![outputs, inputs], values: (0..outputs * inputs).map(|_| random.real()).collect() }
    };
    let (gate, up, down) = (matrix(WIDTH, INPUTS), matrix(WIDTH, INPUTS), matrix(3, WIDTH));
    let tensors = [("gate.weight", &gate), ("up.weight", &up), ("down.weight", &down)];
    let tensors: BTreeMap<String, Tensor> = tensors.map(|(name, tensor)| (name.to_owned(), tensor.clone())).into();
    let graph = Description::from_toml(&text, "swiglu").unwrap().bind(tensors).unwrap();
    let vectors: Vec<Vec<f64>> = (0..200).map(|_| (0..INPUTS).map(|_| random.real()).collect()).collect();
    let product = |matrix: &Tensor, x: &[f64]| -> Vec<f64> {
        matrix.values.chunks(x.len()).map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum()).collect()
    };
    let plain = |x: &[f64]| -> Vec<f64> {
        let swish = |x: f64| x / (1.0 + (-x).exp());
        let gates = product(&gate, x).into_iter().map(swish);
        let gated: Vec<f64> = gates.zip(product(&up, x)).map(|(gate, up)| gate * up).collect();
        product(&down, &gated)
    };
    let samples: Vec<Sample> = vectors.iter().cloned().map(Sample::Dense).collect();
    let program = quantise_graph(&graph, &samples, &Options::default()).unwrap();
    let products =
        program.nodes.iter().filter(|node| matches!(node.op, Operation::Elementwise { pairing: Pairing::Product, .. }));
    assert_eq!(products.count(), 2, "both products are of integers");
    assert!(prove(&program).holds());
    hold(packed_program(&program).as_ref(), 47);
    let (model, mut signal, mut noise) = (IntegerModel::new(&program), 0.0, 0.0);
    for (x, sample) in vectors.iter().zip(&samples) {
        let expected = plain(x);
        for (found, expected) in graph.evaluate(sample).unwrap().iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        for (found, expected) in model.evaluate(sample).unwrap().iter().zip(&expected) {
            signal += expected * expected;
            noise += (found - expected).powi(2);
        }
    }
    let decibels = 10.0 * (signal / noise).log10();
    tests::note!("SwiGLU in bytes: {decibels:.1} dB");
    assert!(decibels > 25.0, "{decibels}");
}
