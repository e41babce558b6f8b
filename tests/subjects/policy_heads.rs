//! Policy heads of search trees: of a large output the rows that a position's moves ask for, worked out in plain
//! arithmetic, row by row. Reals are dyadic and short, so that f32 holds every number on the way.

use tamis_quant::program::{QuantTensor, Values};
use tamis_quant::quantised::QuantNet;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour};
use tamis_runtime::kernels::tiers;
use tamis_runtime::{Output, RunError};
use tests::packed;
use tests::sample_models::Random;
use tests::synthetic::{accumulators, board, network};

const HIDDEN: usize = 64;
/// Moves that a board can have, as engines number them.
const MOVES: usize = 1880;
/// Moves of one position.
const ASKED: usize = 35;

/// A network with such an output, and one of its outputs from both accumulators behind one another.
struct Form {
    name: &'static str,
    output: &'static str,
    layers: &'static [&'static str],
    tensors: &'static [(&'static str, &'static str, u32)],
    plain: fn(&QuantNet, &[f64], usize) -> f64,
}

const FORMS: [Form; 4] = [
    Form {
        name: "i16 behind squares, integers",
        output: "scale = 100\n",
        layers: &["outputs = 64\nactivation = \"screlu\"", "outputs = 1880"],
        tensors: &[("l0w", "i16", 255), ("l0b", "i16", 255), ("l1w", "i16", 64), ("l1b", "i16", 16_320)],
        plain: |net, acc, row| {
            let sum = dot(&net.layers[1].weights, acc.iter().map(|x| x.clamp(0.0, 255.0).powi(2)), row);
            let bias = f64::from(net.layers[1].bias.integers()[row]);
            (((sum / 255.0).trunc() + bias) * 100.0 / (255.0 * 64.0)).trunc()
        },
    },
    Form {
        name: "i16 behind clips, reals",
        output: "scale = 2\n",
        layers: &["outputs = 64\nactivation = \"crelu\"", "outputs = 1880"],
        tensors: &[("l0w", "i16", 256), ("l0b", "i16", 256), ("l1w", "i16", 64), ("l1b", "f32", 0)],
        plain: |net, acc, row| {
            let sum = dot(&net.layers[1].weights, acc.iter().map(|x| x.clamp(0.0, 256.0)), row);
            2.0 * (sum / 16_384.0 + reals(&net.layers[1].bias)[row])
        },
    },
    Form {
        name: "i8 behind pairs, reals",
        output: "scale = 1\n",
        layers: &["outputs = 64\nactivation = \"pairwise-crelu\"\nproduct_shift = 9", "outputs = 1880"],
        tensors: &[("l0w", "i16", 256), ("l0b", "i16", 256), ("l1w", "i8", 64), ("l1b", "f32", 0)],
        plain: |net, acc, row| {
            let sum = dot(&net.layers[1].weights, pairs(acc).into_iter(), row);
            sum / 8192.0 + reals(&net.layers[1].bias)[row]
        },
    },
    Form {
        name: "reals behind reals",
        output: "scale = 1\n",
        layers: &[
            "outputs = 64\nactivation = \"pairwise-crelu\"\nproduct_shift = 9",
            "outputs = 16\nactivation = \"relu\"",
            "outputs = 1880",
        ],
        tensors: &[
            ("l0w", "i16", 256),
            ("l0b", "i16", 256),
            ("l1w", "i8", 64),
            ("l1b", "f32", 0),
            ("l2w", "f32", 0),
            ("l2b", "f32", 0),
        ],
        plain: |net, acc, row| {
            let (first, last) = (&net.layers[1], &net.layers[2]);
            let pairs = pairs(acc);
            let hidden = |output: usize| {
                let sum = dot(&first.weights, pairs.iter().copied(), output);
                (sum / 8192.0 + reals(&first.bias)[output]).max(0.0)
            };
            let weights = reals(&last.weights);
            let sum: f64 = (0..16).map(|input| hidden(input) * weights[row + MOVES * input]).sum();
            sum + reals(&last.bias)[row]
        },
    },
];

