//! What operations are called in refusals.

use crate::graph::Op;

/// By ONNX's words.
pub(super) fn word(op: &Op) -> String {
    match op {
        Op::Linear { .. } => "Gemm".to_owned(),
        Op::Convolution { .. } => "Conv".to_owned(),
        Op::TransposedConvolution { .. } => "ConvTranspose in groups".to_owned(),
        Op::Pool { .. } => "a pool".to_owned(),
        Op::Concat { .. } => "Concat".to_owned(),
        Op::Add => "Add".to_owned(),
        Op::Binary(binary) => format!("{binary:?} of two values"),
        Op::PRelu { .. } => "PRelu".to_owned(),
        Op::Scale(_) => "Mul by a constant".to_owned(),
        Op::Pad { .. } => "Pad with anything but zeros".to_owned(),
        Op::Resize { .. } => "Resize".to_owned(),
        Op::Activation(activation) => format!("the function {}", activation.word()),
        Op::Constant { .. } => "a constant beside a value".to_owned(),
        _ => "this operation".to_owned(),
    }
}
