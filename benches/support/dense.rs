//! The kernels of dense layers, and of what stands between and behind them.

use crate::{Cases, Random};
use bytemuck::cast_slice;
use std::hint::black_box;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::kernels::Tier;
use tamis_runtime::raw::{Layout, activation};
use tamis_runtime::testing::{AffineF32, AffineI8};

/// (inputs, outputs): first layers on images and on features, and layers behind them.
const SHAPES: [(usize, usize); 8] =
    [(784, 128), (768, 256), (256, 32), (64, 256), (256, 128), (1024, 16), (32, 32), (32, 1)];
/// (inputs, outputs) of layers on reals: behind 1024 products and 16 sums, the last one, and a large one.
const REAL_SHAPES: [(usize, usize); 3] = [(16, 32), (32, 1), (784, 128)];
/// Per cent of groups of four inputs that are not all zero.
pub(crate) const DENSITIES: [u32; 6] = [5, 10, 20, 35, 60, 100];

/// Dense layers on bytes. Weights within ±63, so that the paired form is right; the time does not depend on them.
pub fn dense(cases: &mut Cases) {
    type Pick = fn(&Tier) -> AffineI8<u8>;
    let on_u8: [(&str, Pick); 3] = [
        ("affine_u8", |tier| tier.affine_u8.call),
        ("affine_u7", |tier| tier.affine_u7.call),
        ("affine_u7_paired", |tier| tier.affine_u7_paired.call),
    ];
    for (inputs, outputs) in SHAPES {
        let shape = format!("{inputs}x{outputs}");
        for (what, pick) in on_u8 {
            cases.every_tier(what, &shape, |tier| {
                let call = pick(tier);
                let x = bytes(inputs, 127);
                layer(inputs, outputs, 1, move |w, stride, bias, out| call(black_box(x.as_ref()), w, stride, bias, out))
            });
        }
        cases.every_tier("affine_i8", &shape, |tier| {
            let x = bytes(inputs, 255);
            layer(inputs, outputs, 1, move |w, stride, bias, out| {
                (tier.affine_i8.call)(cast_slice(black_box(x.as_ref())), w, stride, bias, out);
            })
        });
    }
    // Eight banks in turn, as output buckets make it.
    for density in DENSITIES {
        cases.every_tier("affine_u7_sparse", &format!("1024x16-{density}%"), |tier| {
            let inputs: Vec<_> = (0..64).map(|seed| thinned(1024, density, seed)).collect();
            let mut turn = 0;
            layer(1024, 16, 8, move |w, stride, bias, out| {
                turn = (turn + 1) % inputs.len();
                (tier.affine_u7_sparse.call)(inputs[turn].as_ref(), w, stride, bias, out);
            })
        });
    }
}

