//! Layers on reals: hard-swish and a skip, in a network whose sums are exact in f32, so that plain arithmetic gives
//! every bit of its outputs.
//!
//! Accumulators are 256ths, weights sixteenths, and a layer that would sum up rounded values has one input and a power
//! of two for a weight. So each number is rounded once, whatever the order.

use tamis_quant::pack::unpack;
use tamis_quant::program::{QuantTensor, Values};
use tamis_quant::quantised::QuantNet;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::Output;
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Piece};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tests::packed;
use tests::sample_models::Random;
use tests::synthetic;

const HIDDEN: usize = 8;
/// Outputs of the layer behind the accumulators: one goes through hard-swish, the last one passes by.
const OUTPUTS: usize = 2;

fn network() -> QuantNet {
    let text = format!(
        "schema = 1\nname = \"hard-swish\"\n[input]\nkind = \"chess\"\n[output]\nscale = 1\n\
         [[layer]]\nname = \"l0\"\noutputs = {HIDDEN}\nactivation = \"crelu\"\n\
         [[layer]]\nname = \"l1\"\noutputs = {OUTPUTS}\nskip = 1\nactivation = \"hard-swish\"\n\
         [[layer]]\nname = \"l2\"\noutputs = 1\n\
         {}",
        [("l0w", "i16\"\nscale = 256"), ("l0b", "i16\"\nscale = 256"), ("l1w", "f32\""), ("l1b", "f32\"")]
            .into_iter()
            .chain([("l2w", "f32\""), ("l2b", "f32\"")])
            .map(|(name, element)| format!("[[tensor]]\nname = \"{name}\"\ntype = \"{element}\n"))
            .collect::<String>()
    );
    synthetic::network(&text, |name, random| match name {
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

/// The sums behind the accumulators, and the output.
fn plain(net: &QuantNet, pieces: &[Piece], to_move: Colour) -> ([f32; OUTPUTS], f32) {
    let (weights, biases) = (reals(&net.layers[1].weights), reals(&net.layers[1].bias));
    let mut sums = [biases[0], biases[1]];
    for (input, value) in synthetic::accumulators(net, pieces, to_move).into_iter().enumerate() {
        let clipped = value.clamp(0, 256) as f32 / 256.0;
        for (output, sum) in sums.iter_mut().enumerate() {
            *sum += clipped * weights[output + OUTPUTS * input];
        }
    }
    let [x, skipped] = sums;
    let swish = if x >= 3.0 {
        x
    } else if x > -3.0 {
        x * (x + 3.0) / 6.0
    } else {
        0.0
    };
    (sums, swish * -8.0 + skipped)
}

#[test]
fn hard_swish_beside_a_skip_is_what_plain_arithmetic_gives() {
    let net = network();
    let file = packed(&net);
    let mut random = Random(5);
    let mut seen = [0; 3];
    for _ in 0..200 {
        let pieces = synthetic::board(&mut random);
        for to_move in Colour::BOTH {
            let ([x, _], expected) = plain(&net, &pieces, to_move);
            seen[if x <= -3.0 { 0 } else { 1 + usize::from(x >= 3.0) }] += 1;
            for tier in tiers() {
                let loaded = AnyNetwork::load_on(file.as_ref(), tier).unwrap();
                let mut memory = AlignedBytes::zeroed(AnyState::len_bytes(&loaded, 1, 0).unwrap());
                let mut state = AnyState::create(&loaded, memory.as_mut(), 1, 0).unwrap();
                state.refresh(&loaded, pieces.iter().copied()).unwrap();
                let Output::F32(found) = state.outputs(&loaded, to_move).unwrap() else { panic!("reals") };
                assert_eq!(found[0].to_bits(), expected.to_bits(), "{x} on {}: {} {expected}", tier.name, found[0]);
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 2), "both ends and between: {seen:?}");
    let back = unpack(&Model::parse(file.as_ref()).unwrap()).unwrap();
    assert_eq!((&back.arch, &back.layers), (&net.arch, &net.layers));
}
