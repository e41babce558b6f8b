//! A pairwise network whose live neurons are known, and positions for it.
//!
//! Pair `i` is live exactly when its perspective's own king stands on the files of class `i mod 4`: a and b, c and d, e
//! and f, g and h. In the trainer's order every group of four holds all four classes and is always live; sorted, with a
//! multiple of sixteen pairs, one group in four is.

use crate::sample_models::Random;
use tamis_quant::arch::Architecture;
use tamis_quant::import::read_raw;
use tamis_quant::positions::Position;
use tamis_quant::quantise::quantise;
use tamis_quant::quantised::QuantNet;

/// Outputs of the second layer, which is the last.
const OUTPUTS: usize = 3;

/// The description.
pub fn description(pairs: usize) -> String {
    let tensors = [
        "name = 'l0w'\ntype = 'i16'\nscale = 255",
        "name = 'l0b'\ntype = 'i16'\nscale = 255",
        "name = 'l1w'\ntype = 'i8'\nscale = 64",
        "name = 'l1b'\ntype = 'f32'",
    ];
    let tensors = tensors.map(|lines| format!("[[tensor]]\n{lines}\n")).concat();
    format!(
        "schema = 1\nname = 'pairs'\n[input]\nkind = 'chess'\n[output]\nscale = 400\n[[layer]]\nname = 'l0'\noutputs = \
         {}\n\
         activation = 'pairwise-crelu'\nproduct_shift = 9\n[[layer]]\nname = 'l1'\noutputs = {OUTPUTS}\n{tensors}",
        2 * pairs
    )
}

/// Its `raw.bin`.
pub fn raw(pairs: usize) -> Vec<u8> {
    const KING: usize = 5;
    let mut random = Random(pairs as u64);
    let live = |neuron: usize, feature: usize| {
        let (is_own_king, file) = (feature / 64 == KING, feature % 8);
        is_own_king && file / 2 == neuron % pairs % 4
    };
    let mut values = Vec::new();
    for feature in 0..768 {
        // The size of a live product is none of the order's business.
        values.extend((0..2 * pairs).map(|neuron| if live(neuron, feature) { 0.5 + 0.4 * random.real() } else { 0.0 }));
    }
    values.extend(vec![0.0; 2 * pairs]);
    values.extend((0..2 * pairs * OUTPUTS + OUTPUTS).map(|_| random.real()));
    values.iter().flat_map(|value: &f32| value.to_le_bytes()).collect()
}

/// The network in integers.
pub fn net(pairs: usize) -> QuantNet {
    let arch = Architecture::from_toml(&description(pairs), "pairs").unwrap();
    quantise(&read_raw(&raw(pairs), &arch).unwrap()).unwrap()
}

/// Two kings and a pawn on squares that look random.
pub fn positions(count: usize) -> Vec<Position> {
    let mut random = Random(1);
    let mut position = || loop {
        let [own, opponent, pawn] = [0; 3].map(|_: u8| (random.draw() % 64) as u8);
        if own != opponent && own != pawn && opponent != pawn {
            return Position::new(&[(5, own), (13, opponent), (0, pawn)]).unwrap();
        }
    };
    (0..count).map(|_| position()).collect()
}