fn dot(weights: &QuantTensor, x: impl Iterator<Item = f64>, row: usize) -> f64 {
    x.zip(weights.integers().iter().skip(row).step_by(weights.outputs)).map(|(x, w)| x * f64::from(*w)).sum()
}

fn pairs(acc: &[f64]) -> Vec<f64> {
    let clip = |x: f64| x.clamp(0.0, 256.0);
    let of = |side: &[f64]| -> Vec<f64> {
        let (first, second) = side.split_at(HIDDEN / 2);
        first.iter().zip(second).map(|(a, b)| (clip(*a) * clip(*b) / 512.0).floor()).collect()
    };
    acc.chunks(HIDDEN).flat_map(of).collect()
}

fn reals(tensor: &QuantTensor) -> Vec<f64> {
    match &tensor.values {
        Values::F32(values) => values.iter().copied().map(f64::from).collect(),
        Values::Int(_) => panic!("`{}` has reals", tensor.name),
    }
}

fn policy(form: &Form) -> QuantNet {
    let layer = |(index, keys): (usize, &&str)| format!("[[layer]]\nname = \"l{index}\"\n{keys}\n");
    let tensor = |(name, element, scale): &(&str, &str, u32)| {
        let scale = if *scale > 0 { format!("scale = {scale}\n") } else { String::new() };
        format!("[[tensor]]\nname = \"{name}\"\ntype = \"{element}\"\n{scale}")
    };
    let text = format!(
        "schema = 1\nname = \"policy\"\n[input]\nkind = \"chess\"\n[output]\n{}{}{}",
        form.output,
        form.layers.iter().enumerate().map(layer).collect::<String>(),
        form.tensors.iter().map(tensor).collect::<String>()
    );
    network(&text, |name, random| match name {
        "l0w" => random.within(60) as f32,
        "l0b" => random.within(120) as f32,
        "l1w" => random.within(120) as f32,
        "l2w" => random.within(4) as f32,
        _ if form.tensors.contains(&(name, "f32", 0)) => random.within(16) as f32 / 16.0,
        _ => random.within(9000) as f32,
    })
}

fn outputs(output: Output<'_>) -> Vec<f64> {
    match output {
        Output::I32(values) => values.iter().copied().map(f64::from).collect(),
        Output::F32(values) => values.iter().copied().map(f64::from).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn asked_rows_are_what_plain_arithmetic_gives() {
    for form in &FORMS {
        let net = policy(form);
        let file = packed(&net);
        for tier in tiers() {
            let loaded = AnyNetwork::load_on(file.as_ref(), tier).unwrap();
            assert!(loaded.plan().computes_rows(), "{}", form.name);
            let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&loaded, 1, 0).unwrap());
            let mut state = AnyState::create(&loaded, memory.as_mut(), 1, 0).unwrap();
            let mut random = Random(31);
            for _ in 0..6 {
                let pieces = board(&mut random);
                state.refresh(&loaded, pieces.iter().copied()).unwrap();
                for to_move in Colour::BOTH {
                    let acc: Vec<f64> = accumulators(&net, &pieces, to_move).into_iter().map(f64::from).collect();
                    let moves: Vec<u32> = (0..ASKED).map(|_| (random.draw() % MOVES as u64) as u32).collect();
                    let expected: Vec<f64> = moves.iter().map(|row| (form.plain)(&net, &acc, *row as usize)).collect();
                    let found = outputs(state.output_rows(&loaded, to_move, &moves).unwrap());
                    assert_eq!(found, expected, "{} on {}", form.name, tier.name);
                    let all = outputs(state.outputs(&loaded, to_move).unwrap());
                    let same: Vec<f64> = moves.iter().map(|row| all[*row as usize]).collect();
                    assert_eq!(found, same, "{} on {}: the whole output", form.name, tier.name);
                }
            }
            let refused = state.output_rows(&loaded, Colour::White, &[MOVES as u32]).unwrap_err();
            assert_eq!(refused, RunError::Row { found: MOVES as u32, limit: MOVES });
        }
    }
}
