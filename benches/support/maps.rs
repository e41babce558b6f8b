//! The kernels of convolutions.

use crate::{Cases, Random};
use std::hint::black_box;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::raw::element;
use tamis_runtime::testing::{Convolve, Geometry, Layer, Map, Rounding};

/// Height, width, channels read and written, and taps down and across, in the steps of a layer.
struct Shape {
    name: &'static str,
    size: [usize; 2],
    channels: [usize; 2],
    kernel: [usize; 2],
    stride: usize,
}

/// Of keyword spotting, image classification and visual wake words: single pixels, windows, first layers.
const CONVOLUTIONS: [Shape; 4] = [
    Shape { name: "1x1-64-64-25x5", size: [25, 5], channels: [64, 64], kernel: [1, 1], stride: 1 },
    Shape { name: "3x3-16-16-32x32", size: [32, 32], channels: [16, 16], kernel: [3, 3], stride: 1 },
    Shape { name: "10x4-1-64-49x10", size: [49, 10], channels: [1, 64], kernel: [10, 4], stride: 2 },
    Shape { name: "3x3-3-8-96x96", size: [96, 96], channels: [3, 8], kernel: [3, 3], stride: 2 },
];
const DEPTHWISE: [Shape; 2] = [
    Shape { name: "3x3-64-25x5", size: [25, 5], channels: [64, 64], kernel: [3, 3], stride: 1 },
    Shape { name: "3x3-8-48x48", size: [48, 48], channels: [8, 8], kernel: [3, 3], stride: 1 },
];

/// Convolutions of bytes with a sign, padded so that a step of 1 keeps the size.
pub fn maps(cases: &mut Cases) {
    for shape in &CONVOLUTIONS {
        let [read, written] = shape.channels;
        let (columns, stride) = (shape.kernel[0] * shape.kernel[1] * read, written.next_multiple_of(4));
        cases.every_tier("convolve", shape.name, |tier| {
            layer(tier.convolve.call, shape, columns.next_multiple_of(4) * stride, stride)
        });
    }
    for shape in &DEPTHWISE {
        let [channels, _] = shape.channels;
        let len = shape.kernel[0] * shape.kernel[1] * channels;
        cases.every_tier("depthwise", shape.name, |tier| layer(tier.depthwise.call, shape, len, channels));
    }
}

/// A layer with `len` weights of this stride.
fn layer(call: Convolve, shape: &Shape, len: usize, stride: usize) -> impl FnMut(u64) + use<> {
    let mut random = Random::new(11);
    let map = |[height, width]: [usize; 2], channels, zero| Map { height, width, channels, element: element::I8, zero };
    let (from, written) = (map(shape.size, shape.channels[0], -128), shape.channels[1]);
    let to = map(shape.size.map(|size| size.div_ceil(shape.stride)), written, -128);
    let geometry = Geometry {
        kernel: shape.kernel,
        stride: [shape.stride; 2],
        dilation: [1; 2],
        before: shape.kernel.map(|taps| (taps - 1) / 2),
        transposed: false,
    };
    let mut bytes = |len: usize| AlignedBytes::copy_of(&random.vector(len, -128, 127, |value| value as u8));
    let (x, weights) = (bytes(from.height * from.row()), bytes(len));
    let (bias, multipliers) = (vec![100; written], vec![0x5000_0000; written]);
    let (shifts, mut out) = (vec![40; written], vec![0; to.height * to.row()]);
    move |iterations| {
        for _ in 0..iterations {
            let rounding = Rounding { multipliers: &multipliers, shifts: &shifts, low: -128, high: 127 };
            let weights = bytemuck::cast_slice(weights.as_ref());
            let layer = Layer { geometry, from, to, weights, stride, bias: &bias, rounding };
            call(black_box(&layer), black_box(x.as_ref()), None, black_box(&mut out));
        }
    }
}