/// Requantisation, and the layers on reals behind integer ones.
pub fn tails(cases: &mut Cases) {
    for (inputs, outputs) in REAL_SHAPES {
        let shape = format!("{inputs}x{outputs}");
        cases.every_tier("affine_f32", &shape, |tier| reals(Layout::Rows, tier.affine_f32.call, inputs, outputs));
        if outputs >= 8 {
            let layer = |tier: &Tier| reals(Layout::Columns, tier.affine_f32_columns.call, inputs, outputs);
            cases.every_tier("affine_f32_columns", &shape, layer);
        }
    }
    for (name, code) in [("crelu", activation::CRELU), ("screlu", activation::SCRELU)] {
        cases.every_tier("activation_f32", &format!("32-{name}"), |tier| {
            let (x, mut out) = (Random::new(8).reals(32), vec![0.0; 32]);
            repeat(move || (tier.activation_f32.call)(black_box(&x), code, black_box(&mut out)))
        });
    }
    cases.every_tier("dequantise_f32", "16", |tier| {
        let x = Random::new(9).vector(16, -100_000, 100_000, |value| value);
        let (bias, mut out) = (Random::new(9).reals(16), vec![0.0; 16]);
        repeat(move || (tier.dequantise_f32.call)(black_box(&x), 1e-4, &bias, activation::CRELU, black_box(&mut out)))
    });
    for len in [32, 128] {
        let shape = len.to_string();
        let operands = move || {
            let mut random = Random::new(10);
            let x = random.vector(len, -1_000_000, 1_000_000, |value| value);
            (x, random.vector(len, 1 << 30, i32::MAX, |value| value), vec![40; len])
        };
        cases.every_tier("requantise_u8", &shape, |tier| {
            let ((x, multipliers, shifts), mut out) = (operands(), vec![0; len]);
            repeat(move || {
                (tier.requantise_u8.call)(black_box(&x), &multipliers, &shifts, 0, 127, 0, black_box(&mut out))
            })
        });
        cases.every_tier("requantise_i8", &shape, |tier| {
            let ((x, multipliers, shifts), mut out) = (operands(), vec![0; len]);
            repeat(move || {
                (tier.requantise_i8.call)(black_box(&x), &multipliers, &shifts, -127, 127, 0, black_box(&mut out))
            })
        });
        cases.every_tier("requantise_i32", &shape, |tier| {
            let ((x, multipliers, shifts), mut out) = (operands(), vec![0; len]);
            let (low, high) = (i32::MIN, i32::MAX);
            repeat(move || {
                (tier.requantise_i32.call)(black_box(&x), &multipliers, &shifts, low, high, 0, black_box(&mut out))
            })
        });
    }
}

/// Weights of `banks` layers, one after the other, for `call(weights, stride, bias, sums)`.
fn layer(
    inputs: usize,
    outputs: usize,
    banks: usize,
    mut call: impl FnMut(&[i8], usize, &[i32], &mut [i32]),
) -> impl FnMut(u64) {
    let stride = outputs.next_multiple_of(4);
    let len = stride * inputs.next_multiple_of(4);
    let mut random = Random::new(5);
    let weights: Vec<u8> = random.vector(len * banks, -63, 63, |value| value as i8 as u8);
    let (weights, bias) = (AlignedBytes::copy_of(&weights), random.vector(outputs, -10_000, 10_000, |value| value));
    let (mut out, mut turn) = (vec![0; outputs], 0);
    repeat(move || {
        turn = (turn + 5) % banks.max(1);
        let bank = &cast_slice(weights.as_ref())[turn * len..][..len];
        call(bank, stride, &bias, black_box(&mut out));
    })
}

fn repeat(mut work: impl FnMut()) -> impl FnMut(u64) {
    move |iterations| (0..iterations).for_each(|_| work())
}

/// Bytes of 0 to `max`.
fn bytes(len: usize, max: i32) -> AlignedBytes {
    AlignedBytes::copy_of(&Random::new(5).vector(len, 0, max, |value| value as u8))
}

/// Products of which `density` per cent of the groups of four are not zero.
fn thinned(len: usize, density: u32, seed: u64) -> AlignedBytes {
    let mut random = Random::new(seed);
    let mut x = vec![0; len];
    for group in x.chunks_mut(4) {
        if random.within(0, 99) < density as i32 {
            group.fill_with(|| random.within(28, 127) as u8);
        }
    }
    AlignedBytes::copy_of(&x)
}

/// A layer of reals with CReLU.
fn reals(layout: Layout, affine: AffineF32, inputs: usize, outputs: usize) -> impl FnMut(u64) + 'static {
    let mut random = Random::new(6);
    let stride = layout.stride(outputs, inputs, size_of::<f32>()).unwrap();
    let len = layout.bank_len(outputs, inputs, stride).unwrap();
    let (x, w, bias) = (random.reals(inputs), random.reals(len), random.reals(outputs));
    let (w, mut out) = (AlignedBytes::copy_of(cast_slice(&w)), vec![0.0; outputs]);
    repeat(move || {
        affine(black_box(&x), cast_slice(w.as_ref()), stride, &bias, activation::CRELU, black_box(&mut out));
    })
}
