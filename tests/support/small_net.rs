//! The first two layers of Stockfish 16.1's small network as a network of bullet's kind: its neurons have been put into
//! an order by its authors, a measure for ours. Two planes for the kings in place of one repeat their rows.

use std::path::Path;
use tamis_quant::arch::Architecture;
use tamis_quant::program::{QuantTensor, Values};
use tamis_quant::quantised::{QuantLayer, QuantNet};
use tamis_quant::stockfish::{self, FeatureSet};

const HIDDEN: usize = 128;
const KING_BUCKETS: usize = 32;
const ROWS_A_BUCKET: usize = 704;
const OUTPUTS: usize = 16;
const BUCKETS: usize = 8;

const DESCRIPTION: &str = "
    schema = 1
    name = 'small network'
    [input]
    kind = 'chess'
    mirrored = true
    king_buckets = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
                    27, 28, 29, 30, 31]
    [buckets]
    count = 8
    by_piece_count = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7]
    [[layer]]
    name = 'l0'
    outputs = 128
    activation = 'pairwise-crelu'
    product_shift = 7
    [[layer]]
    name = 'l1'
    outputs = 16
    bucketed = true
    [[tensor]]
    name = 'l0w'
    type = 'i16'
    scale = 127
    [[tensor]]
    name = 'l0b'
    type = 'i16'
    scale = 127
    [[tensor]]
    name = 'l1w'
    type = 'i8'
    scale = 64
    [[tensor]]
    name = 'l1b'
    type = 'f32'
";

/// Reads the file.
pub fn read(path: &Path) -> QuantNet {
    let net = stockfish::read(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!((net.shape.features, net.shape.width, net.stacks.len()), (FeatureSet::HalfKaV2Hm, HIDDEN, BUCKETS));
    let (theirs, bias) = (&net.transformer.weights.values, &net.transformer.biases.values);
    let mut rows = Vec::new();
    for bucket in 0..KING_BUCKETS {
        // Theirs count from the last rank; both count four files, ours from the a file, where theirs have the h file.
        let first = (28 - 4 * (bucket / 4) + bucket % 4) * ROWS_A_BUCKET;
        for (colour, kind, square) in (0..768).map(|at| (at / 384, at / 64 % 6, at % 64)) {
            let plane = if kind == 5 { 10 } else { 2 * kind + colour };
            let row = first + 64 * plane + (square ^ 7);
            rows.extend(theirs[row * HIDDEN..][..HIDDEN].iter().map(|weight| i32::from(*weight)));
        }
    }
    let (mut biases, mut weights) = (Vec::new(), vec![0; BUCKETS * OUTPUTS * HIDDEN]);
    for (bucket, stack) in net.stacks.iter().enumerate() {
        biases.extend(stack.first.biases.iter().map(|bias| *bias as f32 / (127.0 * 64.0)));
        for output in 0..OUTPUTS {
            for (input, weight) in stack.first.row(output).iter().enumerate() {
                weights[bucket * OUTPUTS + output + BUCKETS * OUTPUTS * input] = i32::from(*weight);
            }
        }
    }
    let bias = bias.iter().map(|bias| i32::from(*bias)).collect();
    let arch = Architecture::from_toml(DESCRIPTION, "small network").unwrap();
    let tensor = |name: &str, values| {
        let (outputs, inputs) = arch.tensor_shape(name).unwrap();
        let spec = arch.tensor(name).unwrap();
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
    let layer = |weights, bias| QuantLayer { weights, bias };
    let layers = vec![
        layer(tensor("l0w", Values::Int(rows)), tensor("l0b", Values::Int(bias))),
        layer(tensor("l1w", Values::Int(weights)), tensor("l1b", Values::F32(biases))),
    ];
    QuantNet { layers, arch, psqt: None, bare_header: Vec::new(), permutation: None }
}
