//! TFLite files of int8 whose outputs are uint8, as converters write them for microcontrollers, packed as they are.

use tamis_quant::import::tflite::quantised::read_quantised;
use tamis_quant::program::{GraphInput, Program};
use tests::packed::{Packed, container};
use tests::tflite::{INT8, Step, UINT8, network, stored};

const QUANTIZE: i32 = 114;
const SOFTMAX: i32 = 25;
const TANH: i32 = 28;

fn step(code: i32, from: i32) -> Step {
    Step { code, inputs: vec![from], outputs: vec![from + 1], options: (0, Vec::new()) }
}

fn packed(bytes: &[u8]) -> (Program, Vec<String>) {
    let (program, remarks) = read_quantised(bytes, "x").unwrap().lower("").unwrap();
    (program, remarks.iter().map(|remark| remark.text().to_owned()).collect())
}

/// Every byte; of one scale, the byte plus 128, as LiteRT has it, and of half a scale halves upwards.
#[test]
fn a_last_quantize_makes_bytes_without_a_sign() {
    let all: Vec<i8> = (i8::MIN..=i8::MAX).collect();
    let same: fn(i32) -> i32 = |x| x + 128;
    let half = |x| ((x + 10 + 1) >> 1) + 100;
    let cases = [(0.25, 118, same), (0.5, 100, half)];
    for (scale, zero_point, expected) in cases {
        let tensors = vec![stored(&[1, 256], INT8, 0.25, -10), stored(&[1, 256], UINT8, scale, zero_point)];
        let (program, _) = packed(&network(tensors, &[0], &[1], vec![step(QUANTIZE, 0)]));
        let (container, is_proved) = container(&program);
        assert!(is_proved);
        let mut packed = Packed::new(&container, &program);
        let found = packed.integers(&GraphInput::I8(all.clone()), true);
        let expected: Vec<i32> = all.iter().map(|x| expected(i32::from(*x)).clamp(0, 255)).collect();
        assert_eq!(found, expected, "{scale}");
    }
}

/// Probabilities in other bytes are probabilities: the outputs are the logits.
#[test]
fn a_softmax_in_front_of_it_is_left_out() {
    let tensors = || {
        vec![
            stored(&[1, 8], INT8, 0.02, 3),
            stored(&[1, 8], INT8, 1.0 / 128.0, 0),
            stored(&[1, 8], INT8, 1.0 / 256.0, -128),
            stored(&[1, 8], UINT8, 1.0 / 256.0, 0),
        ]
    };
    let steps = || vec![step(TANH, 0), step(SOFTMAX, 1), step(QUANTIZE, 2)];
    let (with, remarks) = packed(&network(tensors(), &[0], &[3], steps()));
    assert!(remarks.iter().any(|text| text.contains("softmax") && text.contains("left out")), "{remarks:?}");
    let (alone, _) = packed(&network(tensors(), &[0], &[1], vec![step(TANH, 0)]));
    assert_eq!(with.nodes, alone.nodes);
}
