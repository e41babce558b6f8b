//! Each form of head on networks of almost nothing but zeros, worked out by hand.

use super::super::{
    Affine, Block, Board, Division, Encoding, FeatureSet, Head, Net, PSQT_BUCKETS, Shape, Stack, Transformer,
};
use super::{Parts, evaluate};

/// White Ke1, Pa2, black Ke8.
const PAWN: &str = "4k3/8/8/8/8/8/P7/4K3";

fn zeros(features: FeatureSet, head: Head) -> Net {
    let shape = Shape { features, width: 32, head };
    let block = |count| Block { values: vec![0; count], encoding: Encoding::Raw };
    let psqt = Block { values: vec![0; features.count() * PSQT_BUCKETS], encoding: Encoding::Raw };
    let transformer = Transformer {
        biases: block(32),
        weights: block(features.count() * 32),
        psqt: Some(psqt).filter(|_| features.has_psqt()),
        relations: Vec::new(),
    };
    let [first, second, output] = shape.layers().map(|(inputs, outputs)| Affine {
        inputs,
        outputs,
        biases: vec![0; outputs],
        weights: vec![0; outputs * inputs.next_multiple_of(32)],
    });
    let stacks = vec![Stack { first, second, output }; shape.stacks()];
    Net { shape, description: Vec::new(), transformer, stacks, division: Division::Once }
}

/// Sets weights of an output, whose padding is 1 so that it would show.
fn row<const N: usize>(layer: &mut Affine, output: usize, bias: i32, weights: [(usize, i8); N]) {
    let row_len = layer.row_len();
    let start = output * row_len;
    layer.biases[output] = bias;
    layer.weights[start + layer.inputs..start + row_len].fill(1);
    for (input, weight) in weights {
        layer.weights[start + input] = weight;
    }
}

#[test]
fn clipped_accumulators_of_both_sides() {
    let mut net = zeros(FeatureSet::HalfKp, Head::Clipped { first: 32 });
    net.transformer.biases.values[..3].copy_from_slice(&[100, -50, 3]);
    // White's king stands on 4 and sees its pawn on 8; black's on 3, after half a turn, and sees it on 55.
    let (white, black) = (641 * 4 + 1 + 8, 641 * 3 + 1 + 64 + 55);
    net.transformer.weights.values[white * 32..][..2].copy_from_slice(&[50, 57]);
    net.transformer.weights.values[black * 32 + 2] = 1;
    // White: 150, 7, 3, so 127, 7, 3. Black: 100, -50, 4, so 100, 0, 4.
    let stack = &mut net.stacks[0];
    row(&mut stack.first, 0, 5, [(0, 64), (1, -1), (34, 2)]);
    row(&mut stack.first, 1, 6399, [(32, -1)]);
    row(&mut stack.first, 2, -1, []);
    row(&mut stack.second, 0, -3, [(0, 1), (1, 2), (2, 100)]);
    row(&mut stack.second, 5, 64, []);
    row(&mut stack.output, 0, -190, [(0, -7), (5, 100)]);
    let positional = |side: &str| {
        let found = evaluate(&net, &Board::from_fen(&format!("{PAWN} {side}")).unwrap());
        assert_eq!((found.buckets.len(), found.bucket), (1, 0));
        assert_eq!(found.value, found.buckets[0].positional / 16);
        found.buckets[0].positional
    };
    // 8128 - 7 + 8 + 5 = 8134, shifted 127; 6299, 98; -1, shifted -1, clipped 0. 127 + 196 - 3 = 320, 5; 64, 1. -35 +
    // 100 - 190.
    assert_eq!(positional("w"), -125);
    // 6400 + 6 + 5 = 6411, 100; 6399 - 127 = 6272, 98. 100 + 196 - 3 = 293, 4; 1. -28 + 100 - 190.
    assert_eq!(positional("b"), -118);
}

