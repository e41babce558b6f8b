//! Heads and tails of integers as engines write them: a network of each form, its score worked out in plain arithmetic.

use tamis_quant::pack::unpack;
use tamis_quant::quantised::QuantNet;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tests::packed;
use tests::sample_models::Random;
use tests::synthetic::{accumulators, board, network};

const HIDDEN: usize = 16;
/// Outputs of the second layer where there is a third.
const OUTPUTS: usize = 4;
const SCALE: i64 = 400;

/// A score from both accumulators behind one another, and whatever tells the positions apart.
type Plain = fn(&QuantNet, &[i32]) -> i64;

fn integers(net: &QuantNet, layer: usize) -> (Vec<i64>, Vec<i64>) {
    let wide = |values: &[i32]| values.iter().copied().map(i64::from).collect();
    (wide(net.layers[layer].weights.integers()), wide(net.layers[layer].bias.integers()))
}

/// `(Σ clamp(x, 0, 255)² · w + b · 255) · 400 / (255 · 255 · 64)`
fn divided_once(net: &QuantNet, acc: &[i32]) -> i64 {
    let (weights, bias) = integers(net, 1);
    let sum: i64 = acc.iter().zip(&weights).map(|(x, weight)| i64::from(*x).clamp(0, 255).pow(2) * weight).sum();
    (sum + bias[0] * 255) * SCALE / (255 * 255 * 64)
}

/// `(Σ max(x, 0)² · w / 255 + b) · 400 / (255 · 64)`, whose sum leaves 32 bits.
fn squares(net: &QuantNet, acc: &[i32]) -> i64 {
    let (weights, bias) = integers(net, 1);
    let sum: i64 = acc.iter().zip(&weights).map(|(x, weight)| i64::from(*x).max(0).pow(2) * weight).sum();
    assert!(i32::try_from(sum).is_err(), "{sum} fits 32 bits");
    (sum / 255 + bias[0]) * SCALE / (255 * 64)
}

/// `(Σ max(x, 0) · w + b) · 400 / (255 · 64)`
fn unclipped(net: &QuantNet, acc: &[i32]) -> i64 {
    let (weights, bias) = integers(net, 1);
    let sum: i64 = acc.iter().zip(&weights).map(|(x, weight)| i64::from(*x).max(0) * weight).sum();
    (sum + bias[0]) * SCALE / (255 * 64)
}

/// The sums of the second layer over bytes `min(max(x, 0) >> 5, 127)`.
fn second(net: &QuantNet, acc: &[i32]) -> Vec<i64> {
    let (weights, bias) = integers(net, 1);
    let bytes: Vec<i64> = acc.iter().map(|x| (i64::from(*x).max(0) >> 5).min(127)).collect();
    let row = |output: usize| bytes.iter().zip(weights.iter().skip(output).step_by(OUTPUTS)).map(|(x, w)| x * w);
    (0..OUTPUTS).map(|output| bias[output] + row(output).sum::<i64>()).collect()
}

/// `Σ max(s >> 6, 0) · w + b`, · 400 / 32768
fn relu_tail(net: &QuantNet, acc: &[i32]) -> i64 {
    let (weights, bias) = integers(net, 2);
    let sum: i64 = second(net, acc).iter().zip(&weights).map(|(sum, weight)| (sum >> 6).max(0) * weight).sum();
    (sum + bias[0]) * SCALE / 32_768
}

/// With `v = s >> 6`: `Σ clamp(v, 0, 128) · 128 · w + Σ clamp(v, −128, 128)² · w' + b`, · 400 / (256 · 128²)
fn dual_tail(net: &QuantNet, acc: &[i32]) -> i64 {
    let (weights, bias) = integers(net, 2);
    let (clipped, squared) = weights.split_at(OUTPUTS);
    let shifted: Vec<i64> = second(net, acc).iter().map(|sum| sum >> 6).collect();
    let first: i64 = shifted.iter().zip(clipped).map(|(v, weight)| (*v).clamp(0, 128) * 128 * weight).sum();
    let second: i64 = shifted.iter().zip(squared).map(|(v, weight)| (*v).clamp(-128, 128).pow(2) * weight).sum();
    (first + second + bias[0]) * SCALE / (256 * 128 * 128)
}

