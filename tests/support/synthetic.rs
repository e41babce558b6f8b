//! Small chess networks of integers that a test makes up, and their accumulators in plain arithmetic.

use crate::sample_models::Random;
use tamis_quant::arch::Architecture;
use tamis_quant::program::{QuantTensor, Values};
use tamis_quant::quantised::{QuantLayer, QuantNet};
use tamis_runtime::engine::{Colour, Kind, Piece};

/// A network with a description, its tensors filled with what `values` gives for each name.
pub fn network(text: &str, mut values: impl FnMut(&str, &mut Random) -> f32) -> QuantNet {
    let arch = Architecture::from_toml(text, "synthetic").unwrap();
    let mut random = Random(17);
    let mut tensor = |name: &str| {
        let (outputs, inputs) = arch.tensor_shape(name).unwrap();
        let spec = arch.tensor(name).unwrap();
        let filled: Vec<f32> = (0..outputs * inputs).map(|_| values(name, &mut random)).collect();
        let values = match spec.scale {
            Some(_) => Values::Int(filled.into_iter().map(|value| value as i32).collect()),
            None => Values::F32(filled),
        };
        let (name, element, scale) = (name.to_owned(), spec.r#type, spec.scale);
        QuantTensor { name, element, scale, banks: 1, outputs, inputs, values }
    };
    let layers: Vec<QuantLayer> = (0..arch.layers.len())
        .map(|index| {
            let weights = tensor(&arch.weights_name(index));
            QuantLayer { weights, bias: tensor(&arch.bias_name(index)) }
        })
        .collect();
    let psqt = arch.psqt.as_ref().map(|psqt| {
        let weights = tensor(&psqt.weights);
        let bias = match &psqt.bias {
            Some(bias) => tensor(bias),
            None => QuantLayer::without_bias(&weights),
        };
        QuantLayer { weights, bias }
    });
    QuantNet { layers, arch: arch.clone(), psqt, bare_header: Vec::new(), permutation: None }
}

/// The accumulator of a colour: bias and bullet's `Chess768` rows, in the order of the file.
pub fn accumulator(net: &QuantNet, pieces: &[Piece], eyes: Colour) -> Vec<i32> {
    let (rows, width) = (net.layers[0].weights.integers(), net.layers[0].weights.outputs);
    let mut sums = net.layers[0].bias.integers().to_vec();
    for piece in pieces {
        let square = usize::from(piece.square()) ^ if eyes == Colour::Black { 56 } else { 0 };
        let feature = 384 * usize::from(piece.colour() != eyes) + 64 * piece.kind() as usize + square;
        sums.iter_mut().zip(&rows[feature * width..]).for_each(|(sum, weight)| *sum += weight);
    }
    sums
}

/// Both accumulators behind one another, the side to move's first.
pub fn accumulators(net: &QuantNet, pieces: &[Piece], to_move: Colour) -> Vec<i32> {
    [to_move, to_move.other()].into_iter().flat_map(|eyes| accumulator(net, pieces, eyes)).collect()
}

/// Two kings and up to 28 pieces that stand anywhere.
pub fn board(random: &mut Random) -> Vec<Piece> {
    let mut pieces = vec![Piece::new(Colour::White, Kind::King, 4), Piece::new(Colour::Black, Kind::King, 60)];
    for _ in 0..random.draw() % 29 {
        let (colour, kind) = (Colour::BOTH[random.draw() as usize % 2], Kind::ALL[random.draw() as usize % 5]);
        let piece = Piece::new(colour, kind, (random.draw() % 64) as u8);
        if pieces.iter().all(|other| other.square() != piece.square()) {
            pieces.push(piece);
        }
    }
    pieces
}
