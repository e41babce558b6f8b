//! Layers on reals: hard-swish and a skip, in a network whose sums are exact in f32, so that plain arithmetic gives every
//! bit of its outputs.
//!
//! Accumulators are 256ths, weights sixteenths, and a layer that would sum up rounded values has one input and a power of
//! two for a weight. So each number is rounded once, whatever the order.

use tamis_quant::arch::Architecture;
use tamis_quant::pack::unpack;
use tamis_quant::program::{QuantTensor, Values};
use tamis_quant::quantised::{QuantLayer, QuantNet};
use tamis_quant::run::AlignedBytes;
use tamis_runtime::Output;
use tamis_runtime::engine::{AnyNetwork, AnyState, Colour, Kind, Piece};
use tamis_runtime::format::Model;
use tamis_runtime::kernels::tiers;
use tests::packed;
use tests::sample_models::Random;

const HIDDEN: usize = 8;
/// Outputs of the layer behind the accumulators: one goes through hard-swish, the last one passes by.
const OUTPUTS: usize = 2;

fn network() -> QuantNet {
    let text = format!(
        "schema = 1\nname = \"hard-swish\"\n[input]\nkind = \"chess\"\n[output]\nscale = 1\n\
         [[layer]]\nname = \"l0\"\noutputs = {HIDDEN}\nactivation = \"crelu\"\n\
         [[layer]]\nname = \"l1\"\noutputs = {OUTPUTS}\nskip = 1\nactivation = \"hard-swish\"\n\
         [[layer]]\nname = \"l2\"\noutputs = 1\n\
         [[tensor]]\nname = \"l0w\"\ntype = \"i16\"\nscale = 256\n[[tensor]]\nname = \"l0b\"\ntype = \"i16\"\nscale = 256\n\
         [[tensor]]\nname = \"l1w\"\ntype = \"f32\"\n[[tensor]]\nname = \"l1b\"\ntype = \"f32\"\n\
         [[tensor]]\nname = \"l2w\"\ntype = \"f32\"\n[[tensor]]\nname = \"l2b\"\ntype = \"f32\"\n"
    );
    let arch = Architecture::from_toml(&text, "hard-swish").unwrap();
    let mut random = Random(23);
    let mut tensor = |name: &str, value: &mut dyn FnMut(&mut Random) -> f32| {
        let (outputs, inputs) = arch.tensor_shape(name).unwrap();
        let spec = arch.tensor(name).unwrap();
        let values: Vec<f32> = (0..outputs * inputs).map(|_| value(&mut random)).collect();
        let values = match spec.scale {
            Some(_) => Values::Int(values.into_iter().map(|value| value as i32).collect()),
            None => Values::F32(values),
        };
        QuantTensor {
            name: name.to_owned(),
            element: spec.r#type,
            scale: spec.scale,
            banks: 1,
            outputs,
            inputs,
            values,
        }
    };
    let layers = vec![
        QuantLayer {
            weights: tensor("l0w", &mut |random| random.within(90) as f32),
            bias: tensor("l0b", &mut |random| random.within(120) as f32),
        },
        QuantLayer {
            weights: tensor("l1w", &mut |random| random.within(40) as f32 / 16.0),
            bias: tensor("l1b", &mut |random| random.within(16) as f32 / 16.0),
        },
        QuantLayer { weights: tensor("l2w", &mut |_| -8.0), bias: tensor("l2b", &mut |_| 0.0) },
    ];
    QuantNet { arch, layers, bare_header: Vec::new(), permutation: None }
}

fn reals(tensor: &QuantTensor) -> &[f32] {
    match &tensor.values {
        Values::F32(values) => values,
        Values::Int(_) => panic!("`{}` has reals", tensor.name),
    }
}

/// The sums behind the accumulators, and the output.
fn plain(net: &QuantNet, pieces: &[Piece], to_move: Colour) -> ([f32; OUTPUTS], f32) {
    let [rows, bias] = [&net.layers[0].weights, &net.layers[0].bias].map(|tensor| tensor.integers());
    let (weights, biases) = (reals(&net.layers[1].weights), reals(&net.layers[1].bias));
    let mut sums = [biases[0], biases[1]];
    for (side, eyes) in [to_move, to_move.other()].into_iter().enumerate() {
        let mut acc = bias.to_vec();
        for piece in pieces {
            let square = usize::from(piece.square()) ^ if eyes == Colour::Black { 56 } else { 0 };
            let feature = 384 * usize::from(piece.colour() != eyes) + 64 * piece.kind() as usize + square;
            acc.iter_mut().zip(&rows[feature * HIDDEN..]).for_each(|(sum, weight)| *sum += weight);
        }
        for (unit, value) in acc.into_iter().enumerate() {
            let clipped = value.clamp(0, 256) as f32 / 256.0;
            for (output, sum) in sums.iter_mut().enumerate() {
                *sum += clipped * weights[output + OUTPUTS * (side * HIDDEN + unit)];
            }
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
        let mut pieces = vec![Piece::new(Colour::White, Kind::King, 4), Piece::new(Colour::Black, Kind::King, 60)];
        for _ in 0..random.draw() % 28 {
            let (colour, kind) = (Colour::BOTH[random.draw() as usize % 2], Kind::ALL[random.draw() as usize % 5]);
            let piece = Piece::new(colour, kind, (random.draw() % 64) as u8);
            if pieces.iter().all(|other| other.square() != piece.square()) {
                pieces.push(piece);
            }
        }
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
    assert!(seen.iter().all(|count| *count > 5), "both ends and between: {seen:?}");
    let back = unpack(&Model::parse(file.as_ref()).unwrap()).unwrap();
    assert_eq!((&back.arch, &back.layers), (&net.arch, &net.layers));
}