/// A description: keys of the output, the layers behind the name, and the tensors' types and scales.
fn text(output: &str, layers: &[&str], tensors: &[(&str, &str, u32)]) -> String {
    let layer = |(index, keys): (usize, &&str)| format!("[[layer]]\nname = \"l{index}\"\n{keys}\n");
    let tensor = |(name, element, scale): &(&str, &str, u32)| {
        format!("[[tensor]]\nname = \"{name}\"\ntype = \"{element}\"\nscale = {scale}\n")
    };
    format!(
        "schema = 1\nname = \"form\"\n[input]\nkind = \"chess\"\n[output]\nscale = {SCALE}\n{output}\n{}{}",
        layers.iter().enumerate().map(layer).collect::<String>(),
        tensors.iter().map(tensor).collect::<String>()
    )
}

fn forms() -> Vec<(&'static str, String, Plain)> {
    let first = |activation: &str| format!("outputs = {HIDDEN}\nactivation = \"{activation}\"");
    let i16s = [("l0w", "i16", 255), ("l0b", "i16", 255), ("l1w", "i16", 64), ("l1b", "i16", 16_320)];
    let bytes = format!("{}\nactivation_shift = 5", first("relu"));
    let middle = |activation: &str| format!("outputs = {OUTPUTS}\nactivation = \"{activation}\"\nactivation_shift = 6");
    let tail = |scale: u32| {
        [
            ("l0w", "i16", 4096),
            ("l0b", "i16", 4096),
            ("l1w", "i8", 64),
            ("l1b", "i32", 8192),
            ("l2w", "i16", 256),
            ("l2b", "i32", scale),
        ]
    };
    vec![
        ("one division", text("divide = \"once\"", &[&first("screlu"), "outputs = 1"], &i16s), divided_once),
        ("sums of 64 bits", text("", &[&first("sqrrelu"), "outputs = 1"], &i16s), squares),
        ("unclipped ReLU", text("", &[&first("relu"), "outputs = 1"], &i16s), unclipped),
        ("integers, ReLU", text("", &[&bytes, &middle("relu"), "outputs = 1"], &tail(32_768)), relu_tail),
        ("integers, dual", text("", &[&bytes, &middle("dual-crelu"), "outputs = 1"], &tail(4_194_304)), dual_tail),
    ]
}

#[test]
fn every_form_scores_what_plain_arithmetic_gives() {
    for (form, text, plain) in forms() {
        let is_deep = text.contains("l2w");
        let is_wide = form == "sums of 64 bits";
        let net = network(&text, |name, random| {
            let limit = match name {
                // All of one sign, so that no sum is small by chance.
                "l1w" if is_wide => return (20_000 + random.within(10_000)) as f32,
                "l0w" if is_wide => 300,
                "l0w" if is_deep => 900,
                "l0w" => 60,
                "l0b" => 300,
                "l1w" => 120,
                _ => 9_000,
            };
            random.within(limit) as f32
        });
        let file = packed(&net);
        let mut random = Random(3);
        let mut scores = Vec::new();
        for _ in 0..60 {
            let pieces = board(&mut random);
            for to_move in Colour::BOTH {
                let expected = plain(&net, &accumulators(&net, &pieces, to_move));
                scores.push(expected);
                for tier in tiers() {
                    let loaded = AnyNetwork::load_on(file.as_ref(), tier).unwrap();
                    let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&loaded, 1, 0).unwrap());
                    let mut state = AnyState::create(&loaded, memory.as_mut(), 1, 0).unwrap();
                    state.refresh(&loaded, pieces.iter().copied()).unwrap();
                    let found = state.evaluate(&loaded, to_move).unwrap();
                    assert_eq!(i64::from(found), expected, "{form} on {}", tier.name);
                }
            }
        }
        scores.sort_unstable();
        scores.dedup();
        assert!(scores.len() > 40, "{form}: {} scores tell the positions apart", scores.len());
        let back = unpack(&Model::parse(file.as_ref()).unwrap()).unwrap();
        assert_eq!((&back.arch, &back.layers), (&net.arch, &net.layers), "{form}");
    }
}
