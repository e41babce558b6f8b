//! The first two layers of Stockfish 16.1's small network, which its authors trained and whose neurons they have put into an
//! order of their own: a measure for ours.
//!
//! The file (`.nnue`): a header; i16 biases, i16 rows and i32 material values, each as LEB128 behind a magic and a length; then
//! for each of eight buckets a hash, 16 i32 biases, 16 × 128 i8 weights, and two smaller layers. Its features have one plane
//! for both kings and mirror the board the other way, so that the rows come in another order here, and some twice.

use std::path::Path;
use tamis_quant::arch::Architecture;
use tamis_quant::quantise::{QuantLayer, QuantNet, QuantTensor, Values};

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
    king_buckets = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
                    28, 29, 30, 31]
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
    let file = std::fs::read(path).unwrap();
    let description_len = u32::from_le_bytes(*file[8..].first_chunk().unwrap()) as usize;
    let mut rest = &file[12 + description_len + 4..];
    let bias = compressed(&mut rest);
    let theirs = compressed(&mut rest);
    let _material = compressed(&mut rest);
    assert_eq!((bias.len(), theirs.len()), (HIDDEN, KING_BUCKETS * ROWS_A_BUCKET * HIDDEN));
    let mut rows = Vec::new();
    for bucket in 0..KING_BUCKETS {
        // Theirs count from the last rank; both count four files, ours from the a file, where theirs have the h file.
        let first = (28 - 4 * (bucket / 4) + bucket % 4) * ROWS_A_BUCKET;
        for (colour, kind, square) in (0..768).map(|at| (at / 384, at / 64 % 6, at % 64)) {
            let plane = if kind == 5 { 10 } else { 2 * kind + colour };
            let row = first + 64 * plane + (square ^ 7);
            rows.extend_from_slice(&theirs[row * HIDDEN..][..HIDDEN]);
        }
    }
    let (mut biases, mut weights) = (Vec::new(), vec![0; BUCKETS * OUTPUTS * HIDDEN]);
    for bucket in 0..BUCKETS {
        let layer = take(&mut rest, 4 + 4 * OUTPUTS + OUTPUTS * HIDDEN + 4 * 32 + 32 * 32 + 4 + 32);
        let (own_biases, own_weights) = layer[4..].split_at(4 * OUTPUTS);
        let units = own_biases.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes) as f32 / (127.0 * 64.0));
        biases.extend(units);
        for (at, weight) in own_weights[..OUTPUTS * HIDDEN].iter().enumerate() {
            let (output, input) = (bucket * OUTPUTS + at / HIDDEN, at % HIDDEN);
            weights[output + BUCKETS * OUTPUTS * input] = i32::from(*weight as i8);
        }
    }
    assert!(rest.is_empty(), "{} bytes behind the last layer", rest.len());
    let arch = Architecture::from_toml(DESCRIPTION, "small network").unwrap();
    let tensor = |name: &str, values| {
        let (outputs, inputs) = arch.tensor_shape(name).unwrap();
        let spec = arch.tensor(name).unwrap();
        QuantTensor { name: name.to_owned(), element: spec.r#type, scale: spec.scale, outputs, inputs, values }
    };
    let layer = |weights, bias| QuantLayer { weights, bias, dense: None };
    let layers = vec![
        layer(tensor("l0w", Values::Int(rows)), tensor("l0b", Values::Int(bias))),
        layer(tensor("l1w", Values::Int(weights)), tensor("l1b", Values::F32(biases))),
    ];
    QuantNet { layers, arch, bare_header: Vec::new(), permutation: None }
}

fn take<'b>(rest: &mut &'b [u8], len: usize) -> &'b [u8] {
    let (taken, left) = rest.split_at(len);
    *rest = left;
    taken
}

/// Signed LEB128: seven bits a byte, the lowest first; bit 7 says that another follows, bit 6 of the last is the sign.
fn compressed(rest: &mut &[u8]) -> Vec<i32> {
    assert_eq!(take(rest, 17), b"COMPRESSED_LEB128");
    let len = u32::from_le_bytes(*take(rest, 4).first_chunk().unwrap());
    let (mut values, mut value, mut shift) = (Vec::new(), 0i64, 0);
    for byte in take(rest, len as usize) {
        value |= i64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            let sign = if byte & 0x40 == 0 { 0 } else { 1i64 << shift };
            values.push((value - sign) as i32);
            (value, shift) = (0, 0);
        }
    }
    values
}