#[test]
fn pairs_the_skipping_neuron_and_psqt() {
    for (squares, positional) in [(false, 26 - 3001), (true, 28 - 3001)] {
        let mut net = zeros(FeatureSet::HalfKaV2Hm, Head::Pairwise { squares });
        // Pairs 0 and 16, 1 and 17: 127 * 127 / 128 = 126, 127 / 128 = 0, for both sides.
        net.transformer.biases.values[..2].copy_from_slice(&[127, 300]);
        net.transformer.biases.values[16..18].copy_from_slice(&[127, 1]);
        let (white, black) = (704 * 31 + 8, 704 * 31 + 64 + 48);
        let psqt = net.transformer.psqt.as_mut().unwrap();
        psqt.values[white * 8] = 7;
        psqt.values[black * 8] = 12;
        psqt.values[white * 8 + 3] = 100;
        let stack = &mut net.stacks[0];
        // 1260 - 378 = 882: shifted 13, squared and shifted by 19 1.
        row(&mut stack.first, 0, 0, [(0, 10), (1, 100), (16, -3), (17, 100)]);
        // -2541 * 9600 / 8128 = -3001.2
        row(&mut stack.first, 15, -2541, []);
        // Without squares 64 * 13, so 13; with them 64 * 1 + 64 * 13, so 14.
        if squares {
            row(&mut stack.second, 0, 0, [(0, 64), (15, 64)]);
        } else {
            row(&mut stack.second, 0, 0, [(0, 64)]);
        }
        row(&mut stack.output, 0, 0, [(0, 2)]);
        let found = evaluate(&net, &Board::from_fen(&format!("{PAWN} w")).unwrap());
        // Three pieces: bucket 0. (7 - 12) / 2 = -2.
        let expected = Parts { psqt: -2, positional };
        assert_eq!((found.bucket, found.buckets[0], found.value), (0, expected, (positional - 2) / 16));
        assert_eq!(found.buckets[3], Parts { psqt: 50, positional: 0 });
        let black = evaluate(&net, &Board::from_fen(&format!("{PAWN} b")).unwrap());
        assert_eq!(black.buckets[0], Parts { psqt: 2, positional }, "the accumulators are the same, PSQT is turned");
    }
}

/// Bucket by the number of pieces: 2 to 4 are bucket 0, 5 the first of bucket 1, 32 the last of bucket 7.
#[test]
fn buckets_by_pieces() {
    let net = zeros(FeatureSet::HalfKaV2, Head::Clipped { first: 16 });
    for (board, bucket) in [
        ("4k3/8/8/8/8/8/8/4K3", 0),
        ("4k3/8/8/8/8/8/PP6/4K3", 0),
        ("4k3/8/8/8/8/8/PPP5/4K3", 1),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", 7),
    ] {
        let found = evaluate(&net, &Board::from_fen(&format!("{board} w")).unwrap());
        assert_eq!((found.buckets.len(), found.bucket), (8, bucket), "{board}");
    }
}

/// Remainders that add up to another sixteenth, and remainders that take one away: one division sees them, two do not.
#[test]
fn the_networks_rule_makes_the_value() {
    let mut net = zeros(FeatureSet::HalfKaV2Hm, Head::Pairwise { squares: true });
    // White's pawn as white sees it, and as black does.
    let (white, black) = (704 * 31 + 8, 704 * 31 + 64 + 48);
    let psqt = net.transformer.psqt.as_mut().unwrap();
    psqt.values[white * 8] = -18;
    psqt.values[black * 8] = 12;
    row(&mut net.stacks[0].output, 0, -2961, []);
    for (division, white, black) in [(Division::Once, -186, -184), (Division::Twice, -185, -185)] {
        net.division = division;
        for (side, psqt, value) in [("w", -15, white), ("b", 15, black)] {
            let found = evaluate(&net, &Board::from_fen(&format!("{PAWN} {side}")).unwrap());
            // (-15 - 2961) / 16 = -186, (15 - 2961) / 16 = -184.1; -2961 / 16 = -185.06 and 15 / 16 = 0.
            assert_eq!(found.buckets[0], Parts { psqt, positional: -2961 });
            assert_eq!(found.value, value, "{division:?}, {side}");
        }
    }
}
